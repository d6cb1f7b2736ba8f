"""Strange files, through the real command: one clear line each, never a traceback, nothing half-written."""

from __future__ import annotations

import ctypes
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from forked_command import SERVER

HAZARD = """\
from torch.utils.data import Dataset


class Lines(Dataset):
    def __init__(self, path):
        self.file = open(path, "rb")

    def __len__(self):
        return 10

    def __getitem__(self, index):
        self.file.seek(index)
        return self.file.read(1)
"""
FIX = ("--fix", "--unsafe-fixes")
"""Two classes of one name in a project make their fixes unsafe."""
POSIX = pytest.mark.skipif(os.name == "nt", reason="needs POSIX files")
Result = subprocess.CompletedProcess[str]


def forklint(
    *arguments: str | bytes | Path, cwd: Path, wrap: Callable[[], None] | None = None, first: str = "", **env: str
) -> Result:
    """Run the command as a user does, maybe after another program; whatever happens, it must not show a traceback."""
    variables = {**os.environ, **env}
    words = ["--color", "never", *map(os.fsdecode, arguments)]
    if first or (wrap is None and SERVER.can_run(variables)):
        result = SERVER.run(words, cwd, variables, None, 60, first=first)
    else:
        result = subprocess.run(
            [sys.executable, "-m", "forklint", *words],
            cwd=cwd,
            env=variables,
            preexec_fn=wrap,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=60,
            check=False,
        )
    assert "Traceback" not in result.stdout + result.stderr, result.stdout + result.stderr
    assert result.returncode in {0, 1, 2}, (result.returncode, result.stderr)
    return result


def names(folder: Path) -> list[str]:
    """What lies in a folder."""
    return sorted(path.name for path in folder.iterdir() if path.name != ".forklint_cache")


def codes(result: Result) -> list[tuple[str, str]]:
    """The findings of a run with ``--output-format json``: file name and code."""
    return [(Path(one["filename"]).name, one["code"]) for one in json.loads(result.stdout)]


def says(result: Result, name: str, *words: str) -> None:
    """Exactly one line on standard error speaks of the file, and it holds these words."""
    lines = [line for line in result.stderr.splitlines() if name in line]
    assert len(lines) == 1, result.stderr
    for word in words:
        assert word in lines[0], lines[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with one hazard in ``good.py``, which every run must still find."""
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "good.py").write_text(HAZARD)
    return tmp_path


def still_finds(folder: Path, *arguments: str | Path) -> Result:
    """Lint the folder as JSON; the hazard of ``good.py`` is there whatever lies beside it."""
    result = forklint("--output-format", "json", *(arguments or (".",)), cwd=folder)
    assert ("good.py", "FKL301") in codes(result)
    return result


def without_privileges() -> None:
    """Make root obey permissions: drop the two capabilities that override them (numbers of linux/capability.h)."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.fixture
def bound_by_permissions(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], None] | None:
    """What makes a subprocess obey file permissions; skips where root cannot be bound."""
    if os.name == "nt":
        pytest.skip("needs POSIX permissions")
    wrap = None if os.geteuid() else without_privileges
    secret = tmp_path_factory.mktemp("permissions") / "secret"
    secret.touch(mode=0o000)
    probe = [sys.executable, "-c", f"open({str(secret)!r})"]
    if subprocess.run(probe, preexec_fn=wrap, capture_output=True, check=False).returncode == 0:
        pytest.skip("NOT TESTED: root ignores permissions here and its capabilities cannot be dropped")
    return wrap


# ---------------------------------------------------------------- paths


def test_a_missing_path_is_named_and_the_rest_is_linted(folder: Path) -> None:
    result = still_finds(folder, "good.py", "gone.py")
    assert result.returncode == 2
    says(result, "gone.py", "no such file")


@POSIX
def test_an_unreadable_file_is_named_and_the_rest_is_linted(
    folder: Path, bound_by_permissions: Callable[[], None] | None
) -> None:
    (folder / "locked.py").write_text(HAZARD)
    (folder / "locked.py").chmod(0o000)
    result = forklint("--output-format", "json", ".", cwd=folder, wrap=bound_by_permissions)
    assert codes(result) == [("good.py", "FKL301")]
    assert result.returncode == 2
    says(result, "locked.py", "Permission denied")


