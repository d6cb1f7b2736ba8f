"""What an experiment's plan may know besides its finding."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forklint.model import Finding
from forklint.verify.words import Judgement, Subject


@dataclass(frozen=True)
class Context:
    """How trials are to be planned, for all findings of one run."""

    subject: Callable[[Finding, str], Subject | Judgement]
    """What to run for a finding whose class has this qualified name; a judgement if there is no way to run it."""
    start_methods: tuple[str, ...] = field(default_factory=lambda: tuple(multiprocessing.get_all_start_methods()))
    workers: int = 4
    """N: more than cores, so that workers are stopped between two steps of a read."""
    seconds: float = 60.0
    """Wall-clock limit of a trial."""
    provoking: float = 2.0
    """Seconds for which a treatment is repeated within its trial while no error is seen."""
    samples: int = 240
    handles: tuple[Mapping[str, Any], ...] = ()
    """The project's own rows for handles.toml."""
    others: str = "one"
    """``one`` or ``all``: the batches that a script gets of loaders other than the one that a trial is about."""
