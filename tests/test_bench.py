"""The benchmark: its arithmetic, what it does without a peer, a small run of it, and what its results look like."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import figures, measures, peers, results
from bench.contenders import CLOCK, CONTENDERS, TYPIST, WORST, Contender, filled_in, findings, named, worst
from bench.inputs import TORCH, Input, Inputs, MissingError
from bench.measures import Command, FailedError, Series, Timing, in_turns, measure
from bench.peers import Environment, Missing, here
from bench.preparation import COMMENT, Edit, edited
from bench.rows import ROWS, Outcome, Row, Timings, Value, chosen, line, outcome, ratio
from bench.run import Bench
from scripts import corpus

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


@pytest.mark.parametrize(("forklint", "met"), [(0.9, True), (1.0, True), (1.1, False)])
def test_cold_is_met_up_to_its_limit(forklint: float, met: bool) -> None:
    got = value("cold-ty", times(forklint=series(forklint), ty=series(1)))
    assert got.value == Value(forklint, 0, 1)
    assert got.met is met


@pytest.mark.parametrize(("slow", "met"), [(99, False), (100, True)])
def test_a_target_may_be_a_least_value(slow: float, met: bool) -> None:
    timings = times(forklint=series(1), torchfix=series(slow / 10))
    timings.inputs["torchfix"] = Input((), 10, 100)
    got = value("torchfix", timings)
    assert got.value is not None
    assert round(got.value.value) == slow
    assert got.met is met


@pytest.mark.parametrize(
    ("key", "above", "below", "limit"),
    [
        ("comment-cold", "forklint-comment", "forklint-project", None),
        ("function", "forklint-function", "forklint-project", 0.1),
        ("torch", "forklint-torch", "ty-torch", 1),
        ("warm-ruff", "forklint-warm", "ruff-warm", 0.34),
        ("clean-file", "forklint-clean-file", "import-click", 1.5),
        ("flake8", "flake8-forklint-warm", "flake8", 1.05),
    ],
)
def test_a_row_of_two_is_the_first_in_times_of_the_second(
    key: str, above: str, below: str, limit: float | None
) -> None:
    got = outcome(ROW[key], Timings({below: series(2, 4), above: series(6, 6)}, {}), {})
    assert got.value == Value(2, 0.75, 2)
    assert got.limit == limit
    assert got.met is (None if limit is None else False)


@pytest.mark.parametrize(
    ("key", "contender", "limit"),
    [
        ("comment", "forklint-comment", 1.5),
        ("hook", "forklint-hook", 0.4),
        ("one-file", "forklint-one-file", 1.5),
    ],
)
def test_a_row_of_one_is_its_seconds(key: str, contender: str, limit: float) -> None:
    assert outcome(ROW[key], Timings({contender: series(limit)}, {}), {}).met is True
    got = outcome(ROW[key], Timings({contender: series(limit, limit + 0.1, limit + 0.3)}, {}), {})
    assert got.value == Value(limit + 0.1, pytest.approx(0.1), 3)
    assert got.met is False


def test_a_comment_may_take_a_twentieth_of_what_version_0_1_took() -> None:
    for seconds, met in ((0.97, True), (0.98, False)):
        got = value("comment-ruff", times(forklint_comment=series(seconds), ruff_project=series(1)))
        assert got.limit == pytest.approx(0.97)
        assert got.met is met


def test_a_hook_with_a_finding_may_take_as_long_as_libcst_and_the_rest() -> None:
    for seconds, met in ((0.59, True), (0.61, False)):
        got = value("hook-finding", times(forklint_hook_finding=series(seconds), import_libcst_alone=series(0.2)))
        assert got.limit == pytest.approx(0.6)
        assert got.met is met


def clocked(path: str, size: int, seconds: float, found: int = 0) -> str:
    return json.dumps({"path": path, "bytes": size, "seconds": seconds, "findings": found})


def test_the_worst_file_is_named_and_told_in_times_of_the_mean() -> None:
    lines = [clocked(f"pkg/{number}.py", 20_000, 0.02) for number in range(28)]
    lines += [clocked("pkg/slow.py", 40_000, 1.2), clocked("pkg/faulty.py", 20_000, 9, found=1)]
    lines += [clocked("pkg/small.py", 10_000, 9)]
    facts = worst("\n".join(lines))
    assert len(facts) == WORST
    got = value("worst-file", times(forklint_each_file=series(1, facts=facts)))
    mean = (28 * 1e-6 + 30e-6) / 29
    assert got.value == Value(pytest.approx(30e-6 / mean), 0, 1, note="pkg/slow.py")
    assert got.met is True
    far = worst("\n".join([*lines, clocked("pkg/slower.py", 20_000, 60)]))
    assert value("worst-file", times(forklint_each_file=series(1, facts=far))).met is False


def test_without_large_files_there_is_no_worst_one() -> None:
    facts = worst(clocked("pkg/small.py", 9_000, 1))
    got = value("worst-file", times(forklint_each_file=series(1, facts=facts)))
    assert (got.value, got.reason) == (None, "not measured: no file without findings is that large")


def test_each_file_is_clocked_from_both_ends(tmp_path: Path) -> None:
    (tmp_path / "pkg" / "inner").mkdir(parents=True)
    (tmp_path / "pkg" / ".git").mkdir()
    (tmp_path / "pkg" / "inner" / "first.py").write_text("x = 1\n" * 2000)
    shutil.copy(FIXTURES / "bad_hdf5_volumes.py", tmp_path / "pkg")
    done = subprocess.run(
        [sys.executable, CLOCK, "pkg"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    faulty, first = map(json.loads, done.stdout.splitlines())
    assert (faulty["path"], faulty["findings"]) == ("pkg/bad_hdf5_volumes.py", 1)
    assert (first["path"], first["bytes"], first["findings"]) == ("pkg/inner/first.py", 12_000, 0)
    assert 0 < first["seconds"] < 30


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


def test_without_installing_there_is_forklint_alone() -> None:
    tools = here()
    assert isinstance(tools["forklint"], Environment)
    assert {"ruff", "ty", "pyrefly", "mypy", "torchfix", "fixit", "flake8"} <= {
        one for one, tool in tools.items() if isinstance(tool, Missing)
    }


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
        assert {one.name for one in named(row.contenders)} == set(row.contenders)
    used = {name for row in ROWS for name in row.contenders}
    assert {one.name for one in CONTENDERS} <= used
    with pytest.raises(ValueError, match=r"^no row colder: there are comment, "):
        chosen(["colder"], quick=False)


def test_every_word_of_a_command_has_an_input(tmp_path: Path) -> None:
    package = tmp_path / "timm-1.0"
    for folder in ("data", "optim", "scheduler", "utils"):
        (package / "timm" / folder).mkdir(parents=True)
        (package / "timm" / folder / "first.py").write_text("x = 1\n")
    (tmp_path / "scratch").mkdir()
    inputs = Inputs([package], tmp_path / "scratch")
    for one in CONTENDERS:
        for word in one.all_inputs:
            files = int(word.split("_")[1]) if "_" in word else 0
            if files <= 1_400 and word != "TORCH":
                given = inputs.of(word)
                assert given.files >= max(1, files), word
                assert all(path.exists() for path in given.paths)
    assert (inputs.of("CORPUS").files, inputs.of("SAMPLE").files) == (4, 2)


def packaged(folder: Path, name: str, files: dict[str, str]) -> Path:
    """A package as the corpus has it."""
    for path, text in files.items():
        (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / path).write_text(text)
    return folder / name


def test_what_is_edited_is_a_copy_and_never_the_corpus(tmp_path: Path) -> None:
    model = "transformers/models/bert/modeling_bert.py"
    files = {model: "x = 1\n", "transformers/processing_utils.py": "y = 2\n", "transformers/__init__.py": ""}
    package = packaged(tmp_path, "transformers-5.23.0", files)
    inputs = Inputs([package], tmp_path / "scratch")
    (project,), (copy,) = inputs.of("PROJECT").paths, inputs.of("EDITED").paths
    assert (project / ".git").is_dir(), "a project of its own"
    assert inputs.of("PROJECT").files == 4, "with the program that has a finding"
    assert (copy.relative_to(project).as_posix(), copy.read_text()) == (model, "x = 1\n")
    assert inputs.of("IMPORTED").paths == (project / "transformers/processing_utils.py",)
    with edited(copy, Edit("EDITED", COMMENT), 1):
        assert (package / model).read_text() == "x = 1\n"


def test_flake8_is_given_copies_in_which_its_plugin_may_write(tmp_path: Path) -> None:
    package = packaged(tmp_path, "timm-1.0", {"timm/scheduler/first.py": "x = 1\n", "timm/data/second.py": ""})
    assert Inputs([package], tmp_path / "whole").of("PART").paths == (tmp_path / "whole/part/timm-1.0",)
    quick = Inputs([package], tmp_path / "quick", quick=True).of("PART")
    assert quick.paths[0] == tmp_path / "quick/part/timm-1.0/timm/scheduler"
    assert quick.files == 1
    assert (tmp_path / "quick/part/timm-1.0/.git").is_dir()


def installed_torch(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    packaged(folder, "torch", {"__init__.py": "", "utils/data.py": "x = 1\n", "_C.pyi": "y: int\n"})
    spec = importlib.util.spec_from_file_location("torch", folder / "torch" / "__init__.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version)
    monkeypatch.setenv("FORKLINT_CORPUS", str(folder / "corpus"))


def test_the_tree_of_torch_is_that_of_the_installed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed_torch(tmp_path, monkeypatch, f"{TORCH.version}+cpu")
    given = Inputs([tmp_path], tmp_path / "scratch", offline=True).of("TORCH")
    (root,) = given.paths
    assert given.files == 2
    assert (root / ".git").is_dir()
    assert sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py*")) == [
        "torch/__init__.py",
        "torch/utils/data.py",
    ]


def test_the_tree_of_torch_is_fetched_where_another_version_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed_torch(tmp_path, monkeypatch, "2.0.0")
    with pytest.raises(MissingError, match=r"^torch 2\.13\.0 is not installed, and nothing was to be fetched$"):
        Inputs([tmp_path], tmp_path / "scratch", offline=True).of("TORCH")
    asked = []

    def fetch(package: corpus.Package, into: Path) -> Path:
        asked.append(package)
        raise corpus.FetchError("torch 2.13.0: ERROR: no network")

    monkeypatch.setattr(corpus, "fetch", fetch)
    inputs = Inputs([tmp_path], tmp_path / "scratch")
    for _ in range(2):
        with pytest.raises(MissingError, match=r"^torch 2\.13\.0: ERROR: no network$"):
            inputs.of("TORCH")
    assert asked == [TORCH], "a download that failed is not tried again"
    fetched = packaged(tmp_path / "corpus", TORCH.folder, {"torch/__init__.py": "", "torchgen/model.py": ""})
    monkeypatch.setattr(corpus, "fetch", lambda package, into: fetched)
    assert Inputs([tmp_path], tmp_path / "other").of("TORCH").files == 1


def test_an_option_is_repeated_for_each_path(tmp_path: Path) -> None:
    packages = [packaged(tmp_path, name, {"first.py": ""}) for name in ("one", "two")]
    words = filled_in(
        "ty check --root=CORPUS CORPUS", Environment("ty", "/env/bin/python"), Inputs(packages, tmp_path), tmp_path
    )
    one, two = map(str, packages)
    assert words == ("/env/bin/ty", "check", f"--root={one}", f"--root={two}", one, two)


@pytest.mark.parametrize(
    "printed",
    [
        "timm/optim/mars.py:54:21: TOR101 Use of deprecated function torch.norm",
        "timm/data/auto_augment.py@21:0 UseFstring: Do not use printf style formatting",
        "/corpus/timm/data/loader.py:7:1: error FKL301 `self.file` keeps a file open",
        "/corpus/timm/data/loader.py:7:12: error[import-not-found] Cannot resolve imported module `torch`",
        "/corpus/timm/data/loader.py:7:12: error: Expected iterable as variadic argument  [misc]",
        "ERROR /corpus/timm/data/loader.py:7:8-13: Cannot find module `torch` [missing-import]",
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


def test_what_takes_too_long_is_ended_and_not_done(tmp_path: Path) -> None:
    slow = replace(run_python("import time; time.sleep(60)"), longest=0.5)
    began = time.monotonic()
    with pytest.raises(FailedError, match=r"^not done after 0\.5 s$"):
        measure(slow, tmp_path, {})
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(("at_end", "text"), [(False, "# 7\nx = 1\n"), (True, "x = 1\n# 7\n")])
def test_a_file_is_edited_for_one_run(at_end: bool, text: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("x = 1\n")
    os.utime(path, ns=(10**18, 10**18))
    edit = Edit("EDITED", "# {number}\n", at_end=at_end)
    reads = f"print(open({str(path)!r}).read() == {text!r})"
    command = replace(run_python(reads), around=lambda: edited(path, edit, 7), facts=lambda said: {said.strip(): 1})
    assert measure(command, tmp_path, {}).facts == {"True": 1}
    assert (path.read_text(), path.stat().st_mtime_ns) == ("x = 1\n", 10**18)


@pytest.mark.parametrize("code", ["import sys; sys.exit(2)", "import time; time.sleep(60)"])
def test_an_edited_file_is_put_back_when_the_command_fails(code: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("x = 1\n")
    command = replace(run_python(code), around=lambda: edited(path, Edit("EDITED", COMMENT), 1), longest=1)
    with pytest.raises(FailedError):
        measure(command, tmp_path, {})
    assert path.read_text() == "x = 1\n"


def prepared(tmp_path: Path, **fields: Any) -> tuple[Bench, Command, Path]:
    """A command of a bench whose forklint is a program that lists the paths it is given, and what is in them."""
    package = packaged(tmp_path, "timm-1.0", {"first.py": "x = 1\n"})
    arguments = argparse.Namespace(quick=False, only=("comment",), parts=(), here=True, limit=None)
    bench = Bench(arguments, [package], tmp_path / "scratch")
    (tmp_path / "scratch").mkdir()
    shown = tmp_path / "shown.py"
    shown.write_text(SHOWN)
    python = (sys.executable, str(shown))
    bench.tools = {"forklint": Environment("forklint", sys.executable, {"forklint": python})}
    one = Contender("shown", "project", "forklint", "forklint EDITED CACHE", facts=lines, **fields)
    return bench, bench._command(one), package


SHOWN = """
import sys
import time
from pathlib import Path

