"""Why a file would be linted again, in words."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from forklint.incremental.session import Session
from forklint.project.questions import Fact
from forklint.source.paths import from_root, shown
from forklint.summaries import parts

TERMS = {
    "word": "the word `{}` has come or gone",
    "class": "a class `{}` has come or gone",
    "base": "a class derived from `{}` has come or gone",
    "call": "calls of `{}` have come or gone",
    "renamed": "another name for `{}` has come or gone",
    "imported": "imports that name `{}` have come or gone",
    "bound": "`{}` is defined at the top level of another file than before",
}
FILES = {
    "text": "the text of {} changed",
    "tree": "the code of {} changed",
    "summary": "what {} defines, calls or stores changed",
    "imports": "the imports of {} changed",
    "path roots": "what {} adds to sys.path changed",
    "size": "the size of {} changed",
    "file": "{} has come or gone",
    "folder": "{} has come or gone",
}
PARTS = {
    parts.NAMED.name: "what `{1}` is in {0} changed",
    parts.CODE: "the code of `{1}` in {0} changed",
    parts.DEFINITION.name: "what `{1}` in {0} calls, reads or stores changed",
    parts.HEAD.name: "what `{1}` in {0} is changed",
    parts.METHODS.name: "`{1}` in {0} has other methods",
    parts.BASES.name: "the classes of {0} or their bases changed",
    parts.DECORATORS.name: "a decorator at the top level of {0} changed",
    parts.READS.name: "{0} reads `{1}` now, or no longer",
    parts.EXPORTS.name: "the names in __all__ of {0} changed",
    parts.TOP.name: "what {0} does when it is imported changed",
    parts.ORDER: "definitions of {0} changed places, or it could not be parsed",
}
"""Parts of summaries."""
PROJECT = {
    "files": "a Python file has come or gone",
    "presets": "a settings file has come or gone",
    "left out": "other files are excluded than before",
    "everything": "too much changed at once, or too long ago, to say what",
}


def reasons(session: Session | None, path: Path) -> list[str]:
    """Why a file would be linted again, most telling first; nothing if its stored report holds."""
    if session is None:
        return ["nothing is stored for this project"]
    absolute = str(from_root(path))
    changed = session.why(absolute)
    if changed is None:
        return ["no report of it is stored, for these options and settings"]
    if ("text", absolute) in changed:
        return ["its own text changed"]
    return sorted({_in_words(fact) for fact in changed})


def told(path: Path, why: Iterable[str]) -> str:
    """The reasons as lines to print."""
    listed = list(why)
    if not listed:
        return f"{shown(path)}: its stored report holds; it would not be linted again\n"
    return "".join([f"{shown(path)} would be linted again:\n", *(f"- {one}\n" for one in listed)])


def _in_words(fact: Fact) -> str:
    kind, *details = fact
    if kind == "holds":
        return TERMS.get(details[0], "a name `{}` has come or gone").format(details[1])
    if kind in FILES:
        return FILES[kind].format(shown(Path(details[0])))
    if kind in PARTS:
        return PARTS[kind].format(shown(Path(details[0])), *details[1:])
    if kind == "entry":
        return f"{details[1]} has come or gone in {shown(Path(details[0]))}{os.sep}"
    if kind == "contains":
        return f"the text {details[0]!r} has come or gone in a file"
    if kind == "matches":
        return f"a text that a rule looks for has come or gone in {shown(Path(details[0]))}"
    return PROJECT.get(kind, kind)
