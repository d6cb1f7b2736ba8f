"""Writes ``*.fixed.py`` (or ``.ipynb``, ``.yaml``) beside each bad fixture: what ``--fix --unsafe-fixes`` makes of it.

Read the diff before committing.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from fixture_cases import all_cases, fixed_text, outcome_of


def main(words: list[str]) -> None:
    """Update all fixtures, or those whose path holds one of ``words``."""
    for case in all_cases():
        if case.good or (words and not any(word in str(case.path) for word in words)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            for original, copy in zip(case.files, case.copy_to(Path(folder).resolve()), strict=True):
                outcome, text = outcome_of(original), fixed_text(copy)
                if text == original.read_bytes().decode():
                    outcome.unlink(missing_ok=True)
                else:
                    outcome.write_bytes(text.encode())


if __name__ == "__main__":
    main(sys.argv[1:])
