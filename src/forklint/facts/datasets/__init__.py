"""Datasets: which classes are datasets, and which of their methods worker processes run."""
