"""What an interpreter says of itself, asked once for all tests of a process."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from proven import environment

from forklint.verify.doctor import Environment, probe


@cache
def asked_once(python: Path, variables: tuple[str, ...] = ()) -> Environment:
    """What an interpreter says of itself, which takes it an import of torch."""
    if python == Path(sys.executable) and not variables:
        return environment()
    return probe(python, variables)
