"""Runs forklint as ``python -m forklint``."""

import os
import sys

if sys.path and sys.path[0] == os.getcwd() and not getattr(sys.flags, "safe_path", False):  # noqa: PTH109 - no import yet
    del sys.path[0]  # `-m` puts the project's folder first, and its numbers.py would be run in place of Python's

from forklint.cli import main

if __name__ == "__main__":
    main(prog_name="forklint")
