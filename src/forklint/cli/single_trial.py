"""One trial of ``forklint verify`` by its id: run again, or printed as a stand-alone script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forklint import config
from forklint.cli.errors import CLEAN, Failure
from forklint.cli.output import say

if TYPE_CHECKING:
    from forklint.verify.proving import Planned


def script_of(name: str, planned: Sequence[Planned]) -> str:
    """The script that reproduces the hazard of a trial; nothing is run. Raises Failure."""
    from forklint.verify import repro  # noqa: PLC0415 - rarely needed

    found = repro.find(name, planned)
    if found is None:
        raise Failure(_no_trial(name, planned))
    try:
        return repro.script(*found)
    except repro.NoScriptError as error:
        raise Failure(str(error)) from None


def _no_trial(name: str, planned: Sequence[Planned]) -> str:
    names = [trial.name for one in planned for trial in one.trials]
    return f"unknown trial '{name}'{config.nearest(name, names)}; --plan lists all trials"


def replay(name: str, planned: Sequence[Planned], python: Path) -> int:
    """Run one trial and print its output and its records."""
    from forklint.report.verdicts import ended  # noqa: PLC0415
    from forklint.verify.runner import Runner  # noqa: PLC0415

    trials = {trial.name: trial for one in planned for trial in one.trials}
    if name not in trials:
        raise Failure(_no_trial(name, planned))
    with Runner(python) as runner:
        seen = runner.run(trials[name])
    click.echo(seen.output, nl=False)
    for record in seen.records:
        click.echo(json.dumps(record))
    say(f"{name}: {ended(seen)}")
    return CLEAN
