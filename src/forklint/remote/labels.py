"""The labels of a machine, which say what can run there. A worker proves each of itself: nobody else can."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from forklint.verify.doctor import Environment

PLATFORMS = ("linux", "darwin", "windows")
ACCELERATORS = ("cuda", "mps")
PYTHON = re.compile(r"python3\.\d+")


class LabelError(ValueError):
    """A machine does not have a label; the message is one line for the user."""


def proven(environment: Environment) -> tuple[str, ...]:
    """The labels of the machine with this environment: platform, accelerators that torch sees, Python."""
    found = [environment.system] if environment.system else []
    found += ["cuda"] if environment.has_cuda else []
    found += ["mps"] if environment.torch.get("mps") else []
    return (*found, python_label(environment))


def python_label(environment: Environment) -> str:
    """``python3.14`` for the interpreter that runs trials."""
    return "python" + ".".join(str(environment.facts["python"]).split(".")[:2])


def chosen(wanted: Sequence[str], environment: Environment) -> tuple[str, ...]:
    """The labels that a worker carries: those wanted, or all that are proven; raises LabelError."""
    found = proven(environment)
    for label in wanted:
        if label not in found:
            raise LabelError(f"this machine does not have the label '{label}': {_why(label, environment)}")
    return tuple(dict.fromkeys(wanted)) or found


def _why(label: str, environment: Environment) -> str:
    torch = environment.torch
    if label in ACCELERATORS:
        if not torch:
            return f"torch cannot be imported ({environment.facts['torch_error']})"
        return f"torch {torch['version']} sees no {'GPU' if label == 'cuda' else 'MPS device'}"
    if label in PLATFORMS:
        return f"it runs {environment.facts['platform']}"
    if PYTHON.fullmatch(label):
        return f"its trials run with Python {environment.facts['python']}; select another one with --python"
    return f"labels are {', '.join((*PLATFORMS, *ACCELERATORS))}, and Python versions such as python3.14"


def described(environment: Environment) -> str:
    """A machine in brackets behind its name: ``darwin 25.1.0, torch 2.13.0, mps``."""
    torch = environment.torch
    words = re.match(r"[A-Za-z]+-?([\d.]*\d)?", str(environment.facts["platform"]))
    version = words[1] if words and words[1] else ""
    system = " ".join(filter(None, [environment.system or "", version]))
    parts = [system, f"torch {torch['version']}" if torch else "no torch", *_accelerators(environment)]
    return ", ".join(part for part in parts if part)


def _accelerators(environment: Environment) -> Iterable[str]:
    if environment.has_cuda:
        yield ", ".join(dict.fromkeys(environment.torch["gpus"]))
    if environment.torch.get("mps"):
        yield "mps"
