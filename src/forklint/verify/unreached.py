"""Why a trial never came to what it was to show, and the one thing to do about it."""

from __future__ import annotations

import re

from forklint.verify.words import Judgement, Observation, Verdict

SPENT = {
    "time": ("took longer than {seconds:g} s", "raise --timeout, or name a factory that builds less"),
    "memory": ("took more memory than there is", "free some, or name a factory that builds less"),
    "processes": ("started too many processes", "look at what the program starts before its loader"),
    "scratch": ("filled its temporary folder", "name a factory that writes less"),
    "output": ("printed without end", "silence the program, or name a factory"),
}
ARGUMENTS = re.compile(r"error: (?:the following arguments are required|.*required)|Missing (?:argument|option)")
ERROR = re.compile(r"^(?:[\w.]*\.)?(\w*(?:Error|Exception|Interrupt|Exit))(?:: (.*))?$", re.MULTILINE)


def why_unreached(seen: Observation, what: str) -> Judgement | None:
    """A judgement if the trial's program ended, or was ended, before ``what``; None if it came there."""
    if seen.of("done"):
        return None
    broken = seen.of("broken")
    if broken:
        return _open(f"the trial itself failed: {broken[0]['type']}: {broken[0]['text']}", "please report this")
    elsewhere = seen.of("in-another-process")
    if elsewhere:
        place = elsewhere[0]["where"]
        words = f"{_subject(seen)} iterates {what} in a process that it starts itself" + (
            f" ({place})" if place else ""
        )
        return _open(words, "name a factory under [tool.forklint.verify] loaders, or an entry that starts none")
    return why_ended_early(seen, what) or _ended(seen, what)


def why_ended_early(seen: Observation, what: str) -> Judgement | None:
    """A judgement if the trial's program was stopped, or died, before ``what``; None if it came to its own end."""
    reason = seen.ending.stopped_for
    when = f"while {what} was read" if seen.of("target") else f"before {what}"
    if reason:
        words, advice = SPENT.get(reason, (f"was ended ({reason})", "run it again"))
        return _open(f"{_subject(seen)} {words.format(seconds=seen.trial.seconds)} {when}", advice)
    if seen.ending.signal:
        return _open(f"{_subject(seen)} died of {seen.ending.signal} {when}", "make it run by itself first")
    return None


def _ended(seen: Observation, what: str) -> Judgement:
    """The program came to its own end."""
    told = seen.of("cannot-build")
    if told:
        error = f"{told[0]['type']}: {told[0]['text']}"
        where = f" ({told[0]['frame']})" if told[0]["frame"] else ""
        return _open(f"{_subject(seen)} cannot be built: {error}{where}", _advice(told[0]["type"], told[0]["text"]))
    if ARGUMENTS.search(seen.output):
        last = seen.output.strip().splitlines()[-1]
        return _open(f"{_subject(seen)} needs arguments: {last}", "pass them: forklint verify SCRIPT -- ARGS")
    errors = ERROR.findall(seen.output)
    if errors and seen.ending.exit_code:
        kind, text = errors[-1]
        return _open(f"{_subject(seen)} ended with {kind}: {text} before {what}", _advice(kind, text))
    code = seen.ending.exit_code
    return _open(
        f"{_subject(seen)} ended with exit code {code} and never iterated {what}",
        "pass an entry that iterates it, or name a factory under [tool.forklint.verify] loaders",
    )


def _advice(kind: str, text: str) -> str:
    if kind in {"ModuleNotFoundError", "ImportError"}:
        name = re.search(r"No module named '([\w.]+)'", text)
        package = name[1].partition(".")[0] if name else ""
        return f"install {package}, or choose its interpreter with --python" if package else "mend the import"
    if kind == "FileNotFoundError":
        return "put the data there, or pass an entry or a factory that finds it"
    if kind == "TypeError" and "argument" in text:
        return "pass an entry, or name a factory under [tool.forklint.verify] loaders"
    return "make it run by itself first, or name a factory under [tool.forklint.verify] loaders"


def _subject(seen: Observation) -> str:
    subject = seen.trial.subject
    if subject.kind == "entry":
        return subject.command[0]
    if subject.kind == "class":
        return subject.command[-1]
    return f"the {subject.kind}"


def _open(evidence: str, advice: str) -> Judgement:
    return Judgement(Verdict.INCONCLUSIVE, evidence, advice)
