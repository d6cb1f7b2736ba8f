"""Summaries of files: exact facts from one walk over the tree, as plain data that can be stored."""
