"""Worker processes: how many there are, and what top-level code starts them."""
