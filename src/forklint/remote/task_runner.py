"""What a worker does for a task: it takes content, runs a trial under its supervisor, or lints a repository."""

from __future__ import annotations

import base64
import binascii
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from forklint.remote.lint_process import LintError, LintProcess
from forklint.remote.messages import MessageError, observation_to_json, trial_from_json
from forklint.remote.store import Store
from forklint.verify.doctor import HARNESS
from forklint.verify.isolation import Copies, Isolation, Isolations, outermost
from forklint.verify.runner import Runner
from forklint.verify.supervisor import CannotRunError

CLOSING = 15.0
"""Seconds to wait for the end of a task that is cancelled: its processes are killed and its files removed."""
LINT_OPTIONS = ("select", "ignore")
Request = Mapping[str, Any]
Reply = dict[str, Any]


def tasks() -> frozenset[str]:
    """The names of what the harness can do in a trial."""
    return frozenset(path.stem for path in (HARNESS / "forklint_harness" / "tasks").glob("[a-z]*.py"))


class Trees(Isolations):
    """How trials are kept from writing into the store: found out once, for all directories in it."""

    def __init__(self, workplace: Path, trees: Path) -> None:
        super().__init__(workplace)
        self._how = super().of([trees]).how

    def of(self, folders: Any) -> Isolation:
        """What is done for trials in these directories."""
        roots = outermost(folders)
        return Isolation(roots, self._how if roots else "none")


class TaskRunner:
    """Answers the tasks of one worker, which come one at a time; ``cancel`` may come from another thread."""

    def __init__(self, store: Store, python: Path, workplace: Path) -> None:
        """``python`` runs the trials; ``workplace`` is where their temporary directories are created."""
        self._store, self._python, self._workplace = store, python, workplace
        self.scratch = store.scratch
        """For Dask, which removes what workers left there that were killed."""
        self._isolations = Trees(workplace, store.trees)
        if not self._isolations.of([store.trees]).is_own:
            raise CannotRunError("this system can give trials no directory of their own; set TMPDIR to a local disk")
        self._tasks = tasks()
        self._lint = LintProcess()
        self._lock = threading.Lock()
        self._cancelled: set[str] = set()
        self._stop: Callable[[], None] | None = None
        self._is_closed = False
        self._idle = threading.Event()
        self._idle.set()
        self.running = ""
        """The key of the task that runs, for clients that wait for it."""

    def perform(self, name: str, body: str) -> str:
        """Answer a task; whatever happens, the reply is JSON."""
        kinds = {"put": self._put, "trial": self._trial, "lint": self._lint_repository}
        with self._lock:
            if self._is_closed:
                return json.dumps({"error": "the worker is stopping"})
            self._idle.clear()
        try:
            request = json.loads(body)
            if name not in kinds or not isinstance(request, dict):
                raise MessageError(f"a worker has no task '{name}'")
            self.running = str(request.get("key", ""))
            reply = kinds[name](request)
        except (MessageError, CannotRunError, LintError) as error:
            reply = {"error": str(error)}
        except Exception as error:  # noqa: BLE001 - Dask would send it as a pickle
            reply = {"error": f"{type(error).__name__}: {error}"}
        finally:
            with self._lock:
                self._cancelled -= {self.running, ""}
                self._stop, self.running = None, ""
                self._idle.set()
        return json.dumps(reply)

    def cancel(self, key: str | None = None) -> None:
        """End a task that nobody waits for any more, or whatever runs."""
        with self._lock:
            key = self.running if key is None else key
            self._cancelled.add(key)
            stop = self._stop if key == self.running else None
        if stop is not None:
            stop()

    def close(self) -> None:
        """End all processes, and wait until nothing of the task that runs is left; refuse later ones."""
        with self._lock:
            self._is_closed = True
        self.cancel()
        self._idle.wait(CLOSING)
        self._lint.close()

    def _put(self, request: Request) -> Reply:
        """Store content."""
        try:
            parts = [base64.b64decode(text, validate=True) for text in request["content"]]
        except (KeyError, TypeError, binascii.Error) as error:
            raise MessageError(f"no content: {error}") from None
        for part in parts:
            self._store.put(part)
        self._store.trim()
        return {}

    def _trial(self, request: Request) -> Reply:
        """Run a trial; the reply names content that is missing, if there is some, and then nothing is run."""
        roots: Mapping[str, Mapping[str, str]] = _mapping(request, "roots")
        missing = sorted({digest for files in roots.values() for digest in self._store.missing(files)})
        if missing:
            return {"missing": missing}
        trees = {root: str(self._store.tree(files)) for root, files in roots.items()}
        aliases = {alias: trees[root] for alias, root in _mapping(request, "aliases").items() if root in trees}
        places, shown = Copies({**aliases, **trees}), Copies(trees)
        told = dict(_mapping(request, "trial"))
        texts = {places.named(path): text for path, text in _mapping(told, "texts").items()}
        told = {**places.named(told), "texts": texts}
        trial = trial_from_json(told, [Path(tree) for tree in trees.values()], self._tasks)
        with Runner(self._python, workplace=self._workplace, isolations=self._isolations) as runner:
            self._begin(runner.cancel)
            seen = observation_to_json(runner.run(trial))
        return {"observation": shown.meant(seen)}

    def _lint_repository(self, request: Request) -> Reply:
        """Lint a repository; the reply has its findings, or names content that is missing."""
        files: Mapping[str, str] = _mapping(request, "files")
        if "content" in request:
            self._put(request)
        missing = self._store.missing(files)
        if missing:
            return {"missing": missing}
        options = _lint_options(request)
        self._begin(self._lint.close)
        with self._store.repository(str(request.get("name", "")), files) as folder:
            return self._lint.lint(folder, self._store.lint_cache, options, self._is_cancelled)

    def _begin(self, stop: Callable[[], None]) -> None:
        """Let a task be cancelled from now on."""
        with self._lock:
            self._stop = stop
        if self._is_cancelled():
            stop()

    def _is_cancelled(self) -> bool:
        """Whether nobody waits for the task that runs."""
        with self._lock:
            return self._is_closed or self.running in self._cancelled


def _lint_options(request: Request) -> list[str]:
    """``isolated``, ``select=...`` and ``ignore=...``: no client sets anything else on this machine."""
    options = [str(word) for word in request.get("options", ())]
    for word in options:
        if word != "isolated" and word.partition("=")[0] not in LINT_OPTIONS:
            raise MessageError(f"a worker does not lint with the option '{word}'")
    return options


def _mapping(request: Request, name: str) -> Mapping[str, Any]:
    value = request.get(name)
    if not isinstance(value, dict):
        raise MessageError(f"the task has no {name}")
    return value
