"""FKL601: the dtype and values of attention masks at the call that uses them."""
