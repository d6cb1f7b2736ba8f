"""Changes of a dataset's attributes while its loader has workers, which keep copies of their own."""
