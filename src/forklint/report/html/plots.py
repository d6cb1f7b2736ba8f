"""Plots of what trials did over time, as the numbers that a template draws lines from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from forklint.verify.series import Point, Series

WIDTH, HEIGHT = 290, 175
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 12, 36
"""Room around the lines, for the numbers on the axes."""
MOST_LINES = 5
"""Trials in one plot: more lines cannot be told apart."""
MIB = 2**20


class Kind(NamedTuple):
    """A plot: what of the series it shows, and how."""

    name: str
    """The attribute of Series."""
    title: str
    unit: str
    since: str
    """What the seconds count from."""
    size: int = 1
    """What a value is divided by."""


KINDS = (
    Kind("throughput", "Throughput", "samples/s", "the first sample"),
    Kind("memory", "Memory", "MiB, all processes", "the start", MIB),
    Kind("wrong", "Wrong samples", "read so far", "the first sample"),
)


def plots(key: str, trials: Sequence[tuple[str, Series]]) -> list[dict[str, Any]]:
    """One plot for each kind of series that has at least two points; ``key`` begins the ids of its parts.

    A trial has the same color in all of them: the class ``line-N``, N being its place in ``trials``.
    """
    found = [_plot(f"{key}-{kind.name}", kind, trials) for kind in KINDS]
    return [plot for plot in found if plot["lines"]]


def ticks(highest: float) -> list[float]:
    """Round numbers from 0 up to at least ``highest``, about four of them."""
    if highest <= 0:
        return [0.0, 1.0]
    raw = highest / 3
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw * (1 - 1e-9))
    return [step * number for number in range(math.ceil(highest / step - 1e-9) + 1)]


def _plot(key: str, kind: Kind, trials: Sequence[tuple[str, Series]]) -> dict[str, Any]:
    series: list[tuple[int, str, Sequence[Point]]] = [
        (number, name, [(when, value / kind.size) for when, value in getattr(one, kind.name)])
        for number, (name, one) in enumerate(trials[:MOST_LINES])
    ]
    series = [one for one in series if len(one[2]) > 1]
    across = ticks(max((when for *_, points in series for when, _ in points), default=0.0))
    up = ticks(max((value for *_, points in series for _, value in points), default=0.0))
    return {
        "id": key,
        "title": kind.title,
        "unit": kind.unit,
        "since": kind.since,
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "bottom": HEIGHT - BOTTOM,
        "across": [{"at": _x(one, across[-1]), "label": _number(one)} for one in across],
        "up": [{"at": _y(one, up[-1]), "label": _number(one)} for one in up],
        "lines": [{"number": number, "points": _points(points, across[-1], up[-1])} for number, _, points in series],
        "description": _described(series, kind.unit),
    }


def _described(series: Iterable[tuple[int, str, Sequence[Point]]], unit: str) -> str:
    """What a reader who does not see the plot should know of it."""
    parts = []
    for _, name, points in series:
        values = [value for _, value in points]
        parts.append(
            f"{name}: from {_number(values[0])} to {_number(values[-1])}, at most {_number(max(values))}, "
            f"over {_number(points[-1][0])} seconds"
        )
    return f"{unit}. {'; '.join(parts)}."


def _points(points: Sequence[Point], widest: float, highest: float) -> str:
    return " ".join(f"{_x(when, widest)},{_y(value, highest)}" for when, value in points)


def _x(when: float, widest: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * when / widest, 1)


def _y(value: float, highest: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / highest, 1)


def _number(value: float) -> str:
    if value >= 10_000:
        return f"{value / 1000:g}k" if value % 100 == 0 else f"{value / 1000:.1f}k"
    return f"{value:.0f}" if value >= 20 else f"{value:.3g}"
