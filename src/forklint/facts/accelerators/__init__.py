"""Accelerators: which expressions use one for certain, and which of them worker processes reach."""
