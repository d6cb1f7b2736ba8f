"""FKL602: classes that Daft runs as functions over columns."""
