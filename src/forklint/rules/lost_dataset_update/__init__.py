"""FKL306: changes of a dataset's attributes while its loader has workers, which have their own copies."""
