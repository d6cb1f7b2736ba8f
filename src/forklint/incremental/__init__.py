"""What stays true from one run to the next: reports, the facts that they rest on, and which of these have changed.

A run begins by comparing the files with what the store says of them (``disk``), and says of each difference which
facts it changes (``differences``). A stored report holds if none of its facts has changed since (``session``). What
has to be linted again is linted with the stored summaries and terms at hand (``stored_library``), and written down
with what it rests on.
"""
