"""Incremental runs: stored reports, the facts that they depend on, and which of these have changed.

A run compares the files with the store (``disk``), and computes which facts each difference changes
(``differences``). A stored report is up to date if none of its facts has changed since (``session``). Other files are
linted again with the help of stored summaries and terms (``stored_library``), and their reports are stored with their
dependencies.
"""
