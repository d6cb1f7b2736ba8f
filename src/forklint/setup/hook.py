"""The commit hook: an entry in .pre-commit-config.yaml, in the style of those that are there.

The text is changed as text, so that all else stays byte for byte; where to change it, and whether that went well, is
read from the events of a YAML parser, which neither expand anchors nor build what tags ask for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from forklint import __version__
from forklint.config import ConfigError
from forklint.setup.proposal import Project, Proposal, line_end, read
from forklint.setup.yaml_events import Events, end_of, is_event, parse, signature

REPOSITORY = "https://github.com/forklint/forklint"
"""Where the hooks are published."""
NAME = ".pre-commit-config.yaml"
HOOKS = ("forklint", "forklint-fix")
ALTERNATIVE = "  # or forklint-fix, to apply safe fixes"


@dataclass(frozen=True)
class Style:
    """How entries are laid out: four columns."""

    dash: int = 2
    repo: int = 4
    hook_dash: int = 6
    hook: int = 8

    def entry(self) -> str:
        """The entry of forklint."""
        return (
            f"{' ' * self.dash}-{' ' * (self.repo - self.dash - 1)}repo: {REPOSITORY}\n"
            f"{' ' * self.repo}rev: v{__version__}\n"
            f"{' ' * self.repo}hooks:\n"
            f"{' ' * self.hook_dash}-{' ' * (self.hook - self.hook_dash - 1)}id: {HOOKS[0]}{ALTERNATIVE}\n"
        )


def propose(project: Project) -> Proposal | None:
    """Propose the hook; None without a git repository; raises ConfigError if the file cannot be read."""
    if project.repository is None:
        return None
    path = project.repository / NAME
    there = read(path)
    if there is None:
        return Proposal(path, after=f"repos:\n{Style().entry()}".encode())
    before, text = there
    try:
        events = parse(text)
    except ValueError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}; fix it, or pass --no-hook") from None
    if _has_hook(events):
        return Proposal(path, before, note="already has a forklint hook; not changed")
    if not any(is_event(event, "Scalar", "MappingStart", "SequenceStart", "Alias") for event in events):
        end = line_end(text)
        gap = "" if not text or text.endswith("\n") else end
        return Proposal(path, before, (text + gap + f"repos:\n{Style().entry()}".replace("\n", end)).encode())
    bounds = _repos(events)
    if bounds is None:
        raise ConfigError(
            f"{path}: `repos` is missing or not a list, so pre-commit rejects it; fix it, or pass --no-hook"
        )
    after = _with_entry(text, events, *bounds)
    if after is None or not _adds_an_entry(after, events, bounds[1]):
        return Proposal(path, before, by_hand=Style().entry())
    return Proposal(path, before, after.encode())


def _has_hook(events: Events) -> bool:
    pairs = [(getattr(one, "value", None), getattr(two, "value", None)) for one, two in pairwise(events)]
    return any(
        (key == "id" and value in HOOKS) or (key == "repo" and str(value).removesuffix(".git").endswith("/forklint"))
        for key, value in pairs
    )


def _repos(events: Events) -> tuple[int, int] | None:
    """Where the list ``repos`` of the only document begins and ends, as numbers of events."""
    if sum(is_event(event, "DocumentStart") for event in events) != 1:
        return None
    index = next((i for i, event in enumerate(events) if is_event(event, "MappingStart", "SequenceStart", "Scalar")), 0)
    if not is_event(events[index], "MappingStart"):
        return None
    index += 1
    while not is_event(events[index], "MappingEnd"):
        value = index + 1 if is_event(events[index], "Scalar", "Alias") else end_of(events, index) + 1
        end = end_of(events, value)
        if getattr(events[index], "value", None) == "repos" and is_event(events[value], "SequenceStart"):
            return value, end
        index = end + 1
    return None


def _with_entry(text: str, events: Events, start: int, end: int) -> str | None:
    """The text with an entry more; None where the list is written in a way that none can be added to."""
    opening = events[start]
    newline = line_end(text)
    lines = text.splitlines(keepends=True)
    if opening.flow_style:
        row, rest = opening.end_mark.line, ""
        if end != start + 1:
            return None
        closing = events[end].end_mark
        rest = lines[row][closing.column :]
        lines[row] = lines[row][: opening.start_mark.column].rstrip() + (rest if rest.strip() else newline)
        return _insert(lines, row + 1, Style().entry().replace("\n", newline), newline)
    items = []
    index = start + 1
    while index < end:
        items.append(index)
        index = end_of(events, index) + 1
    last = events[items[-1]]
    if not is_event(last, "MappingStart") or last.flow_style:
        return None
    row = _last_row(events, items[-1], end, lines, opening.start_mark.column)
    style = _style(events, items[-1], end, opening.start_mark.column, last.start_mark.column)
    apart = len(items) > 1 and not lines[last.start_mark.line - 1].strip()
    entry = (("\n" if apart else "") + style.entry()).replace("\n", newline)
    return _insert(lines, row + 1, entry, newline)


def _insert(lines: list[str], row: int, entry: str, newline: str) -> str:
    before = "".join(lines[:row])
    return before + ("" if before.endswith("\n") else newline) + entry + "".join(lines[row:])


def _last_row(events: Events, item: int, end: int, lines: list[str], dash: int) -> int:
    """The last line of an entry, with the comments that are indented more than its dash."""
    leaf = next(
        event for event in reversed(events[item:end]) if is_event(event, "Scalar", "Alias") or _ends_flow(event)
    )
    mark = leaf.end_mark
    row: int = mark.line - (mark.column == 0)  # a block scalar ends where the next line begins
    for number in range(row + 1, len(lines)):
        line = lines[number]
        if line.lstrip().startswith("#") and len(line) - len(line.lstrip()) > dash:
            row = number
        elif line.strip():
            break
    return row


def _ends_flow(event: Any) -> bool:
    """Whether an event is a bracket: only such ends have a place of their own."""
    return is_event(event, "MappingEnd", "SequenceEnd") and bool(event.end_mark.index > event.start_mark.index)


def _style(events: Events, item: int, end: int, dash: int, repo: int) -> Style:
    """The style of an entry, as far as it shows one."""
    hook_dash, hook = repo + 2, repo + 2 + (repo - dash)
    for index in range(item, end - 2):
        key, value, first = events[index : index + 3]
        if getattr(key, "value", None) == "hooks" and is_event(value, "SequenceStart") and not value.flow_style:
            hook_dash = value.start_mark.column
            hook = first.start_mark.column if not is_event(first, "Alias") else hook_dash + 2
    return Style(dash, repo, hook_dash, hook)


def _adds_an_entry(text: str, before: Events, place: int) -> bool:
    """Whether a text has the same content as before, with one more entry at the end of ``repos``."""
    try:
        after = signature(parse(text))
    except ValueError:
        return False
    entry = signature(parse(Style(0, 2, 4, 6).entry()))[3:-3]
    old = signature(before)
    return after == [*old[:place], *entry, *old[place:]]
