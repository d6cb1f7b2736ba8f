"""Runs forklint as ``python -m forklint``."""

from forklint.cli import main

if __name__ == "__main__":
    main(prog_name="forklint")
