"""FKL603: byte tensors that are made by way of a typed storage."""
