"""``forklint init`` where a project has settings for VS Code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from doc_snippets import snippet

from forklint.setup import editor
from forklint.setup.proposal import Project

INIT = ("init", "--yes", "--no-config", "--no-hook", "--no-ci")


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """A project's settings.json, which is not there yet."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / ".vscode").mkdir()
    return tmp_path / ".vscode" / "settings.json"


def test_the_entries_are_those_of_the_documentation(settings: Path, forklint) -> None:
    done = forklint(*INIT, cwd=settings.parent.parent)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "wrote .vscode/settings.json")
    assert json.loads(settings.read_text()) == json.loads(snippet("editors.md", "vscode-settings"))


def test_without_the_folder_nothing_is_proposed(tmp_path: Path) -> None:
    assert editor.propose(Project(tmp_path, None)) is None


ADDED = '"flake8.importStrategy": "fromEnvironment",\n{0}"flake8.args": ["--extend-select=FKL"]\n'
TEXTS = {
    "empty object": ("{}", "{\n" + "  " + ADDED.format("  ") + "}"),
    "entries": ('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  ' + ADDED.format("  ") + "}\n"),
    "comment behind": (
        '{\n    // ours\n    "a": "// no } comment" // one, {\n}\n',
        '{\n    // ours\n    "a": "// no } comment", // one, {\n    ' + ADDED.format("    ") + "}\n",
    ),
    "trailing comma": (
        '{\n\t"a": [1, 2,],\n\t/* last } */\n}\n',
        '{\n\t"a": [1, 2,],\n\t/* last } */\n\t' + ADDED.format("\t") + "}\n",
    ),
    "escaped quote": ('{\n  "a\\"}": {"b": {}}\n}', '{\n  "a\\"}": {"b": {}},\n  ' + ADDED.format("  ") + "}"),
}


@pytest.mark.parametrize(("before", "after"), TEXTS.values(), ids=TEXTS)
def test_entries_are_added_and_the_rest_stays(settings: Path, forklint, before: str, after: str) -> None:
    settings.write_text(before)
    assert forklint(*INIT, cwd=settings.parent.parent).returncode == 0
    assert settings.read_text() == after
    again = forklint(*INIT, cwd=settings.parent.parent)
    assert (again.returncode, settings.read_text()) == (0, after)
    assert ".vscode/settings.json: already shows forklint's findings; not changed\n" in again.stdout


@pytest.mark.parametrize("text", ['{"a": 1}\n', '{\n  "flake8.args": ["--max-line-length=100"]\n}\n'])
def test_what_cannot_be_added_is_shown(settings: Path, forklint, text: str) -> None:
    settings.write_text(text)
    done = forklint(*INIT, cwd=settings.parent.parent)
    assert done.returncode == 1
    assert "add this yourself:\n{\n" in done.stdout
    assert settings.read_text() == text, "a setting of the user is never overwritten"


@pytest.mark.parametrize("text", ['{\n  "a": }\n', "{\n /* no end\n}\n", "[]\n"])
def test_broken_json_is_one_line(settings: Path, forklint, text: str) -> None:
    settings.write_text(text)
    done = forklint(*INIT, cwd=settings.parent.parent)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"Error: {settings}: ")
    assert line.endswith("; fix it, or pass --no-editor")
