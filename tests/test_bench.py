"""The benchmark: its arithmetic, what it does without a peer, a small run of it, and what its results look like."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench import figures, measures, peers, results
from bench.contenders import CONTENDERS, UNBUILT, findings, named
from bench.inputs import Input, Inputs
from bench.measures import Command, FailedError, Series, Timing, in_turns, measure
from bench.peers import Environment, Missing, here
from bench.rows import ROWS, Outcome, Row, Timings, Value, chosen, line, outcome, ratio

REPOSITORY = Path(__file__).parent.parent
ROW = {row.key: row for row in ROWS}
FIXTURES = REPOSITORY / "tests" / "fixtures" / "FKL301_handle_in_init"
NEEDED = pytest.mark.skipif(sys.platform == "win32", reason="make bench needs wait4")
pytestmark = NEEDED


def series(*walls: float, peak: int = 0, facts: dict[str, float] | None = None) -> Series:
    return Series(tuple(Timing(wall, wall, 0.0, peak, peak, facts or {}) for wall in walls))


def times(**some: Series) -> Timings:
    named = {name.replace("_", "-"): one for name, one in some.items()}
    return Timings(named, {name: Input((), 100, 1000, 10_000) for name in named})


def value(key: str, timings: Timings) -> Outcome:
    row = ROW[key]
    return outcome(row, timings, {})


def test_a_ratio_is_of_medians_and_its_spread_of_rounds() -> None:
    assert ratio([2, 4, 12], [1, 2, 4]) == Value(2, 0, 3)
    assert ratio([2, 3, 4, 5], [1, 1, 1, 1]) == Value(3.5, 1, 4)


@pytest.mark.parametrize(("forklint", "met"), [(1.9, True), (2.0, True), (2.1, False)])
def test_cold_is_met_up_to_its_limit(forklint: float, met: bool) -> None:
    got = value("cold", times(forklint=series(forklint), ruff=series(1)))
    assert got.value == Value(forklint, 0, 1)
    assert got.met is met


@pytest.mark.parametrize(("slow", "met"), [(199, False), (200, True)])
def test_a_target_may_be_a_least_value(slow: float, met: bool) -> None:
    timings = times(forklint=series(1), torchfix=series(slow / 10))
    timings.inputs["torchfix"] = Input((), 10, 100)
    got = value("torchfix", timings)
    assert got.value is not None
    assert round(got.value.value) == slow
    assert got.met is met


def test_what_one_rule_adds_is_told_in_times_of_ruff() -> None:
    ours = {"forklint": series(6, 6), "forklint-without-FKL501": series(5, 5), "ruff": series(2, 2)}
    got = outcome(ROW["fkl501"], Timings(ours, {}), {})
    assert got.value == Value(0.5, 0, 2)
    assert got.met is None


def test_a_limit_may_come_from_the_same_rounds() -> None:
    got = value("finding", times(forklint_finding=series(0.7), import_libcst=series(0.5)))
    assert got.limit == pytest.approx(0.75)
    assert got.met is True
    assert value("finding", times(forklint_finding=series(0.8), import_libcst=series(0.5))).met is False


def grown(seconds: dict[int, float], peaks: dict[int, int]) -> Timings:
    some = {f"forklint-{files}-files": series(seconds[files], peak=peaks.get(files, 0)) for files in seconds}
    return Timings(some, {name: Input((), int(name.split("-")[1])) for name in some})


def test_growth_is_how_far_a_size_is_off_the_line() -> None:
    straight = {files: 0.3 + files / 1000 for files in (1_000, 10_000, 30_000, 100_000)}
    got = value("growth", grown(straight, {}))
    assert got.value is not None
    assert got.value.value == pytest.approx(0, abs=1e-6)
    bent = value("growth", grown(straight | {100_000: 200.0}, {}))
    assert bent.value is not None
    assert bent.value.value > 10
    assert bent.met is False


def test_the_line_goes_through_points_on_a_line() -> None:
    assert line([(1, 3), (2, 5), (10, 21)]) == pytest.approx((1, 2))


def test_memory_is_compared_where_there_are_many_files() -> None:
    seconds = dict.fromkeys((1_000, 10_000, 30_000, 100_000), 1.0)
    timings = grown(seconds, {1_000: 0, 10_000: 300_000_000, 30_000: 310_000_000, 100_000: 340_000_000})
    for key in ("memory", "memory-together"):
        got = value(key, timings)
        assert got.value == Value(40, 0, 1)
        assert got.met is True


def test_verify_is_compared_with_its_program_run_as_often() -> None:
    facts = {"trials with 0 workers": 3, "trials with 4 workers": 1}
    got = value("verify", times(verify=series(5.5, facts=facts), train_0_workers=series(1), train_4_workers=series(2)))
    assert got.value is not None
    assert got.value.value == pytest.approx(10)


def test_what_is_missing_is_told_and_never_guessed() -> None:
    got = outcome(ROW["cold"], times(forklint=series(1)), {"ruff": "not measured: ruff could not be installed"})
    assert (got.value, got.met, got.reason) == (None, None, "not measured: ruff could not be installed")
    assert outcome(ROW["cold"], times(forklint=series(1)), {}).reason == "not measured: ruff was not run"
    assert outcome(ROW["server"], times(), UNBUILT).reason == "not built"


def test_without_installing_there_is_forklint_alone() -> None:
    tools = here()
    assert isinstance(tools["forklint"], Environment)
    assert {"ruff", "torchfix", "fixit", "flake8"} <= {one for one, tool in tools.items() if isinstance(tool, Missing)}


def test_a_peer_that_cannot_be_installed_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr(peers, "OLDER", ())
    peer = next(one for one in peers.peers() if one.name == "fixit")
    missing = peers.installed(["fixit"], tmp_path)["fixit"]
    assert isinstance(missing, Missing)
    asked = f"{peer.name}=={peer.version}"
    assert missing.reason.startswith(f"{asked} could not be installed: ERROR: ")
    assert not (tmp_path / f"fixit-{peer.version}" / peers.STAMP).exists()


def test_rows_and_contenders_know_each_other() -> None:
    assert len(ROW) == len(ROWS)
    for row in ROWS:
        assert {one.name for one in named(row.contenders)} == set(row.contenders) - set(UNBUILT)
    used = {name for row in ROWS for name in row.contenders}
    assert {one.name for one in CONTENDERS} <= used
    with pytest.raises(ValueError, match=r"^no row colder: there are cold, "):
        chosen(["colder"], quick=False)


def test_every_word_of_a_command_has_an_input(tmp_path: Path) -> None:
    package = tmp_path / "timm-1.0"
    for folder in ("data", "optim", "scheduler", "utils"):
        (package / "timm" / folder).mkdir(parents=True)
        (package / "timm" / folder / "first.py").write_text("x = 1\n")
    (tmp_path / "scratch").mkdir()
    inputs = Inputs([package], tmp_path / "scratch")
    for one in CONTENDERS:
        for word in one.inputs:
            files = int(word.split("_")[1]) if "_" in word else 0
            if files <= 1_400:
                given = inputs.of(word)
                assert given.files >= max(1, files), word
                assert all(path.exists() for path in given.paths)
    assert (inputs.of("CORPUS").files, inputs.of("SAMPLE").files) == (4, 2)


@pytest.mark.parametrize(
    "printed",
    [
        "timm/optim/mars.py:54:21: TOR101 Use of deprecated function torch.norm",
        "timm/data/auto_augment.py@21:0 UseFstring: Do not use printf style formatting",
        "/corpus/timm/data/loader.py:7:1: error FKL301 `self.file` keeps a file open",
    ],
)
def test_findings_are_counted_in_any_format(printed: str) -> None:
    context = "     from timm.py import name\n-    file.py:3:4\nFound 1 error.\n"
    assert findings(f"{printed}\n{context}{printed}\n") == {"findings": 2}


def run_python(code: str, name: str = "python", *, watched: bool = False) -> Command:
    return Command(name, (sys.executable, "-c", code), findings, watched=watched)


def test_commands_take_turns_and_what_fails_is_not_run_again() -> None:
    ran = []

    def run(command: Command) -> Timing:
        ran.append(command.name)
        if command.name == "broken":
            raise FailedError("ended with 2: no such option")
        return Timing(float(len(ran)), 0, 0, 0)

    commands = [run_python("", name) for name in ("one", "broken", "two")]
    rounds = {"one": 2, "broken": 2, "two": 1}
    measured, failed = in_turns(commands, rounds, frozenset({"one"}), run, lambda line: None)
    assert ran == ["one", "one", "broken", "two", "one"]
    assert measured["one"].walls == (2.0, 5.0)
    assert set(measured) == {"one", "two"}
    assert failed == {"broken": "ended with 2: no such option"}


def test_more_of_the_same_is_not_tried_where_less_failed() -> None:
    def run(command: Command) -> Timing:
        raise FailedError("held 12.0 GB after 90 s, and was ended")

    commands = [Command("small", (), findings), Command("large", (), findings, after="small")]
    measured, failed = in_turns(commands, {"small": 1, "large": 1}, frozenset(), run, lambda line: None)
    assert measured == {}
    assert failed == dict.fromkeys(("small", "large"), "held 12.0 GB after 90 s, and was ended")
    by_name = {one.name: one for one in CONTENDERS}
    assert by_name["forklint-100000-files"].after == "forklint-30000-files"


def test_a_command_is_measured_with_its_children(tmp_path: Path) -> None:
    work = "x = bytearray(60_000_000); sum(range(5_000_000))"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}])"
    timing = measure(run_python(parent), tmp_path, {})
    assert 0.02 < timing.user < timing.wall * 2
    assert timing.peak > 60_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_all_processes_is_summed(tmp_path: Path) -> None:
    code = "import time; x = bytearray(60_000_000); time.sleep(0.5)"
    both = f"import subprocess, sys; some = [subprocess.Popen([sys.executable, '-c', {code!r}]) for _ in range(2)]"
    timing = measure(run_python(f"{both}; [one.wait() for one in some]", watched=True), tmp_path, {})
    assert timing.peak_together > 120_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_takes_too_much_memory_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "MOST_MEMORY", 50_000_000)
    work = run_python("import time; x = bytearray(100_000_000); time.sleep(60)", watched=True)
    with pytest.raises(FailedError, match=r"^held 0\.1 GB after \d s, and was ended$"):
        measure(work, tmp_path, {})


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; sys.exit(2)", "ended with 2: nothing was said"),
        ("import os; os.kill(os.getpid(), 9)", "ended with -9: nothing was said"),
        ("raise OSError('no space left')", "ended with 1: OSError: no space left"),
    ],
)
def test_what_crashes_is_no_fast_run(code: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(FailedError) as caught:
        measure(run_python(code), tmp_path, {})
    assert str(caught.value) == reason


def bench(*arguments: str | Path, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench.run", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


def test_a_small_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty files, one round, no peer: what can be measured is, and the rest is told."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for path in sorted(FIXTURES.glob("good_*.py"))[:29]:
        shutil.copy(path, folder)
    shutil.copy(FIXTURES / "bad_hdf5_volumes.py", folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "results.json"
    rows = "cold,fkl501,clean-file,server"
    done = bench("--here", "--corpus", folder, "--rounds", "1", "--only", rows, "--results", file)
    assert done.returncode == 0, done.stderr
    assert "NOT AT HAND: ruff: nothing was to be installed" in done.stderr
    told = results.read(file)
    by_key = {row["key"]: row for row in told["rows"]}
    assert list(by_key) == rows.split(",")
    for key in ("cold", "fkl501"):
        assert (by_key[key]["value"], by_key[key]["met"]) == (None, None)
        assert by_key[key]["reason"] == "not measured: nothing was to be installed"
    assert by_key["server"]["reason"] == "not built"
    assert by_key["clean-file"]["value"] > 0.5
    assert by_key["clean-file"]["rounds"] == 1
    forklint, imported = told["contenders"]["forklint"], told["contenders"]["import-click"]
    assert (forklint["files"], forklint["facts"]) == (len(list(folder.iterdir())), {"findings": 1})
    assert forklint["runs"][0]["wall"] == forklint["median_seconds"] > 0.05
    assert imported["facts"] == {}
    assert not list((tmp_path / "cache" / "forklint" / "bench").iterdir()), "what a run makes is cleared away"
    assert all(row["measure"] in done.stdout for row in told["rows"])


def test_a_wrong_row_is_one_line() -> None:
    done = bench("--only", "colder")
    assert done.returncode == 2
    assert "no row colder: there are cold, " in done.stderr
    assert "Traceback" not in done.stderr


def made(row: Row, got: Outcome) -> dict:
    timings = times(forklint=series(3, 4), ruff=series(2, 2))
    return results.gathered([got], named(["forklint", "ruff"]), timings, here(), {"quick": False})


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    got = value("cold", times(forklint=series(3, 4), ruff=series(2, 2)))
    told = made(ROW["cold"], got)
    results.write(told, tmp_path / "results.json")
    assert results.read(tmp_path / "results.json") == json.loads(json.dumps(told))
    assert told["rows"] == [
        {
            "key": "cold",
            "measure": ROW["cold"].measure,
            "unit": "times",
            "value": 1.75,
            "target": "at most 2 times",
            "limit": 2,
            "met": True,
            "rounds": 2,
            "spread": 0.25,
            "reason": "",
        }
    ]
    assert set(told["machine"]) == {"processor", "cores", "memory_bytes", "system"}
    ruff = told["contenders"]["ruff"]
    assert (ruff["median_seconds"], ruff["lines"], len(ruff["runs"])) == (2, 1000, 2)
    assert figures.bars(told) == [("Ruff", 2, False), ("forklint, all rules", 3.5, False)]
