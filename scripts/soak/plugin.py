"""A plugin of pytest: it runs the tests of a part that are not done yet, and records each as it ends."""

from __future__ import annotations

import time

import pytest

from scripts.soak.parts import Part
from scripts.soak.progress import Done, Progress


class Recorder:
    """The plugin."""

    def __init__(self, part: Part, progress: Progress, limit: float) -> None:
        self.part = part
        self.progress = progress
        self.until = time.monotonic() + limit
        self.left = 0
        self._seconds = 0.0
        self._skipped = ""
        self._failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what belongs to other parts, and what is done."""
        of_part = [item for item in items if self.part.has(item.nodeid)]
        chosen = [item for item in of_part if not self.progress.is_done(item.nodeid)]
        if done := len(of_part) - len(chosen):
            print(f"\n{done} tests are done already; --again starts over")
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count what is left once every plugin has chosen."""
        self.left = len(session.items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file that is skipped as a whole."""
        if report.skipped:
            self.progress.add(Done(report.nodeid, "skipped", 0.0, _reason(report)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the phases of a test, and write it down after the last."""
        self._seconds += report.duration
        if report.failed:
            self._failed = report.longreprtext.strip().rpartition("\n")[2]
        elif report.skipped:
            self._skipped = _reason(report)
        if report.when == "teardown":
            self._ended(report)

    def _ended(self, report: pytest.TestReport) -> None:
        outcome = "failed" if self._failed else "skipped" if self._skipped else "passed"
        figures = tuple(str(value) for name, value in report.user_properties if name == "figures")
        reason = self._failed or self._skipped
        self.progress.add(Done(report.nodeid, outcome, round(self._seconds, 1), reason, figures))
        self.left -= 1
        self._seconds, self._skipped, self._failed = 0.0, "", ""

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """End the run when its time is up; the next one goes on."""
        if self.left and time.monotonic() > self.until:
            pytest.exit("the time of this part is up: the same command goes on from here", returncode=3)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why something was skipped, in one line."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return " ".join(text.removeprefix("Skipped: ").split())[:200]
