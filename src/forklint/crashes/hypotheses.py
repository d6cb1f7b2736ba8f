"""Which hazards would make what was seen, and which findings of a project are such hazards."""

from __future__ import annotations

import ntpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from forklint.crashes.reading import Place, Reading, Sign
from forklint.knowledge.crashes import SPECIFICITIES
from forklint.model import Finding, Severity

WEIGHT, RANK = 100, 8
"""What a row counts by how much it says, and what each place in its list of rules takes off; more signs break ties."""
ON_THE_WAY, ABOUT, ELSEWHERE, QUIET = 150, 80, -120, -40
"""What a finding counts more or less: the traceback goes through its file, it names the library that the message comes
from, it affects other systems than the one that crashed, it is of severity info."""


@dataclass(frozen=True)
class Hypothesis:
    """A rule whose hazard would make what was seen."""

    code: str
    score: int
    signs: tuple[Sign, ...]
    """What speaks for it, the most telling first."""

    @property
    def weight(self) -> int:
        """How much the most telling sign says."""
        return self.signs[0].crash.weight


@dataclass(frozen=True)
class Fit:
    """A finding of the project that would make what was seen."""

    finding: Finding
    score: int
    because: tuple[str, ...] = ()
    """Why it fits better than another of its rule."""


@dataclass(frozen=True)
class Explanation:
    """What was seen, what would make it, and what of that the project has."""

    reading: Reading
    hypotheses: tuple[Hypothesis, ...]
    fits: tuple[Fit, ...] = ()

    @cached_property
    def signs(self) -> tuple[Sign, ...]:
        """What was seen, the most telling first."""
        return tuple(sorted(self.reading.signs, key=lambda sign: (-sign.crash.weight, sign.line)))


def hypotheses(signs: Iterable[Sign]) -> tuple[Hypothesis, ...]:
    """The hazards that would make what was seen, in the order of how well they fit.

    Where a message names its cause, rules that only some ending speaks for are left out.
    """
    signs = list(signs)
    found: dict[str, list[tuple[int, Sign]]] = {}
    for sign in signs:
        for rank, code in enumerate(sign.crash.rules):
            found.setdefault(code, []).append((sign.crash.weight * WEIGHT - rank * RANK, sign))
    made = []
    for code, parts in found.items():
        parts.sort(key=lambda part: -part[0])
        score = parts[0][0] + min(RANK - 1, 3 * len(parts[1:]))
        made.append(Hypothesis(code, score, tuple(sign for _, sign in parts)))
    made.sort(key=lambda one: (-one.score, one.code))
    most = max((one.weight for one in made), default=0)
    return tuple(one for one in made if one.weight > 1 or most < len(SPECIFICITIES))


def explain(reading: Reading, findings: Sequence[Finding] = ()) -> Explanation:
    """Put together what was seen and what the project has."""
    made = hypotheses(reading.signs)
    by_code = {one.code: one for one in made}
    fits = [_fit(finding, by_code[finding.code], reading) for finding in findings if finding.code in by_code]
    return Explanation(reading, made, tuple(sorted(fits, key=lambda fit: (-fit.score, fit.finding.sort_key))))


def _fit(finding: Finding, hypothesis: Hypothesis, reading: Reading) -> Fit:
    score, because = hypothesis.score, []
    if any(_is_in(place, finding) for place in reading.places):
        score += ON_THE_WAY
        because.append("the traceback goes through this file")
    words = f"{finding.text} {finding.message} {finding.subject}".lower()
    named = [word for sign in hypothesis.signs for word in sign.crash.about if word.lower() in words]
    if named:
        score += ABOUT
        because.append(f"the message is about {named[0]}, and so is this line")
    systems = {sign.crash.system for sign in reading.signs} - {""}
    if systems and finding.cells and not systems & {cell.platform for cell in finding.cells}:
        score += ELSEWHERE
    if finding.severity is Severity.INFO:
        score += QUIET
    return Fit(finding, score, tuple(because))


def _is_in(place: Place, finding: Finding) -> bool:
    """Whether a place lies in the finding's file, which may have had another folder where it crashed."""
    named = ntpath.normpath(place.file).replace("\\", "/")
    for path in (finding.project_path, finding.path.replace("\\", "/")):
        if path and (named == path or named.endswith(f"/{path}") or path.endswith(f"/{named}")):
            return True
    return False
