"""--add-noqa: after it a run is clean, the code means what it meant, and other tools read the comments."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from flake8_command import Flake8

FIXTURES = Path(__file__).parent / "fixtures"
HEAD = """\
import lmdb
from torch.utils.data import Dataset


class Words(Dataset):
    def __getitem__(self, index):
        return self.env.stat()

    def __init__(self, root):
"""
BODY = "        "
PLAIN = "self.env = lmdb.open(root)"
CASES = {
    "plain": (PLAIN, f"{PLAIN}  # noqa: FKL301"),
    "type_comment": (f"{PLAIN}  # type: ignore", f"{PLAIN}  # type: ignore  # noqa: FKL301"),
    "other_codes": (f"{PLAIN}  # noqa: E501", f"{PLAIN}  # noqa: E501, FKL301"),
    "other_codes_unsorted": (f"{PLAIN}  # noqa:W1,E501 long", f"{PLAIN}  # noqa:E501, FKL301, W1 long"),
    "other_codes_twice": (f"{PLAIN}  # noqa: E501 # noqa: W1", f"{PLAIN}  # noqa: E501, FKL301 # noqa: W1"),
    "in_a_string": (f'{PLAIN}; x = "# noqa: FKL301"', f'{PLAIN}; x = "# noqa: FKL301"  # noqa: FKL301'),
    "in_a_string_before_others": (
        f'{PLAIN}; x = f"# noqa: E1 {{root}}"  # noqa: E501',
        f'{PLAIN}; x = f"# noqa: E1 {{root}}"  # noqa: E501, FKL301',
    ),
    "idle_code": (f"{PLAIN}  # noqa: FKL201", f"{PLAIN}  # noqa: FKL301"),
    "idle_elsewhere": (f"x = 1  # noqa: FKL101\n{BODY}{PLAIN}", f"x = 1\n{BODY}{PLAIN}  # noqa: FKL301"),
    "ignore": (
        f"{PLAIN}  # forklint: ignore[FKL201, FKL301]",
        f"{PLAIN}  # forklint: ignore[FKL301]",
    ),
    "brackets": (
        "self.env = lmdb.open(\n            root,\n        )",
        "self.env = lmdb.open(  # noqa: FKL301\n            root,\n        )",
    ),
    "string": (
        'self.env = lmdb.open("""\n            root\n        """)',
        'self.env = lmdb.open("""\n            root\n        """)  # noqa: FKL301',
    ),
    "f_string": (
        'self.env = lmdb.open(f"""\n            {root}\n        """)',
        'self.env = lmdb.open(f"""\n            {root}\n        """)  # noqa: FKL301',
    ),
    "backslash": (
        "self.env = \\\n            lmdb.open(root)",
        "self.env = \\\n            lmdb.open(root)  # noqa: FKL301",
    ),
    "semicolon": (
        f'{PLAIN}; x = """\n"""',
        f'# forklint: ignore[FKL301]\n{BODY}{PLAIN}; x = """\n"""',
    ),
    "semicolon_below_ignore": (
        f'# forklint: ignore[FKL501]\n{BODY}{PLAIN}; y = torch.nn.Lineer; x = """\n"""',
        f'# forklint: ignore[FKL301, FKL501]\n{BODY}{PLAIN}; y = torch.nn.Lineer; x = """\n"""',
    ),
    "two_of_one_rule": (
        f"{PLAIN}; self.other = lmdb.open(root)",
        f"{PLAIN}; self.other = lmdb.open(root)  # noqa: FKL301",
    ),
}


def text_of(body: str) -> str:
    head = f"import torch\n{HEAD}" if "torch.nn" in body else HEAD
    return f"{head}{BODY}{body}\n"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every case as a file, after one run of --add-noqa."""
    folder = tmp_path_factory.mktemp("noqa")
    for name, (before, _) in CASES.items():
        (folder / f"case_{name}.py").write_text(text_of(before))
    (folder / "blanket.py").write_text(text_of(f"{PLAIN}  # noqa"))
    command = [sys.executable, "-m", "forklint", "--add-noqa", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout == "Added comments for 17 findings, 3 unused comments corrected.\n"
    return folder


@pytest.mark.parametrize("name", list(CASES))
def test_the_comment_stands_where_it_counts(written: Path, name: str) -> None:
    before, after = map(text_of, CASES[name])
    assert (written / f"case_{name}.py").read_text() == after
    assert ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))


