"""How the effect of a variable that sizes no thread pool is seen: set from the start, set late, and not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from forklint.knowledge.environment import Environment, Reader, Variable
from forklint.verify.doctor import Environment as Machine
from forklint.verify.experiments.base import inconclusive
from forklint.verify.words import Judgement, Observation, Verdict

SHOWN = ("unset", "early", "late")
STARTED = "started:"
SYSTEMS = {"linux": "Linux", "darwin": "macOS", "windows": "Windows"}
WITH_CUDA = ("cuda_init", "cuda_alloc")
DISPLAY = {"OMP_DISPLAY_ENV": "TRUE"}
"""Makes libgomp print what it has parsed."""


def row_of(name: str, literal: str | None, readers: Sequence[str], tables: Environment) -> Variable | None:
    """The row that speaks of a variable and of the readers that have read it."""
    rows = tables.rows(name, literal)
    return next((row for row in rows if {one.what for one in row.readers} & set(readers)), next(iter(rows), None))


def unsupported(row: Variable, machine: Machine, read_by: Sequence[str] = ()) -> Judgement | None:
    """The judgement for a variable whose readers are not on this machine, or cannot be seen there; with what it takes.

    ``read_by`` are the readers that the finding names; all of the row's if it names none.
    """
    here = machine.system or ""
    readers = [one for one in row.readers if here in one.platforms]
    if not readers:
        systems = " or ".join(SYSTEMS[name] for name in dict.fromkeys(p for one in row.readers for p in one.platforms))
        needs = tuple(dict.fromkeys(p for one in row.readers for p in one.platforms))
        return Judgement(
            Verdict.UNSUPPORTED, f"needs {systems}: {row.readers[0].what} reads the variable only there", needs=needs
        )
    if not machine.has_cuda and all(_wants_cuda(one, row) for one in readers):
        return Judgement(Verdict.UNSUPPORTED, "needs a CUDA device and a torch with CUDA", needs=("cuda",))
    asked = [one.what for one in readers if one.what in read_by] or [one.what for one in readers]
    if row.needs and not {what for what, _ in row.probes}.intersection(asked):
        return Judgement(Verdict.UNSUPPORTED, f"needs {row.needs}")
    return None


def _wants_cuda(reader: Reader, row: Variable) -> bool:
    return reader.calls in WITH_CUDA or any("cuda" in probe for what, probe in row.probes if what == reader.what)


def probes_of(name: str, row: Variable, machine: Machine) -> dict[str, str]:
    """How the effect on each reader of this machine is seen."""
    here = {one.what for one in row.readers if (machine.system or "") in one.platforms}
    return {what: probe.replace("{name}", name) for what, probe in row.probes if what in here}


def shown_in(seen: Observation, probes: Mapping[str, str]) -> dict[str, str]:
    """By reader, what one trial showed; empty for a reader that is not there."""
    found = {}
    for record in seen.of("probed"):
        probe = probes.get(record["reader"], "")
        if probe.startswith("displays:"):
            printed = re.search(rf"\b{probe.partition(':')[2]} = '([^']*)'", seen.output)
            found[record["reader"]] = printed[1] if printed else ""
        else:
            found[record["reader"]] = record["shown"]
    return found


def judged(name: str, probes: Mapping[str, str], shown: Mapping[str, Mapping[str, str]]) -> Judgement:
    """Confirmed where a reader follows the variable when it is set early, and is as without it when it is set late."""
    table = {reader: row for reader, probe in probes.items() if (row := _row(reader, probe, shown))}
    details = {"readers": table}
    words = "; ".join(f"{reader}: {row['verdict']}, {row['evidence']}" for reader, row in sorted(table.items()))
    for verdict in (Verdict.CONFIRMED, Verdict.NOT_REPRODUCED, Verdict.REFUTED):
        if any(row["verdict"] == verdict.value for row in table.values()):
            return Judgement(verdict, words, details=details)
    return inconclusive(f"nothing in this program is affected by {name}", "run it where its reader is installed")


def _row(reader: str, probe: str, shown: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """What one reader shows; empty if it does not follow the variable at all."""
    unset, early, late = (shown[when].get(reader, "") for when in SHOWN)
    if not early or early == unset:
        return {}
    if probe.startswith(STARTED):
        began = late == early
        told = (
            "it was set when the process started"
            if began
            else "it was not set when the process started, and its effect cannot be observed"
        )
        return {"verdict": "refuted" if began else "not reproduced", "evidence": told}
    if late == early:
        return {"verdict": "refuted", "evidence": f"{_cut(late)} although it was set late"}
    if late == unset:
        return {"verdict": "confirmed", "evidence": f"{_cut(late)}, as without it, instead of {_cut(early)}"}
    return {}


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
