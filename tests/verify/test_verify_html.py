"""The page of ``forklint verify``: verdicts, cells, measurements over time, stand-ins, and the fix before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from html_pages import Page, words
from needed import need_torch
from proven import forced
from records_project import write

from forklint.report import Outcome
from forklint.report.html import verify as verify_page
from forklint.report.html.plots import plots, ticks
from forklint.verify import series
from forklint.verify.doctor import Environment
from forklint.verify.proving import Result
from forklint.verify.samples import Truth
from forklint.verify.series import MOMENTS, Series
from forklint.verify.supervision import weighing
from forklint.verify.words import Ending, Factors, Judgement, Observation, Subject, Trial, Verdict

HOSTILE = "</script><script>alert(1)</script>\x1b[2J\u202e"


def observation(*records: dict[str, Any], control: bool = False, **changes: Any) -> Observation:
    factors = Factors(workers=0) if control else Factors("fork", 2)
    trial = Trial(f"t-{factors}", Subject("class", (), Path()), "samples", factors=factors, is_control=control)
    return Observation(trial, Ending(exit_code=0), records, began=100.0, **changes)


def fetched(time: float, *pairs: tuple[int, str]) -> dict[str, Any]:
    indices, digests = zip(*pairs, strict=True)
    return {"kind": "samples", "time": time, "indices": list(indices), "digests": list(digests)}


@pytest.mark.soak
def test_a_proof_and_its_fix_as_a_page(command, tmp_path: Path) -> None:
    need_torch()
    write(tmp_path)
    report = tmp_path / "report.html"
    done = command(
        *("verify", "records.py", "--apply", "--start-method", "fork", "--workers", "2"),
        *("--output-format", "html", "--output-file", report),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr  # what was confirmed is mended
    assert done.stdout == ""
    page = Page(report.read_text(encoding="utf-8"))
    assert page.texts("h1") == ["1 of 1 finding proved or refuted"]
    [article] = page.all("article")
    assert article.get("data-kind") == "confirmed"
    assert "samples differ from the control" in words(article)
    grid = page.all("table", "grid")[0]
    assert "confirmed" in next(words(row) for row in grid.iter("tr") if words(row).startswith("fork"))
    lines = {words(plot).split()[0]: len(list(plot.iter("polyline"))) for plot in page.all("figure", "plot")}
    assert lines["Memory"] >= 2
    assert lines["Throughput"] >= 1
    assert lines["Wrong"] >= 1
    assert "fork, 2 workers" in words(page.all("ul", "legend")[0])
    environment = page.all("table", "environment")[0]
    assert "start method" in words(environment)
    removed, added = page.texts("span", "removed"), page.texts("span", "added")
    assert '- self.file = open(path, "rb")' in removed  # as it was before it was written
    assert "+ def file(self):" in added
    assert "def file(self):" in (tmp_path / "records.py").read_text()
    before = next(table for table in page.all("table") if words(table).startswith("Before and after"))
    assert "the fix: fork, 2 workers" in words(before)


def test_nothing_of_a_program_acts_in_the_page(tmp_path: Path) -> None:
    details = {"stood_in": {"package": [HOSTILE], "refused": ["unlink"]}, "note": HOSTILE}
    judgement = Judgement(Verdict.INCONCLUSIVE, HOSTILE, HOSTILE, details)
    seen = observation(output=HOSTILE, stacks=HOSTILE, leaked=(HOSTILE,))
    result = Result(forced(tmp_path, "A", "b"), HOSTILE, judgement, (seen,))
    environment = Environment(
        {"platform": HOSTILE, "python": "3.11", "executable": HOSTILE, "torch": None, "torch_error": HOSTILE}
        | dict.fromkeys(("start_methods", "cores", "memory_bytes", "shm_bytes", "open_files", "numpy"))
        | {"openmp_runtimes": None, "variables": {"X": HOSTILE}}
    )
    page = Page(verify_page.render(verify_page.Proofs(environment, [result], [], [], 0, Outcome([]))))
    spelt = r"</script><script>alert(1)</script>\x1b[2J\u202e"
    assert page.texts("p", "evidence") == [spelt]
    assert page.texts("ul", "stood-in") == [f"packages {spelt} refused unlink"]
    assert page.texts("pre", "output") == [f"{spelt} {spelt}"]
    assert len(page.all("script")) == 1


def test_series_of_a_trial() -> None:
    known = Truth({0: "a", 1: "b"})
    records = [fetched(110 + number / 10, (0, "a"), (1, "x" if number >= 5 else "b")) for number in range(11)]
    found = series.of_trial(observation(*records, memory=((0.5, 100), (1.0, 300))), known)
    assert found.memory == ((0.5, 100.0), (1.0, 300.0))
    assert found.wrong[0] == (0.0, 0.0)
    assert found.wrong[-1][1] == 6
    assert [value for _, value in found.wrong] == sorted(value for _, value in found.wrong)
    step = found.throughput[1][0] - found.throughput[0][0]
    assert sum(value * step for _, value in found.throughput) == pytest.approx(22)
    assert series.of_trial(observation(*records), Truth()).wrong == ()
    assert series.of_trial(observation(), known) == Series()


def test_series_are_bounded() -> None:
    records = [fetched(100 + number / 50, (number, "a")) for number in range(20_000)]
    memory = tuple((number / 2, 5 if number == 700 else 1) for number in range(1000))
    found = series.of_trial(observation(*records, memory=memory), Truth({1: "a"}))
    assert len(found.throughput) <= MOMENTS
    assert len(found.memory) <= MOMENTS
    assert max(value for _, value in found.memory) == 5
    assert found.memory[-1] == (499.5, 1.0)


def test_weighings_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    scales = weighing.Scales(order=None)  # type: ignore[arg-type]  # it is not asked here
    for number in range(100_000):
        scales._total = number + 1
        scales._note(number / 2)
    assert weighing.MOST_POINTS / 3 < len(scales.weighings) <= weighing.MOST_POINTS
    times = [when for when, _ in scales.weighings]
    assert times == sorted(times)
    assert times[-1] > 49_000


@pytest.mark.parametrize(("highest", "last"), [(0, 1), (3, 3), (1386, 1500), (279.4, 300), (0.07, 0.075)])
def test_axes_end_on_round_numbers(highest: float, last: float) -> None:
    found = ticks(highest)
    assert found[0] == 0
    assert found[-1] == pytest.approx(last)
    assert len(found) <= 6


def test_lines_stay_inside_of_the_plot() -> None:
    one = Series(memory=((0.0, 0.0), (10.0, 5e9), (12.5, 1e6)))
    [plot] = plots("p", [("fork", one)])
    points = [tuple(map(float, pair.split(","))) for pair in plot["lines"][0]["points"].split()]
    assert all(plot["left"] <= x <= plot["right"] and 0 <= y <= plot["bottom"] for x, y in points)
    assert "fork: from 0 to 0.954, at most 4768" in plot["description"]