def test_a_new_run_is_clean_and_twice_equals_once(forklint, written: Path) -> None:
    texts = {path: path.read_bytes() for path in written.iterdir()}
    assert forklint(cwd=written).returncode == 0
    again = forklint("--add-noqa", cwd=written)
    assert (again.returncode, again.stdout) == (0, "Added comments for 0 findings.\n")
    assert texts == {path: path.read_bytes() for path in written.iterdir()}
    assert (written / "blanket.py").read_text() == text_of(f"{PLAIN}  # noqa")


def test_the_plugin_of_flake8_reads_them_all(flake8: Flake8, written: Path) -> None:
    assert flake8("--isolated", "--select", "FKL", ".", cwd=written).stdout == ""
    assert flake8("--isolated", "--select", "FKL", "--disable-noqa", ".", cwd=written).stdout.count("FKL301") >= 17


REASONS = {
    "opened before the fork": "# noqa: FKL301 opened before the fork",
    "H100 nodes only": "# noqa: FKL301 - H100 nodes only",
    " two\nlines ": "# noqa: FKL301 two lines",
    "": "# noqa: FKL301",
    "# see wiki": "# noqa: FKL301 # see wiki",
}


def test_a_reason_follows_the_codes(forklint, tmp_path: Path) -> None:
    for number, (reason, comment) in enumerate(REASONS.items()):
        path = tmp_path / f"data{number}.py"
        path.write_text(text_of(PLAIN))
        assert forklint(path.name, f"--add-noqa={reason}", cwd=tmp_path).returncode == 0
        assert path.read_text() == text_of(f"{PLAIN}  {comment}")
    assert forklint(cwd=tmp_path).returncode == 0


