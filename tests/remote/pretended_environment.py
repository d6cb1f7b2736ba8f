"""The environment of a machine with torch, without an import of torch to find out."""

from __future__ import annotations

from forklint.verify.doctor import Environment

TORCH = {
    "version": "2.13.0+cpu",
    "cuda_runtime": None,
    "cuda_driver": None,
    "gpus": [],
    "mps": False,
    "threads": 2,
    "interop_threads": 2,
    "sharing": "file_descriptor",
}
FACTS = {
    "platform": "Linux-6.12.0-x86_64-with-glibc2.41",
    "system": "linux",
    "machine": "x86_64",
    "python": "3.12.4",
    "executable": "/usr/bin/python3",
    "cores": 2,
    "memory_bytes": 8 * 2**30,
    "shm_bytes": {"total": 2**30, "free": 2**30},
    "open_files": 1024,
    "start_methods": {"all": ["fork", "spawn", "forkserver"], "preset": None, "default": "fork"},
    "torch": TORCH,
    "torch_error": None,
    "numpy": None,
    "openmp_runtimes": [],
    "variables": {},
}


def with_torch(**facts: object) -> Environment:
    """A Linux machine, with these facts of torch."""
    return Environment({**FACTS, "torch": {**TORCH, **facts}})
