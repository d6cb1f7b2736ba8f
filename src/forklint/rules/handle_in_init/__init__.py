"""FKL301: handles that are open when workers start, and how a class can open them on first use."""
