"""A small share of the random inputs of tests/soak, each with a fixed number; and those that once failed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fuzzing import checks, progress
from fuzzing.checks import KINDS, check

from forklint import saved_verdicts
from forklint.fixing import Fixed
from forklint.model import FileReport

SHARE = {"programs": 6, "mutants": 5, "notebooks": 4, "presets": 8, "configurations": 8, "baselines": 8, "verdicts": 8}
NUMBERS = [(kind, number) for kind, count in SHARE.items() for number in range(count)]


@pytest.mark.parametrize(("kind", "number"), NUMBERS)
def test_a_random_input(kind: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check(kind, number, tmp_path)


def test_the_same_number_is_the_same_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    monkeypatch.setattr(checks, "check_file", lambda path, data, dice: written.append(data))
    for kind in ("programs", "mutants", "notebooks", "presets"):
        for number in (7, 7, 8):
            folder = tmp_path / f"{kind}{len(written)}"
            folder.mkdir()
            KINDS[kind](folder, checks.Random(f"{kind} {number}"))
        first, second, third = written[-3:]
        assert first == second != third


def test_what_verdicts_are_changed_from_is_read(tmp_path: Path) -> None:
    (tmp_path / "verdicts.json").write_bytes(checks.VERDICTS)
    assert len(saved_verdicts.read(tmp_path / "verdicts.json")) == 1


class TestTheChecksCanFail:
    """Each check fails where what it looks for is broken."""

    def fails(self, path: Path, data: bytes = checks.HAZARD.encode()) -> None:
        with pytest.raises(AssertionError):
            checks.check_file(path, data, checks.Random(1))

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        (tmp_path / "forklint.toml").touch()
        return tmp_path / "pages.py"

    def test_nothing_is_wrong_with_the_file(self, path: Path) -> None:
        checks.check_file(path, checks.HAZARD.encode(), checks.Random(1))
        assert path.read_text() != checks.HAZARD, "it is fixed"

    def test_a_rule_that_raises(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from forklint.rules.handle_in_init.rule import HandleInInit

        monkeypatch.setattr(HandleInInit, "suspects", lambda *_: 1 / 0)
        self.fails(path)

    def test_a_hang(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(checks, "SECONDS", 0.0)
        monkeypatch.setattr(checks, "SECONDS_EACH_KB", 0.0)
        self.fails(path)

    def test_a_fix_that_writes_something_else(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        real = checks.fix

        def torn(linter, path, *, unsafe, write):
            done = real(linter, path, unsafe=unsafe, write=write)
            path.write_text(path.read_text() + "import h5py as\n")
            return done

        monkeypatch.setattr(checks, "fix", torn)
        with pytest.raises((AssertionError, SyntaxError)):
            checks.check_file(path, checks.HAZARD.encode(), checks.Random(1))

    def test_a_fix_that_does_nothing(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            checks, "fix", lambda *_, **__: Fixed(FileReport(str(path)), (), checks.HAZARD, checks.HAZARD + "#")
        )
        self.fails(path)


class TestProgress:
    """A run goes on where another stopped, and says what failed."""

    def rows(self, *rows: dict[str, object]):
        self.asked: list[tuple[str, int, int]] = []

        def ran(kind: str, first: int, count: int, seconds: float):
            self.asked.append((kind, first, count))
            yield from rows

        return ran

    def test_it_goes_on_where_it_was(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(progress, "_ran", self.rows())
        progress.Progress.of("programs", tmp_path).go_on(270, time.monotonic() + 100)
        assert self.asked == [("programs", 0, 250), ("programs", 250, 20)]
        progress.Progress.of("programs", tmp_path).go_on(300, time.monotonic() + 100)
        assert self.asked[2:] == [("programs", 270, 30)]
        progress.Progress.of("programs", tmp_path).go_on(300, time.monotonic() + 100)
        assert len(self.asked) == 3, "all is done"

    def test_each_seed_has_inputs_of_its_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(progress, "_ran", self.rows({"at": 80_000}, {"at": 80_001}, {"exit": -11}))
        done = progress.Progress.of("programs", tmp_path, 2)
        done.go_on(2, time.monotonic() + 100)
        assert self.asked == [("programs", 80_000, 2)]
        assert (done.next, set(done.failed)) == (2, {"80001"})
        assert progress.Progress.of("programs", tmp_path, 2).next == 2
        assert progress.Progress.of("programs", tmp_path, 1).next == 0

    def test_it_stops_in_time(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(progress, "_ran", self.rows())
        progress.Progress.of("programs", tmp_path).go_on(270, time.monotonic() - 1)
        assert self.asked == []

    def test_another_version_begins_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(progress, "_ran", self.rows())
        progress.Progress.of("programs", tmp_path).go_on(10, time.monotonic() + 100)
        monkeypatch.setattr(progress.identity, "program", lambda: "another")
        assert progress.Progress("programs", tmp_path / "programs.json", "another").next == 0

    def test_a_process_that_ends_is_a_failure_of_its_input(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            progress, "_ran", self.rows({"at": 0}, {"failed": 0, "error": "x"}, {"at": 1}, {"exit": -11})
        )
        done = progress.Progress.of("programs", tmp_path)
        done.go_on(50, time.monotonic() - 1)
        done.go_on(2, time.monotonic() + 100)
        assert set(done.failed) == {"0", "1"}
        assert progress.Progress.of("programs", tmp_path).failed == done.failed

    def test_the_process_itself(self) -> None:
        rows = list(progress._ran("baselines", 3, 2, 100))
        assert rows == [{"at": 3}, {"at": 4}]

    def test_the_process_ends_when_its_time_is_up(self, tmp_path: Path) -> None:
        rows = list(progress._ran("baselines", 3, 1_000, 0.01))
        assert rows == [{"at": 3}, {"stopped": 4}]
        done = progress.Progress.of("baselines", tmp_path)
        done.go_on(1_000, time.monotonic() + 0.01)
        assert (done.next, done.failed) == (1, {})
