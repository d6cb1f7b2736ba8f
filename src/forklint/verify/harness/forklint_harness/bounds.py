"""Where a script is ended that goes on without coming to the loader that a trial waits for.

It gets one batch from each other loader, so that it comes by; a second round of the same one, or a model that it saves,
says that it trains. Nothing is trained that need not be, and no checkpoint is overwritten by what one batch has taught.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any, Callable, List, Tuple

from forklint_harness import ending, journal
from forklint_harness.frames import caller
from forklint_harness.imports import after_import

SAVERS = (("torch", "save"), ("safetensors.torch", "save_file"))


class Bounds:
    """What a script has iterated so far, by dataset and by the line of the project that iterates it."""

    def __init__(self) -> None:
        self._passed: List[Tuple[Any, str]] = []  # the datasets themselves: an id may be given away again

    def install(self) -> None:
        """Watch what saves models, once it is imported."""
        for module, name in SAVERS:
            after_import(module, _watching(name, self.save))

    def pass_by(self, loader: Any, dataset: str) -> None:
        """Note a loader that is not the one that is meant; end the trial if this is its second round."""
        place = caller()
        if any(one is loader.dataset and where == place for one, where in self._passed):
            end("round", place, dataset)
        self._passed.append((loader.dataset, place))
        journal.record("passed-by", dataset=dataset, place=place)

    def save(self, arguments: Tuple[Any, ...], keywords: Any) -> None:
        """End the trial before a file is written; what is saved before any loader is iterated is no model."""
        given = [*arguments, *keywords.values()]
        if self._passed and journal.is_main() and any(isinstance(one, (str, os.PathLike)) for one in given):
            end("save", caller(), "")


def end(why: str, place: str, dataset: str) -> None:
    """Say why the script is ended here, and end it."""
    journal.record("out-of-bounds", why=why, place=place, dataset=dataset)
    ending.leave(0)


def _watching(name: str, watch: Callable[[Tuple[Any, ...], Any], None]) -> Callable[[ModuleType], None]:
    def install(module: ModuleType) -> None:
        save: Any = getattr(module, name, None)
        if save is None:
            return

        def save_after_all(*arguments: Any, **keywords: Any) -> Any:
            watch(arguments, keywords)
            return save(*arguments, **keywords)

        save_after_all.__wrapped__ = save  # type: ignore[attr-defined]
        setattr(module, name, save_after_all)

    return install
