"""The environments that contenders run in: one for forklint itself, one for each peer of peers.toml.

They lie in the user's cache folder and are made once. What cannot be installed is told with its reason and is never
left out in silence: rows that need it say "not measured".
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.corpus import REPOSITORY, cache_home

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LIST = REPOSITORY / "bench" / "peers.toml"
FORKLINT = "forklint"
OLDER = ("3.12", "3.11", "3.10")
"""Pythons to try where the running one has no wheel of what a peer pins."""
STAMP = "installed.json"


@dataclass(frozen=True)
class Peer:
    """One row of peers.toml."""

    name: str
    version: str

    @property
    def requirement(self) -> str:
        """As pip takes it."""
        return f"{self.name}=={self.version}"


@dataclass(frozen=True)
class Environment:
    """Where a tool is installed."""

    tool: str
    python: str
    programs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Commands that are not programs of its folder."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Its Python, and all that is installed in it."""

    def command(self, program: str) -> tuple[str, ...]:
        """The words that run a program of this environment."""
        if program == "python":
            return (self.python,)
        return self.programs.get(program) or (str(Path(self.python).parent / program),)


@dataclass(frozen=True)
class Missing:
    """A tool that is not at hand, and why."""

    tool: str
    reason: str


Tools = Mapping[str, Environment | Missing]


def peers(path: Path = LIST) -> list[Peer]:
    """Read the list."""
    return [Peer(**row) for row in tomllib.loads(path.read_text(encoding="utf-8"))["peer"]]


def here() -> Tools:
    """The running interpreter with the forklint that it imports, and nothing else."""
    python = {"python": ".".join(map(str, sys.version_info[:3]))}
    own = Environment(FORKLINT, sys.executable, {"forklint": (sys.executable, "-m", "forklint")}, python)
    return {FORKLINT: own} | {peer.name: Missing(peer.name, "nothing was to be installed") for peer in peers()}


def installed(wanted: Iterable[str], home: Path | None = None) -> Tools:
    """The environments of these tools, made where they are missing."""
    home = home or cache_home() / "peers"
    listed = {peer.name: peer for peer in peers()}
    made: dict[str, Environment | Missing] = {}
    for tool in sorted(set(wanted)):
        if tool == FORKLINT:
            settings = hashlib.sha256((REPOSITORY / "pyproject.toml").read_bytes()).hexdigest()
            asked = ["--editable", f"{REPOSITORY}[server]", listed["flake8"].requirement]
            made[tool] = _environment(tool, home / tool, asked, (sys.executable,), settings)
        else:
            peer = listed[tool]
            asked = ["--only-binary", ":all:", peer.requirement]
            made[tool] = _environment(tool, home / f"{tool}-{peer.version}", asked, tuple(_pythons()), peer.version)
    return made


def _environment(
    tool: str, folder: Path, asked: Sequence[str], pythons: Sequence[str], state: str
) -> Environment | Missing:
    """One environment, as it was left or made anew with the first Python that can have what is asked for."""
    stamp = {"asked": [*asked], "state": state, "python": "{}.{}".format(*sys.version_info)}
    known = _read(folder / STAMP)
    if known.get("stamp") != stamp:
        print(f"installing {asked[-1]} for {tool} in {folder}", file=sys.stderr, flush=True)
        said = ""
        for python in pythons:
            said = _install(folder, python, asked)
            if not said:
                break
        else:
            return Missing(tool, f"{asked[-1]} could not be installed: {said}")
        known = {"stamp": stamp, "versions": _versions(folder)}
        (folder / STAMP).write_text(json.dumps(known), encoding="utf-8")
    return Environment(tool, str(folder / "bin" / "python"), versions=known["versions"])


def _read(path: Path) -> dict[str, Any]:
    try:
        known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known


def _install(folder: Path, python: str, asked: Sequence[str]) -> str:
    """Make the environment anew; gives what was said when that failed."""
    shutil.rmtree(folder, ignore_errors=True)
    venv = [python, "-m", "venv", "--without-pip", str(folder)]
    for command in (venv, [*_pip(folder), "install", "--quiet", *asked]):
        done = subprocess.run(command, capture_output=True, text=True, env=variables(), check=False)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            return (errors or done.stderr.splitlines() or done.stdout.splitlines() or ["no reason given"])[-1]
    return ""


def _pip(folder: Path) -> list[str]:
    """The running interpreter's pip, at work on an environment, which needs none of its own."""
    return [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "--disable-pip-version-check"]


def _versions(folder: Path) -> dict[str, str]:
    command = [*_pip(folder), "list", "--format", "json"]
    listed = json.loads(subprocess.run(command, capture_output=True, text=True, env=variables(), check=True).stdout)
    command = [str(folder / "bin" / "python"), "--version"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {"python": version.split()[1]} | {one["name"].lower(): one["version"] for one in listed}


def _pythons() -> Iterator[str]:
    """The running interpreter, then older ones on the path or under pyenv."""
    yield sys.executable
    for version in OLDER:
        if found := shutil.which(f"python{version}"):
            yield found
        yield from map(str, sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))


def variables() -> dict[str, str]:
    """The environment variables without those that would bring other code into an environment."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
