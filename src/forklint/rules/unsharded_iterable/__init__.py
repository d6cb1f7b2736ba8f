"""FKL303: iterable datasets of which each worker gives all samples."""
