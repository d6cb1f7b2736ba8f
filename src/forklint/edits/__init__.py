"""Edits of source code with LibCST: the tree, and the transformations that fixes consist of."""
