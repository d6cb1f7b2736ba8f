"""Who made what is kept, and under which settings: another program, or other settings, may find something else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import fields
from importlib.machinery import PathFinder
from pathlib import Path

from forklint import __version__
from forklint.config import Settings
from forklint.source.roots import Extent

CHANGES_NO_REPORT = frozenset({"force_exclude", "baseline", "exit_on", "verify", "cache_dir"})
"""Settings that say which files are linted, or what is done with findings, not what is found in a file."""
LIBRARIES = (("libcst", "_version.py"), ("ruamel", "yaml/__init__.py"), ("tomli", "__init__.py"))
"""What reads and edits files beside Python itself: the package, and a file of it that holds its version."""
OWN = Path(__file__).parent.parent
TAG = f"{__version__}-{sys.implementation.cache_tag}"


def program() -> str:
    """What stands for this forklint, its Python and the libraries that have a say in what is found.

    By its files as well as by its version, since a checkout changes while its version stays.
    """
    import hashlib  # noqa: PLC0415 - only where something is kept

    state = hashlib.blake2b(repr(sys.version).encode(), digest_size=16)
    for part in sorted(_stamps(str(OWN))):
        state.update(part.encode(errors="surrogatepass"))
    for name, inside in LIBRARIES:
        spec = PathFinder.find_spec(name)
        for folder in spec.submodule_search_locations or () if spec is not None else ():
            path = os.path.join(folder, inside)
            if os.path.exists(path):
                state.update(_stamp(path, os.stat(path)).encode(errors="surrogatepass"))
    return f"{TAG}-{state.hexdigest()}"


def _stamps(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        yield from _stamps(entry.path)
                elif entry.name.endswith((".py", ".toml")):
                    yield _stamp(entry.path, entry.stat())
    except OSError:  # it is imported from an archive: then the version must do
        return


def _stamp(path: str, status: os.stat_result) -> str:
    return f"{path}:{status.st_mtime_ns}:{status.st_size}"


def request(extent: Extent, settings: Settings, variant: str) -> str:
    """What stands for a project, the settings for it, and how it is linted apart from these."""
    values = {
        field.name: getattr(settings, field.name) for field in fields(Settings) if field.name not in CHANGES_NO_REPORT
    }
    return repr((str(extent.walked), extent.is_marked, extent.is_flat, variant, values))
