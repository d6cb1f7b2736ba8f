"""``forklint verify`` as a command: what it shows, what it runs, how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from asked_environment import asked_once
from needed import need_torch
from proven import environment
from records_project import MARK, RECORDS, ROW, write
from test_sarif import check_document

from forklint.cli import main
from forklint.verify import doctor

need_torch()

TRAIN = """
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from records import make_loader

if __name__ == "__main__":
    for batch in make_loader(sys.argv[1]):
        print(batch)
"""
MISSPELT = "import torch\n\ntorch.set_num_thread(1)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    write(folder)
    return folder


def test_plan_shows_the_trials_and_runs_nothing(command, project: Path) -> None:
    done = command("verify", "records.py", "--plan", cwd=project)
    assert done.returncode == 0
    assert f"FKL301 records.py:{ROW}" in done.stdout
    for cell in ("0 workers", "fork, 4 workers", "spawn, 2 workers", "forkserver, 2 workers"):
        assert cell in done.stdout
    assert not (project.parent / "ran").exists()


def test_one_trial_is_run_again_by_its_name(command, project: Path) -> None:
    plan = command("verify", "records.py", "--plan", cwd=project).stdout
    name = next(line.split()[0] for line in plan.splitlines() if "spawn" in line)
    done = command("verify", "records.py", "--replay", name, cwd=project)
    assert done.returncode == 0
    assert "cannot pickle" in done.stdout
    assert (project.parent / "ran").exists()
    wrong = command("verify", "records.py", "--replay", name[:-1], cwd=project)
    assert wrong.returncode == 2
    assert f"did you mean '{name}'" in wrong.stderr


@pytest.mark.soak
def test_a_factory_of_the_settings_gives_the_loader(command, project: Path) -> None:
    done = command("verify", ".", "--start-method", "spawn", cwd=project)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"FKL301 records.py:{ROW}: confirmed" in done.stdout
    assert "cannot pickle '_io.BufferedReader' object (dataset.file)" in " ".join(done.stdout.split())
    assert done.stdout.splitlines()[-1] == "1 of 1 finding confirmed or refuted: 1 confirmed"


def test_an_entry_is_looked_at_with_all_that_it_imports(command, project: Path) -> None:
    (project / "forklint.toml").write_text("")
    (project / "scripts").mkdir()
    (project / "scripts" / "train.py").write_text(TRAIN)
    given = ("verify", "train.py", "-q", "--start-method", "spawn")
    plan = command(*given, "--plan", "--", "../records.bin", cwd=project / "scripts").stdout
    assert "python train.py ../records.bin, with a limit of 60 s" in plan
    assert "including all code before it. Files that it writes in the project" in " ".join(plan.split())


def test_a_script_of_a_package_runs_as_its_module(command, project: Path) -> None:
    """With dots in its imports it cannot run under its path: people run it with ``python -m``, and so does verify.

    It runs where the user is.
    """
    (project / "forklint.toml").write_text("")
    package = project / "src" / "corpus"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (project / "records.py").rename(package / "records.py")
    text = TRAIN.partition("\nsys.path.insert")[0] + "\nfrom .records" + TRAIN.partition("from records")[2]
    (package / "train.py").write_text(text)
    given = ("verify", "corpus/train.py", "-q", "--select", "FKL301", "--start-method", "spawn")
    plan = command(*given, "--plan", "--", "../records.bin", cwd=project / "src").stdout
    assert "python -m corpus.train ../records.bin, with a limit of 60 s" in plan
    done = command(*given, "--", "../records.bin", cwd=project / "src")
    assert done.returncode == 1, done.stdout + done.stderr
    beginning = f"FKL301 corpus/records.py:{ROW}: confirmed"
    assert done.stdout.startswith(beginning), "-q begins without an empty line"
    assert "cannot pickle '_io.BufferedReader' object (dataset.file)" in " ".join(done.stdout.split())
    (package / "train.py").write_text(text.replace("sys.argv[1]", '"records.bin"'))
    (package / "records.py").write_text(RECORDS.replace("pathlib.Path(__file__)", "touched = pathlib.Path(__file__)"))
    plan = command("verify", ".", "--plan", cwd=project).stdout
    assert "python -m corpus.train, with a limit of 60 s" in plan, "also where forklint chooses it by itself"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such terminal")
def test_ctrl_c_is_one_line_and_leaves_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pty

    (project / "records.py").write_text(MARK + "\n\nimport time\ntime.sleep(100)\n" + RECORDS)
    monkeypatch.setattr(doctor, "probe", asked_once)
    environment()
    pid, terminal = pty.fork()
    if pid == 0:
        code = 1
        try:
            os.chdir(project)
            sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode) for number, mode in enumerate("rww"))
            main.main(["verify", "records.py"], "forklint")
        except SystemExit as error:
            code = int(error.code or 0)
        finally:
            sys.stderr.flush()
            os._exit(code)
    told = b""
    while chunk := _read(terminal):
        told += chunk
        if (project.parent / "ran").exists():
            os.write(terminal, b"\x03")
            (project.parent / "ran").unlink()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    row = ROW + MARK.count("\n") + 4
    assert f"FKL301 records.py:{row}: 0 workers".encode() in told
    assert b"0/4" in told
    last = told.decode(errors="replace").splitlines()[-1]
    assert last.endswith("forklint: interrupted: all processes were ended, and temporary files removed")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux says so when the other side is gone
        return b""


@pytest.mark.soak
def test_without_a_way_to_build_it_the_one_thing_to_do_is_named(command, project: Path) -> None:
    (project / "forklint.toml").write_text("")
    checked = (
        'if hashlib.md5(path.encode()).hexdigest()[:4] != "beef":\n            raise ValueError("not ours")\n        '
    )
    text = RECORDS.replace("# kept open", checked + "# kept open").replace('"""\n', '"""\n\nimport hashlib\n', 1)
    (project / "records.py").write_text(text)  # without the mark, which makes it look like a script
    done = command("verify", "records.py", cwd=project)
    assert done.returncode == 3
    assert "cannot create Records(path)" in done.stdout
    assert "loaders" in done.stdout
    assert command("verify", "records.py", "--allow-inconclusive", cwd=project).returncode == 0


def test_nothing_found_is_said_so(command, tmp_path: Path) -> None:
    (tmp_path / "clean.py").write_text("import torch\n")
    done = command("verify", "-q", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "0 of 0 findings confirmed or refuted"


def test_a_finding_without_an_experiment_is_told_of(command, tmp_path: Path) -> None:
    (tmp_path / "quiet.py").write_text("import torch\n\nx = 1  # noqa: FKL301\n")
    words = "Not verified (no experiment for the rule): FKL001 quiet.py:3"
    assert words in command("verify", "quiet.py", "--plan", cwd=tmp_path).stdout.splitlines()
    lines = command("verify", "quiet.py", cwd=tmp_path).stdout.splitlines()
    assert lines[-2:] == [words, "0 of 0 findings confirmed or refuted; 1 not verified"]
    told = json.loads(command("verify", "quiet.py", "--output-format", "json", cwd=tmp_path).stdout)
    assert [one["code"] for one in told["not_tried"]] == ["FKL001"]


def test_wrong_settings_and_wrong_words_are_one_line(command, project: Path) -> None:
    for text, words in (
        ('[verify]\nloader = ["a:b"]\n', "did you mean 'loaders'"),
        ('[verify]\nloaders = ["records.make_loader"]\n', "package.module:function"),
        ("[verify]\nenv = { A = 1 }\n", "expected a table of strings"),
    ):
        (project / "forklint.toml").write_text(text)
        done = command("verify", "records.py", cwd=project)
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) == 1
        assert words in done.stderr
    (project / "forklint.toml").write_text("")
    for arguments in (["none.py"], [".", "--", "--config", "x"], ["records.py", "--python", "none"]):
        done = command("verify", *arguments, cwd=project)
        assert done.returncode == 2, arguments
        assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.soak
def test_the_projects_own_interpreter_needs_no_forklint(forklint, tmp_path: Path) -> None:
    """A second environment with torch and without forklint: torch comes from this one's folder, by a path file."""
    import torch

    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    (folder,) = environment.glob("lib/python*/site-packages")
    packages = tmp_path / "packages"
    packages.mkdir()
    here = Path(torch.__file__).parent.parent
    for entry in here.iterdir():
        if not entry.name.lower().startswith(("forklint", "__editable__", "_forklint", "click", "libcst", "rich")):
            (packages / entry.name).symlink_to(entry)
    (folder / "others.pth").write_text(f"{packages}\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / "forklint.toml").touch()
    (project / "train.py").write_text(MISSPELT)
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    probe = [python, "-c", "import torch, importlib.util as u; assert not u.find_spec('forklint')"]
    subprocess.run(probe, check=True, env=clean, cwd=project)
    source = str(Path(__file__).parent.parent.parent / "src")
    done = forklint(
        "verify", "train.py", "--python", python, "--output-format", "json", cwd=project, env={"PYTHONPATH": source}
    )
    found = json.loads(done.stdout)
    assert found["environment"]["executable"] == str(python)
    assert [one["verdict"] for one in found["experiments"]] == ["confirmed"]


def test_a_python_without_torch_is_told_of_before_anything_runs(command, tmp_path: Path) -> None:
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "train.py").write_text(MISSPELT)
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    done = command("verify", "train.py", "--python", environment / "bin" / "python", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot import torch: pass the project's interpreter with --python" in done.stderr


def test_verdicts_as_sarif(command, project: Path) -> None:
    (project / "start.py").write_text("import multiprocessing\n\nmultiprocessing.Process(target=print).start()\n")
    options = ("--start-method", "fork", "--start-method", "spawn", "--output-format", "sarif")
    done = command("verify", "start.py", *options, "--output-file", "proofs.sarif", cwd=project)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    (result,) = check_document(json.loads((project / "proofs.sarif").read_text()))["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 3
    told = result["properties"]
    assert told["verdict"] == "confirmed"
    assert "under spawn, at start.py:3" in told["evidence"]
    assert "darwin/spawn" in told["cells"]
    trials = [(one["cell"], one["verdict"]) for one in told["trials"]]
    assert trials == [("fork", "control"), ("spawn", "confirmed")]
    (project / "broken.py").write_bytes(b"name = '\xe9'\n")
    done = command("verify", "broken.py", "none.py", "--output-format", "sarif", cwd=project)
    (invocation,) = check_document(json.loads(done.stdout))["invocations"]
    assert (done.returncode, invocation["executionSuccessful"]) == (2, False)
    assert len(invocation["toolExecutionNotifications"]) == 2
    for more in (["--plan", "--output-file", "x"], ["--output-file", "no/where.sarif"]):
        done = command("verify", "records.py", *more, cwd=project)
        assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1)
