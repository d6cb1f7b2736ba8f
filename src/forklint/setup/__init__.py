"""The changes that ``forklint init`` proposes for a project, one module for each kind of file.

The functions take the text of a file and return the new text; nothing is written here.
"""
