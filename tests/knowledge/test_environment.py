"""The tables on environment variables: whole, and true on this machine as far as it can show."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

from forklint import knowledge
from forklint.knowledge.environment import Environment, loaded_by

TABLE = knowledge.table("env_vars.toml")
ROWS = {(row.get("names") or [row["prefix"]])[0]: row for row in TABLE["variable"]}
READERS = TABLE["reader"]
THREADS = (
    "import threadpoolctl as t; "
    "print(sorted(p['num_threads'] for p in t.threadpool_info() if p['internal_api'] == {!r}))"
)
SYMBOL = (
    "import ctypes; lib = next(l.split()[-1] for l in open('/proc/self/maps') if {!r} in l); "
    "print(getattr(ctypes.CDLL(lib), {!r})())"
)
RAISES = """
try:
    {}
except Exception as error:
    print("C++" in str(error) or "Exception raised from" in str(error))
"""
LOCKED = """
import fcntl, h5py, os, tempfile
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.h5")
    h5py.File(path, "w").close()
    fcntl.flock(os.open(path, os.O_RDWR), fcntl.LOCK_EX)
    try:
        print("opened", h5py.File(path, "r").mode)
    except OSError:
        print("locked")
"""


@pytest.mark.parametrize("row", TABLE["variable"], ids=lambda row: (row.get("names") or [row["prefix"]])[0])
def test_row_is_whole(row: dict) -> None:
    assert bool(row.get("names")) != bool(row.get("prefix"))
    assert row["severity"] in {"error", "warning", "info"}
    assert row["source"].startswith(("measured", "documented", "not verified"))
    deadlines = {READERS[name]["deadline"] for name in row["readers"]}
    if deadlines != {"use"}:
        assert row["effect"]
        assert "start" in deadlines or ("value" in row and set(row["probe"]) <= set(row["readers"]))


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_reader_is_whole(reader: dict) -> None:
    assert reader["what"]
    assert reader["deadline"] in {"import", "call", "start", "use"}
    assert bool(reader.get("modules")) == (reader["deadline"] == "import")
    assert reader.get("calls", "") in {"", *TABLE["calls"]}


def test_a_load_is_followed() -> None:
    assert {"torchvision.transforms", "torchvision", "torch", "numpy"} <= loaded_by("torchvision.transforms")
    assert "huggingface_hub.constants" not in loaded_by("huggingface_hub")
    assert "huggingface_hub.constants" in loaded_by("huggingface_hub", ["snapshot_download"])
    assert "torch" not in loaded_by("transformers")
    assert "torch" in loaded_by("transformers", ["AutoModelForCausalLM"])
    assert "google.protobuf.internal.api_implementation" in loaded_by("proto", ["frame_pb2"])


def test_an_added_row_hides_the_table_s_own() -> None:
    rows = Environment(({"name": "TORCH_LOGS", "modules": ["mine"]},)).rows("TORCH_LOGS", "1")
    assert [reader.modules for row in rows for reader in row.readers] == [("mine",)]


def code_of(probe: str) -> tuple[str, str]:
    """What a probe runs, and the stream to look at."""
    kind, _, rest = probe.partition(":")
    if kind == "threads":
        return THREADS.format(rest), "stdout"
    if kind == "symbol":
        return SYMBOL.format(*rest.split(":")), "stdout"
    if kind == "opens":
        return LOCKED, "stdout"
    if kind == "raises":
        return RAISES.format(rest), "stdout"
    if kind == "fails":
        return f"import numpy\ntry: {rest}; print(False)\nexcept Exception: print(True)", "stdout"
    return (f"print({rest})", "stdout") if kind == "value" else (rest, "stderr")


def observed(variable: str, value: str, module: str, probe: str, moment: str) -> str:
    """What the probe shows in a fresh process with the variable unset, set early or set late."""
    code, stream = code_of(probe)
    setting = f"import os; os.environ[{variable!r}] = {value!r}"
    imports = f"import {module}"
    if "torch.distributed" in probe:
        imports += "\nimport datetime, torch.distributed"
    if "numexpr" in probe:
        imports += "\nimport numexpr"
    lines = {"unset": [imports], "early": [setting, imports], "late": [imports, setting]}[moment]
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    command = [sys.executable, "-c", "\n".join([*lines, code])]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    text = result.stdout if stream == "stdout" else str(bool(result.stderr.strip()))
    return text.strip()


def is_there(module: str) -> bool:
    """Whether a module can be imported here."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


PROBED = [
    pytest.param(name, reader, module, id=f"{name}-{module}", marks=() if name in fast else pytest.mark.soak)
    for fast in [{"OPENBLAS_NUM_THREADS", "HDF5_USE_FILE_LOCKING"}]
    for name, row in ROWS.items()
    for reader, probe in row.get("probe", {}).items()
    if not probe.startswith("displays:") and "{name}" not in probe  # those are measured in tests/verify
    for module in READERS[reader].get("modules", ())
    if (module, name) != ("tables", "HDF5_USE_FILE_LOCKING")  # it has a library of its own, which h5py does not show
]


@pytest.mark.skipif(sys.platform != "linux", reason="the measurements are of Linux")
@pytest.mark.parametrize(("name", "reader", "module"), PROBED)
def test_an_assignment_after_the_import_does_nothing(name: str, reader: str, module: str) -> None:
    if not is_there(module) or not is_there("threadpoolctl"):
        pytest.skip(f"{module} is not installed")
    row = ROWS[name]
    needs_cores = reader in {"openblas", "libgomp", "mkl", "numexpr", "polars"} and row["value"] == "1"
    if needs_cores and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core shows nothing")
    if "cuda" in row["probe"][reader]:
        pytest.skip("needs CUDA")
    seen = {m: observed(name, row["value"], module, row["probe"][reader], m) for m in ("unset", "early", "late")}
    assert seen["late"] == seen["unset"] != seen["early"], seen
