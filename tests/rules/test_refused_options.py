"""What loader_options.toml says of torch, measured with the torch at hand; and what FKL402 makes of it."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
from needed import need_torch

from forklint.config import Settings
from forklint.knowledge.loader_options import Refusal, refusals
from forklint.knowledge.starters import TORCH, starters
from forklint.loading.loaders import Loader
from forklint.project.index import Project
from forklint.rules.conflicting_loader_options.by_machine import conflicts_somewhere

need_torch()

PROGRAM = """
import json, sys, warnings
from torch.utils.data import DataLoader, IterableDataset

class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(8))

def outcome(dataset, options):
    try:
        loader = DataLoader(Stream() if dataset == "iterable" else list(range(8)), **options)
    except Exception as error:
        return [type(error).__name__, "created"]
    try:
        next(iter(loader))
    except Exception as error:
        return [type(error).__name__, "iterated"]
    return ["", ""]

warnings.simplefilter("ignore")
print(json.dumps([outcome(*case) for case in json.load(sys.stdin)]))
"""
VALUES: dict[str, list[object]] = {
    "true": [True, 1],
    "none": [None],
    "not none": [2, 0, False, "fork", "", [[0], [1]]],
    "not one": [2, None],
    "positive": [10, 0.5, True],
    "zero": [0, None],
    "iterable": ["iterable"],
}
"""Values of each kind; None under "zero" stands for an option that is not given."""
OF_OPTION = {"sampler": [[0, 1], []], "batch_sampler": [[[0], [1]]], "batch_size": [4, None], "drop_last": [True]}
HARMLESS: dict[str, list[object]] = {
    "true": [False, 0, None],
    "not none": [None],
    "not one": [1],
    "positive": [0, 0.0, False],
}


def values(option: str, kind: str) -> list[object]:
    if kind == "none":
        return [None]
    return OF_OPTION.get(option, VALUES[kind])


def case(refusal: Refusal, value: object, beside: object) -> tuple[str, dict[str, object]]:
    options = {refusal.option: value}
    if refusal.beside == "dataset":
        return "iterable", options
    if not (refusal.beside_kind == "zero" and beside is None):
        options[refusal.beside] = beside
    return "map", options


def run(cases: list[tuple[str, dict[str, object]]]) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.soak
def test_each_combination_raises_as_the_table_says_and_neutral_values_do_not() -> None:
    cases, wanted = [], []
    for refusal in refusals():
        for value in values(refusal.option, refusal.kind):
            for beside in values(refusal.beside, refusal.beside_kind):
                cases.append(case(refusal, value, beside))
                wanted.append([refusal.error, refusal.when])
    assert len(cases) > 30
    for refusal in refusals():
        beside = values(refusal.beside, refusal.beside_kind)[0]
        neutral = {"False": False, "None": None, "0": 0, "1": 1}[refusal.neutral]
        for value in (neutral, *(HARMLESS[refusal.kind] if refusal.option != "drop_last" else [False])):
            cases.append(case(refusal, value, beside))
            wanted.append(["", ""])
    assert list(zip(cases, run(cases), strict=True)) == list(zip(cases, wanted, strict=True))


def test_the_parameters_are_those_of_torch() -> None:
    from torch.utils.data import DataLoader

    kinds = {name: one.kind for name, one in inspect.signature(DataLoader).parameters.items()}
    row = starters()[TORCH]
    positional = [name for name, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    assert list(row.positions) == positional
    assert set(kinds) - set(positional) <= set(row.keywords)


MADE = """
import torch
from torch.utils.data import DataLoader

workers = 4 if torch.cuda.is_available() else 0
loader = DataLoader([1], shuffle=True, {option}num_workers=workers)
"""


@pytest.mark.parametrize(
    ("option", "asked"), [("", set()), ("prefetch_factor=2, ", {"num_workers", "prefetch_factor"})]
)
def test_workers_are_asked_for_only_where_an_option_wants_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, asked: set[str]
) -> None:
    (tmp_path / "one.py").write_text(MADE.replace("{option}", option))
    project, names, real = Project(tmp_path, Settings()), set[str](), Loader.value
    monkeypatch.setattr(Loader, "value", lambda self, name: names.add(name) or real(self, name))
    found = list(conflicts_somewhere(project, project.load(tmp_path / "one.py")))
    assert bool(found) is bool(option)
    assert names == asked
