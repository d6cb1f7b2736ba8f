"""Random inputs for the linter, each made from its kind and a number, and what must hold for each.

``python -m fuzzing programs --first 100 --count 50`` in ``tests`` runs a few; the tests run them in such processes, for
an input may end its process.
"""
