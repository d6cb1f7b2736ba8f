"""Tables are read as they stand in their files, whatever was kept of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forklint.knowledge import read_toml, table

SOURCE = Path(__file__).parents[2] / "src" / "forklint"
TABLES = sorted(path for path in (SOURCE / "knowledge").iterdir() if path.suffix in {".toml", ".json"})
ASK = """
import sys
from forklint.knowledge import table
print(table("handles.toml")["wrappers"], sorted({"tomllib", "tomli"} & set(sys.modules)))
"""


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_a_table_is_what_its_file_says(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert table(path.name) == (json.loads(text) if path.suffix == ".json" else read_toml(text))


def test_a_table_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        table("none.toml")


def ask(folder: Path, **environment: str) -> str:
    """What a new process reads from a copy of the tables, and which reader of TOML it needed."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={**kept, "PYTHONPATH": str(folder), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with a copy of forklint's tables that can be written."""
    package = tmp_path / "forklint"
    (package / "knowledge").mkdir(parents=True)
    for name in ("__init__.py", "records.py"):
        shutil.copy(SOURCE / name, package / name)
    for path in (SOURCE / "knowledge").iterdir():
        if path.is_file():
            shutil.copy(path, package / "knowledge" / path.name)
    return tmp_path


def change(folder: Path) -> None:
    file = folder / "forklint" / "knowledge" / "handles.toml"
    text = file.read_text(encoding="utf-8")
    first, last = text.index("wrappers = ["), text.index("]", text.index("wrappers = ["))
    file.write_text(text[:first] + 'wrappers = ["changed.one"' + text[last:], encoding="utf-8")


def test_the_second_process_reads_no_toml_and_a_change_is_seen(copied: Path) -> None:
    first, second = ask(copied), ask(copied)
    assert first != second
    assert second.endswith("[]")
    change(copied)
    assert ask(copied).startswith("['changed.one']")


def test_where_nothing_is_kept_tables_are_read_each_time(copied: Path) -> None:
    answers = [ask(copied, PYTHONDONTWRITEBYTECODE="1") for _ in range(2)]
    assert answers[0] == answers[1]
    assert "toml" in answers[1].rpartition("[")[2]
    assert not list(copied.rglob("*.pyc"))


def test_tables_are_read_from_an_archive(copied: Path) -> None:
    archive = shutil.make_archive(str(copied / "packed"), "zip", copied, "forklint")
    shutil.rmtree(copied / "forklint")
    assert "toml" in ask(Path(archive)).rpartition("[")[2]
