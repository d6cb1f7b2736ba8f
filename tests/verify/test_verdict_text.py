"""How an outcome reads: what decided comes first, alike evidence once, and what fork alone showed is said plainly."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from click import unstyle
from handle_projects import write
from needed import need_torch
from proven import findings, forced, prove

from forklint.report import verdicts
from forklint.verify.proving import Result
from forklint.verify.words import Ending, Factors, Judgement, Observation, Subject, Trial, Verdict

TIMES = ("early", "late")


def told(tmp_path: Path, cells: dict[str, tuple[str, str]], **details: Any) -> list[str]:
    """The text for a finding of which each cell showed this verdict and this evidence."""
    shown = {factors: {"verdict": verdict, "evidence": evidence} for factors, (verdict, evidence) in cells.items()}
    judgement = Judgement(Verdict.CONFIRMED, "in one line", "", {"shown": shown, **details})
    text = verdicts.text([Result(forced(tmp_path, "Records", "file"), "it is shared", judgement)])
    return unstyle(text).splitlines()


def test_alike_evidence_is_told_once_and_what_decided_comes_first(tmp_path: Path) -> None:
    lines = told(
        tmp_path,
        {
            "fork, 4 workers": ("not reproduced", "no harm in 5 passes"),
            "spawn, 2 workers": ("confirmed", "cannot be sent"),
            "forkserver, 2 workers": ("confirmed", "cannot be sent"),
        },
        note="under fork no harm was observed",
    )
    assert lines[0].endswith("data.py:1: confirmed under spawn and forkserver, not reproduced under fork")
    assert lines[2:6] == [
        "  evidence:",
        "    spawn, 2 workers and forkserver, 2 workers: cannot be sent",
        "    fork, 4 workers: no harm in 5 passes",
        "  note: under fork no harm was observed",
    ]


def test_one_piece_of_evidence_stands_in_one_line(tmp_path: Path) -> None:
    lines = told(tmp_path, {"fork, 4 workers": ("confirmed", "240 of 240 differ")})
    assert lines[0].endswith(": confirmed")
    assert lines[2] == "  evidence: in one line"
    both = {"fork, 4 workers": ("confirmed", "they differ"), "spawn, 2 workers": ("confirmed", "cannot be sent")}
    assert told(tmp_path, both)[0].endswith(": confirmed"), "nothing is said of start methods that agree"


def test_each_trial_of_the_grid_says_what_it_was(tmp_path: Path) -> None:
    """A single treatment is what the finding's verdict rests on."""
    finding = forced(tmp_path, "Records", "file")
    subject = Subject("entry", ("train.py",), tmp_path)
    trials = [Trial(when, subject, "threads", {}, Factors(environment=when), when == "early") for when in TIMES]
    seen = tuple(Observation(trial, Ending(0)) for trial in trials)
    result = Result(finding, "set too late", Judgement(Verdict.REFUTED, "it holds 1"), seen)
    lines = unstyle(verdicts.text([result])).splitlines()
    assert [line.split()[:2] for line in lines if line.startswith("    ")] == [
        ["early", "control"],
        ["late", "refuted"],
    ]
    assert [one["verdict"] for one in verdicts.properties(result)["trials"]] == ["control", "refuted"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the treatment is fork")
def test_a_project_that_forks_alone_is_tried_by_fork_alone(command, tmp_path: Path) -> None:
    write("file", tmp_path)
    plan = ("verify", "data.py", "--plan")
    (tmp_path / "forklint.toml").write_text("")
    assert "spawn, 2 workers" in command(*plan, cwd=tmp_path).stdout
    (tmp_path / "forklint.toml").unlink()
    project = '[project]\nname = "words"\nversion = "1"\nrequires-python = ">=3.10,<3.14"\n'
    (tmp_path / "pyproject.toml").write_text(project + '[tool.forklint]\nplatforms = ["linux"]\n')
    told = command(*plan, cwd=tmp_path).stdout
    assert "fork, 4 workers" in told
    assert "spawn" not in told
    assert "spawn, 2 workers" in command(*plan, "--start-method", "spawn", cwd=tmp_path).stdout


@pytest.mark.soak
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the treatment is fork")
def test_the_budget_is_how_long_a_race_is_provoked(tmp_path: Path) -> None:
    need_torch()
    write("sqlite", tmp_path)
    (finding,) = findings(tmp_path)
    hasty, patient = (prove(finding, tmp_path, start_methods=("fork",), provoking=time) for time in (0, 3))
    assert hasty.cell("fork")["passes"] == 2
    assert "no harm in 2 passes" in hasty.evidence("fork")
    assert patient.cell("fork")["passes"] > 2


@pytest.mark.soak
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the treatment is fork")
def test_warnings_that_are_errors_do_not_end_a_trial(tmp_path: Path) -> None:
    """Such as that of more workers than cores, which is wanted here."""
    need_torch()
    qualname, attribute = write("lazy", tmp_path)
    text = (tmp_path / "data.py").read_text()
    (tmp_path / "data.py").write_text("import warnings\nwarnings.simplefilter('error', UserWarning)\n" + text)
    workers = (os.cpu_count() or 1) + 2
    finding = forced(tmp_path, qualname, attribute)
    proof = prove(finding, tmp_path, start_methods=("fork",), workers=workers)
    assert proof.verdict() == "refuted", proof.judgement.evidence
    assert "Warning" not in proof.judgement.evidence
