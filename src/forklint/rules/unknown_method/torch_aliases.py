"""By which names a file reaches modules of torch other than by its own imports: ``F = torch.nn.functional``, stars."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from forklint.knowledge.torch_api import torch_module
from forklint.project.edges import PACKAGE
from forklint.project.index import Project
from forklint.project.meanings import Meanings
from forklint.rules.unknown_method.torch_modules import is_module
from forklint.summaries.summary import STAR, Import, Summary

TORCH = "torch"
SOURCES = "src"
Alias = tuple[str, str]
"""A dotted name of the file, and that of the module of torch which it may mean."""


def torch_aliases(project: Project, path: Path) -> frozenset[Alias]:
    """The names of a file that may mean modules of torch: variables, imports from the project, and what stars give."""
    return project.answer("names of torch's modules", path, lambda: frozenset(_find(project, path)), compared=True)


def _find(project: Project, path: Path) -> Iterator[Alias]:
    summary = project.summary(path)
    if summary is None:
        return
    roots = _roots(summary)
    yield from _assigned(summary)
    stars = [one for one in summary.imports if one.attribute == STAR]
    bound = frozenset[str]().union(*(scope.binds for scope in summary.scopes))
    for root in sorted(roots):
        imports = [one for one in summary.by_alias.get(root, ()) if one.level or not _is_torch(one.module)]
        if stars and root not in bound:
            yield from _given(project, path, root)
            yield from ((root, f"{star.module}.{root}") for star in stars if _has_module(star.module, root))
        elif any(_is_surely_ours(project, path, one) for one in imports):
            names = [root, *(f"{root}.{second}" for second in sorted(roots[root]))]
            for name in names:
                yield from _given(project, path, name)


def _is_surely_ours(project: Project, path: Path, one: Import) -> bool:
    """Whether an import means a file of the project, rather than a package of the same name that is installed.

    Python looks beside the script and in the folder of the project; a file elsewhere, ``../d2l.py``, may not be it.
    """
    found = project.resolver.find(path, one.module, one.level)
    if found is None or one.level:
        return found is not None
    steps = one.module.count(".") + (found.name == PACKAGE)
    return found.parents[steps] in {path.parent, project.root, project.root / SOURCES}


def _given(project: Project, path: Path, name: str) -> Iterator[Alias]:
    found = Meanings(project).meant(path, name)[0]
    yield from ((name, one) for one in found if isinstance(one, str) and _is_torch(one) and is_module(one))


def _assigned(summary: Summary) -> Iterator[Alias]:
    """Give the variables that are assigned a module of torch, or a name that is."""
    known: dict[str, set[str]] = {}
    for one in summary.imports:
        path = f"{one.bound}.{one.attribute}".rstrip(".")
        if not one.level and _is_torch(path) and is_module(path):
            known.setdefault(one.alias, set()).add(path)
    for target, values in summary.by_target.items():
        for _, value in values:
            root, _, rest = value.partition(".")
            paths = {f"{path}.{rest}".rstrip(".") for path in known.get(root, ())}
            paths = {path for path in paths if is_module(path)} if target not in known else set()
            known |= {target: paths} if paths else {}
            yield from ((target, path) for path in sorted(paths))


def _roots(summary: Summary) -> dict[str, set[str]]:
    """The first parts of dotted names of at least two parts, each with the second parts of those of at least three."""
    found: dict[str, set[str]] = {}
    for scope in summary.scopes:
        for spelling in (*scope.dotted, *scope.calls):
            first, *rest = spelling.split(".")
            if rest and first.isidentifier():
                found.setdefault(first, set()).update(rest[:1] if len(rest) > 1 and rest[0].isidentifier() else ())
    return found


def _has_module(star: str, name: str) -> bool:
    owner = torch_module(star) if _is_torch(star) else None
    return owner is not None and name in owner.every and is_module(f"{star}.{name}")


def _is_torch(path: str) -> bool:
    return path.partition(".")[0] == TORCH
