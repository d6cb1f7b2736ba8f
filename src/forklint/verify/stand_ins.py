"""What a stand-in shows where there is no data: the mechanism at most, and never harm."""

from __future__ import annotations

from pathlib import PurePath

from forklint.knowledge import table
from forklint.verify.unreached import first_line
from forklint.verify.words import Judgement, Observation, Verdict

COMMAND = ("-m", "forklint_harness.tasks.stand_in")
WORKERS = 2
NO_HANDLE = {"closed": "is closed", "none": "is None", "absent": "is not kept"}


def missing_data() -> dict[str, list[str]]:
    """What reads data that may not be there, and what checks for it: qualified names."""
    return dict(table("readers.toml"))


def judgement_of(seen: Observation, why: Judgement) -> Judgement:
    """The judgement that says why nothing real could be run, with what the stand-in showed; never more than that."""
    return Judgement(Verdict.INCONCLUSIVE, f"{why.evidence}; {_shown(seen)}", why.advice)


def _shown(seen: Observation) -> str:
    told = seen.of("cannot-build")
    if told or not seen.of("done"):
        reason = f": {told[0]['type']}: {first_line(told[0]['text'])}" if told else ""
        return f"nor could it be built with stand-ins for its data{reason}"
    held = seen.of("handle-held")
    opened = [record for record in held if record["state"] == "open"]
    if not opened:
        states = {NO_HANDLE.get(record["state"], "holds no handle") for record in held} or {"is not kept"}
        return f"with stand-ins for its data the handle {' or '.join(sorted(states))} when workers start"
    place = opened[0]["opened_at"]
    where = f" at {PurePath(place).name}" if place else ""
    users = {record["user"] for record in seen.of("handle-used") if record["opener"] == opened[0]["opener"]}
    witness = f"a stand-in for the handle is opened in process {opened[0]['opener']}{where}"
    if not users:
        return f"{witness}, and no worker was seen to use it"
    return f"{witness} and used under fork in {len(users)} workers that did not open it: the mechanism, without harm"
