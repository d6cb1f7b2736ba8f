"""Iterable datasets that yield all samples in every worker."""
