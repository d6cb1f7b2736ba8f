"""FKL101 for variables that size no pool: each row of the table that a machine without a GPU can show."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from needed import need_torch
from proven import environment

from forklint.knowledge.environment import Environment
from forklint.verify.doctor import HARNESS
from forklint.verify.probed_variables import probes_of, unsupported

need_torch()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the rows were measured on Linux")

SEEN = {
    "OMP_WAIT_POLICY": "torch",
    "OMP_PROC_BIND": "torch",
    "OMP_PLACES": "torch",
    "GOMP_CPU_AFFINITY": "torch",
    "OMP_DYNAMIC": "torch",
    "OMP_THREAD_LIMIT": "torch",
    "MKL_DYNAMIC": "torch",
    "TORCH_LOGS": "torch",
    "TORCH_CPP_LOG_LEVEL": "torch",
    "TORCH_SHOW_CPP_STACKTRACES": "torch",
    "TORCH_DISTRIBUTED_DEBUG": "torch",
    "HDF5_USE_FILE_LOCKING": "h5py",
    "NUMEXPR_MAX_THREADS": "numexpr",
    "POLARS_MAX_THREADS": "polars",
    "JAX_PLATFORMS": "jax",
    "PYOPENGL_PLATFORM": "OpenGL.platform",
    "HF_HUB_OFFLINE": "huggingface_hub.constants",
    "HF_HUB_ETAG_TIMEOUT": "huggingface_hub.constants",
    "HF_DATASETS_OFFLINE": "datasets",
    "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "google.protobuf.internal.api_implementation",
    "LD_PRELOAD": "torch",
    "LD_LIBRARY_PATH": "torch",
    "MALLOC_ARENA_MAX": "torch",
    "PYTHONHASHSEED": "torch",
    "PYTHONUNBUFFERED": "torch",
}
"""A variable of each row, and what reads it."""
FAST = {"HDF5_USE_FILE_LOCKING"}


@pytest.fixture
def verdict(command, tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    def run(text: str) -> dict[str, Any]:
        (tmp_path / "train.py").write_text(text)
        words = ("--suspect", "train.py:4:FKL101", "--isolated", "--output-format", "json")
        done = command("verify", *words, cwd=tmp_path)
        (found,) = json.loads(done.stdout)["experiments"]
        return found

    return run


def late(variable: str, module: str, value: str = "1") -> str:
    return f'import os\nimport {module}\n\nos.environ["{variable}"] = "{value}"\n'


ROWS = [pytest.param(name, module, marks=() if name in FAST else pytest.mark.soak) for name, module in SEEN.items()]


@pytest.mark.parametrize(("name", "module"), ROWS)
def test_a_variable_that_is_set_late_is_confirmed(name: str, module: str, verdict) -> None:
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        pytest.skip(f"{module} is not installed")
    found = verdict(late(name, module))
    assert found["verdict"] == "confirmed", found["evidence"]
    assert "as without it, instead of" in found["evidence"]
    assert [trial["factors"]["environment"] for trial in found["trials"]] == ["unset", "early", "late"]


@pytest.mark.soak
@pytest.mark.parametrize("name", ["OMP_WAIT_POLICY", "TORCH_SHOW_CPP_STACKTRACES"])
def test_a_variable_that_is_set_in_time_is_refuted(name: str, verdict) -> None:
    found = verdict(f'import os\nimport sys\n\nos.environ["{name}"] = "1"\nimport torch\n')
    assert found["verdict"] == "refuted", found["evidence"]
    assert "although it was set late" in found["evidence"]


@pytest.mark.soak
def test_where_only_the_mechanism_can_be_seen_nothing_is_confirmed(verdict) -> None:
    found = verdict(late("MALLOC_TRIM_THRESHOLD_", "torch"))
    assert found["verdict"] == "not reproduced"
    assert "it was not set when the process started" in found["evidence"]


@pytest.mark.parametrize(
    ("name", "needs"),
    [("VECLIB_MAXIMUM_THREADS", "needs macOS"), ("KMP_AFFINITY", "needs macOS or Windows")],
)
def test_what_another_system_reads_is_unsupported_here(name: str, needs: str, verdict) -> None:
    found = verdict(late(name, "torch"))
    assert found["verdict"] == "unsupported here"
    assert needs in found["evidence"]


@pytest.mark.parametrize("name", ["CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "PYTORCH_CUDA_ALLOC_CONF"])
def test_what_a_gpu_shows_is_unsupported_without_one(name: str, verdict) -> None:
    if environment().has_cuda:
        pytest.skip("it can be seen here")
    found = verdict(late(name, "torch", "expandable_segments:True"))
    assert found["verdict"] == "unsupported here"
    assert "needs a CUDA device" in found["evidence"]


def test_every_row_has_an_experiment_or_says_what_it_needs() -> None:
    machine = environment()
    for row in Environment().judged:
        name = next(iter(row.names), row.prefix)
        is_shown = unsupported(row, machine) is not None or bool(probes_of(name, row, machine))
        assert is_shown, name


@pytest.mark.parametrize(
    ("name", "module", "needs"),
    [
        ("MUJOCO_GL", "mujoco", "needs mujoco, and a display or EGL"),
        ("TF_CPP_MIN_LOG_LEVEL", "tensorflow", "needs tensorflow"),
    ],
)
def test_what_no_probe_shows_says_what_it_needs(name: str, module: str, needs: str, verdict) -> None:
    found = verdict(late(name, module))
    assert found["verdict"] == "unsupported here", found["evidence"]
    assert needs in found["evidence"]


@pytest.mark.soak
@pytest.mark.parametrize(
    ("level", "expected"), [("INFO", "True"), pytest.param("ERROR", "False", marks=pytest.mark.soak)]
)
def test_torchs_log_level_is_seen_without_a_loopback_network(level: str, expected: str) -> None:
    """A socket that cannot connect warns in any case; what it says before it fails depends on the level."""
    without_network = ["unshare", "--map-root-user", "--net"]
    if shutil.which("unshare") is None or subprocess.run([*without_network, "true"], check=False).returncode:
        pytest.skip("needs a network namespace")
    (row,) = [row for row in Environment().rows("TORCH_CPP_LOG_LEVEL", None) if row.probes]
    expression = dict(row.probes)["torch"].partition(":")[2]
    code = f"from forklint_harness.tasks.variable import PROBES\nprint(PROBES['log']({expression!r}, {{}}))"
    variables = {**os.environ, "PYTHONPATH": str(HARNESS), "TORCH_CPP_LOG_LEVEL": level}
    words = [*without_network, sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, env=variables, check=True)
    assert done.stdout.strip() == expected


@pytest.mark.skipif(importlib.util.find_spec("h5py") is None, reason="h5py is not installed")
def test_a_module_that_comes_too_late_is_proved_in_the_program_that_imports_it(command, tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text(
        'import os\n\nos.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"\nFOLDER = "runs"\n'
    )
    (tmp_path / "train.py").write_text("import h5py\n\nimport settings\n\nprint(settings.FOLDER, h5py.__name__)\n")
    done = command("verify", ".", "--select", "FKL101", "--isolated", "--output-format", "json", cwd=tmp_path)
    (found,) = json.loads(done.stdout)["experiments"]
    assert found["verdict"] == "confirmed", found
