"""FKL402: which arguments of loaders, and which options in settings, cannot be combined."""
