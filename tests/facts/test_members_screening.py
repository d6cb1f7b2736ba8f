"""The screen of unknown names against the facts: where these look twice at a name, it must let the file pass."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from forklint.config import SettingsFinder
from forklint.facts.members.objects import Objects
from forklint.facts.members.screening import Screening
from forklint.facts.members.torch_names import misspelt
from forklint.project.index import Project

FIXTURES = Path(__file__).parents[1] / "fixtures"
DEFINED = re.compile(rb"\bdef (\w{4,})\(")


def project_of(folder: Path) -> Project:
    return Project(folder, SettingsFinder({}, config=None, isolated=True).for_file(folder / "any.py"))


def unsafely_passed_over(project: Project) -> Iterator[Path]:
    """Files in which the facts find a name that is surely missing, and the screen none that may be."""
    objects, screening = Objects(project), Screening(project)
    for path in project.files:
        module = project.module(path)
        if module is None or screening.may_lack(path):
            continue
        doubted: list[object] = [
            owner for owner, _ in objects._on_self(module) if not objects.suppliers._is_abstract(owner)
        ]
        doubted += [*objects._on_variables(module), *objects._on_attributes(module)]
        if doubted or [*misspelt(project, module)]:
            yield path


@pytest.mark.parametrize("folder", sorted(FIXTURES.glob("FKL*")), ids=lambda folder: folder.name)
def test_nothing_is_passed_over_that_the_facts_doubt(folder: Path) -> None:
    assert not [*unsafely_passed_over(project_of(folder))]


def test_nor_where_methods_were_renamed() -> None:
    project = project_of(FIXTURES / "FKL501_unknown_method")
    chance = random.Random(501)
    doubted = 0
    for _ in range(4):
        written = {}
        for path in chance.sample(project.files, len(project.files) // 3):
            data = project.data(path)
            methods = [*DEFINED.finditer(data)]
            if methods:
                start = chance.choice(methods).start(1)
                written[path] = data
                project.replace(path, data[:start] + b"other_" + data[start:])
        assert not [*unsafely_passed_over(project)]
        doubted += sum(Screening(project).may_lack(path) for path in written)
        for path, data in written.items():
            project.replace(path, data)
    assert doubted > 10


def test_most_files_need_no_tree() -> None:
    screening = Screening(project_of(FIXTURES / "FKL301_handle_in_init"))
    files = screening.project.files
    assert sum(map(screening.may_lack, files)) < len(files) / 4
