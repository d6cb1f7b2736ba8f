"""Sees what a project's conclusions are drawn from, so that it can be told whether they would be drawn again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TypeVar

from forklint.project import evidence
from forklint.project.evidence import CONTRADICTORY, Evidence
from forklint.project.resolver import Resolver
from forklint.source.digest import digest

Key = TypeVar("Key")
Answer = TypeVar("Answer")


class Witness:
    """Answers questions about single paths, and remembers what it has told of already."""

    def __init__(self) -> None:
        self._answers: dict[str, int] = {}
        self._told: dict[str, int] = {}

    def has_file(self, path: Path) -> bool:
        """Whether there is a file of this path on the disk."""
        return bool(self._ask("file", path, path.is_file))

    def size(self, path: Path) -> int:
        """How many bytes a file has; -1 if there is none."""
        return self._ask("size", path, lambda: evidence.size(path))

    def _ask(self, what: str, path: Path, find: Callable[[], int]) -> int:
        question = evidence.asked(what, path)
        if question not in self._answers:
            self._answers[question] = find()
        return self._answers[question]

    def news(
        self,
        read: Mapping[Path, bytes],
        changed: Iterable[Path],
        resolver: Resolver,
        walks: Mapping[str, Iterable[Path] | None],
    ) -> Evidence:
        """What has been seen since this was last asked.

        ``read`` are all files read so far, ``changed`` those of which something else was said than is on the disk,
        ``walks`` what was found by those walks that were made.
        """
        contents = {str(path): digest(data) for path, data in self._new("contents", read)}
        contents |= dict.fromkeys(map(str, changed), CONTRADICTORY)
        listings = self._new("listings", resolver.listings)
        folders = self._new("folders", resolver.folders)
        return Evidence(
            contents,
            {folder: evidence.names_digest(names) for folder, names in listings},
            {
                **{evidence.asked("folder", path): int(answer) for path, answer in folders},
                **dict(self._new("answers", self._answers)),
            },
            {
                **{name: evidence.paths_digest(found) for name, found in walks.items() if found is not None},
                **({} if resolver.others is None else {evidence.OTHERS: str(resolver.others)}),
            },
        )

    def _new(self, name: str, table: Mapping[Key, Answer]) -> Iterator[tuple[Key, Answer]]:
        """Give what a table, to which things are only added, has more than when it was last asked for."""
        told, self._told[name] = self._told.get(name, 0), len(table)
        return islice(table.items(), told, None)