for argument in sys.argv[1:]:
    path = Path(argument)
    if argument == "--slow":
        time.sleep(2)
    elif argument.endswith(".py"):
        print(path.read_text())
    elif not argument.startswith("-"):
        path.mkdir(parents=True, exist_ok=True)
        (path / f"run-{len(list(path.iterdir()))}").touch()
        print(*sorted(one.name for one in path.iterdir()))
"""


def lines(output: str) -> dict[str, float]:
    return {line: 1 for line in output.splitlines() if line}


def test_each_run_begins_with_the_store_of_the_project_as_it_is(tmp_path: Path) -> None:
    store = "forklint CACHE EDITED"
    edit = Edit("EDITED", "# {number}\n")
    bench, command, package = prepared(tmp_path, store=store, edit=edit)
    for number in (1, 2):
        facts = measure(command, tmp_path, {}).facts
        assert list(facts) == [f"# {number}", "x = 1", "run-0 run-1 run-2"], "two runs filled it, and each text is new"
    assert list(bench._stores) == [store]
    filled = (tmp_path / "scratch" / "shown-before.out").read_text()
    assert filled == "run-0 run-1\nx = 1\n\n", "nothing is edited yet"
    assert (package / "first.py").read_text() == "x = 1\n"


def test_a_command_before_each_run_is_not_counted(tmp_path: Path) -> None:
    _, command, _ = prepared(tmp_path, before="forklint CACHE --slow")
    began = time.monotonic()
    timing = measure(command, tmp_path, {})
    assert timing.wall < time.monotonic() - began - 2
    assert list(timing.facts) == ["x = 1", "run-0 run-1"]
    _, command, _ = prepared(tmp_path / "other", before="forklint EDITED missing.py")
    with pytest.raises(FailedError, match=r"^ended with 1: FileNotFoundError"):
        measure(command, tmp_path, {})


def test_a_limit_may_be_set_for_all_commands(tmp_path: Path) -> None:
    bench, command, _ = prepared(tmp_path)
    assert command.longest == measures.LONGEST
    bench._arguments.limit = 5
    by_name = {one.name: one for one in CONTENDERS}
    assert bench._longest(by_name["forklint-torch"]) == 5
    bench._arguments.limit = None
    assert bench._longest(by_name["forklint-torch"]) == 600


def bench(*arguments: str | Path, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench.run", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


def _findings_in(folder: Path) -> int:
    """How many findings the command has in a folder, at least one."""
    options = ("--isolated", "--preview", "--no-cache", "--output-format", "json")
    command = (sys.executable, "-m", "forklint", folder, *options)
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found
    return len(found)


@pytest.mark.soak
def test_a_small_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty files, one round, no peer: what can be measured is, and the rest is told."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for path in sorted(FIXTURES.glob("good_*.py"))[:29]:
        shutil.copy(path, folder)
    shutil.copy(FIXTURES / "bad_hdf5_volumes.py", folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "results.json"
    rows = "comment,cold-ty,cold,clean-file"
    done = bench("--here", "--corpus", folder, "--rounds", "1", "--only", rows, "--results", file)
    assert done.returncode == 0, done.stderr
    assert "NOT AT HAND: ruff: nothing was to be installed" in done.stderr
    told = results.read(file)
    by_key = {row["key"]: row for row in told["rows"]}
    assert list(by_key) == rows.split(",")
    for key in ("cold-ty", "cold"):
        assert (by_key[key]["value"], by_key[key]["met"]) == (None, None)
        assert by_key[key]["reason"] == "not measured: nothing was to be installed"
    assert by_key["comment"]["value"] > 0.05
    assert told["contenders"]["forklint-comment"]["before"].endswith("a comment added to EDITED")
    assert by_key["clean-file"]["value"] > 0.5
    assert by_key["clean-file"]["rounds"] == 1
    forklint, imported = told["contenders"]["forklint"], told["contenders"]["import-click"]
    assert (forklint["files"], forklint["facts"]) == (len(list(folder.iterdir())), {"findings": _findings_in(folder)})
    assert forklint["runs"][0]["wall"] == forklint["median_seconds"] > 0.05
    assert imported["facts"] == {}
    assert not list((tmp_path / "cache" / "forklint" / "bench").iterdir()), "what a run makes is cleared away"
    assert all(row["measure"] in done.stdout for row in told["rows"])


@pytest.mark.soak
def test_key_presses_are_answered(tmp_path: Path) -> None:
    """A project of two files, two seconds: the figures are those of the rows."""
    for name in ("bad_hdf5_volumes.py", "good_hdf5_values_copied.py"):
        shutil.copy(FIXTURES / name, tmp_path)
    command = [sys.executable, TYPIST, tmp_path, "--seconds", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    facts = json.loads(done.stdout)
    assert facts["keys"] > 0
    timings = times(server=series(60, facts=facts))
    key, memory = (outcome(ROW[name], timings, {}).value for name in ("server", "server-memory"))
    assert key is not None
    assert key.value == facts["p95_ms"] / 1000 > 0
    assert memory is not None
    assert 10 < memory.value == facts["most_mb"] < 300


def test_a_wrong_row_is_one_line() -> None:
    done = bench("--only", "colder")
    assert done.returncode == 2
    assert "no row colder: there are comment, " in done.stderr
    assert "Traceback" not in done.stderr


def made(row: Row, got: Outcome) -> dict:
    timings = times(forklint=series(3, 4), ty=series(2, 2))
    return results.gathered([got], named(["forklint", "ty"]), timings, here(), {"quick": False})


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    got = value("cold-ty", times(forklint=series(3, 4), ty=series(2, 2)))
    told = made(ROW["cold-ty"], got)
    results.write(told, tmp_path / "results.json")
    assert results.read(tmp_path / "results.json") == json.loads(json.dumps(told))
    assert told["rows"] == [
        {
            "key": "cold-ty",
            "measure": ROW["cold-ty"].measure,
            "unit": "times",
            "value": 1.75,
            "target": "at most ty's time",
            "limit": 1,
            "met": False,
            "rounds": 2,
            "spread": 0.25,
            "reason": "",
            "note": "",
        }
    ]
    assert set(told["machine"]) == {"processor", "cores", "memory_bytes", "system"}
    ty = told["contenders"]["ty"]
    assert (ty["median_seconds"], ty["lines"], len(ty["runs"])) == (2, 1000, 2)
    assert figures.bars(told) == [("ty", 2, False), ("forklint, all rules", 3.5, False)]


def test_some_parts_are_measured_anew() -> None:
    timings = times(forklint=series(3, 4), ty=series(2, 2))
    known = results.gathered([], named(["forklint", "ty"]), timings, here(), {"quick": False, **NOTHING})
    known["contenders"]["ty-torch"] = {**known["contenders"]["ty"], "command": "another", "part": "torch"}
    timings = times(forklint=series(6, 6), ty=series(2, 2))
    some = results.gathered([], named(["forklint", "ty"]), timings, here(), {"quick": False, **NOTHING})
    told = results.updated(known, {**some, "date": "2030-01-02T03:04"}, ["corpus"])
    by_key = {row["key"]: row for row in told["rows"]}
    assert by_key["cold-ty"]["value"] == 3
    assert told["measured"] == {"corpus": "2030-01-02T03:04"}
    assert "## Whole packages\n\nMeasured on 2030-01-02.\n" in figures.page(told)


NOTHING: dict[str, Any] = {"missing": {}, "seconds_of_parts": {}}


def test_a_wrong_part_is_one_line() -> None:
    done = bench("--parts", "colder")
    assert done.returncode == 2
    assert "no part colder: there are corpus, " in done.stderr


def test_rows_are_made_anew_of_known_timings() -> None:
    by_name = {one.name: one for one in CONTENDERS}
    told = made(ROW["cold-ty"], value("cold-ty", times(forklint=series(3, 4), ty=series(2, 2))))
    told["contenders"]["ruff"] = {**told["contenders"]["ty"], "command": "ruff check --as-it-was-before CORPUS"}
    told["contenders"]["ty-torch"] = {**told["contenders"]["ty"], "command": by_name["ty-torch"].text, "before": "ls"}
    told["missing"] = {"pyrefly": "not measured: pyrefly could not be installed"}
    anew = results.reworked(told)
    by_key = {row["key"]: row for row in anew["rows"]}
    assert list(by_key) == [row.key for row in chosen([], quick=False)]
    assert by_key["cold-ty"] == told["rows"][0]
    assert by_key["cold"]["reason"] == "not measured: ruff was not run", "another command's timing is no timing of it"
    assert by_key["cold-pyrefly"]["reason"] == "not measured: pyrefly could not be installed"
    assert by_key["server"]["reason"] == "not measured: server was not run"
    assert set(anew["contenders"]) == {"forklint", "ty"}
    assert results.reworked(anew) == anew


def test_the_page_tells_what_a_value_is_of_and_what_was_done_before() -> None:
    facts = {"pkg/slow.py": 21.0}
    timings = times(forklint_each_file=series(1, facts=facts), forklint_comment=series(2))
    rows = [outcome(ROW[key], timings, {}) for key in ("worst-file", "comment")]
    contenders = named(["forklint-each-file", "forklint-comment"])
    text = figures.page(results.gathered(rows, contenders, timings, here(), {"quick": False}))
    assert "| 21.0 times (pkg/slow.py) | at most 20 times | no |" in text
    assert "`, after: a warm cache of PROJECT, a comment added to EDITED |" in text
