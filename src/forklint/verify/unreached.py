"""Why a trial never came to what it was to show, and the one thing to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forklint.source.paths import relative_to
from forklint.verify.words import Judgement, Observation, Verdict

SPENT = {
    "time": ("took longer than {seconds:g} s", "raise --timeout, or add a factory that needs less time"),
    "memory": ("used more memory than available", "free some memory, or add a factory that needs less"),
    "processes": ("started too many processes", "check which processes the program starts before its loader"),
    "scratch": ("filled its temporary directory", "add a factory that writes less"),
    "machine": ("was lost with its machine", "check the worker and the network, and run it again"),
    "output": ("printed too much output", "make the program print less, or add a factory"),
}
GOES_ON = (
    "add a factory to `loaders` in [tool.forklint.verify], or pass --until-loader to run the script up to the loader, "
    "with all batches and everything it saves"
)
TOO_FEW = (
    "if it failed since another loader gave it one batch alone, let that give all, with whatever the script saves: "
    "--until-loader; or name a factory under [tool.forklint.verify] loaders"
)
ARGUMENTS = re.compile(r"error: (?:the following arguments are required|.*required)|Missing (?:argument|option)")
ERROR = re.compile(r"^(?:[\w.]*\.)?(\w*(?:Error|Exception|Interrupt|Exit))(?:: (.*))?$", re.MULTILINE)


def why_unreached(seen: Observation, what: str) -> Judgement | None:
    """A judgement if the trial's program ended, or was ended, before ``what``; None if it came there."""
    if seen.of("done"):
        return None
    broken = seen.of("broken")
    if broken:
        words = f"the trial itself failed: {broken[0]['type']}: {first_line(broken[0]['text'])}"
        return _open(words, "please report this")
    elsewhere = seen.of("in-another-process")
    if elsewhere:
        place = elsewhere[0]["where"]
        words = f"{_subject(seen)} iterates {what} in a process that it starts" + (f" ({place})" if place else "")
        return _open(
            words, "add a factory to `loaders` in [tool.forklint.verify], or pass a script that starts no processes"
        )
    return why_ended_early(seen, what) or _ended(seen, what)


def why_ended_early(seen: Observation, what: str) -> Judgement | None:
    """A judgement if the trial's program was stopped, or died, before ``what``; None if it came to its own end."""
    if seen.of("out-of-bounds"):
        return _open(f"{_went_past(seen)} before {what}{_made(seen)}, and was stopped", GOES_ON)
    reason = seen.ending.stopped_for
    when = f"while {what} was read" if seen.of("target") else f"before {what}"
    if reason:
        words, advice = SPENT.get(reason, (f"was stopped ({reason})", "run it again"))
        return _open(f"{_subject(seen)} {words.format(seconds=seen.trial.seconds)} {when}", advice)
    if seen.ending.signal:
        return _open(
            f"{_subject(seen)} was killed by {seen.ending.signal} {when}", "make it run without forklint first"
        )
    return None


def _ended(seen: Observation, what: str) -> Judgement:
    """The program came to its own end."""
    folder = seen.trial.subject.folder
    told = seen.of("cannot-build")
    if told:
        words = "; ".join(_cannot_build(seen, record) for record in told)
        return _open(words, _advice(told[0]["type"], told[0]["text"], folder))
    if ARGUMENTS.search(seen.output):
        last = seen.output.strip().splitlines()[-1]
        return _open(f"{_subject(seen)} needs arguments: {last}", "pass them: forklint verify SCRIPT -- ARGS")
    errors = ERROR.findall(seen.output)
    if errors and seen.ending.exit_code:
        kind, text = errors[-1]
        advice = TOO_FEW if seen.of("passed-by") else _advice(kind, text, folder)
        return _open(f"{_subject(seen)} ended with {kind}: {text} before {what}", advice)
    code = seen.ending.exit_code
    return _open(
        f"{_subject(seen)} ended with exit code {code} and never iterated {what}{_made(seen)}",
        "pass a script that iterates it, or add a factory to `loaders` in [tool.forklint.verify]",
    )


def _cannot_build(seen: Observation, record: Mapping[str, Any]) -> str:
    """Which factory, or which class, raised what."""
    what = f"{_subject(seen)} {record['name']}" if seen.trial.subject.kind == "factory" else _subject(seen)
    where = f" ({_place(record['frame'])})" if record["frame"] else ""
    return f"{what} cannot be created: {record['type']}: {first_line(record['text'])}{where}"


def first_line(text: str) -> str:
    """What an error says: torch appends the stack of its C++ functions, of hundreds of lines."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _went_past(seen: Observation) -> str:
    """How a script went on: it began a second round of another loader, or it was about to save a model."""
    record = seen.of("out-of-bounds")[0]
    at = f" at {_place(record['place'])}" if record["place"] else ""
    if record["why"] == "save":
        return f"{_subject(seen)} was about to save a model{at}"
    return f"{_subject(seen)} started a second epoch over a loader of {record['dataset']}{at}"


def _made(seen: Observation) -> str:
    """Where a loader was made that would have been the one, if there was one."""
    made = [record["where"] for record in seen.of("loader") if record["is_meant"] and record["where"]]
    return f" (one is created at {_place(made[0])})" if made else ""


def _place(place: str) -> str:
    return relative_to(Path(place), Path.cwd())


def _own(package: str, folder: Path) -> str:
    """The folder of the project from which a package of its own can be imported; empty if there is none."""
    for above in (folder, *folder.parents):
        for place in (above, above / "src"):
            if (place / package / "__init__.py").is_file() or (place / f"{package}.py").is_file():
                return relative_to(place, folder)
        if any((above / name).exists() for name in ("pyproject.toml", "setup.py", ".git")):
            break
    return ""


def _advice(kind: str, text: str, folder: Path) -> str:
    if kind in {"ModuleNotFoundError", "ImportError"}:
        name = re.search(r"No module named '([\w.]+)'", text)
        package = name[1].partition(".")[0] if name else ""
        own = _own(package, folder) if package else ""
        if own:
            return f"{package} belongs to the project: set PYTHONPATH={own}, or pass its interpreter with --python"
        return f"install {package}, or pass its interpreter with --python" if package else "fix the import"
    if kind == "FileNotFoundError":
        return "provide the data, or pass a script or a factory that finds it"
    if kind == "TypeError" and "argument" in text:
        return "pass a script, or add a factory to `loaders` in [tool.forklint.verify]"
    return "make it run without forklint first, or add a factory to `loaders` in [tool.forklint.verify]"


def _subject(seen: Observation) -> str:
    subject = seen.trial.subject
    if subject.kind == "entry":
        module = subject.command[0] == "-m"
        return subject.command[1] if module else _place(subject.command[0])
    if subject.kind in ("class", "made"):
        return subject.command[-1]
    return f"the {subject.kind}"


def _open(evidence: str, advice: str) -> Judgement:
    return Judgement(Verdict.INCONCLUSIVE, evidence, advice)
