"""Runs flake8 as a user would, with forklint as its plugin."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent


def metadata(folder: Path) -> Path:
    """Write what an installed forklint says of itself, for a tree that is on the path and not installed."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    info = folder / f"forklint-{project['version']}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: forklint\nVersion: {project['version']}\n")
    points = project["entry-points"]["flake8.extension"]
    lines = [f"{name} = {target}" for name, target in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[flake8.extension]", *lines, ""]))
    return folder


def environment(folder: Path) -> dict[str, str]:
    """Variables under which flake8 finds the plugin; ``folder`` is for metadata, if that is missing."""
    if any(point.name == "FKL" for point in entry_points(group="flake8.extension")):
        return dict(os.environ)
    path = os.pathsep.join(filter(None, (str(metadata(folder)), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}


class Flake8:
    """The command, with ``environment`` for its variables."""

    def __init__(self, variables: dict[str, str]) -> None:
        self.environment = variables

    def __call__(
        self, *arguments: str | Path, cwd: Path, code: str = "", safe_path: bool = False, **options
    ) -> subprocess.CompletedProcess:
        """Run it in ``cwd``, or the Python ``code`` in its place.

        ``safe_path``: whether Python leaves ``cwd`` out of its path from the start, as it can from 3.11 on. From 3.13
        on it imports ``linecache`` before the code runs.
        """
        start = ["-c", code] if code else ["-m", "flake8"]
        return subprocess.run(
            [sys.executable, *start, *map(str, arguments)],
            cwd=cwd,
            env={**self.environment, **({"PYTHONSAFEPATH": "1"} if safe_path else {})},
            capture_output=True,
            timeout=240,
            check=False,
            **{"text": True, **options},
        )
