"""Every rule has a whole page; docs/rules holds what the docstrings say now, docs/corpus.md what was judged."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

import pytest

from forklint.rules import registry

ROOT = Path(__file__).parent.parent
RULES = registry.all_rules()
SECTIONS = ["What it does", "Why is this bad?", "Example", "Use instead", "Fix safety", "How it is proved"]
SECTIONS += ["Known limits", "References"]
CODE_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.fixture
def make_docs(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import make_docs

    yield make_docs
    sys.modules.pop("make_docs", None)


def test_docs_are_current(make_docs) -> None:
    texts = make_docs.rendered()
    on_disk = {path.name: path.read_text(encoding="utf-8") for path in make_docs.FOLDER.glob("*.md")}
    assert on_disk == texts, "run `make docs`"


@pytest.fixture
def judgements(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import judgements

    yield judgements
    for name in ("judgements", "corpus"):
        sys.modules.pop(name, None)


def test_tables_of_real_code_are_current(judgements) -> None:
    text = judgements.PAGE.read_text(encoding="utf-8")
    assert judgements.rendered(text) == text, "run `make judgements`"


def test_tables_of_real_code_name_every_rule(judgements) -> None:
    text = judgements.PAGE.read_text(encoding="utf-8")
    linked = [rule.code for rule in RULES if f"(corpus/{rule.code}.md)" in text]
    assert linked == [rule.code for rule in RULES if not rule.code.startswith("FKL0")]
    assert all((judgements.PAGE.parent / "corpus" / f"{code}.md").is_file() for code in linked)


def test_judgements_speak_of_listed_packages(judgements) -> None:
    listed = {
        package.folder
        for path in (judgements.corpus.LIST, judgements.corpus.PROJECTS)
        for package in judgements.corpus.packages(path)
    }
    rows = judgements.judgements()
    assert {f"{row.package}-{row.version}" for row in rows} <= listed
    assert {row.rule for row in rows} <= {rule.code for rule in RULES}
    assert len({row.key for row in rows}) == len(rows)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_page_is_whole(rule) -> None:
    page = rule.page()
    titles = [title for title, _ in page.sections]
    assert page.summary.endswith(".")
    assert "\n\n" not in page.summary
    wanted = SECTIONS[:4] if rule.code.startswith("FKL0") else [one for one in SECTIONS if one != "Known limits"]
    assert titles == [one for one in SECTIONS if one in titles], "the sections stand in another order"
    assert set(wanted) <= set(titles)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.code != "FKL002"], ids=lambda rule: rule.code)
def test_examples_are_python(rule) -> None:
    for _, body in rule.page().sections:
        for block in CODE_BLOCK.findall(body):
            ast.parse(block)


def test_rule_command_prints_the_page(forklint, tmp_path: Path) -> None:
    for word in ("FKL301", "fkl301", "handle-in-init"):
        result = forklint("rule", word, cwd=tmp_path)
        assert result.returncode == 0
        assert result.stdout.startswith("# handle-in-init (FKL301)")


def test_rule_command_prints_all_as_json(forklint, tmp_path: Path) -> None:
    result = forklint("rule", "--all", "--output-format", "json", cwd=tmp_path)
    rows = json.loads(result.stdout)
    assert [row["code"] for row in rows] == [rule.code for rule in RULES]
    assert all(row["summary"] and row["sections"] for row in rows)


def test_unknown_rule_is_one_line(forklint, tmp_path: Path) -> None:
    result = forklint("rule", "handle-in-int", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr == "Error: unknown rule 'handle-in-int'; did you mean 'handle-in-init'?\n"