@POSIX
def test_an_unreadable_folder_is_named_and_the_rest_is_linted(
    folder: Path, bound_by_permissions: Callable[[], None] | None
) -> None:
    (folder / "vault").mkdir()
    (folder / "vault").chmod(0o000)
    try:
        result = forklint("--output-format", "json", ".", cwd=folder, wrap=bound_by_permissions)
    finally:
        (folder / "vault").chmod(0o755)
    assert codes(result) == [("good.py", "FKL301")]
    assert result.returncode == 2
    says(result, "vault", "Permission denied")


@POSIX
def test_a_loop_of_links_ends(folder: Path) -> None:
    (folder / "a.py").symlink_to("b.py")
    (folder / "b.py").symlink_to("a.py")
    (folder / "inside").mkdir()
    (folder / "inside" / "up").symlink_to("..", target_is_directory=True)
    assert still_finds(folder).returncode == 1
    named = still_finds(folder, "good.py", "a.py")
    assert named.returncode == 2
    says(named, "a.py")


@POSIX
def test_a_broken_link_is_named(folder: Path) -> None:
    (folder / "broken.py").symlink_to("nowhere.py")
    assert still_finds(folder).returncode == 1
    named = still_finds(folder, "good.py", "broken.py")
    assert named.returncode == 2
    says(named, "broken.py", "broken link")


@POSIX
def test_a_fifo_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.py")
    (folder / "script.py").write_text("import pipe\nfrom good import Lines\n\nLines('x')\n")
    assert still_finds(folder).returncode == 1
    named = still_finds(folder, "good.py", "pipe.py")
    assert named.returncode == 2
    says(named, "pipe.py", "not a regular file")


def test_a_folder_may_be_called_x_py(folder: Path) -> None:
    (folder / "x.py").mkdir()
    (folder / "x.py" / "inner.py").write_text(HAZARD)
    assert codes(still_finds(folder)) == [("good.py", "FKL301"), ("inner.py", "FKL301")]


def test_a_file_that_vanishes_during_the_run_is_named(folder: Path) -> None:
    (folder / "brief.py").write_text(HAZARD)
    first = (
        "from forklint.source import document\n"
        "read = document.read\n"
        "def vanish(path):\n"
        "    if path.name == 'brief.py':\n"
        "        path.unlink(missing_ok=True)\n"
        "    return read(path)\n"
        "document.read = vanish\n"
    )
    result = forklint("--output-format", "json", "brief.py", "good.py", cwd=folder, first=first)
    assert codes(result) == [("good.py", "FKL301")]
    assert result.returncode == 2
    says(result, "brief.py", "no such file")


def test_odd_names_are_linted_and_fixed(folder: Path) -> None:
    wanted = ["with space.py", "ünïcode.py", "#hash;semi&and.py", "-dash.py", "%s{0}.py", "[bold]x.py"]
    if os.name != "nt":
        wanted += ["line\nbreak.py", "esc\x1b[31m.py", os.fsdecode(b"latin-\xe9.py")]
    for name in wanted:
        try:
            (folder / name).write_text(HAZARD)
        except (OSError, UnicodeEncodeError):
            continue  # this file system has no such names
    files = {path.name for path in folder.glob("*.py")}
    assert {name for name, _ in codes(still_finds(folder))} == files
    full = forklint(".", cwd=folder)
    assert full.returncode == 1
    assert "\x1b" not in full.stdout
    assert forklint("--diff", "--unsafe-fixes", ".", cwd=folder).returncode == 1
    assert len(forklint("--output-format", "concise", ".", cwd=folder).stdout.splitlines()) == len(files) + 1
    assert forklint(*FIX, ".", cwd=folder).returncode == 0
    assert {path.name for path in folder.glob("*.py")} == files


# ---------------------------------------------------------------- contents


def test_a_syntax_error_is_a_finding_and_the_rest_is_linted(folder: Path) -> None:
    (folder / "torn.py").write_text("import torch\n\n\ndef collate(batch:\n    return batch\n")
    found = json.loads(still_finds(folder).stdout)
    (torn,) = [one for one in found if one["code"] == "FKL002"]
    assert torn["location"]["row"] == 4
    assert Path(torn["filename"]).name == "torn.py"


