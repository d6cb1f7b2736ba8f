"""A worker that tries to run code on its clients, which would create files in MARK: ``ADDRESS STORE PYTHON MARK``."""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from forklint.cli.output import say
from forklint.remote import labels
from forklint.remote.dask_settings import prepare
from forklint.remote.security import Tls
from forklint.remote.store import Store
from forklint.remote.task_runner import TaskRunner
from forklint.verify.doctor import probe


class EvilError(Exception):
    """Runs a command when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.path}",)


class Rogue(TaskRunner):
    """Answers with pickles: with a result at first, then with an error, then with a text that is no JSON."""

    attempts = itertools.count()
    mark = Path()

    def perform(self, name: str, body: str) -> Any:
        say(f"was asked for a {name}")
        attempt = next(self.attempts)
        if attempt == 0:
            return EvilError(self.mark / "result")
        if attempt == 1:
            raise EvilError(self.mark / "error")
        return "["


if __name__ == "__main__":
    address, store, python, mark = sys.argv[1:]
    prepare()
    from forklint.remote.worker import Offer, serve

    Rogue.mark = Path(mark)
    environment = probe(Path(python))
    rogue = Rogue(Store(Path(store)), Path(python), Path(tempfile.gettempdir()))
    serve(address, Offer("rogue", labels.proven(environment), environment, Tls()), rogue, say)