def test_ruff_and_flake8_still_read_the_line(forklint, tmp_path: Path) -> None:
    path = tmp_path / "data.py"
    path.write_text(text_of(f"{PLAIN}; l = 1  # noqa: E741,E702"))
    assert forklint("data.py", "--add-noqa=H100 only", cwd=tmp_path).returncode == 0
    assert "# noqa: E702, E741, FKL301" in path.read_text()
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E741,E702,RUF100", "--preview"]
    done = subprocess.run(
        [*ruff, "--config", 'lint.external = ["FKL"]', "data.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    flake8 = [sys.executable, "-m", "flake8", "--isolated", "--select", "E741,E702", "data.py"]
    assert subprocess.run(flake8, cwd=tmp_path, capture_output=True, check=False).returncode == 0


FORMS = [
    b"\xef\xbb\xbf" + text_of(PLAIN).encode(),
    text_of(PLAIN).replace("\n", "\r\n").encode(),
    ("# -*- coding: latin-1 -*-\n# caf\xe9\n" + text_of(PLAIN)).encode("latin-1"),
    text_of(PLAIN).rstrip("\n").encode(),
    text_of(PLAIN + "   ").encode(),
    ("\x0c" + text_of(PLAIN)).encode(),
]


def test_the_form_of_a_file_is_kept(forklint, tmp_path: Path) -> None:
    paths = [tmp_path / f"data{number}.py" for number in range(len(FORMS))]
    for path, data in zip(paths, FORMS, strict=True):
        path.write_bytes(data)
        path.chmod(0o640)
    assert forklint("--add-noqa", cwd=tmp_path).returncode == 0
    for path, data in zip(paths, FORMS, strict=True):
        line = PLAIN.encode() + (b"   " if b"   \n" in data else b"")
        assert path.read_bytes() == data.replace(line, f"{PLAIN}  # noqa: FKL301".encode())
        assert path.stat().st_mode & 0o777 == 0o640


def test_what_cannot_be_silenced_is_said(forklint, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def broken(:\n")
    (tmp_path / "stuck.py").write_text(text_of('x = """\n"""; ' + PLAIN + '; y = """\n"""'))
    result = forklint("--add-noqa", "--output-format", "concise", cwd=tmp_path)
    assert result.returncode == 1
    assert "stuck.py: no comment can be added at line 11: FKL301 is still reported" in result.stderr
    assert "broken.py:1:12: FKL002" in result.stdout
    assert (tmp_path / "broken.py").read_text() == "def broken(:\n"


def test_a_reason_that_the_encoding_lacks_is_one_line(forklint, tmp_path: Path) -> None:
    path = tmp_path / "data.py"
    path.write_bytes(b"# coding: latin-1\n" + text_of(PLAIN).encode())
    result = forklint("data.py", "--add-noqa=日本", "-q", "--output-format", "concise", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "the reason cannot be written in iso-8859-1" in result.stderr
    assert path.read_bytes() == b"# coding: latin-1\n" + text_of(PLAIN).encode()


def test_cells_of_a_notebook_get_comments(forklint, tmp_path: Path) -> None:
    sources = [
        "%matplotlib inline\nx = 1  # noqa: FKL201",
        text_of(PLAIN),
        "!ls\n" + text_of(PLAIN).replace("Words", "More"),
    ]
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for source in sources
    ]
    path = tmp_path / "explore.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n")
    result = forklint("--add-noqa=known", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "Added comments for 2 findings, 1 unused comment corrected.\n")
    written = [cell["source"] for cell in json.loads(path.read_text())["cells"]]
    commented = [source.replace(PLAIN, f"{PLAIN}  # noqa: FKL301 known") for source in sources[1:]]
    assert written == ["%matplotlib inline\nx = 1", *commented]
    assert forklint(cwd=tmp_path).returncode == 0


PRESETS = {
    "behind.yaml": ("mac:\r\n  num_workers: 2 # two\r\n", "mac:\r\n  num_workers: 2 # two  # noqa: FKL401 later\r\n"),
    "merged.yaml": (
        "b: &b {num_workers: 2}\nmac:\n  <<: *b",
        "b: &b {num_workers: 2}\nmac:\n  <<: *b  # noqa: FKL401 later",
    ),
    "above.yaml": (
        'mac: {num_workers: 2, name: "a\n  b"}\n',
        '# forklint: ignore[FKL401] later\nmac: {num_workers: 2, name: "a\n  b"}\n',
    ),
    "idle.yaml": ("mac:\n  num_workers: 2 # noqa: FKL201\n", "mac:\n  num_workers: 2  # noqa: FKL401 later\n"),
    "table.toml": ("[mac]\nl = {num_workers=2}\n", "[mac]\nl = {num_workers=2}  # noqa: FKL401 later\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", PRESETS)
def test_files_of_settings_get_comments(forklint, tmp_path: Path, name: str) -> None:
    before, after = PRESETS[name]
    (tmp_path / name).write_bytes(before.encode())
    assert forklint("--add-noqa=later", cwd=tmp_path).returncode == 0
    assert (tmp_path / name).read_bytes() == after.encode()
    assert forklint(cwd=tmp_path).returncode == 0


def test_a_file_without_comments_is_passed_over_with_a_line(forklint, tmp_path: Path) -> None:
    (tmp_path / "mac.json").write_text('{"num_workers": 2}')
    result = forklint("--add-noqa", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr == "forklint: mac.json: JSON has no comments: use per-file-ignores\n"
    assert (tmp_path / "mac.json").read_text() == '{"num_workers": 2}'


@pytest.mark.parametrize("other", ["--fix", "-"])
def test_it_stands_alone(forklint, tmp_path: Path, other: str) -> None:
    result = forklint("--add-noqa", other, cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert result.returncode == 2
    assert "cannot be used with" in result.stderr


@pytest.mark.parametrize(
    "folders",
    [["FKL306_lost_dataset_update"], pytest.param([path.name for path in FIXTURES.glob("*/")], marks=pytest.mark.soak)],
)
def test_after_it_every_hazard_of_the_fixtures_is_silent(forklint, tmp_path: Path, folders: list[str]) -> None:
    for folder in folders:
        shutil.copytree(FIXTURES / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.fixed.*"))
    for path in tmp_path.rglob("*.json"):  # which has no comments
        path.unlink()
    before = {path: ast.dump(ast.parse(path.read_bytes())) for path in tmp_path.rglob("*.py")}
    assert forklint("--ignore", "FKL002", cwd=tmp_path, timeout=600).returncode == 1
    assert forklint("--add-noqa", "--ignore", "FKL002", cwd=tmp_path, timeout=600).returncode == 0
    assert forklint("--ignore", "FKL002", cwd=tmp_path, timeout=600).stdout == "All checks passed.\n"
    assert {path: ast.dump(ast.parse(path.read_bytes())) for path in before} == before
