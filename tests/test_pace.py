"""How much is parsed, and what is imported, on a fixed tree: counts, which do not jitter as seconds do.

Each number is an upper bound that was measured, with little to spare. Where a change needs more, look at its profile
first: one tree too many for each file of a large project is minutes there.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent / "fixtures"
COUNTING = """
import json, sys
sys.argv = ["forklint", *{arguments!r}]
import ast
counts = dict.fromkeys(("parsed", "checks", "modules", "edits", "files"), 0)
def counted(owner, name, what):
    kept = getattr(owner, name)
    def call(*args, **kwargs):
        counts[what] += 1
        return kept(*args, **kwargs)
    setattr(owner, name, call)
from forklint.engine import Linter
from forklint.edits import tree
from forklint.project.module import Module
from forklint.source import document
counted(document, "parse", "parsed")
counted(document, "surely_parses", "checks")
counted(Module, "__init__", "modules")
counted(tree, "parse", "edits")
counted(Linter, "watched", "files")
from forklint.cli import main
try:
    main()
except SystemExit:
    pass
print(json.dumps(counts))
"""
LOADED = """
import sys
sys.argv = {arguments!r}
before = set()
{run}
print()
print("loaded:", *sorted((set(sys.modules) - before) & set({heavy!r})))
"""
HEAVY = ("libcst", "torch", "numpy", "rich", "ruamel", "pathspec", "watchfiles", "flake8")
HEAVY += ("asyncio", "multiprocessing", "concurrent.futures")
PACKAGE = Path(__file__).parents[1] / "src" / "forklint"
ROOMS = (
    "edits",
    "machines",
    "members",
    "loading",
    "datasets",
    "starting",
    "sending",
    "forking",
    "environment",
    "handles",
)


def modules(room: str) -> tuple[str, ...]:
    """The modules of one package of forklint and of the packages in it."""
    paths = sorted((PACKAGE / room).rglob("*.py"))
    return tuple(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in paths)


RULES = tuple(name for name in modules("rules") if not name.endswith("__init__"))
PARTS = tuple(name for room in ROOMS for name in modules(room))
KNOWN = ("forklint.rules.registry", "forklint.rules.needs", "forklint.rules.table")
"""Of the rules, what says which of them are needed."""
NEEDLESS = (
    *(*HEAVY, "tomllib", "tomli", "tempfile", "importlib.resources", "pkgutil", "textwrap", "click.shell_completion"),
    *("hashlib", "json", "signal", "fcntl", "difflib", "sqlite3", "forklint.baseline", "forklint.report.full"),
    *("forklint.incremental", "forklint.store", "forklint.summaries"),
    *("forklint.engine", "forklint.project.files", "forklint.project.index", "forklint.knowledge.handles"),
    *(name for name in RULES if name not in KNOWN),
    *PARTS,
)
"""For a file in which no rule can find anything: its settings are read, and its bytes."""
FOLLOWING = ("forklint.handles.carried", "forklint.rules.misspelt_hook.methods", "forklint.loading.rows")
"""For a file with a class of which the screens of all rules know that nothing is wrong with it."""
WRITING = """
import dataclasses, sys
kept = dataclasses.dataclass
def told(*args, **kwargs):
    sys.modules["written"] = dataclasses
    return kept(*args, **kwargs)
dataclasses.dataclass = told
"""
COMMAND = """
import click
before = set(sys.modules)
from forklint.cli import main
try:
    main()
except SystemExit:
    pass
"""


def counts_of(arguments: list[str], cwd: Path = FIXTURES) -> dict[str, int]:
    """Count what one run in one process does."""
    code = COUNTING.format(arguments=["--isolated", "--preview", "-j1", "-q", "--exit-zero", *arguments])
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=True)
    counts: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return counts


def loaded(arguments: list[str], run: str, cwd: Path, heavy: tuple[str, ...] = HEAVY) -> str:
    """Name the heavy modules that a run imports."""
    code = LOADED.format(arguments=arguments, run=run, heavy=heavy)
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A project of twenty files in which no rule can find anything, though ten of them use torch."""
    for number in range(10):
        (tmp_path / f"net{number}.py").write_text(
            "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
            "        super().__init__()\n        self.head = nn.Linear(2, 2)\n        self.reset()\n\n"
            "    def reset(self):\n        self.register_buffer('mean', torch.zeros(2))\n\n"
            "    def forward(self, x):\n        return self.head(x)\n"
        )
        (tmp_path / f"tool{number}.py").write_text(
            "import os\n\n\ndef place(name):  # noqa: ANN001\n    return os.path.abspath(name)\n"
        )
    (tmp_path / "shop.py").write_text(
        "import re\nfrom dataclasses import dataclass\n\nPRICE = re.compile(r'[0-9]+')\n\n\n@dataclass(frozen=True)\n"
        "class Shop:\n    name: str\n\n    def __str__(self):\n        return self.name\n\n\n"
        "SHOPS = [Shop(name) for name in ('a', 'b')]\n"
    )
    return tmp_path


