"""FKL402 proved: what a loader refuses is refused here as well, what it takes is refuted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from needed import need_torch
from proven import Proof, environment, prove

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.model import Finding, Severity, Span
from forklint.project.index import Project

need_torch()


def found(folder: Path, text: str, file: str = "train.py") -> list[Finding]:
    (folder / "train.py").write_text(text)
    project = Project(folder, Settings())
    return [one for one in Linter(project, Options()).lint(folder / file).findings if one.code == "FKL402"]


def forced(folder: Path, loader: str = "torch.utils.data.DataLoader", *, option: str, **options: Any) -> Proof:
    """The verdict for a finding that forklint does not make."""
    told = {name: {"value": value} for name, value in options.items()}
    proof = {"loader": loader, "option": option, "options": told, "error": "ValueError", "iterable": False}
    place = str(folder / "train.py")
    finding = Finding("FKL402", "conflicting-loader-options", Severity.ERROR, place, Span(1, 1, 1, 1), "", proof=proof)
    return prove(finding, folder)


HEAD = "from torch.utils.data import BatchSampler, DataLoader, IterableDataset, SequentialSampler\n\n"


@pytest.mark.parametrize(
    ("call", "evidence"),
    [
        ("DataLoader([1, 2], persistent_workers=True)", "ValueError: persistent_workers option needs num_workers > 0"),
        pytest.param(
            "DataLoader([1, 2], num_workers=0, timeout=5)",
            "AssertionError: _SingleProcessDataLoaderIter requires",
            marks=pytest.mark.soak,
        ),
        pytest.param(
            "DataLoader([1, 2], 1, True, SequentialSampler([1, 2]))",
            "ValueError: sampler option is mutually exclusive",
            marks=pytest.mark.soak,
        ),
    ],
)
def test_what_is_refused_is_confirmed(tmp_path: Path, call: str, evidence: str) -> None:
    (finding,) = found(tmp_path, f"{HEAD}loader = {call}\n")
    proof = prove(finding, tmp_path)
    assert proof.verdict() == "confirmed"
    assert proof.judgement.evidence.startswith(evidence)
    assert [seen.trial.is_control for seen in proof.observations] == [True, False]


@pytest.mark.soak
def test_a_sampler_unless_an_option_says_otherwise(tmp_path: Path) -> None:
    program = (
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--random', action='store_true')\n"
        "sampler = None\nif not parser.parse_args().random:\n    sampler = SequentialSampler([1, 2])\n"
    )
    (finding,) = found(tmp_path, f"{HEAD}{program}loader = DataLoader([1, 2], shuffle=True, sampler=sampler)\n")
    assert finding.severity is Severity.WARNING
    assert "which the loader has unless an option says otherwise" in finding.message
    proof = prove(finding, tmp_path)
    assert proof.verdict() == "confirmed"
    assert proof.judgement.evidence.startswith("ValueError: sampler option is mutually exclusive")


@pytest.mark.soak
def test_of_several_that_are_refused_each_is_looked_at_alone(tmp_path: Path) -> None:
    call = "DataLoader([1, 2], num_workers=0, persistent_workers=True, prefetch_factor=2)"
    for finding in found(tmp_path, f"{HEAD}loader = {call}\n"):
        proof = prove(finding, tmp_path)
        assert proof.verdict() == "confirmed"
        assert f"{finding.proof['option']} option" in proof.judgement.evidence


@pytest.mark.soak
def test_a_stream_takes_no_order(tmp_path: Path) -> None:
    stream = "class Lines(IterableDataset):\n    def __iter__(self):\n        return iter('ab')\n\n\n"
    (finding,) = found(tmp_path, f"{HEAD}{stream}loader = DataLoader(Lines(), shuffle=True)\n")
    proof = prove(finding, tmp_path)
    assert proof.verdict() == "confirmed"
    assert "IterableDataset: expected unspecified shuffle option" in proof.judgement.evidence


@pytest.mark.soak
def test_settings_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "loading.yaml").write_text("loader:\n  num_workers: 0\n  prefetch_factor: 2\n")
    text = "config = yaml.safe_load(open('loading.yaml'))\nloader = DataLoader([1, 2], **config['loader'])\n"
    assert found(tmp_path, f"import yaml\n{HEAD}{text}") == []
    from forklint.preset_linting import PresetLinter
    from forklint.rules.conflicting_loader_options.rule import ConflictingLoaderOptions

    project = Project(tmp_path, Settings())
    path = tmp_path / "loading.yaml"
    report = PresetLinter(project, [ConflictingLoaderOptions(project)]).lint(path, path.read_bytes())
    (finding,) = report.findings
    assert prove(finding, tmp_path).verdict() == "confirmed"


@pytest.mark.soak
def test_what_is_taken_is_refuted(tmp_path: Path) -> None:
    proof = forced(tmp_path, option="timeout", num_workers=1, timeout=60)
    assert proof.verdict() == "refuted"
    assert proof.judgement.evidence == "with it, the loader is created and returns a batch"


@pytest.mark.soak
def test_what_is_refused_anyhow_shows_nothing(tmp_path: Path) -> None:
    proof = forced(tmp_path, option="timeout", num_workers=0, timeout=5, prefetch_factor=2)
    assert proof.verdict() == "inconclusive"
    assert "without it the loader raises an error, too" in proof.judgement.evidence


def test_a_loader_that_is_not_installed_shows_nothing(tmp_path: Path) -> None:
    proof = forced(tmp_path, "no_such_library.DataLoader", option="timeout", timeout=5)
    assert (proof.verdict(), proof.judgement.advice) == ("inconclusive", "install the packages of the program")


def test_pinned_memory_needs_mps(tmp_path: Path) -> None:
    if environment().torch.get("mps"):
        pytest.skip("here it can be proved")
    text = 'import torch\nDEVICE = torch.device("mps")\nloader = DataLoader([1, 2], pin_memory=True)\n'
    (finding,) = found(tmp_path, HEAD + text)
    assert (prove(finding, tmp_path).verdict(), finding.severity) == ("unsupported here", Severity.INFO)