NO_TEXT = {
    "bytes": (bytes(range(256)) * 40, "cannot be decoded as utf-8"),
    "elf": (b"\x7fELF\x02\x01\x01\x00" + bytes(400), "not a text file"),
    "bad_utf8": (HAZARD.encode() + b"# \xff\xfe\n", "cannot be decoded as utf-8"),
    "utf16": (HAZARD.encode("utf-16"), "not valid UTF-8"),
    "null": (HAZARD.encode() + b"\0", "null bytes"),
    "klingon": (b"# coding: klingon\n" + HAZARD.encode(), "unknown encoding: klingon"),
    "rot13": (b"# coding: rot13\n" + HAZARD.encode(), "unknown encoding: rot13"),
    "undefined": (b"# coding: undefined\n" + HAZARD.encode(), "cannot be decoded"),
    "idna": (b"# coding: idna\n" + HAZARD.encode() + b"# \xe9\n", "cannot be decoded as idna"),
    "two_minds": (b"\xef\xbb\xbf# coding: latin-1\n" + HAZARD.encode(), "unknown encoding"),
}


@pytest.mark.parametrize("fix", [False, True])
def test_what_is_not_text_is_passed_over_with_one_line_each(folder: Path, fix: bool) -> None:
    for name, (data, _) in NO_TEXT.items():
        (folder / f"{name}.py").write_bytes(data)
    result = forklint(*["--fix"] * fix, ".", cwd=folder)
    for name, (data, words) in NO_TEXT.items():
        says(result, f"{name}.py", words)
        assert (folder / f"{name}.py").read_bytes() == data
    assert result.returncode == (0 if fix else 1), "good.py is linted all the same"


EMPTY = [b"", b"\n", b"\xef\xbb\xbf", b"\x0c", b"# only a comment", b"    ", b"\r", b"\t\n", b"\n\n\n", b"#\r#"]


def test_files_with_nothing_in_them_are_clean(tmp_path: Path) -> None:
    for number, data in enumerate(EMPTY):
        (tmp_path / f"empty_{number}.py").write_bytes(data)
    for arguments in (["-v"], ["--fix"], ["--no-screen"]):
        result = forklint(*arguments, ".", cwd=tmp_path)
        assert result.returncode == 0, result.stdout
        assert result.stderr == ""
    for number, data in enumerate(EMPTY):
        assert (tmp_path / f"empty_{number}.py").read_bytes() == data


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python knows template strings")
@pytest.mark.parametrize("fix", [False, True])
def test_newer_syntax_is_no_syntax_error(folder: Path, fix: bool) -> None:
    newer = HAZARD + 'try:\n    name = t"{Lines}"\nexcept ValueError, TypeError:\n    pass\n'
    if sys.version_info < (3, 13):
        newer += "def first[T = int](items: list[T]) -> T: ...\n"
    (folder / "newer.py").write_text(newer)
    result = forklint(*["--fix"] * fix, "newer.py", "good.py", cwd=folder)
    assert "FKL002" not in result.stdout
    says(result, "newer.py", "newer")
    assert (folder / "newer.py").read_text() == newer


DEEP = {
    "brackets": "x = " + "[" * 3000 + "]" * 3000,
    "parentheses": "x = " + "(" * 3000 + "1" + ")" * 3000,
    "braces": "x = " + "{1:" * 3000 + "1" + "}" * 3000,
    "calls": "x = " + "f(" * 150 + ")" * 150,
    "sum": "x = " + " + ".join(["1"] * 20_000),
    "short sum": "x = " + " + ".join(["y"] * 900),
    "not": "x = " + "not " * 5000 + "y",
    "minus": "x = " + "-" * 5000 + "1",
    "lambda": "x = " + "lambda: " * 3000 + "1",
    "chain": "x = y" + ".a()" * 5000,
    "short chain": "x = y" + ".a()" * 450,
    "elif": "if a: pass\n" + "elif b: pass\n" * 3000,
    "short elif": "if a: pass\n" + "elif b: pass\n" * 400,
    "blocks": "".join("\t" * n + "if a:\n" for n in range(95)) + "\t" * 95 + "pass",
    "ternary": "x = " + "1 if a else " * 3000 + "2",
    "attributes": "x = y" + ".a" * 20_000,
}


