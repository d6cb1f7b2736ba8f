"""Misspelled methods and keywords, which torch never uses."""
