"""The settings of the client: what they are read as, and that VS Code, the docs and the server know the same ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from doc_snippets import snippet

from forklint.knowledge import read_toml
from forklint.model import PLATFORMS
from forklint.server.settings import OVERRIDES, OWN, ClientSettings, read

ROOT = Path(__file__).parents[2]
EXTENSION = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
CONTRIBUTED = EXTENSION["contributes"]["configuration"]["properties"]


def test_what_is_empty_is_left_to_the_project() -> None:
    defaults = {name.removeprefix("forklint."): one["default"] for name, one in CONTRIBUTED.items()}
    assert read(defaults) == (ClientSettings(), [])
    for odd in (None, [], 3, "text", {"unknown": 1}):
        assert read(odd) == (ClientSettings(), [])


def test_what_is_set() -> None:
    found, problems = read(
        {"ignore": ["FKL301"], "platforms": ["linux"], "targetPython": "3.12", "delay": 200, "codeLens": False}
    )
    assert not problems
    assert found.overrides == {"ignore": ("FKL301",), "platforms": ("linux",), "target_python": ((3, 12), (3, 12))}
    assert (found.delay, found.code_lens) == (0.2, False)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ignore", "FKL301"),
        ("ignore", ["FKL9999"]),
        ("platforms", ["amiga"]),
        ("targetPython", 3.12),
        ("targetPython", "three"),
        ("preview", "yes"),
        ("codeLens", 1),
        ("delay", -1),
        ("delay", True),
        ("configuration", {}),
    ],
)
def test_what_is_wrong_is_named_and_ignored(key: str, value: object) -> None:
    found, (problem,) = read({key: value, "select": ["FKL3"]})
    assert problem.startswith(f"forklint.{key}: ")
    assert found.overrides == {"select": ("FKL3",)}


def test_the_extension_knows_the_settings_of_the_server() -> None:
    known = {name.removeprefix("forklint.") for name in CONTRIBUTED}
    assert known == ({*OVERRIDES, *OWN} - {"extendSelect", "extendIgnore"}) | {"path", "trace.server"}
    assert set(CONTRIBUTED["forklint.platforms"]["items"]["enum"]) == set(PLATFORMS)
    assert CONTRIBUTED["forklint.delay"]["default"] == 1000 * ClientSettings().delay


def test_the_page_names_each_setting() -> None:
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"## Settings of the server\n(.*?)\n## ", page, re.DOTALL)
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == {*OVERRIDES, *OWN}
    example = json.loads(snippet("editors.md", "vscode-server"))
    assert {name for name in example if name.startswith("forklint.")} <= CONTRIBUTED.keys()


@pytest.mark.parametrize("name", ["neovim-server", "helix-server", "emacs-server"])
def test_each_editor_starts_the_server(name: str) -> None:
    assert re.search(r'"forklint",?.*?"server"', snippet("editors.md", name), re.DOTALL)


def test_the_settings_of_helix_are_settings_of_the_server() -> None:
    server = read_toml(snippet("editors.md", "helix-server"))["language-server"]["forklint"]
    assert [server["command"], *server["args"]] == ["forklint", "server"]
    found, problems = read(server["config"]["forklint"])
    assert found.overrides
    assert not problems
