"""The environment in which trials run, and what in it is risky, with no project at all."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HARNESS = Path(__file__).parent / "harness"
"""The one folder that is put on PYTHONPATH of a trial."""
PROBE = HARNESS / "forklint_harness" / "environment.py"
PROBE_SECONDS = 120
"""An import of torch from a cold network file system takes this long at the worst."""
GIB = 2**30
SMALL_SHM = GIB
"""Containers get 64 MiB unless asked otherwise; one batch of images in flight for each of a few workers is more."""
FEW_FILES = 4096
"""With the sharing strategy `file_descriptor` each tensor in flight holds a descriptor; the usual limit is 1024."""


class ProbeError(Exception):
    """The interpreter could not be asked; the message says why in one line."""


@dataclass(frozen=True)
class Environment:
    """What the probe found out; see harness/forklint_harness/environment.py for the facts. Unknown ones are None."""

    facts: Mapping[str, Any]

    @property
    def system(self) -> str | None:
        """``linux``, ``darwin``, ``windows``, or None for another."""
        system: str | None = self.facts["system"]
        return system

    @property
    def start_methods(self) -> tuple[str, ...]:
        """The start methods that the platform has."""
        return tuple((self.facts["start_methods"] or {}).get("all", ()))

    @property
    def torch(self) -> Mapping[str, Any]:
        """Facts of torch; empty if it cannot be imported."""
        return self.facts["torch"] or {}

    @property
    def has_cuda(self) -> bool:
        """Whether torch can use a GPU by CUDA."""
        return bool(self.torch.get("cuda_runtime") and self.torch.get("gpus"))

    def rows(self) -> Iterator[tuple[str, str]]:
        """The environment as lines of a table: what, and how much of it."""
        facts, torch = self.facts, self.torch
        yield "platform", facts["platform"]
        yield "python", f"{facts['python']} ({facts['executable']})"
        yield "torch", torch.get("version") or f"cannot be imported: {facts['torch_error']}"
        if torch:
            yield "CUDA", _cuda(torch)
            yield "MPS", "available" if torch["mps"] else "none"
        methods = facts["start_methods"] or {}
        default, preset = methods.get("default", "unknown"), methods.get("preset")
        yield "start method", f"{preset} (set before the program ran)" if preset else f"{default} by default"
        yield "cores", _or_unknown(facts["cores"])
        yield "memory", _size(facts["memory_bytes"])
        shm = facts["shm_bytes"]
        yield "/dev/shm", f"{_size(shm['total'])}, {_size(shm['free'])} free" if shm else "none"
        yield "open files", _or_unknown(facts["open_files"])
        if torch:
            yield "threads", f"{torch['threads']} of torch, {torch['interop_threads']} between operators"
        runtimes = facts["openmp_runtimes"]
        yield "OpenMP", ", ".join(runtimes) if runtimes else ("none loaded" if runtimes is not None else "unknown")
        yield "numpy", (facts["numpy"] or {}).get("version") or "none"
        yield from facts["variables"].items()

    def risks(self) -> Iterator[str]:
        """What in the environment makes workers crash or hang, each with what to do about it."""
        facts, torch = self.facts, self.torch
        if not torch:
            yield f"torch cannot be imported ({facts['torch_error']}): pass the project's interpreter with --python"
        shm = facts["shm_bytes"]
        if shm and shm["total"] < SMALL_SHM:
            yield (
                f"/dev/shm has only {_size(shm['total'])}: workers that share larger batches are killed by SIGBUS; "
                "start the container with --shm-size=8g or --ipc=host"
            )
        files = facts["open_files"]
        if files is not None and 0 < files < FEW_FILES and torch.get("sharing") == "file_descriptor":
            yield (
                f"the limit of open files is {files}: many tensors in flight lead to 'Too many open files'; "
                "raise the limit with `ulimit -n`"
            )
        runtimes = facts["openmp_runtimes"] or ()
        if len(runtimes) > 1:
            yield f"{len(runtimes)} OpenMP runtimes are loaded ({', '.join(runtimes)}): the process can hang or crash"
        numpy = facts["numpy"]
        if numpy and numpy["torch_speaks"] is False:
            version = torch.get("version")
            yield f"torch {version} does not work with numpy {numpy['version']}: install the numpy it was built for"
        runtime, driver = torch.get("cuda_runtime"), torch.get("cuda_driver")
        if runtime and driver and _version(driver) < _version(runtime):
            yield f"the driver supports CUDA {driver}, torch needs {runtime}: update it, or install another torch"
        preset = (facts["start_methods"] or {}).get("preset")
        if preset:
            yield f"the start method is {preset} before the program runs: it was set when the interpreter started"


def probe(python: Path, variables: tuple[str, ...] = ()) -> Environment:
    """Ask an interpreter what it has, and which of ``variables`` are set; raises ProbeError."""
    try:
        done = subprocess.run(  # noqa: S603 - the user's own interpreter runs a file of ours
            [str(python), str(PROBE), *variables],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        raise ProbeError(f"{python}: {error.strerror or error}") from None
    except subprocess.TimeoutExpired:
        raise ProbeError(f"{python}: did not answer within {PROBE_SECONDS} seconds") from None
    try:
        return Environment(json.loads(done.stdout.splitlines()[-1]))
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise ProbeError(f"{python}: not a working Python interpreter ({last})") from None


def _cuda(torch: Mapping[str, Any]) -> str:
    if not torch["cuda_runtime"]:
        return "torch was built without CUDA"
    gpus = ", ".join(torch["gpus"]) or "no GPU"
    return f"{torch['cuda_runtime']}, driver for {torch['cuda_driver'] or 'none'}: {gpus}"


def _version(dotted: str) -> tuple[int, ...]:
    return tuple(int(part) for part in dotted.split("."))


def _size(count: int | None) -> str:
    if count is None:
        return "unknown"
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count / 2**20:.0f} MiB"


def _or_unknown(value: int | None) -> str:
    return "unknown" if value is None else str(value)
