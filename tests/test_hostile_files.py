"""Repositories that lead out, lie about what they hold, or are made to take forever: lint stays inside, and ends."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from forked_command import SERVER

HAZARD = """\
import lmdb
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __getitem__(self, index):
        return self.env.stat()
"""
SECONDS = 20.0
"""Of processor time that one run may take: each is done in 2 to 5."""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command: it has no traceback, ends in time, and never needs more than 1.5 GB."""
    import resource

    limits = {resource.RLIMIT_CPU: int(SECONDS), resource.RLIMIT_DATA: 1_500_000_000}
    done = SERVER.run(["-j1", *arguments], folder, {**os.environ, "NO_COLOR": "1"}, None, 600, limits)
    assert done.returncode in {0, 1, 2}, (done.returncode, done.stderr)
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    assert "internal error" not in done.stdout + done.stderr, done.stderr
    return done


def found(folder: Path, *arguments: str) -> list[str]:
    done = run(folder, "--output-format", "json", *arguments)
    return sorted(Path(one["filename"]).name for one in json.loads(done.stdout) if one["code"] == "FKL301")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a hazard, beside a folder that is not its own."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "forklint.toml").touch()
    (folder / "good.py").write_text(HAZARD)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "mine.py").write_text(HAZARD)
    return folder


# ---------------------------------------------------------------- what leads out


@pytest.mark.parametrize("arguments", [("--fix", "--unsafe-fixes"), ("--add-noqa",)])
def test_a_link_out_of_the_project_is_not_written_through(project: Path, arguments: tuple[str, ...]) -> None:
    mine = project.parent / "outside" / "mine.py"
    (project / "link.py").symlink_to(mine)
    (project / "within.py").symlink_to("good.py")
    done = run(project, *arguments, "--no-cache", ".")
    assert done.returncode == 2
    assert (
        len([line for line in (done.stderr + done.stdout).splitlines() if "link.py" in line and "outside" in line]) == 1
    )
    assert mine.read_text() == HAZARD
    assert (project / "good.py").read_text() != HAZARD
    assert run(project, *arguments, "--no-cache", "link.py").returncode == 0
    assert mine.read_text() != HAZARD, "it was named"


def test_folders_that_are_links_are_not_walked(project: Path) -> None:
    (project / "outside").symlink_to(project.parent / "outside")
    (project / "root").symlink_to("/")
    (project / "self").symlink_to(".")
    (project / "a").mkdir()
    (project / "a" / "up").symlink_to("..")
    assert found(project, ".") == ["good.py"]


def test_devices_are_not_read(project: Path) -> None:
    for name, device in (
        ("zero.py", "/dev/zero"),
        ("tty.py", "/dev/tty"),
        ("full.yaml", "/dev/full"),
        ("mem.ipynb", "/dev/zero"),
    ):
        (project / name).symlink_to(device)
    os.mkfifo(project / "pipe.yaml")
    (project / "uses.py").write_text("import zero, pipe\n" + HAZARD)
    assert found(project, ".") == ["good.py", "uses.py"]
    for name in ("forklint-verdicts.json", "known.json"):
        (project / name).symlink_to("/dev/zero")
    done = run(project, "--baseline", "known.json", ".")
    assert done.returncode == 2
    assert "known.json" in done.stderr


@pytest.mark.parametrize("name", ["forklint.toml", "pyproject.toml", ".gitignore", ".ignore"])
def test_a_configuration_that_is_a_device_or_a_pipe(project: Path, name: str) -> None:
    (project / "inner").mkdir()
    (project / "inner" / "data.py").write_text(HAZARD)
    for make in (lambda path: path.symlink_to("/dev/zero"), os.mkfifo, lambda path: path.mkdir()):
        make(project / "inner" / name)
        done = run(project, "--no-cache", ".")
        assert len(done.stderr.splitlines()) <= 2, done.stderr
        path = project / "inner" / name
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def test_a_configuration_in_a_subfolder_that_points_out(project: Path) -> None:
    """Nothing of others is changed, or taken for a cache and removed."""
    outside = project.parent / "outside"
    (outside / "known.json").write_text('{"mine": true}')
    (project / "inner").mkdir()
    (project / "inner" / "data.py").write_text(HAZARD)
    settings = 'cache-dir = "../../outside"\nbaseline = "../../outside/known.json"\nexclude = ["../../outside"]\n'
    (project / "inner" / "forklint.toml").write_text(settings)
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    for arguments in (["."], ["--update-baseline", "."], ["--fix", "."], ["clean", "."], ["clean", "inner"]):
        run(project, *arguments)
        assert {name: (outside / name).read_bytes() for name in before} == before, arguments


# ---------------------------------------------------------------- what lies about itself


def archive(kind: str) -> bytes:
    held = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as one:
            one.writestr("../../out.py", HAZARD)
            one.writestr("bomb.py", b"\0" * 30_000_000)
    else:
        with tarfile.open(fileobj=held, mode="w:gz") as one:
            info = tarfile.TarInfo("../../out.py")
            info.size = len(HAZARD)
            one.addfile(info, io.BytesIO(HAZARD.encode()))
    return held.getvalue()


def test_archives_are_not_opened(project: Path) -> None:
    for name in ("code.zip", "code.whl", "code.egg", "module.py", "book.ipynb", "train.yaml"):
        (project / name).write_bytes(archive("zip"))
    for name in ("code.tar.gz", "other.py"):
        (project / name).write_bytes(archive("tar"))
    (project / "uses.py").write_text("import sys\nsys.path.insert(0, 'code.zip')\nimport out, bomb\n" + HAZARD)
    assert found(project, ".") == ["good.py", "uses.py"]
    assert not list(project.parent.parent.glob("out.py"))


