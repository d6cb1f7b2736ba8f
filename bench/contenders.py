"""Who runs: the commands that are measured, each with the round that it runs in.

A command is written as a user would type it. Words in capitals stand for what is in ``inputs``, for a folder of the
contender's own (CACHE), for the interpreter that has torch (PYTHON) or for programs of this folder (CLOCK, TYPIST); the
first word is a program of the environment of its tool.
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
from bench.measures import LONGEST, Command
from bench.peers import FORKLINT, Environment
from bench.preparation import COMMENT, FUNCTION, Edit

SIZES = (1_000, 10_000, 30_000, 100_000)
SMALL_SIZES = (700, 1_400, 2_100)
"""Numbers of files between which growth is looked at, in a whole and in a quick run."""
NOT_MEASURED = "not measured"
NOT_BUILT = "not built"
LINT = "--isolated --preview -j 2 --output-format concise"
RUFF = "ruff check --isolated --select F,B,PL --output-format concise"
TY = "ty check --output-format concise --no-progress"
PYREFLY = "pyrefly check -j 2 --skip-interpreter-query --progress-bar no --output-format min-text"
MYPY = "mypy --config-file= --show-column-numbers --cache-dir /dev/null --ignore-missing-imports"
FLAKE8 = "flake8 --isolated -j 2 --forklint-isolated PART"
CLOCK = Path(__file__).with_name("each_file.py")
"""What CLOCK stands for: the program that clocks file after file."""
TYPIST = Path(__file__).with_name("key_presses.py")
"""What TYPIST stands for: the program that types into files of an editor."""
LARGE_FILE = 10_000
WORST = 5
"""So many of the slowest files are named."""
LIMIT = 600.0
"""Seconds after which a long command is ended."""
FOUND = re.compile(r"(?m)^(?:ERROR )?\S+\.pyi?[:@]\d+:\d+\b")
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


def worst(output: str) -> dict[str, float]:
    """The files that take longest for their size, in times of the mean, out of what ``bench/each_file.py`` prints.

    Counted are files without findings of more than LARGE_FILE bytes.
    """
    rows = [json.loads(line) for line in output.splitlines()]
    pace = {row["path"]: row["seconds"] / row["bytes"] for row in rows if is_counted(row)}
    mean = sum(pace.values()) / max(len(pace), 1)
    slowest = sorted(pace, key=pace.__getitem__, reverse=True)[:WORST]
    return {path: pace[path] / mean for path in slowest}


def is_counted(row: Mapping[str, float]) -> bool:
    """Whether a file is large enough for its size to matter, and nothing is found in it."""
    return row["bytes"] > LARGE_FILE and not row["findings"]


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
    longest: float = LONGEST
    """Seconds after which it is ended and counts as not done."""
    store: str = ""
    """A command that fills a store, of which each run gets a copy of its own."""
    before: str = ""
    """A command that is run before each run, untimed."""
    edit: Edit | None = None
    """A change that is made before each run and taken back after it."""

    @property
    def inputs(self) -> list[str]:
        """The words that stand for what is linted."""
        return [word for word in shlex.split(self.text) if is_input(word)]

    @property
    def all_inputs(self) -> list[str]:
        """The same, with what is edited and what the commands before it are given."""
        texts = f"{self.text} {self.store} {self.before} {self.edit.word if self.edit else ''}"
        return [word.rpartition("=")[2] for word in shlex.split(texts) if is_input(word.rpartition("=")[2])]

    @property
    def preparation(self) -> str:
        """What is done before each run, for a reader; empty if nothing is."""
        edit = self.edit.words if self.edit else ""
        return ", ".join(filter(None, ("a warm cache of PROJECT" if self.store else "", self.before, edit)))

    def command(self, environment: Environment, inputs: Inputs, caches: Path, without: Collection[str] = ()) -> Command:
        """What is executed; ``without`` are words to leave out."""
        words = filled_in(self.text, environment, inputs, caches / self.name, without)
        return Command(self.name, words, self.facts, self.watched, self.after, self.longest)


def is_input(word: str) -> bool:
    """Whether a word stands for what is linted."""
    return WORD.fullmatch(word) is not None and word not in {"CACHE", "PYTHON", "CLOCK", "TYPIST"}


def filled_in(
    text: str, environment: Environment, inputs: Inputs, cache: Path, without: Collection[str] = ()
) -> tuple[str, ...]:
    """The words of a command, with paths in the place of those that stand for some; ``without`` are left out.

    An option such as ``--root=CORPUS`` is repeated for each path of the input.
    """
    program, *words = shlex.split(text)
    alone = {"CACHE": str(cache), "PYTHON": sys.executable, "CLOCK": str(CLOCK), "TYPIST": str(TYPIST)}
    found: list[str] = [*environment.command(program)]
    for word in words:
        option, equals, value = word.rpartition("=")
        if is_input(value):
            found += [f"{option}{equals}{path}" for path in inputs.of(value).paths]
        elif word not in without:
            found.append(alone.get(word, word))
    return tuple(found)


def _growth(files: int) -> Contender:
    text = f"forklint COPIES_{files} {LINT} --no-cache"
    few = files < SIZES[1]
    name, less = (f"forklint-{size}-files" for size in (files, max((s for s in SIZES if s < files), default=0)))
    return Contender(name, "growth", FORKLINT, text, 3 if few else 1, warm_up=few, after=less, watched=True)


def _edited(name: str, given: str, edit: Edit, *, rounds: int = 99) -> Contender:
    """A run after an edit, with a store that knows the project as it was before."""
    text, store = (f"forklint {word} {LINT} --cache-dir CACHE" for word in (given, "PROJECT"))
    whole = given == "PROJECT"
    return Contender(name, "project", FORKLINT, text, rounds, not whole, longest=LIMIT, store=store, edit=edit)


def _comment(word: str) -> Edit:
    return Edit(word, COMMENT, words=f"a comment added to {word}")


CONTENDERS = (
    Contender("forklint", "corpus", FORKLINT, f"forklint CORPUS {LINT} --no-cache"),
    Contender("forklint-warm", "corpus", FORKLINT, f"forklint CORPUS {LINT} --cache-dir CACHE"),
    Contender("ruff", "corpus", "ruff", f"{RUFF} --no-cache CORPUS"),
    Contender("ruff-warm", "corpus", "ruff", f"{RUFF} --cache-dir CACHE CORPUS"),
    Contender("ty", "corpus", "ty", f"{TY} CORPUS", longest=LIMIT),
    Contender("ty-resolving", "corpus", "ty", f"{TY} --extra-search-path=CORPUS CORPUS", 3, longest=LIMIT),
    Contender("pyrefly", "corpus", "pyrefly", f"{PYREFLY} CORPUS", 3, longest=LIMIT),
    Contender("forklint-part", "types", FORKLINT, f"forklint TENTH {LINT} --no-cache"),
    Contender("mypy", "types", "mypy", f"{MYPY} TENTH", 3, longest=LIMIT),
    Contender("forklint-project", "project", FORKLINT, f"forklint PROJECT {LINT} --no-cache", 5, longest=LIMIT),
    Contender("ruff-project", "project", "ruff", f"{RUFF} --no-cache PROJECT", 5),
    _edited("forklint-comment", "PROJECT", _comment("EDITED"), rounds=5),
    _edited(
        "forklint-function",
        "PROJECT",
        Edit("IMPORTED", FUNCTION, at_end=True, words="a function added to IMPORTED"),
        rounds=5,
    ),
    _edited("forklint-hook", "EDITED", _comment("EDITED")),
    _edited("forklint-hook-finding", "FAULTY", _comment("FAULTY")),
    Contender("forklint-one-file", "project", FORKLINT, f"forklint EDITED {LINT} --no-cache"),
    Contender("import-libcst-alone", "project", FORKLINT, "python -c 'import libcst'", facts=nothing),
    Contender("forklint-torch", "torch", FORKLINT, f"forklint TORCH {LINT} --no-cache", warm_up=False, longest=LIMIT),
    Contender("ty-torch", "torch", "ty", f"{TY} TORCH", longest=LIMIT),
    Contender("ty-torch-resolving", "torch", "ty", f"{TY} --project=TORCH TORCH", longest=LIMIT),
    Contender("torchfix", "sample", "torchfix", "torchfix -j 2 SAMPLE"),
    Contender("fixit", "sample", "fixit", "fixit lint SAMPLE"),
    Contender("forklint-sample", "sample", FORKLINT, f"forklint SAMPLE {LINT} --no-cache"),
    Contender("forklint-clean-file", "start", FORKLINT, "forklint CLEAN --isolated --no-cache --output-format concise"),
    Contender("import-click", "start", FORKLINT, "python -c 'import click'", facts=nothing),
    Contender("forklint-finding", "start", FORKLINT, "forklint FINDING --isolated --no-cache --output-format concise"),
    Contender("import-libcst", "start", FORKLINT, "python -c 'import libcst, click'", facts=nothing),
    Contender("flake8", "flake8", "flake8", "flake8 --isolated -j 2 PART"),
    Contender("flake8-forklint", "flake8", FORKLINT, FLAKE8, before="forklint clean PART"),
    Contender("flake8-forklint-warm", "flake8", FORKLINT, FLAKE8),
    *map(_growth, sorted({*SIZES, *SMALL_SIZES})),
    Contender(
        "forklint-each-file", "files", FORKLINT, "python CLOCK CORPUS", 1, warm_up=False, facts=worst, longest=LIMIT
    ),
    Contender("server", "server", FORKLINT, "python TYPIST PROJECT", 1, warm_up=False, facts=json.loads, longest=LIMIT),
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
    wanted = {known[name].name for name in names}
    return [one for one in CONTENDERS if one.name in wanted]
