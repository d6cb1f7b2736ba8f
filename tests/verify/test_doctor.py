"""The environment table, and the risks that it names."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from forked_command import SERVER
from needed import need_torch
from proven import environment

from forklint.cli.files import interpreter
from forklint.verify.doctor import PROBE, Environment


@pytest.fixture(scope="module")
def here() -> Environment:
    return environment()


def with_facts(environment: Environment, **changed: Any) -> list[str]:
    facts = json.loads(json.dumps(environment.facts))
    for path, value in changed.items():
        *parents, last = path.split("__")
        part = facts
        for name in parents:
            part = part[name]
        part[last] = value
    return list(Environment(facts).risks())


def test_the_table_is_of_this_interpreter_and_few_open_files_are_a_risk_and_an_exit_code(tmp_path: Path) -> None:
    need_torch()
    variables = {**os.environ, "NO_COLOR": "1", "OMP_NUM_THREADS": "3"}
    done = SERVER.run(["doctor"], tmp_path, variables, None, 120, {resource.RLIMIT_NOFILE: 256})
    assert done.returncode == 1, done.stdout + done.stderr
    assert "the limit of open files is 256" in done.stdout
    rows = dict(line.split(None, 1) for line in done.stdout.splitlines() if "  " in line)
    assert rows["torch"].partition("+")[0] == version("torch").partition("+")[0]
    assert rows["python"].startswith(f"{sys.version.split()[0]} (")
    assert rows["OMP_NUM_THREADS"] == "3"
    assert int(rows["cores"]) <= (os.cpu_count() or 1)


def test_json_has_the_same_facts_and_the_risks(command, tmp_path: Path) -> None:
    need_torch()
    done = command("doctor", "--output-format", "json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert found["torch"]["version"]
    assert done.returncode == (1 if found["risks"] else 0)
    assert {"fork", "spawn", "forkserver"} == set(found["start_methods"]["all"])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"shm_bytes": {"total": 64 * 2**20, "free": 2**20}}, "/dev/shm has only 64 MiB"),
        ({"openmp_runtimes": ["libgomp.so.1", "libiomp5.so"]}, "2 OpenMP runtimes"),
        ({"numpy__torch_speaks": False}, "does not work with numpy"),
        ({"torch__cuda_runtime": "12.8", "torch__cuda_driver": "12.4"}, "the driver supports CUDA 12.4"),
        ({"start_methods__preset": "spawn"}, "the start method is spawn"),
    ],
)
def test_a_risk_is_named(here: Environment, changed: dict[str, Any], words: str) -> None:
    if "CUDA" in words:
        need_torch()
    assert any(words in risk for risk in with_facts(here, **changed))
    assert not any(words in risk for risk in here.risks())


def test_a_driver_as_new_as_the_runtime_is_no_risk(here: Environment) -> None:
    need_torch()
    risks = with_facts(here, torch__cuda_runtime="12.8", torch__cuda_driver="12.10")
    assert not any("driver" in risk for risk in risks)


def test_what_is_no_python_is_one_line(forklint, tmp_path: Path) -> None:
    for program in (shutil.which("true") or "/bin/true", tmp_path / "none"):
        done = forklint("doctor", "--python", program, cwd=tmp_path)
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) == 1
        assert str(program) in done.stderr


def test_what_prints_anything_is_one_line_too(forklint, tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nprintf '\\377'\n")
    program.chmod(0o755)
    done = forklint("doctor", "--python", program, cwd=tmp_path)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1)
    assert "not a working Python interpreter" in done.stderr


def test_a_program_is_found_as_a_shell_finds_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert interpreter(Path("sh")) == Path(shutil.which("sh") or "")
    assert interpreter(Path("bin/sh")) == Path("bin/sh")
    Path("sh").touch()
    assert interpreter(Path("sh")) == Path("sh")


def test_a_python_without_torch_is_a_risk(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libtorch.so: no such file')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, PROBE], env=environment, capture_output=True, text=True, check=True)
    found = Environment(json.loads(done.stdout))
    assert any("libtorch.so" in risk for risk in found.risks())
    assert ("torch", "cannot be imported: ImportError: libtorch.so: no such file") in list(found.rows())
