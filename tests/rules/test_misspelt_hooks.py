"""What hooks.toml says of torch, measured with the torch at hand; and that the mended classes are asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from needed import need_torch

from forklint.knowledge.hooks import meant_keywords, roles
from forklint.knowledge.starters import TORCH, starters
from forklint.rules.misspelt_hook.meaning import meant_by, meant_hook

need_torch()
FIXTURES = Path(__file__).parent.parent / "fixtures" / "FKL502_misspelt_hook"
CLASSES = """
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler

class Silent(Dataset):
    def __len__(self): return 2
    def __get_item__(self, index): return index

class Endless(Dataset):
    def __getitem__(self, index): return index
    def __length__(self): return 2

class Stream(IterableDataset):
    def __itr__(self): return iter([1])

class Order(Sampler):
    def __itr__(self): return iter([0])
    def __length__(self): return 1

class Unsized(Sampler):
    def __iter__(self): return iter([0])

class Headless(torch.nn.Module):
    def __int__(self, width): self.layer = torch.nn.Linear(width, 1)
    def foward(self, batch): return batch
"""
ASKED = {
    "Silent()[0]": "NotImplementedError",
    "next(iter(DataLoader(Silent())))": "NotImplementedError",
    "len(Endless())": "TypeError",
    "DataLoader(Endless())": "",
    "next(iter(DataLoader(Endless())))": "TypeError",
    "DataLoader(Endless(), shuffle=True)": "TypeError",
    "next(iter(DataLoader(Endless(), sampler=[0])))": "",
    "Stream()": "TypeError",
    "next(iter(Order()))": "NotImplementedError",
    "next(iter(DataLoader([1, 2], sampler=Order())))": "NotImplementedError",
    "len(Order())": "TypeError",
    "len(DataLoader([1, 2], sampler=Unsized()))": "TypeError",
    "next(iter(DataLoader([1, 2], sampler=Unsized())))": "",
    "Headless(3)": "TypeError",
    "Headless().layer": "AttributeError",
    "Headless()(1)": "NotImplementedError",
}


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def printed() -> list[list[str]]:
    """What both programs print, one after the other in one process: torch takes seconds to import."""
    pytest.importorskip("numpy")
    text = run(f"{LACKING}\nprint('then')\n{MENDED}")
    return [part.splitlines() for part in text.split("then\n")]


LACKING = f"""{CLASSES}
for text in {list(ASKED)!r}:
    try:
        eval(text)
    except Exception as error:
        print(type(error).__name__)
    else:
        print("")
"""


def test_what_happens_without_each_hook(printed: list[list[str]]) -> None:
    assert dict(zip(ASKED, printed[0], strict=True)) == ASKED
    told = {(role.kind, hook): effect for role in roles() for hook, effect in role.lacks.items()}
    assert {key for key, effect in told.items() if "NotImplementedError" in effect} == {
        ("dataset", "__getitem__"),
        ("sampler", "__iter__"),
        ("module", "forward"),
    }


MENDED = f"""
import runpy, numpy
from torch.utils.data import DataLoader

for path in {[str(FIXTURES / name) for name in ("bad_dataset.fixed.py", "bad_dataset.py")]!r}:
    made = runpy.run_path(path)
    clips = made["ClipDataset"]([numpy.zeros(3)] * 4, list(range(4)))
    try:
        print(len(clips), [labels.tolist() for _, labels in DataLoader(clips, batch_size=2)])
    except TypeError as error:
        print(error)
        break
    print([left.tolist() for left, right in DataLoader(made["PairDataset"]([(1, 2), (3, 4)]))])

for name in {sorted(meant_keywords())!r}:
    try:
        DataLoader([1, 2], **{{name: None}})
    except TypeError as error:
        assert "unexpected keyword" in str(error), error
        continue
    print(name)
"""


def test_the_mended_classes_are_asked_and_each_keyword_of_the_table_is_refused(printed: list[list[str]]) -> None:
    """Batches come out of the fixtures as the fixes leave them, and not before."""
    assert printed[1] == [
        "4 [[0, 1], [2, 3]]",
        "[[1], [3]]",
        "object of type 'ClipDataset' has no len()",
    ]
    assert set(meant_keywords().values()) <= starters()[TORCH].arguments


@pytest.mark.parametrize(
    ("name", "hook"),
    [
        ("__get_item__", "__getitem__"),
        ("__getitmes__", "__getitems__"),
        ("__getitems_", "__getitems__"),
        ("__length__", "__len__"),
        ("__len", "__len__"),
        ("__itr__", "__iter__"),
        ("_init_", "__init__"),
        ("__getitem__", None),
        ("__setitem__", None),
        ("__next__", None),
        ("__int__", "__init__"),
        ("_length", None),
        ("_getitem", None),
        ("__aiter__", None),
        ("__list__", None),
    ],
)
def test_which_names_are_slips(name: str, hook: str | None) -> None:
    assert meant_hook(name) == hook


def test_a_keyword_that_is_like_several_or_none_is_left_alone() -> None:
    known = starters()[TORCH].arguments
    assert meant_by("worker_init", known) == "worker_init_fn"
    assert meant_by("pin_memmory", known) == "pin_memory"
    assert meant_by("seed", known) == ""
    assert meant_by("device", known) == ""
