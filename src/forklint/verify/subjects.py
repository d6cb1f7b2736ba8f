"""What can be run for a class: the user's entry, a factory, a script that needs nothing, a class's defaults."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forklint.project.graph import word_test
from forklint.project.index import Project
from forklint.project.module import ClassFacts
from forklint.verify.words import Judgement, Subject, Verdict

STARTING = ("-m", "forklint_harness")
"""Starts the part of the harness that builds loaders itself."""
NEEDS_ARGUMENTS = re.compile(
    rb"sys\.argv\[|add_argument\(\s*[\"'][^-\"']|required\s*=\s*True|click\.argument|\bhydra\b"
)
"""Signs that a script does not run without arguments."""
RUNS_SOMETHING = re.compile(rb"^if\s+__name__\s*==|^for\s|^\w[\w.]*\(|^\w+\s*=\s*\w*DataLoader\(", re.MULTILINE)
"""Signs that a file does something when it is run."""
MAIN_GUARD = re.compile(rb"^if\s+__name__\s*==", re.MULTILINE)
RELATIVE = re.compile(rb"^\s*from\s+\.", re.MULTILINE)

NO_WAY_OUT = "pass a script (forklint verify SCRIPT -- ARGS), or add a factory to `loaders` in [tool.forklint.verify]"


@dataclass(frozen=True)
class Factory:
    """A callable that gives a DataLoader, or several in a list or dict."""

    call: str
    """``package.module:name``."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sources:
    """What the user has given, and where to look for the rest."""

    folder: Path
    """Working directory of trials."""
    entry: tuple[str, ...] = ()
    """A script with its arguments."""
    importable: tuple[Path, ...] = ()
    """Folders that it needs on PYTHONPATH."""
    factories: tuple[Factory, ...] = ()
    scripts: tuple[Path, ...] = ()
    """Files that may be run as they are, if they reach the class."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables for every trial."""


def subjects_for(path: Path, qualname: str, sources: Sources, project: Project) -> list[Subject | Judgement]:
    """What there is to run for a class that stands in a file, the best first; the next is for where that fails.

    What the user has named is all there is then. A judgement in place of the class's defaults says why it cannot be
    built by them, and names the one thing to do.
    """
    subject = subject_of(path, sources, project)
    if subject and (sources.entry or sources.factories):
        return [subject]
    return [*([subject] if subject else []), _class(path, qualname, sources, project)]


def subject_of(path: Path, sources: Sources, project: Project) -> Subject | None:
    """What there is to run for what stands in a file: an entry, factories, a script; None if there is nothing."""
    folder = sources.folder
    if sources.entry:
        return Subject("entry", sources.entry, folder, sources.importable, sources.variables)
    if sources.factories:
        told = [{"call": one.call, "arguments": dict(one.arguments)} for one in sources.factories]
        given = {key: value for one in sources.factories for key, value in one.environment.items()}
        environment = {**sources.variables, **given}
        return Subject(
            "factory", (*STARTING, "factories", json.dumps(told)), folder, (folder, folder / "src"), environment
        )
    for script in scripts_reaching(path, sources.scripts, project):
        command, importable = command_of(script)
        return Subject("entry", command, folder, importable, sources.variables)
    return None


def module_of(path: Path) -> tuple[str, Path]:
    """The dotted name under which a file can be imported, and the folder from which: above its topmost package."""
    folder = path.parent
    parts = [] if path.stem == "__init__" else [path.stem]
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder


def command_of(script: Path) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """How a script is run, and what must be importable for it.

    One that imports from its own package with dots cannot run under its path: people run it with ``python -m``.
    """
    module, folder = module_of(script)
    if "." in module and RELATIVE.search(script.read_bytes()):
        return ("-m", module), (folder,)
    return (str(script),), ()


def scripts_reaching(
    path: Path, scripts: Iterable[Path], project: Project, word: bytes = b"DataLoader"
) -> Iterator[Path]:
    """The scripts that import a file, however far, or are it, and seem to need no arguments; nearest names first.

    The word must stand in what they reach.
    """
    for script in sorted(scripts, key=lambda one: (one != path, len(one.parts), one)):
        data = project.data(script)
        if not RUNS_SOMETHING.search(data) or NEEDS_ARGUMENTS.search(data) or script.name.startswith("test_"):
            continue
        if script.name == "conftest.py" or path not in project.graph.reached(script):
            continue
        if project.graph.any_reached(script, word_test(word)):
            yield script


def _class(path: Path, qualname: str, sources: Sources, project: Project) -> Subject | Judgement:
    """The class built with its defaults, if it has them for all its arguments."""
    module = project.module(path)
    found = [facts for facts in (module.classes if module else ()) if _is_named(facts, qualname)]
    if not found:
        return _no_way(qualname or path.name)
    needed = required(found[0], project)
    if needed:
        return _no_way(f"{qualname}({', '.join(needed)})")
    return Subject("class", (*STARTING, "class", str(path), qualname), sources.folder, environment=sources.variables)


def _is_named(facts: ClassFacts, qualname: str) -> bool:
    return facts.name == qualname.rpartition(".")[2]


def required(facts: ClassFacts, project: Project) -> list[str]:
    """Names of the arguments without which an object of a class cannot be built."""
    method = project.method(facts, "__init__")
    if method is None:
        if not any("dataclass" in ast.unparse(decorator) for decorator in facts.node.decorator_list):
            return []
        fields = [one for one in facts.node.body if isinstance(one, ast.AnnAssign) and one.value is None]
        return [one.target.id for one in fields if isinstance(one.target, ast.Name)]
    arguments = method[1].args
    positional = [*arguments.posonlyargs, *arguments.args]
    plain = positional[1 : len(positional) - len(arguments.defaults)]
    keywords = [
        one for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None
    ]
    return [one.arg for one in (*plain, *keywords)]


def _no_way(what: str) -> Judgement:
    return Judgement(Verdict.INCONCLUSIVE, f"cannot create {what}", NO_WAY_OUT)