def test_files_without_a_hazard_are_checked_or_summarised_once_and_never_looked_into(plain: Path) -> None:
    assert counts_of(["."], plain) == {"parsed": 10, "checks": 11, "modules": 0, "edits": 0, "files": 10}


def test_no_method_of_a_dataclass_is_written_for_a_file_that_is_cleared(plain: Path) -> None:
    assert loaded(["forklint", "--isolated", "shop.py"], f"{WRITING}\n{COMMAND}", plain, ("written",)) == "loaded:"
    assert loaded(["forklint", "--isolated", "net0.py"], f"{WRITING}\n{COMMAND}", plain, ("written",)) != "loaded:"


def test_without_screens_each_file_is_parsed_once(plain: Path) -> None:
    counts = counts_of(["--no-screen", "."], plain)
    assert (counts["parsed"], counts["modules"], counts["edits"], counts["files"]) == (21, 21, 0, 21)


def test_one_finding_costs_one_tree_of_each_kind(plain: Path) -> None:
    (plain / "words.py").write_text(
        "import lmdb\nfrom torch.utils.data import Dataset\n\n\nclass Words(Dataset):\n"
        "    def __init__(self, root):\n        self.env = lmdb.open(root)\n\n"
        "    def __getitem__(self, index):\n        return self.env.stat()\n"
    )
    counts = counts_of(["."], plain)
    assert (counts["parsed"], counts["modules"], counts["edits"]) == (11, 1, 1)


def test_a_suppressed_line_of_another_tool_is_not_looked_into(plain: Path) -> None:
    (plain / "other.py").write_text("import json  # noqa: F401\nimport os  # noqa\n")
    assert counts_of(["other.py"], plain)["modules"] == 0


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["--isolated", "tool0.py"], ["--isolated", "shop.py"], ["--isolated", "--no-cache", "tool0.py"]],
)
def test_next_to_nothing_is_imported_for_a_file_that_is_cleared(plain: Path, arguments: list[str]) -> None:
    assert loaded(["forklint", *arguments], COMMAND, plain, NEEDLESS) == "loaded:"


def test_rules_are_imported_for_what_they_need(plain: Path) -> None:
    done = loaded(["forklint", "--isolated", "--no-cache", "net0.py"], COMMAND, plain, RULES)
    asked = {name.split(".")[2] for name in done.split()[1:]} - {"base", "needs", "registry", "table"}
    known = {"unknown_method", "misspelt_hook", "syntax_error", "unused_suppression"}
    assert asked == known, "the engine itself asks the last two"


def test_screens_do_without_what_follows_values(plain: Path) -> None:
    seldom = (*HEAVY, *FOLLOWING, "tempfile", "importlib.resources")
    assert loaded(["forklint", "--isolated", "--no-cache", "net0.py"], COMMAND, plain, seldom) == "loaded:"


def test_nothing_heavy_is_imported_for_a_file_without_a_hazard(plain: Path) -> None:
    assert loaded(["forklint", "--isolated", "net0.py"], COMMAND, plain) == "loaded:"


FLAKE8 = "from flake8.main.cli import main\nmain(sys.argv[1:])"


def test_nor_by_the_plugin(plain: Path) -> None:
    (plain / ".flake8").write_text("[flake8]\nselect = FKL\n")
    alone = ("libcst", "torch", "numpy", "rich", "ruamel", "watchfiles", "click")
    own = tuple(name for name in NEEDLESS if name.startswith("forklint."))
    assert len(own) > 50
    assert loaded(["flake8", "-j1", "tool0.py"], FLAKE8, plain, (*alone, *own)) == "loaded:"
