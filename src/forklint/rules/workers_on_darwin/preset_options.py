"""What makes a preset load in the main process: a count of 0, without the options that then raise."""

from __future__ import annotations

from collections.abc import Iterator

from forklint.edits.preset_text import Change, changed
from forklint.edits.text import edits_between
from forklint.loading.preset_readers import PresetReaders
from forklint.model import Applicability, Fix
from forklint.project.index import Project
from forklint.rules.workers_on_darwin.preset_files import PresetCount, is_literal, last_part, options_in_other_files
from forklint.source.presets import Preset

FORK = {
    "yaml": "multiprocessing_context: fork",
    "toml": 'multiprocessing_context = "fork"',
    "json": '"multiprocessing_context": "fork"',
}


def without_workers(preset: Preset, count: PresetCount, read_strictly: frozenset[str]) -> str | None:
    """The text of a preset with one count of 0; None if that cannot be had without changing anything else.

    Options beside the count go; those that code reads as if they were always there (``read_strictly``), and those
    that other mappings share, are set to the value that does not raise.
    """
    changes = []
    for entry, neutral in reversed(count.options()):  # what is put in comes right below the merge key, the last first
        is_own = any(entry is own for own in count.home.entries)
        keeps = not is_own or last_part(entry.key) in read_strictly
        content = _written(neutral, preset.format) if keeps else None
        if not is_own and content is None:
            return None
        changes.append(Change(entry.key, content))
    changes.append(Change(count.entry.key, "0" if count.through else _zero(preset, count)))
    return changed(preset.text, preset.format, count.address, changes)


def _zero(preset: Preset, count: PresetCount) -> str:
    """A count of 0 in the quotes that the old one has."""
    first = preset.text[count.entry.value.start]
    return f"{first}0{first}" if first in {'"', "'"} else "0"


def _written(neutral: str, language: str) -> str | None:
    """A neutral value in a language's own words; None if it has none."""
    if neutral == "None":
        return None if language == "toml" else "null"
    return neutral.lower()


def fixes(project: Project, preset: Preset, count: PresetCount) -> Iterator[Fix]:
    """Give the ways to mend a count: in the main process, and, to be shown, with fork."""
    readers = PresetReaders(project, preset.path)
    options = [entry for entry, _ in count.options()]
    new = None
    if not count.shared:
        new = without_workers(preset, count, readers.strict(frozenset(last_part(entry.key) for entry in options)))
    if new is not None:
        names = ", ".join(entry.key for entry in options)
        message = "load in the main process" + (f" and remove {names}" if names else "")
        certain = all(map(is_literal, (entry.value for entry in options))) and not count.has_options_elsewhere(preset)
        safe = certain and not readers.sets_options() and not options_in_other_files(project, preset)
        applicability = Applicability.SAFE if safe else Applicability.UNSAFE
        yield Fix(message, applicability, edits_between(preset.text, new))
    elif count.shared:
        yield Fix("set a separate count of 0 for macOS: other platforms share this one", Applicability.DISPLAY)
    yield Fix(f"keep the workers and start them with `{FORK[preset.format]}`", Applicability.DISPLAY)
