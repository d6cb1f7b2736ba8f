"""Classes that Daft runs as functions over columns."""