@pytest.mark.parametrize(
    "arguments",
    [pytest.param(["--no-screen"], id="lint", marks=pytest.mark.soak), pytest.param([*FIX], id="fix")],
)
def test_deep_nesting_ends_in_a_finding_or_one_line(folder: Path, arguments: list[str]) -> None:
    for what, code in DEEP.items():
        (folder / f"deep_{what}.py").write_text(f"{HAZARD}\n\n{code}\n")
        (folder / f"torn_{what}.py").write_text(f"{HAZARD}\n\ndef collate(batch:\n\n{code}\n")
    result = forklint(*arguments, "--output-format", "concise", ".", cwd=folder)
    output = (result.stdout + result.stderr).splitlines()
    for path in folder.glob("*_*.py"):
        # a note may stand beside the finding, to say that it cannot be fixed there
        assert len([line for line in output if path.name in line]) <= 2, output
        assert path.read_text().endswith(DEEP[path.stem[5:]] + "\n")
    assert (folder / "good.py").read_text() != HAZARD or "--fix" not in arguments


def test_a_bracket_that_is_never_closed_is_told_in_a_long_file(folder: Path) -> None:
    lines = "".join(f"def add_{number}(a, b):\n    return a + b * {number}\n\n\n" for number in range(200))
    (folder / "long.py").write_text(f"from nets import (\n\n{lines}")
    result = forklint("--output-format", "concise", "long.py", cwd=folder)
    assert "long.py:1:18: FKL002" in result.stdout, result.stderr


def test_long_lines_are_read_and_not_printed_whole(folder: Path) -> None:
    statement = '        self.file = open(path, "rb")'
    long = HAZARD.replace(statement, statement + f'; self.table = "{"x" * 200_000}"')
    (folder / "long.py").write_text("TABLE = [" + "1, " * 10_000 + "]\n" + long)
    result = forklint("long.py", cwd=folder)
    assert result.returncode == 1
    assert "FKL301" in result.stdout
    assert len(result.stdout) < 20_000


def test_suppressions_are_found_whatever_ends_the_lines(tmp_path: Path) -> None:
    silenced = HAZARD.replace('"rb")', '"rb")  # noqa: FKL301')
    for newline in ("\n", "\r\n", "\r"):
        (tmp_path / "lines.py").write_text(silenced, newline=newline)
        assert forklint("lines.py", cwd=tmp_path).returncode == 0, repr(newline)


# ---------------------------------------------------------------- what a fix leaves alone


def forklint_fixes(folder: Path, files: dict[str, bytes]) -> bool:
    """Write the files and fix them: each changes once and for all, and no other file comes or goes."""
    for name, data in files.items():
        (folder / f"{name}.py").write_bytes(data)
    before = names(folder)
    first = forklint(*FIX, ".", cwd=folder)
    assert first.returncode == 0, first.stdout + first.stderr
    assert names(folder) == before
    after = {name: (folder / f"{name}.py").read_bytes() for name in files}
    assert forklint(*FIX, ".", cwd=folder).returncode == 0
    assert after == {name: (folder / f"{name}.py").read_bytes() for name in files}, "a second run changes nothing"
    return all(after[name] != data for name, data in files.items())


FORMS: dict[str, Callable[[str], bytes]] = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "bom": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "bom and crlf": lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
    "latin-1": lambda text: ("# coding: latin-1\n# caf\xe9\n" + text).encode("latin-1"),
    "cp1252": lambda text: ("#!/bin/python\n# vim: set fileencoding=cp1252 :\n# 5\u20ac\n" + text).encode("cp1252"),
    "shift-jis": lambda text: ("# -*- coding: shift_jis -*-\n# \u8868\n" + text).encode("shift_jis"),
    "form feeds": lambda text: text.replace("class Lines", "\x0c\n# page two\x0c\nclass Lines").encode(),
    "tabs": lambda text: text.replace("    ", "\t").encode(),
    "no final newline": lambda text: text.removesuffix("\n").encode(),
    "two blanks": lambda text: text.replace("    ", "  ").encode(),
    "blank lines at the end": lambda text: (text + "\n\n   \n\n").encode(),
    "not ascii": lambda text: ("# \u8868 \U0001f600 \u2028 \x85\n" + text).encode(),
    "continued": lambda text: ("x = 1 + \\\n    2\n" + text).encode(),
    "strange blanks": lambda text: ("x  =  (1 ,\n2 ) ;  y=3\n" + text).encode(),
}


