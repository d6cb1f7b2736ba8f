"""Datasets: which classes are ones, and what worker processes run of them."""
