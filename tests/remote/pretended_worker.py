"""A worker that pretends facts about its machine, for tests: ``ADDRESS NAME STORE PYTHON [FACT=VALUE]...``.

``system=darwin`` pretends a platform; the rest is as it is.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from forklint.cli.output import say
from forklint.remote import labels
from forklint.remote.dask_settings import prepare
from forklint.remote.security import Tls
from forklint.remote.store import Store
from forklint.remote.task_runner import TaskRunner
from forklint.verify.doctor import Environment, probe

if __name__ == "__main__":
    address, name, store, python, *pretended = sys.argv[1:]
    prepare()
    from forklint.remote.worker import Offer, serve

    facts = dict(probe(Path(python)).facts)
    for word in pretended:
        key, _, value = word.partition("=")
        facts[key] = value
    environment = Environment(facts)
    task_runner = TaskRunner(Store(Path(store)), Path(python), Path(tempfile.gettempdir()))
    serve(address, Offer(name, labels.proven(environment), environment, Tls()), task_runner, say)
