"""For FKL502: what a class answers when it is asked as torch asks it, and what a loader says to a keyword.

Run as a program. The order's spec is either ``module``, ``qualname``, ``search`` (the class), ``name`` and ``meant``
(the method and the hook), and ``trainer`` where one of Lightning is to be asked, or ``base`` where its class is; or
``loader`` (its dotted name), ``name`` and ``meant`` (the keywords).
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
from typing import Any, Callable, Dict

from forklint_harness import journal
from forklint_harness.frames import raised_at
from forklint_harness.tasks.names import is_missing, made_up_in, owner_of
from forklint_harness.tolerance.stand_ins import is_stand_in, name_of

ASK: Dict[str, Callable[[Any], Any]] = {
    "__getitem__": lambda thing: thing[0],
    "__len__": len,
    "__iter__": lambda thing: next(iter(thing)),
}
"""What only raises where nothing answers."""

LIGHTNING = {"pytorch_lightning": "pytorch_lightning", "lightning": "lightning.pytorch"}
"""Where the ``Trainer`` is, by the package of the ``LightningModule``."""
TRAINS = {"training_epoch_end": "fit", "validation_epoch_end": "validate", "test_epoch_end": "test"}
"""By hook, the method of the trainer that would call it."""
STEPS = ("training_step", "validation_step", "test_step", "configure_optimizers")
"""What a trainer asks for before it looks at hooks."""


def install(order: Dict[str, Any]) -> None:
    """Set no hooks: this task is the program itself."""


def run(spec: Dict[str, Any]) -> None:
    """Ask, and write down what is said; the error of an import is written down too."""
    try:
        owner = _loader(spec["loader"]) if "loader" in spec else owner_of(spec)
    except BaseException as error:  # SystemExit of a script that wants arguments included
        journal.record("not-imported", error=_text(error), place=raised_at(error.__traceback__))
        return
    if "loader" in spec:
        _ask_loader(owner, spec["name"], spec["meant"])
    elif "base" in spec:
        _ask_base(owner, spec["name"], spec["meant"])
    elif "trainer" in spec:
        _ask_trainer(owner, spec["name"])
    else:
        _ask_class(owner, spec["name"], spec["meant"])


def _loader(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def _ask_loader(kind: Any, wrong: str, right: str) -> None:
    """Make a loader with each keyword, with the value that the right one has by default."""
    parameters = inspect.signature(kind.__init__).parameters
    value = parameters[right].default if right in parameters else None
    for name in (right, wrong):
        journal.record("asked", keyword=name, error=_raised(lambda given: kind([0, 1], **given), {name: value}))


def _ask_class(owner: Any, wrong: str, hook: str) -> None:
    """Say whose the hook is, whether the misspelt method is there, and what a bare object of the class answers."""
    if is_stand_in(owner) or not isinstance(owner, type):
        stand_in = name_of(owner) if is_stand_in(owner) else repr(type(owner))
        journal.record("answered", misspelt=False, supplied=False, by="", error="", stand_in=stand_in, missing=[])
        return
    made_up = made_up_in(owner)
    holder = next((base for base in owner.__mro__ if hook in vars(base) and not is_missing(base)), None)
    private = "_{}{}".format(owner.__name__.lstrip("_"), wrong)
    is_there = wrong in vars(owner) or private in vars(owner)
    supplied = holder is not None and (holder is owner or not _is_foreign(holder))
    is_asked = hook in ASK and not supplied and not made_up["missing"]
    error = _raised(lambda kind: ASK[hook](object.__new__(kind)), owner) if is_asked else ""
    place = "{}.{}".format(holder.__module__, holder.__qualname__) if holder is not None else ""
    journal.record("answered", misspelt=is_there, supplied=supplied, by=place, error=error, **made_up)


def _ask_base(owner: Any, wrong: str, right: str) -> None:
    """Say which hooks Lightning's own class has, of those that a class is derived from."""
    bases = owner.__mro__ if isinstance(owner, type) and not is_stand_in(owner) else ()
    found = [one for one in bases if one.__module__.partition(".")[0] in LIGHTNING and not is_missing(one)]
    library: Any = importlib.import_module(LIGHTNING[found[0].__module__.partition(".")[0]]) if found else None
    journal.record(
        "asked-base",
        library=library.__name__ if library is not None else "",
        version=library.__version__ if library is not None else "",
        base=found[0].__name__ if found else "",
        wrong=any(hasattr(one, wrong) for one in found),
        right=any(hasattr(one, right) for one in found),
    )


def _ask_trainer(owner: Any, name: str) -> None:
    """Say what a trainer of the Lightning that a class derives from answers to a bare object of the class."""
    bases = owner.__mro__ if isinstance(owner, type) and not is_stand_in(owner) else ()
    base = next((kind for kind in bases if kind.__name__ == "LightningModule" and not is_missing(kind)), None)
    if base is None:
        journal.record("trained", library="", version="", error="")
        return
    library = importlib.import_module(LIGHTNING[base.__module__.partition(".")[0]])
    error = _raised(lambda kind: _train(library, base, kind, TRAINS[name]), owner)
    journal.record("trained", library=library.__name__, version=library.__version__, error=error)


def _train(library: Any, base: Any, kind: type, method: str) -> None:
    """Give a trainer an object of which only the base is set up, with the steps that it lacks, and no data."""
    lacking = {step: _nothing for step in STEPS if getattr(kind, step) is getattr(base, step)}
    model: Any = object.__new__(type(kind.__name__, (kind,), lacking))
    base.__init__(model)
    trainer = library.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    getattr(trainer, method)(model, [])


def _nothing(*_arguments: Any) -> None:
    """Stand for a step that a subclass would have."""


def _raised(ask: Callable[[Any], Any], about: Any) -> str:
    """What a question raises; empty if it is answered."""
    try:
        ask(about)
    except Exception as error:
        return _text(error)
    return ""


def _is_foreign(kind: type) -> bool:
    """Whether a class is Python's or torch's own, and no one's answer of the project."""
    return kind.__module__.partition(".")[0] in ("builtins", "torch", "typing", "collections", "abc")


def _text(error: BaseException) -> str:
    return "{}: {}".format(type(error).__name__, error).rstrip(": ")


if __name__ == "__main__":
    with open(os.environ["FORKLINT_TRIAL"], encoding="utf-8") as file:
        run(json.load(file)["spec"])
