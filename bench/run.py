"""Measure forklint beside its peers, and write what came of it.

    python -m bench.run                      everything, at least five rounds: results.json, page and plot
    python -m bench.run --quick              a tenth of the files, fewer rounds; prints, and writes nothing
    python -m bench.run --only cold,warm     some rows; prints, and writes nothing
    python -m bench.run --parts project,start    some tables anew, in results.json, page and plot
    python -m bench.run --page               work out the rows anew from the timings in results.json; page and plot

The corpus must be at hand (make bench-corpus). Peers are installed into environments in the user's cache folder.
All of it is measured on two cores, where the system lets a process be bound to them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bench import figures, results
from bench.contenders import NOT_BUILT, NOT_MEASURED, Contender, filled_in, named, nothing
from bench.inputs import Input, Inputs, MissingError
from bench.measures import Command, Series, Timing, in_turns, measure
from bench.peers import FORKLINT, Environment, Missing, Tools, here, installed, variables
from bench.preparation import copied, edited
from bench.rows import ROWS, Outcome, Row, Timings, chosen, outcome
from scripts.corpus import FetchError, cache_home, ready

CORES = 2
CORES_OF = {"verify": 1}
"""With one core its trials run one after another, as the program does that they are compared with."""
AVAILABLE = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []
ROUNDS = {
    "corpus": 5,
    "types": 5,
    "project": 15,
    "torch": 3,
    "sample": 5,
    "start": 25,
    "flake8": 5,
    "growth": 3,
    "files": 1,
    "server": 1,
    "verify": 5,
}
QUICK_ROUNDS = dict.fromkeys(ROUNDS, 1) | {"corpus": 2, "project": 2, "start": 7}
WARMED_UP = ("corpus", "start")
"""Parts that have a round which does not count, in a quick run."""


class Bench:
    """One run: its tools, its inputs, and what was measured so far."""

    def __init__(self, arguments: argparse.Namespace, packages: Sequence[Path], scratch: Path) -> None:
        """Take the command line, what is linted, and a folder of the run's own."""
        self.rows: list[Row] = chosen(arguments.only, quick=arguments.quick)
        self.contenders: list[Contender] = named(name for row in self.rows for name in row.contenders)
        if arguments.parts:
            self.contenders = [one for one in self.contenders if one.part in arguments.parts]
            names = {one.name for one in self.contenders}
            self.rows = [row for row in self.rows if names.issuperset(row.contenders)]
        self.tools: Tools = {}
        self.missing: dict[str, str] = {}
        self.seconds: dict[str, float] = {}
        self._arguments = arguments
        self._scratch = scratch
        self._caches = scratch / "caches"
        self._inputs = Inputs(packages, scratch, quick=arguments.quick, offline=arguments.here)
        self._stores: dict[str, Path] = {}
        self._numbers = itertools.count(1)
        self._variables = dict(os.environ) if arguments.here else variables()
        self._variables |= {"NO_COLOR": "1"}

    def run(self) -> tuple[list[Outcome], Timings]:
        """Install, measure part after part, and give the rows."""
        self.tools = self._tools()
        runnable = [one for one in self.contenders if self._can_run(one)]
        series: dict[str, Series] = {}
        for part in dict.fromkeys(one.part for one in runnable):
            began = time.monotonic()
            print(f"{part}:", file=sys.stderr)
            _bind(CORES_OF.get(part, CORES))
            series |= self._part(part, [one for one in runnable if one.part == part])
            self.seconds[part] = round(time.monotonic() - began, 1)
        times = Timings(series, {one.name: self._given(one) for one in runnable})
        return [outcome(row, times, self.missing) for row in self.rows], times

    def about(self) -> dict[str, Any]:
        """What the results tell of the run itself."""
        return {"quick": self._arguments.quick, "seconds_of_parts": self.seconds, "missing": self.missing}

    def _tools(self) -> Tools:
        wanted = {one.tool for one in self.contenders} - {"torch"}
        tools = dict(here() if self._arguments.here else installed(wanted | {FORKLINT}))
        if importlib.util.find_spec("torch"):
            tools["torch"] = Environment("torch", sys.executable)
        else:
            tools["torch"] = Missing("torch", "the running interpreter has no torch")
        for tool in tools.values():
            if isinstance(tool, Missing):
                print(f"NOT AT HAND: {tool.tool}: {tool.reason}", file=sys.stderr)
        return tools

    def _can_run(self, one: Contender) -> bool:
        tool = self.tools[one.tool]
        if isinstance(tool, Missing):
            self.missing[one.name] = f"{NOT_MEASURED}: {tool.reason}"
        elif "--cache-dir" in one.text and one.tool == FORKLINT and not self._has_cache(tool):
            self.missing[one.name] = NOT_BUILT
        if one.name not in self.missing:
            try:
                for word in one.all_inputs:
                    self._inputs.of(word)
            except MissingError as error:
                self.missing[one.name] = f"{NOT_MEASURED}: {error}"
        return one.name not in self.missing

    def _has_cache(self, forklint: Environment) -> bool:
        """Whether this forklint keeps findings from run to run."""
        command = [*forklint.command("forklint"), "--help"]
        return (
            "--no-cache"
            in subprocess.run(command, capture_output=True, text=True, env=self._variables, check=False).stdout
        )

    def _part(self, part: str, contenders: Sequence[Contender]) -> dict[str, Series]:
        commands = [self._command(one) for one in contenders]
        quick = self._arguments.quick
        most = self._arguments.rounds or (QUICK_ROUNDS if quick else ROUNDS)[part]
        rounds = {one.name: min(most, one.most_rounds) for one in contenders}
        warm_ups = frozenset(one.name for one in contenders if one.warm_up and (part in WARMED_UP or not quick))
        series, failed = in_turns(commands, rounds, warm_ups, self._measure, _tell)
        self.missing |= {name: f"{NOT_MEASURED}: {name}: {reason}" for name, reason in failed.items()}
        return series

    def _command(self, one: Contender) -> Command:
        tool = self._environment(one)
        without = () if one.tool != FORKLINT or self._has_cache(tool) else ("--no-cache",)
        command = one.command(tool, self._inputs, self._caches, without)
        command = replace(command, longest=self._longest(one))
        return replace(command, around=partial(self._prepared, one)) if one.preparation else command

    def _longest(self, one: Contender) -> float:
        return min(one.longest, self._arguments.limit or one.longest)

    def _environment(self, one: Contender) -> Environment:
        tool = self.tools[one.tool]
        assert isinstance(tool, Environment)  # noqa: S101 - the others cannot run
        return tool

    @contextlib.contextmanager
    def _prepared(self, one: Contender) -> Iterator[None]:
        """Do what is to be done before a run, and undo it afterwards."""
        if one.store:
            copied(self._store(one), self._caches / one.name)
        if one.before:
            self._run(one, one.before, self._caches / one.name)
        with contextlib.ExitStack() as stack:
            if one.edit:
                (path,) = self._inputs.of(one.edit.word).paths
                stack.enter_context(edited(path, one.edit, next(self._numbers)))
            yield

    def _store(self, one: Contender) -> Path:
        """The store that a command has filled, which is run once for all that begin with it."""
        if one.store not in self._stores:
            store = self._caches / f"store-{len(self._stores)}"
            for _ in range(2):  # a store may distrust files that are as new as it is
                self._run(one, one.store, store)
            self._stores[one.store] = store
        return self._stores[one.store]

    def _run(self, one: Contender, text: str, cache: Path) -> None:
        """Run a command that is not measured."""
        words = filled_in(text, self._environment(one), self._inputs, cache)
        self._measure(Command(f"{one.name}-before", words, nothing, longest=self._longest(one)))

    def _measure(self, command: Command) -> Timing:
        return measure(command, self._scratch, self._variables)

    def _given(self, one: Contender) -> Input:
        given = [self._inputs.of(word) for word in one.inputs]
        return given[0] if given else Input(())


