"""Prints, as one JSON object, what the interpreter that runs it has: platform, torch, limits, thread runtimes.

Run as a program (``python environment.py``). What cannot be found out is null.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from typing import Any, Callable, Dict, List, Optional, TypeVar

T = TypeVar("T")
RUNTIMES = re.compile(r"(?:^|/)(lib(?:gomp|iomp5|omp|vcomp)[^/]*)$")
"""Shared libraries that are an OpenMP runtime each; two in one process can hang or crash it."""


def _guarded(question: Callable[[], T]) -> Optional[T]:
    try:
        return question()
    except Exception:
        return None


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def memory_bytes() -> int:
    """Bytes of memory of the machine, or of the control group if that has less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _guarded(lambda: int(_read("/sys/fs/cgroup/memory.max")))
    return min(total, limit) if limit else total


def cores() -> int:
    """Cores that this process may use, by affinity and by the control group's quota."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _guarded(lambda: [int(word) for word in _read("/sys/fs/cgroup/cpu.max").split()])
    return min(count, max(1, quota[0] // quota[1])) if quota else count


def shm_bytes() -> Dict[str, int]:
    """Size and free bytes of /dev/shm, through which workers hand over tensors on Linux."""
    found = os.statvfs("/dev/shm")
    return {"total": found.f_frsize * found.f_blocks, "free": found.f_frsize * found.f_bavail}


def open_files() -> int:
    """Limit of open file descriptors of this process."""
    import resource

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def start_methods() -> Dict[str, Any]:
    """Start methods that the platform has, the default one, and the one that was set before anything ran."""
    import multiprocessing

    preset = multiprocessing.get_start_method(allow_none=True)
    return {
        "all": multiprocessing.get_all_start_methods(),
        "preset": preset,
        "default": multiprocessing.get_context().get_start_method(),
    }


def openmp_runtimes(pid: Any = "self") -> List[str]:
    """File names of the OpenMP runtimes that are mapped into a process, this one by default."""
    paths = {line.split()[-1] for line in _read("/proc/{}/maps".format(pid)).splitlines() if "/" in line}
    return sorted({match.group(1) for match in map(RUNTIMES.search, paths) if match})


def numpy_facts(torch: Any) -> Dict[str, Any]:
    """The version of numpy, and whether torch can hand arrays to it."""
    import numpy

    speaks = None
    if torch is not None:
        speaks = _guarded(lambda: bool((torch.zeros(1).numpy() == 0).all())) or False
    return {"version": numpy.__version__, "torch_speaks": speaks}


def torch_facts(torch: Any) -> Dict[str, Any]:
    """What torch was built with and sees here."""
    cuda = torch.version.cuda
    names = _guarded(lambda: [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]) or []
    mps = getattr(torch.backends, "mps", None)
    return {
        "version": torch.__version__,
        "cuda_runtime": cuda,
        "cuda_driver": _guarded(lambda: _dotted(torch._C._cuda_getDriverVersion())) if cuda else None,
        "gpus": names,
        "mps": bool(mps and _guarded(mps.is_available)),
        "threads": torch.get_num_threads(),
        "interop_threads": torch.get_num_interop_threads(),
        "sharing": _guarded(torch.multiprocessing.get_sharing_strategy),
    }


def _dotted(version: int) -> Optional[str]:
    """CUDA's number 12040 as 12.4; 0 means that there is no driver."""
    return f"{version // 1000}.{version % 1000 // 10}" if version else None


def facts() -> Dict[str, Any]:
    """All of it as one dictionary."""
    starting = _guarded(start_methods)  # before torch is imported, which does not set it but might one day
    error = None
    try:
        import torch
    except Exception as fault:
        torch = None  # type: ignore[assignment]
        error = f"{type(fault).__name__}: {fault}"
    return {
        "platform": platform.platform(),
        "system": {"Linux": "linux", "Darwin": "darwin", "Windows": "windows"}.get(platform.system()),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "executable": sys.executable,
        "cores": _guarded(cores),
        "memory_bytes": _guarded(memory_bytes),
        "shm_bytes": _guarded(shm_bytes),
        "open_files": _guarded(open_files),
        "start_methods": starting,
        "torch": torch_facts(torch) if torch is not None else None,
        "torch_error": error,
        "numpy": _guarded(lambda: numpy_facts(torch)),
        "openmp_runtimes": _guarded(openmp_runtimes),
        "variables": {name: os.environ[name] for name in sys.argv[1:] if name in os.environ},
    }


if __name__ == "__main__":
    print(json.dumps(facts()))
