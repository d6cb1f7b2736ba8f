"""Finds the experimenters by the files of this folder."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from forklint.verify import experiments
from forklint.verify.experiments.base import Experimenter


@cache
def experimenters() -> dict[str, type[Experimenter]]:
    """Map each rule's code to its experimenter."""
    for module in pkgutil.iter_modules(experiments.__path__):
        import_module(f"{experiments.__name__}.{module.name}")
    return {one.code: one for one in Experimenter.__subclasses__()}
