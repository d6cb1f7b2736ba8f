"""Put small faults into values/ and runs/, and count how many the tests notice: ``python -m scripts.mutation``.

First the tests run once under coverage, which says which of them reach a line. Then each fault runs against those tests
alone, up to the first that fails. What was done is kept in ``build/mutation``, so a run goes on where one was ended.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import pkgutil
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import coverage
import pytest

import forklint
from scripts.mutation.contexts import TIMES
from scripts.mutation.mutants import Mutant, drawn, mutants
from scripts.mutation.trials import Outcome, Trial, Trials, read

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "forklint"
MUTATED = (SOURCE / "values", SOURCE / "runs")
TESTS = (
    "tests/values",
    "tests/runs/test_what_runs.py",
    "tests/test_traces.py",
    "tests/test_platforms.py",
    "tests/handles",
    "tests/loading",
    "tests/starting",
    "tests/rules",
    "tests/test_fixtures.py",
)
LEFT_OUT = ("test_fix_leaves_what_stands_beside_it",)
"""It lints each fixture again."""
OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", " and ".join(f"not {name}" for name in LEFT_OUT))


def modules() -> list[Path]:
    """The files that get faults."""
    return [path for folder in MUTATED for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"]


def state() -> str:
    """A key of the product's code and of the tests: what was recorded for other ones does not count."""
    key = hashlib.sha256()
    for path in sorted([*SOURCE.rglob("*.py"), *SOURCE.rglob("*.toml"), *(ROOT / "tests").rglob("*.py")]):
        key.update(path.read_bytes())
    return key.hexdigest()[:16]


def measured(into: Path) -> tuple[coverage.CoverageData, dict[str, float]]:
    """Which test reaches which line, and how long it takes; measured once for each state of the code."""
    data, times = into / "coverage", into / "times.json"
    if not times.exists():
        command = [sys.executable, "-m", "coverage", "run", f"--rcfile={os.devnull}", f"--data-file={data}"]
        command += ["--source=" + ",".join(map(str, MUTATED)), "-m", "pytest", "-p", "scripts.mutation.contexts"]
        environment = {**os.environ, TIMES: str(times)}
        done = subprocess.run([*command, *OPTIONS, *TESTS], cwd=ROOT, env=environment, check=False)
        if done.returncode:
            times.unlink(missing_ok=True)
            sys.exit("without a fault the tests must pass")
    found = coverage.CoverageData(str(data))
    found.read()
    return found, json.loads(times.read_text(encoding="utf-8"))


def trials(chosen: list[Mutant], data: coverage.CoverageData, times: dict[str, float], slowest: float) -> list[Trial]:
    """Each mutant with the tests that reach its line, those first that reach little else; without slow ones."""
    reached: Counter[str] = Counter()
    lines = {}
    for path in modules():
        lines[path] = data.contexts_by_lineno(str(path))
        reached.update(name for names in lines[path].values() for name in names)
    made = []
    for mutant in chosen:
        of_file = lines[mutant.path]
        line = next((line for line in range(mutant.line, mutant.function, -1) if of_file.get(line)), 0)
        names = [name for name in of_file.get(line, ()) if name and times.get(name, 0) <= slowest]
        tests = sorted(names, key=lambda name: reached[name])
        made.append(Trial(mutant, tests, sum(times.get(name, 0) for name in tests)))
    return made


def import_all() -> None:
    """Import what tests would import later: each fork would do so again."""
    for module in pkgutil.walk_packages(forklint.__path__, "forklint."):
        if not module.name.endswith("__main__") and ".harness" not in module.name:
            importlib.import_module(module.name)


def summary(outcomes: list[Outcome]) -> str:
    """The figures, and the mutants that no test noticed."""
    counts = Counter(one.outcome for one in outcomes)
    judged = len(outcomes) - counts["invalid"]
    killed = counts["killed"] + counts["hung"]
    left = [f"  {one.mutant} ({one.outcome})" for one in outcomes if one.outcome in {"survived", "not reached"}]
    share = 100 * killed / judged if judged else 0
    figures = f"{killed} of {judged} mutants killed ({share:.0f} %), {counts['hung']} of them by their time limit"
    return "\n".join([*left, figures])


def main() -> int:
    """Return 0 if enough mutants were killed, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m scripts.mutation", description=__doc__.partition("\n")[0])
    parser.add_argument("--number", type=int, default=150, help="how many mutants are drawn (default 150)")
    parser.add_argument("--seed", type=int, default=17, help="what they are drawn by (default 17)")
    parser.add_argument("--least", type=float, default=85, help="how many in 100 must be killed (default 85)")
    parser.add_argument("--slowest", type=float, default=2, help="leave out tests that take longer (default 2 s)")
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "mutation", help="folder for what was done")
    asked = parser.parse_args()
    into = asked.into.absolute() / state()
    into.mkdir(parents=True, exist_ok=True)
    data, times = measured(into)
    every = [mutant for path in modules() for mutant in mutants(path)]
    chosen = drawn(every, asked.number, asked.seed)
    record = into / f"outcomes-{asked.seed}.jsonl"
    known = read(record)

    def told(outcome: Outcome) -> None:
        known[outcome.mutant] = outcome
        print(f"{outcome.outcome} {outcome.mutant} {outcome.test} {outcome.seconds} s", flush=True)
        with record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")

    left = trials([mutant for mutant in chosen if str(mutant) not in known], data, times, asked.slowest)
    if left:
        import_all()
        plugin = Trials(left, into, told)
        pytest.main([*OPTIONS, "-s", f"--basetemp={into / 'tmp'}", *TESTS], plugins=[plugin])
    outcomes = [known[str(mutant)] for mutant in chosen if str(mutant) in known]
    print(f"seed {asked.seed}, drawn from {len(every)}\n{summary(outcomes)}")
    killed = sum(one.outcome in {"killed", "hung"} for one in outcomes)
    judged = sum(one.outcome != "invalid" for one in outcomes)
    return 0 if len(outcomes) == len(chosen) and judged and 100 * killed >= asked.least * judged else 1


if __name__ == "__main__":
    sys.exit(main())
