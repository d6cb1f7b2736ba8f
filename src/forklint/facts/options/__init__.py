"""The arguments of loaders, as far as they are known, and which of them cannot be combined."""
