"""What follows from a project's names: one folder for each kind of hazard, all of it from ``ast``.

``loading`` where loaders are made, and with what; ``starting`` what starts processes when a script runs, and how;
``handles`` open files and databases that objects keep, and which classes are datasets. CONTRIBUTING.md has the list.
"""
