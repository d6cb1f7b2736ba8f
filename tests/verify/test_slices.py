"""What leads to a finding: statements of the functions on the way that need not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.verify import slices

MAKING = """
from torch.utils.data import DataLoader

def make(args, parts=("a", "b")):
    print_later = describe(args)
    loaders = []
    for part in parts:
        loader = DataLoader(args, num_workers=args.workers)  # made
        loaders.append(loader)
    args.steps = len(loaders)
    args.add("steps")
    register(args)
    print(args)
    unrelated = describe(loaders)
    if len(loaders) == 1:
        return loaders[0]
    return loaders

def train(loader):
    total = prepare()
    for batch in loader:  # read
        total += 1
    return total

loaders = make(options)
seen = describe(options)
train(loaders[0])  # end
"""


def skipped(tmp_path: Path, text: str) -> list[str]:
    """The statements that are not run, by their text."""
    path = tmp_path / "train.py"
    path.write_text(text)
    lines = text.splitlines()
    points = {number for number, line in enumerate(lines, 1) if "  # " in line}
    end = next(number for number, line in enumerate(lines, 1) if "  # end" in line)
    found = slices.skipped(Project(tmp_path, Settings()), {path: points}, path, (path, end))
    return [lines[first - 1].strip() for rows in found.values() for first, _ in rows]


def test_a_function_that_has_returned_is_run_as_far_as_its_result_needs(tmp_path: Path) -> None:
    assert skipped(tmp_path, MAKING) == [
        "print_later = describe(args)",
        "print(args)",
        "unrelated = describe(loaders)",
        "total = prepare()",
        "total += 1",
        "seen = describe(options)",
    ]


@pytest.mark.parametrize(
    "end",
    [
        "self.loader = loader",
        "self.kept['train'] = loader",
        "yield loader",
        "global kept\n        kept = loader",
        "return {'train': loader}",
    ],
)
def test_however_a_method_hands_on_its_loader(tmp_path: Path, end: str) -> None:
    text = f"""
class Data:
    def setup(self):
        rows = prepare()
        loader = DataLoader(rows)  # made
        {end}

data = Data()
data.setup()
for batch in data.loader:  # end
    pass
"""
    assert skipped(tmp_path, text) == []


def test_what_follows_the_end_is_not_run(tmp_path: Path) -> None:
    text = """
def main(options):
    model = build(options)
    train(model, options)  # called
    save(model)
    return evaluate(model)

def train(model, options):
    history = prepare(options)
    for batch in DataLoader(options):
        start()  # end
    options.history = history
    return history

main(1)
"""
    assert skipped(tmp_path, text) == ["save(model)", "history = prepare(options)", "options.history = history"]


OPTIONS = """
import argparse
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
group = parser.add_argument_group("data")
choice = group.add_mutually_exclusive_group()
choice.add_argument("--folder")
group.add_argument("--size", type=int, default=4)
report = argparse.ArgumentParser("report")
about = report.add_argument_group("about")
about.add_argument("--title")
args = parser.parse_args()
loader = DataLoader(args.folder, batch_size=args.size)  # made
for batch in loader:  # end
    pass
"""


def test_options_of_a_group_belong_to_its_parser(tmp_path: Path) -> None:
    assert skipped(tmp_path, OPTIONS) == [
        'report = argparse.ArgumentParser("report")',
        'about = report.add_argument_group("about")',
        'about.add_argument("--title")',
    ]
