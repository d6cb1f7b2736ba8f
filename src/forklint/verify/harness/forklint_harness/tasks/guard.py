"""For FKL201: whether a child that is started by this method gets as far as its work, or starts processes itself."""

from __future__ import annotations

import multiprocessing.context
import multiprocessing.process
import multiprocessing.spawn
import os
import sys
from typing import Any, Dict

from forklint_harness import ending, journal
from forklint_harness.frames import caller, callers
from forklint_harness.loaders import Watch


def install(order: Dict[str, Any]) -> None:
    """Make the cell's start method the default one, as another platform would, and watch children begin."""
    method = order["factors"].get("start_method")
    if method:
        default: Any = multiprocessing.context._default_context
        default._default_context = multiprocessing.context._concrete_contexts[method]  # type: ignore[attr-defined]
    ending.watch(order["journal"])
    multiprocessing.process.BaseProcess.__reduce__ = _without_work  # type: ignore[method-assign,assignment]
    _watch_work(order)
    _watch_imports(order)
    if "tolerance" in order["spec"]:
        _watch_starts()
    others = order["spec"].get("others", "one")
    Watch([], lambda _: None, others=others, is_import_in_question=True).begin()


def _without_work(process: multiprocessing.process.BaseProcess) -> Any:
    """Pickle a process without its work: a payload that cannot be pickled is another hazard, and hides this one."""
    return _idle, (process.name,)


def _idle(name: str) -> multiprocessing.process.BaseProcess:
    return multiprocessing.process.BaseProcess(name=name)


def _watch_work(order: Dict[str, Any]) -> None:
    """A child that comes to its own work has the program imported without starting processes."""
    process: Any = multiprocessing.process.BaseProcess
    bootstrap = process._bootstrap

    def _bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        journal.record("child-works", name=self.name, has_run=_has_run(order["spec"].get("file", "")))
        ending.end(order["journal"])
        return bootstrap(self, *args, **kwargs)

    process._bootstrap = _bootstrap


def _has_run(path: str) -> bool:
    """Whether the file of the finding is part of the program that was imported here."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return any(file and os.path.realpath(file) == os.path.realpath(path) for file in files)


def _watch_starts() -> None:
    """In a tolerant run: where the program itself starts a process, and with what; one child is enough to see."""
    from forklint_harness.tolerance import claims

    process: Any = multiprocessing.process.BaseProcess
    start = process.start

    def start_and_wait(self: Any) -> None:
        if not journal.is_main():
            start(self)
            return
        loader = claims.loader_on_stack()
        made_up = claims.made_up_in(loader) if loader is not None else {}
        workers = loader.num_workers if loader is not None else None
        journal.record("starts", place=caller(), text=text_here(), workers=workers, made_up=made_up)
        start(self)
        self.join()

    process.start = start_and_wait


def text_here() -> str:
    """The line of the project that is being run."""
    file, _, row = caller().rpartition(":")
    text = " ".join(tolerance_text(file).splitlines()[int(row) - 1 : int(row)]) if file else ""
    return " ".join(text.split())


def tolerance_text(path: str) -> str:
    """What a file says in this trial."""
    from forklint_harness.tolerance import loading

    return loading.text_of(path)


def _watch_imports(order: Dict[str, Any]) -> None:
    """A child that starts a process while it imports the program is refused by multiprocessing; see where."""
    spawn: Any = multiprocessing.spawn
    check = spawn._check_not_importing_main

    def _check_not_importing_main() -> None:
        try:
            check()
        except RuntimeError as error:
            words = " ".join(str(error).split())
            journal.record("starts-while-importing", error=words, place=caller(), stack=callers(), text=text_here())
            ending.end(order["journal"])
            raise

    spawn._check_not_importing_main = _check_not_importing_main