LIES = {
    "python": HAZARD,
    "list": "[]",
    "number": "1e999",
    "deep": "[" * 100_000,
    "deep object": '{"cells": ' * 50_000,
    "cells of numbers": '{"cells": [1, null, [], "x"], "nbformat": 4, "metadata": {}}',
    "source of numbers": '{"cells": [{"cell_type": "code", "source": [1, null]}], "nbformat": 4, "metadata": {}}',
    "a million cells": '{"cells": ['
    + ", ".join(['{"cell_type": "code", "source": ""}'] * 20_000)
    + '], "nbformat": 4}',
    "wrong format": '{"cells": {}, "nbformat": "four", "metadata": []}',
    "huge number": '{"nbformat": ' + "9" * 50_000 + "}",
    "surrogates": '{"cells": [{"cell_type": "code", "source": "x = \\"\\ud800\\""}], "nbformat": 4, "metadata": {}}',
    "keys twice": '{"cells": [], "cells": [{"cell_type": "code", "source": "import torch"}], "nbformat": 4}',
}


def test_notebooks_that_lie(project: Path) -> None:
    for number, text in enumerate(LIES.values()):
        (project / f"book{number}.ipynb").write_text(text)
    assert found(project, ".") == ["good.py"]
    before = {path: path.read_bytes() for path in project.glob("*.ipynb")}
    run(project, "--fix", "--unsafe-fixes", ".")
    assert {path: path.read_bytes() for path in before} == before


# ---------------------------------------------------------------- what is made to take forever

KEYS = "num_workers: 0\nprefetch_factor: 2\n"


def laughs(levels: int) -> str:
    rows = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join([*rows, KEYS])


BOMBS = {
    "laughs.yaml": laughs(20),
    "merges.yaml": "\n".join(
        [
            "a0: &a0 {num_workers: 0}",
            *(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 20)),
            KEYS,
        ]
    ),
    "itself.yaml": "a: &a\n  <<: *a\n  num_workers: 0\n  prefetch_factor: 2\nb: &b [*b, *b]\n",
    "deep.yaml": KEYS + "".join("  " * n + "a:\n" for n in range(300)),
    "flow.yaml": KEYS + "a: " + "[" * 20_000,
    "keys.yaml": KEYS + "? " * 5_000 + "\n",
    "long.yaml": KEYS + "a: " + "x" * 190_000 + "\n",
    "tags.yaml": KEYS + "a: !!python/object/apply:time.sleep [1000]\nb: !!binary " + "A" * 100_000 + "\n",
    "deep.json": '{"num_workers": 0, "prefetch_factor": 2, "a": ' + "[" * 100_000,
    "wide.json": '{"num_workers": 0, "prefetch_factor": 2, "a": [' + "0," * 400_000 + "0]}",
    "deep.toml": "num_workers = 0\nprefetch_factor = 2\na = " + "[" * 50_000,
    "dots.toml": "num_workers = 0\nprefetch_factor = 2\n" + ".".join(["a"] * 20_000) + " = 1\n",
    "tables.toml": "num_workers = 0\nprefetch_factor = 2\n" + "".join(f"[a{n}.b.c]\n" for n in range(10_000)),
    "integer.toml": "num_workers = 0\nprefetch_factor = " + "9" * 100_000 + "\n",
}


QUICK_BOMBS = ("laughs.yaml", "itself.yaml", "deep.yaml", "tags.yaml", "deep.json", "dots.toml", "integer.toml")


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.soak] * (one not in QUICK_BOMBS)) for one in BOMBS]
)
def test_settings_that_are_made_to_take_forever(project: Path, name: str) -> None:
    (project / name).write_text(BOMBS[name])
    assert found(project, "--no-cache", ".", name) == ["good.py"]
    run(project, "--no-cache", "--fix", "--unsafe-fixes", name)


LONG = {
    "string": 'x = "' + "a" * 10_000_000 + '"\n',
    "comment": "# " + "noqa: FKL301 " * 770_000 + "\n",
    "blanks": " " * 10_000_000 + "\n",
    "open string": 'x = "' + "a" * 10_000_000,
    "one name": "a" * 10_000_000 + "\n",
    "backslashes": "x = " + "\\\n" * 100_000 + "1\n",
    "no letters": "\t;" * 1_000_000,
}


QUICK = ("backslashes", "no letters")


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.soak] * (one not in QUICK)) for one in LONG])
def test_lines_of_ten_megabytes(project: Path, name: str) -> None:
    (project / "long.py").write_text(LONG[name] + "\n" + HAZARD)
    start = time.process_time()
    done = run(project, "--no-cache", "--output-format", "concise", ".")
    assert "good.py" in done.stdout
    assert len(done.stdout + done.stderr) < 10_000
    assert time.process_time() - start < SECONDS


def test_regular_expressions_get_no_time(project: Path) -> None:
    """Code on which a pattern that backtracks would take forever."""
    (project / "slow.py").write_text(
        "# noqa:" + " FKL301," * 20_000 + "!\n"
        "# forklint: " + "ignore[" * 20_000 + "\n"
        "import os; os.environ" + "[" + " " * 50_000 + "'OMP_NUM_THREADS']\n"
        "DataLoader(" + "num_workers = " * 3_000 + "1)\n" + HAZARD
    )
    (project / "spaces.py").write_text(
        "import torch\nx = 1" + " " * 200_000 + "# noqa" + " " * 200_000 + ": X\n" + HAZARD
    )
    assert found(project, "--no-cache", "good.py", "spaces.py", "slow.py")[-1] in {"good.py", "spaces.py"}
