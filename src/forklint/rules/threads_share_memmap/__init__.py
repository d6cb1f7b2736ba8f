"""FKL305: files and arrays that the tasks of thread pools share."""