def test_a_fix_keeps_the_form_of_the_file(tmp_path: Path) -> None:
    assert forklint_fixes(tmp_path, {"plain": HAZARD.encode()})
    plainly_fixed = (tmp_path / "plain.py").read_text()
    written = {name.replace(" ", "_"): form(HAZARD) for name, form in FORMS.items()}
    assert forklint_fixes(tmp_path, written)
    wrong = [
        name
        for name, form in FORMS.items()
        if (tmp_path / f"{name.replace(' ', '_')}.py").read_bytes() != form(plainly_fixed)
    ]
    assert wrong == []


def test_lines_that_end_in_a_bare_cr_are_linted_and_left(folder: Path) -> None:
    data = HAZARD.replace("\n", "\r").encode()
    (folder / "classic.py").write_bytes(data)
    result = still_finds(folder)
    assert [one["location"]["row"] for one in json.loads(result.stdout)] == [6, 6]
    says(forklint(*FIX, "classic.py", cwd=folder), "classic.py", "cannot be fixed")
    assert (folder / "classic.py").read_bytes() == data


def test_what_is_indented_by_tabs_and_spaces_is_linted_and_left(folder: Path) -> None:
    """Python reads a tab behind eight spaces, and before eight, as sixteen columns; LibCST refuses that."""
    data = HAZARD.replace("    ", 8 * " ").replace(16 * " ", "\t" + 8 * " ").encode()
    (folder / "tabs.py").write_bytes(data)
    assert ("tabs.py", "FKL301") in codes(still_finds(folder))
    says(forklint(*FIX, "tabs.py", cwd=folder), "tabs.py", "cannot be fixed", "LibCST")
    assert (folder / "tabs.py").read_bytes() == data


def test_a_fix_keeps_mixed_line_ends(tmp_path: Path) -> None:
    ends = ["\n", "\r\n"]
    mixed = [line + ends[number % 2] for number, line in enumerate(HAZARD.splitlines())]
    assert forklint_fixes(tmp_path, {"plain": HAZARD.encode(), "mixed": "".join(mixed).encode()})
    result = (tmp_path / "mixed.py").read_bytes().decode()
    plain = (tmp_path / "plain.py").read_text()
    assert result.replace("\r\n", "\n") == plain
    kept = [line for line in mixed if line.strip() and line.rstrip("\r\n") in plain.splitlines()]
    position = 0
    for line in kept:
        position = result.index(line, position) + len(line)


@POSIX
@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o664])
def test_a_fix_keeps_the_mode(tmp_path: Path, mode: int) -> None:
    (tmp_path / "lines.py").write_text(HAZARD)
    (tmp_path / "lines.py").chmod(mode)
    old_umask = os.umask(0o077)
    try:
        assert forklint("--fix", "lines.py", cwd=tmp_path).returncode == 0
    finally:
        os.umask(old_umask)
    assert stat.S_IMODE((tmp_path / "lines.py").stat().st_mode) == mode
    assert names(tmp_path) == ["lines.py"]


def test_a_fix_counts_as_a_change_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "lines.py").write_text(HAZARD)
    os.utime(tmp_path / "lines.py", (1_000_000_000, 1_000_000_000))
    forklint("--fix", "lines.py", cwd=tmp_path)
    assert (tmp_path / "lines.py").stat().st_mtime > 1_000_000_000


