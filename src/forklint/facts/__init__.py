"""What follows from a project's names: one folder for each kind of hazard, all of it from ``ast``.

``loading`` where loaders are made, and with what; ``handles`` open files and databases that objects keep;
``environment`` variables set, and what has read them by then; ``starting`` what starts processes when a script runs;
``machines`` for which platform a place in the code is meant; ``members`` what names an object has.
"""
