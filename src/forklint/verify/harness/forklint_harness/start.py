"""Begins the harness in a process of a trial: the journal, the stacks, the hooks of the trial's task."""

from __future__ import annotations

import json
import os
from importlib import import_module
from types import ModuleType

from forklint_harness import journal, stacks
from forklint_harness.imports import after_import, without_collecting


def begin() -> None:
    """Read the order that FORKLINT_TRIAL names, and let its task set its hooks."""
    with open(os.environ["FORKLINT_TRIAL"], encoding="utf-8") as file:
        order = json.load(file)
    journal.begin(order["journal"])
    stacks.arm()
    names_begin_with(order["prefix"])
    without_collecting("torch")
    journal.record("process")
    if order["spec"].get("tolerance") is not None:
        from forklint_harness import tolerance  # no other trial has a use for it

        tolerance.begin(order)
    if order["spec"].get("dataset") is not None:
        from forklint_harness.stores import trial

        trial.begin(order)
    if order["task"]:
        import_module("forklint_harness.tasks." + order["task"]).install(order)


def names_begin_with(prefix: str) -> None:
    """Let multiprocessing give semaphores and shared memory names that tell whose they are."""

    def semaphores(module: ModuleType) -> None:
        module.current_process()._config["semprefix"] = "/" + prefix  # a child takes it from its parent

    def memory(module: ModuleType) -> None:
        module._SHM_NAME_PREFIX = "/" + prefix  # type: ignore[attr-defined]

    after_import("multiprocessing.process", semaphores)
    after_import("multiprocessing.shared_memory", memory)


begin()
