"""Why a file would be linted again, in words."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from forklint.incremental.session import Session
from forklint.project.answers import Fact
from forklint.project.top_level import BINDING, FLOW, MODULE, RUNS, SCREENED, SILENCING, STARS, TREE, USES
from forklint.source.paths import from_root, shown
from forklint.summaries import parts

TERMS = {
    "word": "the word `{}` was added or removed",
    "class": "a class `{}` was added or removed",
    "base": "a subclass of `{}` was added or removed",
    "call": "calls of `{}` were added or removed",
    "renamed": "an alias of `{}` was added or removed",
    "imported": "imports of `{}` were added or removed",
    "bound": "`{}` moved to the top level of another file",
}
FILES = {
    "text": "the text of {} changed",
    TREE: "the code of {} changed",
    SILENCING: "{} has comments that may silence findings, and changed",
    SCREENED: "a text that a rule looks for was added or removed in {}",
    MODULE: "{} can be parsed now, or no longer",
    STARS: "the star imports of {} changed",
    FLOW: "what may end {} when it is imported changed",
    RUNS: "what {} does when it is imported changed",
    "summary": "what {} defines, calls or stores changed",
    "imports": "the imports of {} changed",
    "path roots": "what {} adds to sys.path changed",
    "size": "the size of {} changed",
    "file": "{} was added or removed",
    "folder": "{} was added or removed",
    "beside": "a file of the name {}, or a sample of it, was added or removed",
}
PARTS = {
    BINDING: "the definition of `{1}` in {0} changed",
    USES: "code of {0} that uses `{1}` changed",
    parts.NAMED.name: "what `{1}` is in {0} changed",
    parts.CODE: "the code of `{1}` in {0} changed",
    parts.DEFINITION.name: "what `{1}` in {0} calls, reads or stores changed",
    parts.HEAD.name: "the kind of `{1}` in {0} changed, or whether it returns a value",
    parts.METHODS.name: "the methods of `{1}` in {0} changed",
    parts.BASES.name: "the classes of {0} or their bases changed",
    parts.DECORATORS.name: "a decorator at the top level of {0} changed",
    parts.READS.name: "{0} started or stopped using `{1}`",
    parts.CALLS.name: "{0} started or stopped calling `{1}`",
    parts.ALL_CALLS.name: "what {0} calls changed",
    parts.BOUND.name: "what {0} does with the name `{1}` changed",
    parts.STORED.name: "where {0} stores an attribute `{1}`, or names it in a text, changed",
    parts.EXPORTS.name: "the names in __all__ of {0} changed",
    parts.TOP.name: "what {0} does when it is imported changed",
    parts.ORDER: "the order of definitions in {0} changed, or it could not be parsed",
}
"""Parts of summaries."""
PROJECT = {
    "files": "a Python file was added or removed",
    "presets": "a settings file was added or removed",
    "left out": "the excluded files changed",
    "everything": "too many changes, or too long ago, to list them",
}


def reasons(session: Session | None, path: Path) -> list[str]:
    """Why a file would be linted again, most telling first; nothing if its stored report holds."""
    if session is None:
        return ["there is no cache for this project"]
    absolute = str(from_root(path))
    changed = session.why(absolute)
    if changed is None:
        return ["there is no cached result for these options and settings"]
    if not changed.isdisjoint({("text", absolute), (TREE, absolute)}):
        return ["the file itself changed"]
    return sorted({_in_words(fact) for fact in changed})


def told(path: Path, why: Iterable[str]) -> str:
    """The reasons as lines to print."""
    listed = list(why)
    if not listed:
        return f"{shown(path)}: the cached result is up to date\n"
    return "".join([f"{shown(path)} would be linted again:\n", *(f"- {one}\n" for one in listed)])


def _in_words(fact: Fact) -> str:
    kind, *details = fact
    if kind == "holds":
        return TERMS.get(details[0], "a name `{}` was added or removed").format(details[1])
    if kind in FILES:
        return FILES[kind].format(shown(Path(details[0])))
    if kind in PARTS:
        return PARTS[kind].format(shown(Path(details[0])), *details[1:])
    if kind == "entry":
        return f"{details[1]} was added or removed in {shown(Path(details[0]))}{os.sep}"
    if kind == "contains":
        return f"the text {details[0]!r} was added to or removed from a file"
    if kind == "matches":
        return f"a text that a rule looks for was added or removed in {shown(Path(details[0]))}"
    return PROJECT.get(kind, kind)
