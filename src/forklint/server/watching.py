"""What changes on the disk: which files the client is asked to watch, and what to do when one of them changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types

from forklint.server.texts import path_of
from forklint.source.discovery import IGNORE_FILES, NEVER
from forklint.source.kinds import SUFFIXES
from forklint.source.roots import FILES

SETTINGS = frozenset((*FILES, *IGNORE_FILES))
REGISTRATION = types.Registration(
    "forklint-watched-files",
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
    types.DidChangeWatchedFilesRegistrationOptions(
        [
            types.FileSystemWatcher("**/*.{" + ",".join(suffix[1:] for suffix in SUFFIXES) + "}"),
            types.FileSystemWatcher("**/{" + ",".join(IGNORE_FILES) + "}"),
        ]
    ),
)
MANY = 30
"""So many changed files are taken in one by one; with more, projects are read anew."""


@dataclass
class Changes:
    """What has changed on the disk since it was last looked at."""

    files: set[Path] = field(default_factory=set)
    """Files that changed or came."""
    closed: set[Path] = field(default_factory=set)
    """Files that are no longer open: they are as they are on the disk."""
    is_listed_anew: bool = False
    """Whether files came or went."""
    is_set_anew: bool = False
    """Whether settings changed, or more than can be taken in one by one."""

    def add(self, events: Iterable[types.FileEvent]) -> None:
        """Take in what a client saw."""
        for event in events:
            path = path_of(event.uri)
            if path is None or not NEVER.isdisjoint(path.parts[:-1]):
                continue
            self.is_set_anew |= path.name in SETTINGS
            self.is_listed_anew |= event.type != types.FileChangeType.Changed
            if path.suffix.lower() in SUFFIXES and event.type != types.FileChangeType.Deleted:
                self.files.add(path)
        self.is_set_anew |= len(self.files) > MANY
