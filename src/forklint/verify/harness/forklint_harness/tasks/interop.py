"""For FKL102: whether the number of inter-op threads can be set where the program sets it."""

from __future__ import annotations

from typing import Any, Dict

from forklint_harness import ending, journal
from forklint_harness.frames import caller
from forklint_harness.imports import after_import
from forklint_harness.tasks.forked import start_by

NAME = "set_num_interop_threads"


def install(order: Dict[str, Any]) -> None:
    """Set the number when torch has been imported, or wait for the program to set it; note what torch says."""
    spec = order["spec"]
    places = {"{}:{}".format(spec["file"], row) for row in range(spec["rows"][0], spec["rows"][1] + 1)}
    start_by(order["factors"].get("start_method"))
    ending.watch(order["journal"])

    def early(torch: Any) -> None:
        _try(order, getattr(torch, NAME), "when torch has been imported", 1)
        ending.end(order["journal"])

    def late(torch: Any) -> None:
        plain = getattr(torch, NAME)

        def set_num_interop_threads(*args: Any, **kwargs: Any) -> Any:
            place = caller()
            return _try(order, plain, place, *args, **kwargs) if place in places else plain(*args, **kwargs)

        setattr(torch, NAME, set_num_interop_threads)

    if order["factors"]["environment"] == "late" or journal.is_main():
        after_import("torch", early if order["factors"]["environment"] == "early" else late)


def _try(order: Dict[str, Any], plain: Any, place: str, *args: Any, **kwargs: Any) -> Any:
    """Call torch's function; the first error is all that the trial is to show."""
    try:
        result = plain(*args, **kwargs)
    except RuntimeError as error:
        journal.record("set", error=" ".join(str(error).split()), place=place)
        ending.end(order["journal"])
        raise
    journal.record("set", error="", place=place)
    return result
