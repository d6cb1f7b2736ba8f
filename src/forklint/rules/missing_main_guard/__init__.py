"""FKL201: top-level code that starts processes, and what of it can go under a guard."""
