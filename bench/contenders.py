"""Who runs: the commands that are measured, each with the round that it runs in.

A command is written as a user would type it. Words in capitals stand for what is in ``inputs``, for a folder of the
contender's own (CACHE) or for the interpreter that has torch (PYTHON); the first word is a program of the environment
of its tool.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.inputs import Inputs
from bench.measures import Command
from bench.peers import FORKLINT, Environment

SIZES = (1_000, 10_000, 30_000, 100_000)
SMALL_SIZES = (700, 1_400, 2_100)
"""Numbers of files between which growth is looked at, in a whole and in a quick run."""
NOT_MEASURED = "not measured"
NOT_BUILT = "not built"
UNBUILT = {"server": NOT_BUILT}
"""What rows ask for and forklint has not yet."""
LINT = "--isolated --preview -j 2 --output-format concise"
RUFF = "ruff check --isolated --select F,B,PL --output-format concise"
FOUND = re.compile(r"(?m)^\S+\.py[:@]\d+:\d+\b")
"""The start of a line that tells of a finding, in the output of every tool here."""
WORD = re.compile(r"[A-Z]{2,}(_\d+)?")


def findings(output: str) -> dict[str, float]:
    """How many findings a linter has printed."""
    return {"findings": len(FOUND.findall(output))}


def nothing(_output: str) -> dict[str, float]:
    """For commands of whose output nothing is kept."""
    return {}


def trials(output: str) -> dict[str, float]:
    """How many trials ``forklint verify`` has run, by their number of workers, out of its report as JSON."""
    told: dict[str, float] = {}
    for experiment in json.loads(output)["experiments"]:
        for trial in experiment["trials"]:
            key = f"trials with {trial['factors']['workers']} workers"
            told[key] = told.get(key, 0) + 1
            told["their seconds"] = told.get("their seconds", 0) + trial["wall_seconds"]
    return told


@dataclass(frozen=True)
class Contender:
    """One command, in words that are shown, and what is to be known to run it."""

    name: str
    part: str
    """The contenders of one part take turns in each of its rounds."""
    tool: str
    text: str
    most_rounds: int = 99
    warm_up: bool = True
    after: str = ""
    """One that does less of the same."""
    watched: bool = False
    """Whether the memory of all its processes together is looked at while it runs."""
    facts: Callable[[str], dict[str, float]] = findings

    @property
    def inputs(self) -> list[str]:
        """The words that stand for what is linted."""
        return [word for word in shlex.split(self.text) if WORD.fullmatch(word) and word not in {"CACHE", "PYTHON"}]

    def command(self, environment: Environment, inputs: Inputs, caches: Path, without: Collection[str] = ()) -> Command:
        """What is executed; ``without`` are words to leave out."""
        program, *words = shlex.split(self.text)
        found: list[str] = [*environment.command(program)]
        for word in words:
            if word == "CACHE":
                found.append(str(caches / self.name))
            elif word == "PYTHON":
                found.append(sys.executable)
            elif word in self.inputs:
                found += map(str, inputs.of(word).paths)
            elif word not in without:
                found.append(word)
        return Command(self.name, tuple(found), self.facts, self.watched, self.after)


def _growth(files: int) -> Contender:
    text = f"forklint COPIES_{files} {LINT} --no-cache"
    few = files < SIZES[1]
    name, less = (f"forklint-{size}-files" for size in (files, max((s for s in SIZES if s < files), default=0)))
    return Contender(name, "growth", FORKLINT, text, 3 if few else 1, warm_up=few, after=less, watched=True)


CONTENDERS = (
    Contender("forklint", "corpus", FORKLINT, f"forklint CORPUS {LINT} --no-cache"),
    Contender("forklint-without-FKL501", "corpus", FORKLINT, f"forklint CORPUS {LINT} --no-cache --ignore FKL501"),
    Contender("forklint-warm", "corpus", FORKLINT, f"forklint CORPUS {LINT} --cache-dir CACHE"),
    Contender("ruff", "corpus", "ruff", f"{RUFF} --no-cache CORPUS"),
    Contender("ruff-warm", "corpus", "ruff", f"{RUFF} --cache-dir CACHE CORPUS"),
    Contender("torchfix", "sample", "torchfix", "torchfix -j 2 SAMPLE"),
    Contender("fixit", "sample", "fixit", "fixit lint SAMPLE"),
    Contender("forklint-sample", "sample", FORKLINT, f"forklint SAMPLE {LINT} --no-cache"),
    Contender("forklint-clean-file", "start", FORKLINT, "forklint CLEAN --isolated --no-cache --output-format concise"),
    Contender("import-click", "start", FORKLINT, "python -c 'import click'", facts=nothing),
    Contender("forklint-finding", "start", FORKLINT, "forklint FINDING --isolated --no-cache --output-format concise"),
    Contender("import-libcst", "start", FORKLINT, "python -c 'import libcst, click'", facts=nothing),
    Contender("flake8", "flake8", "flake8", "flake8 --isolated -j 2 PART"),
    Contender("flake8-forklint", "flake8", FORKLINT, "flake8 --isolated -j 2 --forklint-isolated PART"),
    *map(_growth, sorted({*SIZES, *SMALL_SIZES})),
    Contender(
        "verify",
        "verify",
        FORKLINT,
        "forklint verify FINDING --isolated --start-method fork --python PYTHON --output-format json --quiet",
        facts=trials,
    ),
    Contender("train-0-workers", "verify", "torch", "python FINDING --workers 0", facts=nothing),
    Contender("train-4-workers", "verify", "torch", "python FINDING --workers 4", facts=nothing),
)


def named(names: Iterable[str]) -> list[Contender]:
    """Contenders by name, in the order of the table. Raises KeyError for a name that is not there."""
    known: Mapping[str, Contender] = {one.name: one for one in CONTENDERS}
    wanted = {known[name].name for name in names if name not in UNBUILT}
    return [one for one in CONTENDERS if one.name in wanted]
