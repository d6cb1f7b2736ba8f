"""Code that runs in the project's own interpreter: only the standard library and torch, Python 3.8 and newer."""
