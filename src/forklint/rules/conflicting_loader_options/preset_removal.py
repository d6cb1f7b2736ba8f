"""Takes one entry out of a mapping of settings, or sets it to the value that does no harm."""

from __future__ import annotations

from forklint.edits.preset_text import Change, changed
from forklint.edits.text import edits_between
from forklint.loading.preset_readers import PresetReaders
from forklint.model import Edit
from forklint.project.index import Project
from forklint.rules.conflicting_loader_options.preset_loaders import PresetConflict
from forklint.source.presets import Preset

WORDS = {"None": "null", "False": "false"}
"""Neutral values as YAML and JSON write them; TOML has no word for the first."""


def removed(project: Project, preset: Preset, conflict: PresetConflict) -> tuple[Edit, ...] | None:
    """The edits that make an entry harmless; None if that cannot be had without changing anything else.

    The entry goes, unless code reads it as if it were always there.
    """
    key, neutral = conflict.entry.key, conflict.refusal.neutral
    content = None
    if PresetReaders(project, preset.path).strict(frozenset({key})):
        content = WORDS.get(neutral, neutral)
        if content == "null" and preset.format == "toml":
            return None
    new = changed(preset.text, preset.format, conflict.address, [Change(key, content)])
    return edits_between(preset.text, new) if new is not None else None