@POSIX
def test_a_fix_follows_a_link_and_leaves_it(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "lines.py").write_text(HAZARD)
    (tmp_path / "link.py").symlink_to("shared/lines.py")
    assert forklint(*FIX, "link.py", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link.py").is_symlink()
    assert not (tmp_path / "shared" / "lines.py").is_symlink()
    assert (tmp_path / "shared" / "lines.py").read_text() != HAZARD
    assert names(tmp_path / "shared") == ["lines.py"]


@POSIX
def test_a_fix_leaves_other_hard_links_as_they_were(tmp_path: Path) -> None:
    # an installer's cache shares its files with environments like this: it must not change with them
    (tmp_path / "cache").write_text(HAZARD)
    os.link(tmp_path / "cache", tmp_path / "lines.py")
    assert forklint("--fix", "lines.py", cwd=tmp_path).returncode == 0
    assert (tmp_path / "lines.py").read_text() != HAZARD
    assert (tmp_path / "cache").read_text() == HAZARD


def test_a_read_only_file_is_named_and_left(folder: Path) -> None:
    (folder / "frozen.py").write_text(HAZARD)
    (folder / "frozen.py").chmod(0o444)
    result = forklint(*FIX, ".", cwd=folder)
    assert result.returncode == 2
    assert "frozen.py: not fixed: the file is read-only" in (result.stderr + result.stdout).replace("\n", " ")
    assert (folder / "frozen.py").read_text() == HAZARD
    assert (folder / "good.py").read_text() != HAZARD, "the others are mended"
    (folder / "frozen.py").chmod(0o644)


@POSIX
def test_a_read_only_folder_is_named_and_left(folder: Path, bound_by_permissions: Callable[[], None] | None) -> None:
    (folder / "frozen").mkdir()
    (folder / "frozen" / "lines.py").write_text(HAZARD)
    (folder / "frozen").chmod(0o555)
    try:
        result = forklint(*FIX, ".", cwd=folder, wrap=bound_by_permissions)
    finally:
        (folder / "frozen").chmod(0o755)
    assert result.returncode == 2
    assert "lines.py: not fixed: " in result.stderr + result.stdout
    assert (folder / "frozen" / "lines.py").read_text() == HAZARD
    assert names(folder / "frozen") == ["lines.py"]
    assert (folder / "good.py").read_text() != HAZARD, "the others are mended"


def test_a_file_changed_by_another_program_is_not_overwritten(folder: Path) -> None:
    first = (
        "import pathlib\n"
        "from forklint import fixing\n"
        "write = fixing.write_atomically\n"
        "def edit_first(path, *rest, **more):\n"
        "    pathlib.Path(path).write_text('# edited meanwhile\\n')\n"
        "    return write(path, *rest, **more)\n"
        "fixing.write_atomically = edit_first\n"
    )
    result = forklint("--fix", "good.py", cwd=folder, first=first)
    assert result.returncode == 2
    says(result, "good.py", "not fixed", "changed")
    assert (folder / "good.py").read_text() == "# edited meanwhile\n"


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_file_whole_and_nothing_beside_it(folder: Path, step: str) -> None:
    faults = {
        "write": "import io, os\nreal = os.fdopen\ndef fdopen(*a, **k):\n"
        "    file = real(*a, **k)\n    file.close()\n    return open('/dev/full', 'wb')\nos.fdopen = fdopen\n",
        "fsync": "import os\ndef fsync(*a): raise OSError(28, 'No space left on device')\nos.fsync = fsync\n",
        "replace": "import os, pathlib\ndef replace(*a): raise OSError(28, 'No space left on device')\n"
        "os.replace = pathlib.Path.replace = replace\n",
    }
    if step == "write" and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    before = names(folder)
    result = forklint("--fix", "good.py", cwd=folder, first=faults[step])
    assert result.returncode == 2
    assert "good.py: not fixed: No space left on device" in (result.stderr + result.stdout).replace("\n", " ")
    assert (folder / "good.py").read_text() == HAZARD
    assert names(folder) == before


# ---------------------------------------------------------------- where the output goes


def test_a_terminal_without_unicode_is_written_to(folder: Path) -> None:
    (folder / "good.py").write_text(HAZARD.replace('"rb")', '"rb")  # caf\xe9 \u8868'), encoding="utf-8")
    for form in ("full", "concise", "json"):
        poor = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
        result = forklint("--output-format", form, ".", cwd=folder, **poor)
        assert result.returncode == 1
        assert "FKL301" in result.stdout


@POSIX
def test_a_reader_that_goes_away_ends_the_run_quietly(folder: Path) -> None:
    for number in range(12):  # more than a small pipe holds
        (folder / f"lines_{number}.py").write_text(HAZARD)
    command = [sys.executable, "-m", "forklint", "."]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "pipesize": 4096}
    with subprocess.Popen(command, cwd=folder, text=True, **pipes) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        complaint = process.stderr.read()
    assert "Traceback" not in complaint
    assert "BrokenPipe" not in complaint


def test_a_key_that_no_text_can_have(tmp_path: Path) -> None:
    """A lone surrogate is written as an escape, and cannot be looked for in files."""
    text = (
        'from torch.utils.data import DataLoader\n\noptions = {"\\ud800": 2}\n'
        'for rows in DataLoader([1], num_workers=options["\\ud800"]):\n    print(rows)\n'
    )
    (tmp_path / "train.py").write_text(text)
    result = forklint("train.py", "--output-format", "json", cwd=tmp_path)
    assert (codes(result), result.stderr) == ([("train.py", "FKL201")], "")