def _bind(number: int) -> None:
    """Let this process and what it starts use so many cores, where the system can do that."""
    if sys.platform == "linux":
        os.sched_setaffinity(0, AVAILABLE[:number])


def _tell(line: str) -> None:
    print(f"  {line}", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the files, fewer rounds")
    parser.add_argument("--only", type=_keys, default=(), metavar="ROWS", help=", ".join(row.key for row in ROWS))
    parser.add_argument("--parts", type=_parts, default=(), metavar="PARTS", help=", ".join(ROUNDS))
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of each part")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="end what takes longer, and say so")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the results there, whatever was run")
    parser.add_argument("--page", action="store_true", help="measure nothing: rows, page and plot from known timings")
    parser.add_argument("--corpus", type=Path, metavar="FOLDER", help="lint this folder instead of the corpus")
    parser.add_argument("--here", action="store_true", help="use what the running interpreter has, install nothing")
    return parser.parse_args()


def _keys(text: str) -> tuple[str, ...]:
    keys = tuple(filter(None, text.split(",")))
    try:
        chosen(keys, quick=False)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return keys


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(filter(None, text.split(",")))
    unknown = sorted({*parts} - ROUNDS.keys())
    if unknown:
        raise argparse.ArgumentTypeError(f"no part {', '.join(unknown)}: there are {', '.join(ROUNDS)}")
    return parts


def main() -> int:
    """Run the command line.

    Gives 0 when it was measured, met or not, 2 for a wrong argument, 3 without a corpus, 130 when interrupted.
    """
    arguments = _arguments()
    if arguments.page:
        told = results.reworked(results.read(results.FILE))
        results.write(told, results.FILE)
        figures.write(told)
        return 0
    try:
        packages = [arguments.corpus.resolve()] if arguments.corpus else ready(offline=True)[1]
    except FetchError as error:
        print(f"the corpus is not at hand: {error}; run make bench-corpus", file=sys.stderr)
        return 3
    home = cache_home() / "bench"
    home.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="run-", dir=home))
    try:
        bench = Bench(arguments, packages, scratch)
        outcomes, times = bench.run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    told = results.gathered(outcomes, bench.contenders, times, bench.tools, bench.about())
    print(figures.summary(told))
    if arguments.parts and not arguments.results:
        told = results.updated(results.read(results.FILE), told, arguments.parts)
    whole = not (arguments.quick or arguments.only or arguments.corpus or arguments.here)
    if arguments.results or whole:
        results.write(told, arguments.results or results.FILE)
    if whole and not arguments.results:
        figures.write(told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
