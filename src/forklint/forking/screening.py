"""Whether code may come to use what is left behind by a fork, or to fork, judged by names (see ``runs.reached``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from forklint.knowledge.poisons import poisons
from forklint.loading.screening import loader_names
from forklint.project.index import Project
from forklint.runs.reached import Names, Sought
from forklint.summaries.summary import Import

STARTERS = frozenset({"Process", "Pool", "ProcessPoolExecutor"})
NUMBER = "num_proc"
"""The keyword by which ``map`` of a dataset is told how many processes to start."""
SETTER_NAME = "set_num_interop_threads"
MOVING = frozenset({"cuda", "to"})
"""Methods that may put something on a GPU, whatever they are called of."""
IMPORTING = "import_module"


def may_start(project: Project, path: Path) -> bool:
    """Whether a file may start processes in another way than by a loader."""
    return project.hierarchy.may_call(STARTERS, path) or project.answer(
        "gives a number of processes", path, lambda: _gives_number(project, path), compared=True
    )


def _gives_number(project: Project, path: Path) -> bool:
    summary = project.summary(path)
    return summary is not None and any(NUMBER in scope.passed for scope in summary.scopes)


def names_of_sites(project: Project) -> frozenset[str]:
    """Last names of the calls that may be a site."""
    return _names_of_starts(project) | {"map"}


def may_be_site(project: Project, name: str) -> bool:
    """Whether a call of a last name may be a site."""
    return name == "map" or name in _names_of_starts(project)


def _names_of_starts(project: Project) -> frozenset[str]:
    """Last names of what may make a loader or start processes."""

    def find() -> frozenset[str]:
        return loader_names(project) | project.hierarchy.heirs(STARTERS)

    return project.answer("names of what forks", None, find, compared=True)


def uses(project: Project) -> Sought:
    """Code that names what poisons.toml knows, what may fork, or a method that may use CUDA."""
    fixed = MOVING | {SETTER_NAME, IMPORTING}
    rows = frozenset(_rows())

    def in_code(text: Names) -> bool:
        for named in (fixed, _names_of_starts(project)):
            if not (named.isdisjoint(text.bare) and named.isdisjoint(text.attributes)):
                return True
        return "map" in text.attributes and _may_pass(text, NUMBER)

    def in_import(one: Import, text: Names | None) -> bool:
        name = f"{one.module}.{one.attribute}" if one.attribute else one.bound
        if one.level:
            return False
        if name.partition(".")[0] == "torch" and _may_pass(text, "device"):
            return True
        return any(_may_lead_to(row, name, text) for row in rows)

    return Sought("what a fork leaves behind", in_code, in_import, by_import=True)


def _rows() -> Iterator[str]:
    """The qualified names of poisons.toml, without the stars at their ends."""
    table = poisons()
    rows: list[Iterable[str]] = [row.calls for row in table.functions]
    rows += [row.names for row in table.decorators]
    rows += [row.off for row in table.poisons.values()]
    for row in table.objects:
        rows += [row.made_by, row.bases]
    yield from (name.removesuffix(".*") for names in rows for name in names)


def _may_pass(text: Names | None, keyword: str) -> bool:
    return text is None or text.passed is None or keyword in text.passed


def _may_lead_to(row: str, name: str, text: Names | None) -> bool:
    """Whether code that has imported a name may mean a row by it and the names behind it."""
    if row == name or name.startswith(f"{row}."):
        return True
    rest = row.removeprefix(f"{name}.")
    return rest != row and (text is None or text.attributes.issuperset(rest.split(".")))
