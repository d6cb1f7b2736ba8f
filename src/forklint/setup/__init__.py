"""What ``forklint init`` proposes for a project: a section of its configuration and a commit hook.

Nothing is written here: a text goes in, a text comes out.
"""
