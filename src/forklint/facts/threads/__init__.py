"""Files and arrays that the tasks of thread pools share."""
