"""Typed reader of presets.toml: how a program says "workers" and how it says "Mac"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from forklint import knowledge

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+")


@cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = knowledge.table("presets.toml")
    return table


@cache
def words(name: str) -> tuple[str, ...]:
    """Take a name apart: ``MAC_NUM_WORKERS`` and ``MacNumWorkers`` give mac, num, workers.

    ``MAC`` inside a camel-case name keeps its capitals, so that ``MACConfig`` (a network's name) is not
    taken for ``MacConfig``.
    """
    found: list[str] = []
    for part in re.split(r"[^A-Za-z0-9]+", re.sub(r"[mM]acOS", "Macos", name)):
        pieces = _WORDS.findall(part)
        found += [piece if piece == "MAC" and len(pieces) > 1 else piece.lower() for piece in pieces]
    return tuple(found)


@cache
def listed(section: str, key: str) -> frozenset[str]:
    """Give one list of the table."""
    return frozenset(_table()[section][key])


@cache
def foreign_roots() -> tuple[frozenset[str], ...]:
    """Sets of keys at the root of a file that is no settings of a program."""
    return tuple(frozenset(keys) for keys in _table()["files"]["foreign_roots"])


@cache
def options() -> Mapping[str, str]:
    """Loader options that raise without workers, each with the source text of the value that does not."""
    return {row["name"]: row["neutral"] for row in _table()["option"]}


@cache
def questions() -> Mapping[str, frozenset[str]]:
    """Qualified names of calls that ask about the machine, each with what answers yes (mps, cuda)."""
    return {name: frozenset(row["yes"]) for row in _table()["question"] for name in row["call"]}


def _run(parts: tuple[str, ...], kind: str) -> tuple[str, ...] | None:
    """Find the first listed run of words in a name; give the words that are left."""
    for run in sorted(listed("counts", kind), key=len, reverse=True):
        wanted = tuple(run.split())
        for start in range(len(parts) - len(wanted) + 1):
            if parts[start : start + len(wanted)] == wanted:
                return parts[:start] + parts[start + len(wanted) :]
    return None


@cache
def count_kind(name: str) -> str:
    """Say whether a name means a worker count: ``certain``, ``likely`` or empty."""
    if name.lower() in listed("loaders", "other_keywords"):
        return ""
    parts = words(name)
    allowed = (
        listed("counts", "beside")
        | listed("settings", "words")
        | listed("darwin", "words")
        | listed("darwin", "weak")
        | listed("darwin", "models")
        | listed("others", "cuda")
        | listed("others", "linux")
        | listed("others", "windows")
    )
    for kind in ("certain", "likely"):
        rest = _run(parts, kind)
        if rest is not None:
            return kind if all(word in allowed for word in rest) else ""
    return ""


@cache
def machine_of(name: str) -> str:
    """Say for which machine a name is: ``darwin``, ``mps``, ``cuda``, ``linux``, ``windows`` or empty.

    Empty for a name that is for several, for one that is negated, and for one with words that have
    nothing to do with settings: silence is cheaper than a wrong guess.
    """
    parts = words(name)
    rest = set(parts) - listed("settings", "words") - listed("darwin", "models") - listed("counts", "beside")
    machines = set()
    for word in rest:
        if word == "mps":
            machines.add("mps")
        elif word in listed("darwin", "words") or word in listed("darwin", "weak"):
            machines.add("darwin")
        else:
            machines.update(system for system in ("linux", "windows", "cuda") if word in listed("others", system))
            if not any(word in listed("others", system) for system in ("linux", "windows", "cuda")):
                return ""
    if machines == {"mps", "darwin"}:
        return "mps"
    return machines.pop() if len(machines) == 1 else ""


@cache
def machine_hinted(name: str) -> str:
    """Say for which Mac a file may be by its name: ``darwin``, ``mps`` or empty.

    The word for it stands first or last, unknown words beside it (``mps_quick``), those of settings not counted. That
    is a hint, and wants other evidence.
    """
    parts = words(name)
    against = listed("darwin", "denying").union(*(listed("others", key) for key in ("linux", "windows", "cuda", "any")))
    if not against.isdisjoint(parts):
        return ""
    aside = listed("settings", "words") | listed("counts", "beside") | listed("darwin", "models")
    rest = [word for word in parts if word not in aside]
    macs = listed("darwin", "words")
    if not listed("darwin", "models").isdisjoint(parts):  # apple_silicon, but not apple_picking
        macs |= listed("darwin", "weak")
    if not rest or macs.isdisjoint({rest[0], rest[-1]}):
        return ""
    return "mps" if "mps" in rest else "darwin"


@cache
def gpus_named(name: str) -> str:
    """Say how a name is for GPUs by number: ``count`` for ``n_gpu``, ``list`` for ``gpu_ids``, ``one`` for ``gpu``."""
    parts = set(words(name))
    kinds = {kind: listed("gpus", kind) for kind in ("count", "list", "one")}
    if parts.isdisjoint(listed("gpus", "words")) or not parts <= listed("gpus", "words").union(*kinds.values()):
        return ""
    return next((kind for kind, own in kinds.items() if not parts.isdisjoint(own)), "one")


@cache
def flag_of(name: str) -> str:
    """Say which machine a condition with this name asks for: ``is_mac`` gives ``darwin``; empty if none."""
    parts = words(name)
    rest = [word for word in parts if word not in listed("darwin", "flags")]
    if not rest or (len(parts) == 1 and rest[0] in listed("darwin", "shy")):
        return ""
    return machine_of("_".join(rest))
