"""Environment variables that make a run tell more of what goes wrong in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Flag(NamedTuple):
    """A variable, its value, and what it is good for."""

    name: str
    value: str
    why: str


FLAGS = (
    Flag("PYTHONFAULTHANDLER", "1", "the Python stack of a process that crashes"),
    Flag("PYTHONUNBUFFERED", "1", "what a killed process printed last"),
    Flag("TORCH_SHOW_CPP_STACKTRACES", "1", "the C++ stack of an error of torch"),
    Flag("TORCH_DISTRIBUTED_DEBUG", "INFO", "which rank does not follow, in distributed training"),
    Flag("NCCL_DEBUG", "WARN", "errors of NCCL"),
    Flag("PYTHONWARNINGS", "default:This process:DeprecationWarning", "Python's warning of a fork beside threads"),
)
"""Those of ``forklint doctor -- COMMAND``: none of them changes what a program computes, or slows it."""
TELLING = {"PYTHONUNBUFFERED": "1", "TORCH_SHOW_CPP_STACKTRACES": "1", "TORCH_DISABLE_ADDR2LINE": "1"}
"""Those of a trial: the output of a killed process is evidence, and so is the stack of a C++ error, whose line numbers
take minutes."""


def with_flags(environment: Mapping[str, str]) -> tuple[dict[str, str], list[Flag]]:
    """An environment with the flags that it lacks, and these; what the user has set stays."""
    missing = [flag for flag in FLAGS if flag.name not in environment]
    return {**environment, **{flag.name: flag.value for flag in missing}}, missing
