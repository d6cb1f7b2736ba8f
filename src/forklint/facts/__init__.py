"""Conclusions about a project, from ``ast``: one package for each kind of hazard.

``loading`` where loaders are made, and with what; ``starting`` what starts processes when a script runs, and how;
``handles`` open files and databases that objects keep, and which classes are datasets. CONTRIBUTING.md has the list.
"""
