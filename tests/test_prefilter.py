"""Files are cleared by their bytes alone only where no rule could find anything in them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fixture_cases import Case, all_cases, by_rule, expected

from forklint.config import Settings, SettingsFinder
from forklint.parallel import Job, lint
from forklint.prefilter import EDITS, Passed, Prefilter, Screen
from forklint.project.resolver import Resolver
from forklint.rules import registry, table
from forklint.rules.needs import Needs
from forklint.source.roots import Extent

ROOT = Path(__file__).parent.parent
BAD = [case for case in all_cases() if not case.good]
PREVIEW = {"preview": True}
PLAIN = b"import os\n\nLOW, HIGH = 0, 10\n\n\ndef middle(low=LOW, high=HIGH):\n    return (low + high) / 2\n"
HAZARD = (
    "import lmdb\nfrom torch.utils.data import Dataset\n\n\nclass Words(Dataset):\n"
    "    def __init__(self, root):\n        self.env = lmdb.open(root)\n\n"
    "    def __getitem__(self, index):\n        return self.env.stat()\n"
)


def clears(path: Path, data: bytes = PLAIN, **settings: object) -> bool:
    """Whether a file below the folder of the test is cleared."""
    (path.parent / "forklint.toml").touch()
    return Prefilter(SettingsFinder(settings, isolated=True)).clears(path, data)


# What is written down


@pytest.fixture
def make_docs(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import make_docs

    yield make_docs
    sys.modules.pop("make_docs", None)


def test_the_table_of_needs_is_current(make_docs) -> None:
    assert make_docs.TABLE.read_text(encoding="utf-8") == make_docs.table(), "run `make docs`"


def test_each_rule_is_known_by_its_card() -> None:
    assert registry.cards(Settings()) == registry.drawn(Settings())
    assert [registry.load(card) for card in registry.cards(Settings())] == list(registry.all_rules())
    assert registry.codes() == {rule.code: (rule.name, rule.preview) for rule in registry.all_rules()}


@pytest.mark.parametrize("rule", registry.all_rules(), ids=lambda rule: rule.code)
def test_each_rule_needs_something(rule) -> None:
    assert rule.needs_under(Settings()) != Needs(), "every file would be parsed for it"


def test_a_rule_that_is_not_written_down_is_found(monkeypatch) -> None:
    registry._written.cache_clear()
    monkeypatch.setattr(table, "FILES", table.FILES - {"late_env_var.py"})
    monkeypatch.setattr(table, "ROWS", tuple(row for row in table.ROWS if row[0] != "FKL101"))
    try:
        assert registry.cards(Settings()) == registry.drawn(Settings())
    finally:
        registry._written.cache_clear()


# What is cleared


def test_a_file_that_has_to_do_with_nothing_is_cleared(tmp_path: Path) -> None:
    assert clears(tmp_path / "plain.py")


@pytest.mark.parametrize(
    "text",
    [
        "from . import numbers\n",
        "from .numbers import one\n",
        "from.numbers import one\n",
        "from \\\n    . import numbers\n",
        "import numbers_of_ours\n",
        "import os, numbers_of_ours.deep\n",
        "import os; import numbers_of_ours\n",
        "import os, \\\n    numbers_of_ours\n",
        "def run():\n    from numbers_of_ours import one\n",
        "import os\rimport numbers_of_ours\r",
        "from\tnumbers_of_ours\timport one\n",
        "import below_src\n",
        "import folder\n",
        "import ﬁle\n",
    ],
)
def test_a_file_that_may_reach_another_is_not_cleared(tmp_path: Path, text: str) -> None:
    (tmp_path / "numbers_of_ours.py").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "src" / "below_src").mkdir(parents=True)
    assert not clears(tmp_path / "plain.py", text.encode() + PLAIN)


def test_a_file_of_a_package_is_not_cleared(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "forklint.toml").touch()
    path = tmp_path / "package" / "plain.py"
    assert not Prefilter(SettingsFinder(isolated=True)).clears(path, PLAIN)


@pytest.mark.parametrize(
    "text",
    [
        "x = (\n",  # FKL002
        "x = 1  # noqa: FKL301\n",  # FKL001
        "x = 1  # forklint: ignore[handle-in-init]\n",
        HAZARD,
        "import torch\n",
        "import os\n\nos.environ['OMP_NUM_THREADS'] = '1'\n",
    ],
)
def test_a_file_of_which_something_may_be_said_is_not_cleared(tmp_path: Path, text: str) -> None:
    assert not clears(tmp_path / "plain.py", text.encode())


def test_a_file_that_was_parsed_already_is_not_parsed_again(tmp_path: Path) -> None:
    (tmp_path / "forklint.toml").touch()
    finder = SettingsFinder(isolated=True)
    assert Prefilter(finder, parsed=True).clears(tmp_path / "plain.py", b"x = (\n")


@pytest.mark.parametrize("name", ["plain.ipynb", "plain.yaml", "plain.lock"])
def test_only_python_is_cleared(tmp_path: Path, name: str) -> None:
    assert not clears(tmp_path / name, b"{}")


def test_words_of_rules_that_do_not_run_do_not_matter(tmp_path: Path) -> None:
    data = b"import torch\n"
    assert clears(tmp_path / "plain.py", data, select=("FKL603",))
    assert not clears(tmp_path / "plain.py", data + b"torch.ByteStorage\n", select=("FKL603",))


@pytest.mark.parametrize(
    ("rows", "data"),
    [
        ({"handles": ({"call": ["numpy.unlock"], "kind": "shop"},)}, b"import numpy\n\nSHOP = numpy.unlock()\n"),
        ({"starters": ({"call": ["numpy.hire"]},)}, b"import numpy\n\nnumpy.hire(print)\n"),
        ({"env_vars": ({"name": "SHOP_DOOR", "modules": ["shop"]},)}, b"import os\n\nos.environ['SHOP_DOOR'] = '1'\n"),
    ],
)
def test_rows_of_the_project_add_to_what_is_looked_for(tmp_path: Path, rows: dict, data: bytes) -> None:
    path = tmp_path / "plain.py"
    assert clears(path, data)
    assert not clears(path, data, **rows)
    screen = Screen(Resolver(Extent(tmp_path, tmp_path)))
    known, added = registry.cards(Settings()), registry.cards(Settings(**rows))
    wanting = {card.code for card in added if screen.may_want(card, path, data)}
    assert len(wanting - {card.code for card in known if screen.may_want(card, path, data)}) == 1


@pytest.mark.parametrize("cases", by_rule(BAD), ids=lambda cases: cases[0].rule)
def test_no_file_with_a_finding_is_cleared(cases: list[Case], tmp_path: Path) -> None:
    for case in cases:
        folder = tmp_path / case.path.name
        folder.mkdir()
        files = case.copy_to(folder)
        prefilter = Prefilter(SettingsFinder(PREVIEW))
        for original, copy in zip(case.files, files, strict=True):
            assert not (prefilter.clears(copy, copy.read_bytes()) and expected(original)), case.id


def test_what_is_cleared_is_what_nothing_is_found_in(tmp_path: Path) -> None:
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "plain.py").write_bytes(PLAIN)
    (tmp_path / "words.py").write_text(HAZARD)
    (tmp_path / "broken.py").write_text("x = (\n")
    files = [tmp_path / name for name in ("broken.py", "plain.py", "words.py", "none.py")]
    reports = lint(Job(isolated=True), files, 1)
    assert reports == lint(Job(isolated=True, screen=False), files, 1)
    assert [sorted({one.code for one in report.findings}) for report in reports] == [["FKL002"], [], ["FKL301"], []]


def test_a_screen_that_let_a_file_pass_is_asked_again_after_some_edits() -> None:
    passed, asked = Passed(), []
    answers = iter([True, False, True])

    def ask() -> bool:
        asked.append(next(answers))
        return asked[-1]

    given = [passed.holds("FKL501", Path("birds.py"), ask, is_loaded=True) for _ in range(EDITS)]
    assert given == [True] * EDITS
    assert asked == [True]
    assert not passed.holds("FKL501", Path("birds.py"), ask, is_loaded=True)
    assert passed.holds("FKL501", Path("birds.py"), ask, is_loaded=True)
    assert not passed.holds("FKL301", Path("birds.py"), lambda: False, is_loaded=True)
    assert not passed.holds("FKL501", Path("birds.py"), lambda: False, is_loaded=False)
