"""What is built from the tree is whole: installed into an empty environment, every command works."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from hook_repository import BASE, ROOT, WORDS, environment, published

from forklint import __version__

pytestmark = pytest.mark.soak
TAG = f"v{__version__}"


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=environment(PYTHONPATH=""),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The tree as it is now, built."""
    folder = tmp_path_factory.mktemp("wheel")
    tree = published(folder / "tree", TAG)
    built = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, tree, cwd=folder)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def commands(wheel: Path, tmp_path_factory) -> Path:
    """Where the commands of an environment with nothing but the wheel and what it needs are."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=True)
    found = folder / ("Scripts" if sys.platform == "win32" else "bin")
    installed = run(found / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    assert installed.returncode == 0, installed.stderr
    return found


def test_each_file_of_the_source_is_in_it(wheel: Path) -> None:
    source = ROOT / "src"
    kept = {path.relative_to(source).as_posix() for path in (source / "forklint").rglob("*") if path.is_file()}
    kept = {name for name in kept if "__pycache__" not in name}
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert kept - packed == set()
    assert {name for name in packed - kept if ".dist-info/" not in name} == set()


def test_every_command_works(commands: Path, tmp_path: Path) -> None:
    forklint = commands / "forklint"
    assert run(forklint, "--version", cwd=tmp_path).stdout == f"forklint {__version__}\n"
    pages = run(forklint, "rule", "--all", cwd=tmp_path)
    assert pages.returncode == 0, pages.stderr
    for rule in (ROOT / "docs" / "rules").glob("FKL*.md"):
        assert rule.stem in pages.stdout
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "words.py").write_text(WORDS)
    found = run(forklint, ".", cwd=tmp_path)
    assert found.returncode == 1, found.stderr
    assert "error[FKL301]" in found.stdout
    assert run(forklint, "--fix", ".", cwd=tmp_path).returncode == 0
    (tmp_path / ".git").mkdir()
    (tmp_path / ".pre-commit-config.yaml").write_text("repos: []\n")
    assert run(forklint, "init", "--yes", cwd=tmp_path).returncode == 0
    assert run(commands / "python", "-m", "pip", "check", cwd=tmp_path).returncode == 0


def test_neither_torch_nor_a_test_library_comes_along(commands: Path, tmp_path: Path) -> None:
    code = (
        "import importlib.util as u; print([n for n in ('torch', 'numpy', 'pytest', 'pre_commit') if u.find_spec(n)])"
    )
    assert run(commands / "python", "-c", code, cwd=tmp_path).stdout == "[]\n"


@pytest.mark.skipif(find_spec("forklint.flake8_plugin") is None, reason="no flake8 plugin in this tree")
def test_flake8_has_the_plugin(commands: Path, tmp_path: Path) -> None:
    shown = run(commands / "flake8", "--version", cwd=tmp_path)
    assert f"forklint: {__version__}" in shown.stdout or f"FKL: {__version__}" in shown.stdout, shown
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "words.py").write_text(WORDS)
    found = run(commands / "flake8", "--select", "FKL", "words.py", cwd=tmp_path)
    assert "words.py:8:9: FKL301" in found.stdout
