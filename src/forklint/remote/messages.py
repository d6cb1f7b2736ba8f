"""Trials and observations as JSON. What comes from another machine is checked before it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forklint.verify.words import Ending, Factors, Observation, Subject, Trial

LONGEST_TRIAL = 3600.0
"""Seconds: a longer limit is refused."""


class MessageError(ValueError):
    """A message that is not what it should be; says what is wrong with it in one line."""


def trial_to_json(trial: Trial) -> dict[str, Any]:
    """What a worker needs to know to run a trial."""
    subject = trial.subject
    return {
        "name": trial.name,
        "kind": subject.kind,
        "command": list(subject.command),
        "folder": str(subject.folder),
        "paths": [str(path) for path in subject.paths],
        "environment": dict(subject.environment),
        "task": trial.task,
        "spec": dict(trial.spec),
        "factors": asdict(trial.factors),
        "is_control": trial.is_control,
        "seconds": trial.seconds,
        "texts": dict(trial.texts),
    }


def trial_from_json(told: Mapping[str, Any], folders: Sequence[Path], tasks: frozenset[str]) -> Trial:
    """The trial of a message; ``folders`` are where its files lie here. Raises MessageError."""
    try:
        subject = Subject(
            str(told["kind"]),
            tuple(map(str, told["command"])),
            Path(told["folder"]),
            tuple(Path(path) for path in told["paths"]),
            {str(name): str(value) for name, value in told["environment"].items()},
        )
        trial = Trial(
            str(told["name"]),
            subject,
            str(told["task"]),
            dict(told["spec"]),
            Factors(**told["factors"]),
            bool(told["is_control"]),
            float(told["seconds"]),
            folders=tuple(folders),
            texts={str(path): str(text) for path, text in told["texts"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MessageError(f"not a trial: {type(error).__name__}: {error}") from None
    _check(trial, tasks)
    return trial


def _check(trial: Trial, tasks: frozenset[str]) -> None:
    """Raise MessageError unless the harness runs it, on files that were sent with it, within a limit."""
    if trial.task not in tasks:
        raise MessageError(f"the harness has no task '{trial.task}'")
    if not 0 < trial.seconds <= LONGEST_TRIAL:
        raise MessageError(f"a limit of {trial.seconds:g} s is not between 0 and {LONGEST_TRIAL:g} s")
    first = trial.subject.command[0] if trial.subject.command else ""
    if not (first == "-m" and len(trial.subject.command) > 1) and not _is_inside(trial, first):
        raise MessageError("the command runs neither a module nor a script that was sent with it")
    if not all(_is_inside(trial, str(path)) for path in (trial.subject.folder, *trial.texts)):
        raise MessageError("the trial names a directory outside of the files that were sent with it")


def _is_inside(trial: Trial, path: str) -> bool:
    """Whether a path lies in the folders of a trial; one without a root is seen from its working directory."""
    if not path or path.startswith("-"):
        return False
    real = (trial.subject.folder / path).resolve()
    return any(real.is_relative_to(folder.resolve()) for folder in trial.folders)


def observation_to_json(seen: Observation) -> dict[str, Any]:
    """What a trial showed, without the trial."""
    told = {name: getattr(seen, name) for name in FIELDS}
    return {**told, "ending": asdict(seen.ending), "records": list(seen.records)}


TEXTS = ("code", "name", "severity", "filename", "message", "subject", "fingerprint")


def finding_from_json(told: Mapping[str, Any]) -> dict[str, Any]:
    """A finding as in JSON reports; raises MessageError. The client says which repository it is from."""
    location = told.get("location") if isinstance(told, dict) else None
    if (
        not isinstance(location, dict)
        or not all(isinstance(location.get(name), int) for name in ("row", "column"))
        or not all(isinstance(told.get(name), str) for name in TEXTS)
    ):
        raise MessageError("not a finding")
    return {name: value for name, value in told.items() if name != "repository"}


FIELDS = ("output", "stacks", "leaked", "wall_seconds", "peak_bytes", "began", "memory")


def observation_from_json(trial: Trial, told: Mapping[str, Any]) -> Observation:
    """The observation of a message; raises MessageError."""
    try:
        records = tuple(told["records"])
        if not all(isinstance(record, dict) and isinstance(record.get("kind"), str) for record in records):
            raise MessageError("not an observation: its records have no kind")
        return Observation(
            trial,
            Ending(**told["ending"]),
            records,
            str(told["output"]),
            str(told["stacks"]),
            tuple(map(str, told["leaked"])),
            float(told["wall_seconds"]),
            int(told["peak_bytes"]),
            float(told["began"]),
            tuple((float(when), int(size)) for when, size in told["memory"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise MessageError(f"not an observation: {type(error).__name__}: {error}") from None
