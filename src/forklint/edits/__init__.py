"""Edits of source text by LibCST: the tree, and the larger transformations that fixes are made of."""
