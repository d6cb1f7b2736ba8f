"""Comments that silence: of a line, of a file, idle ones, and how idle ones are taken out."""

from __future__ import annotations

import json
from pathlib import Path

from hazards import SHORT_HAZARD as HAZARD

from forklint.source.comments import Comment, comments, uncommented


def codes(forklint, folder: Path, *arguments: str) -> list[str]:
    result = forklint("data.py", "--output-format", "json", *arguments, cwd=folder)
    return [one["code"] for one in json.loads(result.stdout)]


FILE_COMMENTS = [
    ("# forklint: ignore-file", []),
    ("# forklint: ignore-file[FKL301]", []),
    ("# forklint: ignore-file[handle-in-init, FKL201]", ["FKL001"]),
    ("# forklint: ignore-file[FKL201]", ["FKL001", "FKL301"]),
    ("#forklint:IGNORE-FILE[fkl301]", []),
    ("# flake8: noqa", []),
    ("# flake8: noqa: FKL301", []),
    ("# flake8: noqa: E501", ["FKL301"]),
    ("# flake8: noqa: FKL201", ["FKL001", "FKL301"]),
    ("# forklint: ignore-files", ["FKL301"]),
    ("# ruff: noqa", ["FKL301"]),
    ("# ruff: noqa: FKL301", ["FKL301"]),
]


def test_comments_of_a_file(forklint, tmp_path: Path) -> None:
    expected = {}
    for number, (comment, found) in enumerate(FILE_COMMENTS):
        for where, text in (("head", f"{comment}\n{HAZARD}"), ("end", f"{HAZARD}\n{comment}\n")):
            (tmp_path / f"case_{number}_{where}.py").write_text(text)
            expected[f"case_{number}_{where}.py", comment] = found
    found = json.loads(forklint("--output-format", "json", cwd=tmp_path).stdout)
    for (name, comment), codes in expected.items():
        assert sorted(one["code"] for one in found if Path(one["filename"]).name == name) == codes, comment


def test_a_comment_of_a_file_stands_alone_on_its_line(forklint, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(HAZARD.replace("import lmdb\n", "import lmdb  # forklint: ignore-file\n"))
    assert codes(forklint, tmp_path) == ["FKL301"]
    (tmp_path / "data.py").write_text(HAZARD.replace("True)\n", "True)  # forklint: ignore-file\n"))
    assert codes(forklint, tmp_path) == ["FKL301"]


def test_a_file_that_is_ignored_may_be_broken(forklint, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text("# forklint: ignore-file\ndef broken(:\n")
    assert codes(forklint, tmp_path) == []


IDLE = [
    ("x = 1  # noqa: FKL301", "x = 1"),
    ("x = 1  # noqa:FKL301,E501", "x = 1  # noqa:E501"),
    ("x = 1  # noqa: E501 FKL301 W291", "x = 1  # noqa: E501 W291"),
    ("x = 1  # noqa: FKL301, E501 too long", "x = 1  # noqa: E501 too long"),
    ("x = 1  # noqa: FKL301 opened once", "x = 1  # opened once"),
    ("x = 1  # noqa: FKL301 - opened once", "x = 1  # opened once"),
    ("x = 1  # type: ignore  # noqa: FKL301", "x = 1  # type: ignore"),
    ("x = 1  # noqa: FKL301  # type: ignore", "x = 1  # type: ignore"),
    ("x = 1  # forklint: ignore[FKL301]", "x = 1"),
    ("x = 1  # forklint: ignore[FKL999]", "x = 1"),
    ("x = 1  # forklint: ignore[FKL301]  # noqa: FKL301", "x = 1"),
    ("x = 1\n# forklint: ignore[FKL301, handle-in-init]\ny = 2", "x = 1\ny = 2"),
    ("def f():\n    # forklint: ignore[FKL301]\n    return 1", "def f():\n    return 1"),
    ("x = 1\n# forklint: ignore-file[FKL301, FKL201]", "x = 1\n"),
    ("# flake8: noqa: FKL301\nx = 1", "x = 1"),
    ("x = [\n    1,  # noqa: FKL301\n    # noqa: FKL201\n]", "x = [\n    1,\n]"),
    ("x = 1  # noqa: FKL301\r\ny = 2\r\n", "x = 1\r\ny = 2\r\n"),
    ("t = '''\n# noqa: FKL301\n'''\n", "t = '''\n# noqa: FKL301\n'''\n"),
    ("x = 1  # noqa: FKL001, FKL301", "x = 1  # noqa: FKL001, FKL301"),
    ("x = 1  # noqa: FKL001", "x = 1"),
    ("# forklint: ignore-file[FKL001]\nx = 1  # noqa: FKL301",) * 2,
    ("x = 1  # noqa", "x = 1  # noqa"),
]


def test_idle_codes_are_taken_out(forklint, tmp_path: Path) -> None:
    for number, (before, _) in enumerate(IDLE):
        (tmp_path / f"case_{number}.py").write_bytes(before.encode())
    result = forklint("--fix", cwd=tmp_path)
    for number, (before, after) in enumerate(IDLE):
        assert (tmp_path / f"case_{number}.py").read_bytes() == after.encode(), before
    assert result.returncode == 0, result.stdout


def test_a_used_code_stays_beside_an_idle_one(forklint, tmp_path: Path) -> None:
    text = HAZARD.replace("True)\n", "True)  # noqa: FKL201, FKL301, E501 known\n")
    (tmp_path / "data.py").write_text(text)
    assert forklint("data.py", "--fix", cwd=tmp_path).returncode == 0
    assert (tmp_path / "data.py").read_text() == text.replace("FKL201, ", "")


def test_what_did_not_run_is_not_called_idle(forklint, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text("x = 1  # noqa: FKL301\n")
    assert codes(forklint, tmp_path) == ["FKL001"]
    assert codes(forklint, tmp_path, "--ignore", "FKL301") == []
    assert codes(forklint, tmp_path, "--per-file-ignores", "data.py:FKL301") == []


def test_a_comment_for_the_file_may_name_the_rule_where_nothing_can_be_parsed(forklint, tmp_path: Path) -> None:
    for word in ("FKL002", "syntax-error"):
        (tmp_path / "broken.py").write_text(f"# forklint: ignore-file[{word}]\ndef (\n")
        assert forklint("broken.py", cwd=tmp_path).returncode == 0, word


def test_comments_are_sought_only_for_a_line_that_may_have_one() -> None:
    """Each finding keeps the text of its line; to find the comments of a file takes as long as the file is."""

    def found() -> list[Comment]:
        asked.append(True)
        return list(comments("\n".join(lines)))

    asked: list[bool] = []
    lines = ["value = 1  ", 'name = "#1"  # first']
    assert (uncommented(lines, 1, found), asked) == ("value = 1", [])
    assert (uncommented(lines, 2, found), asked) == ('name = "#1"', [True])
