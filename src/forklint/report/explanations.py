"""An explanation of a crash, for people and for programs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forklint.crashes.exit_status import described
from forklint.crashes.hypotheses import Explanation, Fit
from forklint.crashes.reading import Sign
from forklint.model import Applicability
from forklint.pages import URL
from forklint.report import count, place, visible
from forklint.report import json as one_finding

MOST_SIGNS, MOST_HYPOTHESES, MOST_FITS = 3, 6, 8
"""How many signs, hazards and findings are shown at length; a hazard that the project has is shown in any case."""
GATHER = "forklint doctor -- COMMAND"
"""What tells more of a crash; of no use to whom doctor itself tells of one."""
MARGIN = "  "


def text(explained: Explanation, source: str = "", *, by_doctor: bool = False) -> str:
    """What was seen, the hazards that make it, the findings that fit, and what to run; ``source`` names the log."""
    parts = [
        _seen(explained.signs, source, by_doctor=by_doctor),
        _hypotheses(explained),
        _fits(explained),
        _commands(explained, by_doctor=by_doctor),
    ]
    return "\n\n".join("\n".join(lines) for lines in map(list, parts) if lines) + "\n"


def to_dict(explained: Explanation) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "seen": [sign_dict(sign) for sign in explained.signs],
        "signals": [described(signal) for signal in explained.reading.signals],
        "lines": explained.reading.lines,
        "hypotheses": [
            {
                **dict(zip(("code", "name", "summary"), rule(one.code), strict=True)),
                "signs": [sign.crash.name for sign in one.signs],
                "url": URL.format(code=one.code),
            }
            for one in explained.hypotheses
        ],
        "findings": [one_finding.to_dict(fit.finding) | {"because": list(fit.because)} for fit in explained.fits],
        "commands": dict(commands(explained)),
    }


def sign_dict(sign: Sign) -> dict[str, Any]:
    """One sign, with all that its row says."""
    row = sign.crash
    return {
        "name": row.name,
        "line": sign.line or None,
        "text": sign.text,
        "specificity": row.specificity,
        "means": row.means,
        "do": row.do,
        "source": row.source,
        "rules": list(row.rules),
    }


def rule(code: str) -> tuple[str, str, str]:
    """A rule's code, name and one sentence."""
    from forklint.rules import registry  # noqa: PLC0415 - it imports all rules

    found = registry.find(code)
    return (code, found.name, found.page().summary.replace("\n", " ")) if found else (code, "", "")


def commands(explained: Explanation) -> Mapping[str, str]:
    """What proves the finding that fits best, and what fixes it; ``gather`` where nothing of the project fits."""
    from forklint.verify.experiments.registry import experimenters  # noqa: PLC0415 - only this asks

    made = {}
    provable = next((fit.finding for fit in explained.fits if fit.finding.code in experimenters()), None)
    if provable:
        made["prove"] = _command("forklint verify", provable.path, "--select", provable.code)
    fixable = next((fit.finding for fit in explained.fits if fit.finding.fix), None)
    if fixable and fixable.fix:
        unsafe = fixable.fix.applicability is Applicability.UNSAFE
        flags = ["--fix", "--unsafe-fixes"] if unsafe else ["--fix"]
        made["fix"] = _command("forklint", fixable.path, "--select", fixable.code, *flags)
    return made or {"gather": GATHER}


def _command(program: str, path: str, *words: str) -> str:
    shown = path if path and not path.startswith("-") else f"./{path}"
    return f"{program} {shlex.join([visible(shown), *words])}"


def _seen(signs: Sequence[Sign], source: str, *, by_doctor: bool) -> Iterator[str]:
    """The signs that say most; those that only tell how a process ended are shown where there is nothing better."""
    shown = [sign for sign in signs if sign.crash.weight > 1][:MOST_SIGNS] or signs[:1]
    for number, sign in enumerate(shown):
        if number:
            yield ""
        yield visible(sign.crash.means)
        where = f"{source}:{sign.line}: " if source and sign.line else ""
        if sign.text:
            yield f"{MARGIN}> {visible(where + sign.text)}"
        if not (by_doctor and GATHER in sign.crash.do):
            yield f"{MARGIN}What to do: {sign.crash.do}"
    others = [sign.crash.name for sign in signs if sign not in shown]
    if others:
        yield f"Also seen: {', '.join(others)}."


def _hypotheses(explained: Explanation) -> Iterator[str]:
    if explained.hypotheses:
        yield "Hazards that cause this, most likely first:"
    found = {fit.finding.code for fit in explained.fits}
    shown = [one for number, one in enumerate(explained.hypotheses) if number < MOST_HYPOTHESES or one.code in found]
    rows = [rule(one.code) for one in shown]
    width = max((len(name) for _, name, _ in rows), default=0)
    for code, name, summary in rows:
        yield f"{MARGIN}{code} {name.ljust(width)}  {summary}"


def _fits(explained: Explanation) -> Iterator[str]:
    if not explained.hypotheses:
        return
    if not explained.fits:
        yield "No finding of this project fits."
        return
    yield f"In this project, {count(len(explained.fits), 'finding')} that could be the cause:"
    for fit in explained.fits[:MOST_FITS]:
        yield from _fit(fit)
    more = len(explained.fits) - MOST_FITS
    if more > 0:
        yield f"{MARGIN}and {more} more"


def _fit(fit: Fit) -> Iterator[str]:
    finding = fit.finding
    yield f"{MARGIN}{place(finding)}: {finding.code} {visible(finding.message)}"
    for reason in fit.because:
        yield f"{MARGIN}{MARGIN}({visible(reason)})"


LABELS = {"prove": "Prove it:", "fix": "Fix it:", "gather": "To learn more:"}


def _commands(explained: Explanation, *, by_doctor: bool) -> Iterator[str]:
    made = {name: command for name, command in commands(explained).items() if not (by_doctor and command == GATHER)}
    if explained.signs and made:
        width = max(len(LABELS[name]) for name in made)
        for name, command in made.items():
            yield f"{LABELS[name].ljust(width)} {command}"
