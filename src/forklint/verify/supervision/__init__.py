"""Supervises a trial from a separate process, which outlives forklint if necessary and leaves nothing behind.

The folder is started by its path (``python -I -S supervision``) with the standard library alone, and imported by the
runner for what is left to do when a supervisor itself was killed. What holds where:

- Linux: the supervisor is the subreaper of all that the trial starts, however it was started (``setsid``, double
  fork), so all of it is found by ``/proc``, frozen, and killed. Not found: what the trial asks another service to start
  (``docker``, ``systemd-run``, ``at``).
- Elsewhere: time, output and scratch are watched, and the first process's group is killed. A process that leaves that
  group stays, memory and process counts are not watched, and shared memory cannot be listed. Nobody has run this.
"""
