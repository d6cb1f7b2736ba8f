"""Lint runs no code of the project: no trap fires, whatever asks for findings."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from canaries import HAZARD, Canaries

from forklint.report.formats import FORMATS

INSTALLED = Path(sys.executable).parent / "forklint"
COMMANDS = {
    "module": [sys.executable, "-m", "forklint"],
    "installed": [str(INSTALLED)],
}
RUNS: dict[str, list[str]] = {
    "lint": ["."],
    "two processes": ["-j", "2", "."],
    "no screen": ["--no-screen", "--no-cache", "data.py", "package", "book.ipynb"],
    "diff": ["--diff", "--unsafe-fixes", "."],
    "hook": ["lint", "--force-exclude", "--", "data.py", "book.ipynb", "train.yaml", "setup.py", "conftest.py"],
    "settings": ["--show-settings", "."],
    "all": ["--select", "ALL", "--preview", "data.pkl", "model.pt", "x.pth", "train.yaml", "conf/train.yml", "."],
    "config": ["config"],
    "init": ["init", "--help"],
    "fix": ["--fix", "--unsafe-fixes", "data.py", "package/data.py"],
    "noqa": ["--add-noqa", "."],
    "baseline": ["--update-baseline", "--baseline", "known.json", "."],
    "clean": ["clean"],
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Canaries:
    place = tmp_path_factory.mktemp("hostile")
    return Canaries(place / "project", place / "fired")


@pytest.fixture
def canaries(repository: Canaries) -> Canaries:
    for name in ("data.py", "package/data.py"):
        repository.write(name, HAZARD)
    return repository


def run(command: list[str], cwd: Path, **options) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize(
    ("command", "name"),
    [*(("module", name) for name in RUNS), *(("installed", name) for name in ("lint", "two processes", "all"))],
)
def test_no_trap_fires(canaries: Canaries, command: str, name: str) -> None:
    if command == "installed" and not INSTALLED.exists():
        pytest.skip("NOT TESTED: forklint is not installed beside this Python")
    done = run([*COMMANDS[command], *RUNS[name]], canaries.folder)
    assert done.returncode in {0, 1, 2}, done.stderr
    if name in {"lint", "two processes"}:
        assert "FKL301" in done.stdout
    assert canaries.told == []


IN_TURN = """
import sys
from forklint.cli import main
for form in sys.argv[1:]:
    try:
        main.main(["--output-format", form, "data.py"], "forklint")
    except SystemExit as error:
        assert error.code in (0, 1), form
print("done")
"""


def test_no_trap_fires_in_any_format(canaries: Canaries, tmp_path: Path) -> None:
    """In one process, whose program lies in another folder, as that of the installed command does."""
    (tmp_path / "program.py").write_text(IN_TURN)
    done = run([sys.executable, str(tmp_path / "program.py"), *FORMATS], canaries.folder)
    assert done.stdout.endswith("done\n"), done.stderr
    assert canaries.told == []


def test_no_trap_fires_from_a_folder_inside(canaries: Canaries) -> None:
    run([*COMMANDS["module"], "--no-cache", ".."], canaries.folder / "package")
    run([*COMMANDS["module"], "--stdin-filename", "data.py", "-"], canaries.folder, input="import torch\n")
    assert canaries.told == []


def test_no_trap_fires_in_flake8(canaries: Canaries, flake8) -> None:
    """Without the project's own configuration: flake8 itself runs the plugins that it names, whatever else runs."""
    code = "import sys; sys.path[:] = [p for p in sys.path if p]; from flake8.main import cli; sys.exit(cli.main())"
    words = ("--isolated", "--forklint-info", "--select", "FKL", "data.py")
    done = flake8(*words, code=code, cwd=canaries.folder, safe_path=True)
    assert "FKL301" in done.stdout, done.stderr
    assert canaries.told == []


def test_no_trap_fires_in_the_server(canaries: Canaries) -> None:
    pytest.importorskip("pygls")
    sys.path.insert(0, str(Path(__file__).parent / "server"))
    try:
        from lsp_client import serving

        with serving(canaries.folder) as client:  # a process that imports what lies beside this module
            uri = client.open("data.py")
            client.until(uri, ["FKL301"])
            client.replace(uri, (canaries.folder / "data.py").read_text() + "\nx = 1\n")
            client.until(uri, ["FKL301"])
    finally:
        sys.path.remove(str(Path(__file__).parent / "server"))
    assert canaries.told == []


def test_the_traps_work(tmp_path: Path) -> None:
    canaries = Canaries(tmp_path / "project", tmp_path / "fired")
    canaries.spring()
    expected = {"setup.py", "json.py", "sh", "data.pkl"} | ({"git"} if shutil.which("git") else set())
    assert expected <= set(canaries.told)


def test_saved_data_is_never_loaded(tmp_path: Path) -> None:
    """A notebook, a settings file and a store that are pickles."""
    import pickle

    from canaries import Trap

    fired = tmp_path / "fired"
    data = pickle.dumps(Trap(f"open({str(fired)!r}, 'w').write('x')"))
    (tmp_path / "forklint.toml").touch()
    for name in (
        "book.ipynb",
        "train.yaml",
        "train.json",
        "train.toml",
        "data.py",
        "known.json",
        "forklint-verdicts.json",
    ):
        (tmp_path / name).write_bytes(data)
    cache = tmp_path / ".forklint_cache"
    cache.mkdir()
    run([*COMMANDS["module"], "."], tmp_path)
    for store in cache.glob("store-*.sqlite"):
        store.write_bytes(data)
    run([*COMMANDS["module"], "--baseline", "known.json", "."], tmp_path)
    assert not fired.exists()
    pickle.loads(data)
    assert fired.exists()
