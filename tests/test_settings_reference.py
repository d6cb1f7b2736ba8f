"""What ``forklint config`` and docs/configuration.md say of settings is what the configuration reads."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from forklint import config, settings_reference
from forklint.settings_reference import BY_KEY, SETTINGS, Setting

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = Path(__file__).parent.parent / "docs" / "configuration.md"


def test_every_key_is_explained_and_no_other() -> None:
    assert list(BY_KEY) == list(config.READERS)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: one.key)
def test_the_example_is_valid_and_changes_something(setting: Setting, tmp_path: Path) -> None:
    table = tomllib.loads(setting.usage)["tool"]["forklint"]
    assert list(table) == [setting.key]
    field = setting.key.replace("-", "_")
    read = config.from_table(table, tmp_path / "forklint.toml")
    assert getattr(read, field) != getattr(config.Settings(), field)


@pytest.mark.parametrize("setting", [one for one in SETTINGS if not one.unset], ids=lambda one: one.key)
def test_the_default_is_what_holds_without_the_key(setting: Setting) -> None:
    written = tomllib.loads(f"value = {setting.default}")["value"]
    held = getattr(config.Settings(), setting.key.replace("-", "_"))
    if setting.key == "verify":
        assert (written, held) == ({}, {})
    else:
        assert config.READERS[setting.key](written) == held


def test_the_page_has_what_the_table_says() -> None:
    assert settings_reference.to_markdown() in PAGE.read_text(), "run `make docs`"


def test_keys_are_listed(forklint, tmp_path: Path) -> None:
    done = forklint("config", cwd=tmp_path)
    assert (done.returncode, done.stdout.split()) == (0, list(BY_KEY))


def test_a_key_is_explained(forklint, tmp_path: Path) -> None:
    done = forklint("config", "platforms", cwd=tmp_path)
    assert done.stdout.startswith("Platforms that the code runs on. ")
    assert 'Default value: ["linux", "darwin", "windows"]\n' in done.stdout
    assert 'Type: list of "linux", "darwin", "windows"\n' in done.stdout
    assert '[tool.forklint]\nplatforms = ["linux", "darwin"]\n' in done.stdout


def test_as_json(forklint, tmp_path: Path) -> None:
    whole = json.loads(forklint("config", "--output-format", "json", cwd=tmp_path).stdout)
    assert [one["key"] for one in whole] == list(BY_KEY)
    alone = json.loads(forklint("config", "exit-on", "--output-format", "json", cwd=tmp_path).stdout)
    assert alone == BY_KEY["exit-on"].to_dict()
    assert alone["default"] == '"warning"'


def test_an_unknown_key_is_one_line(forklint, tmp_path: Path) -> None:
    done = forklint("config", "platform", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: unknown key 'platform'; did you mean 'platforms'?\n"
