"""What ``make bench`` runs: forklint side by side with its peers.

In the order of the data: ``peers`` (environments) → ``contenders`` (commands, on ``inputs``, after a ``preparation``) →
``measures`` (rounds of timings) → ``rows`` (values against targets) → ``results`` (bench/results.json) → ``figures``
(docs/speed.md and its plot). ``run`` is the command; ``each_file`` is one that is measured.
"""
