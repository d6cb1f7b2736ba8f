"""Accelerators: which expressions certainly use one, and which of them worker processes reach."""
