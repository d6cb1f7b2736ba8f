"""Decides from the bytes of a file which rules can find something in it; usually none can.

A file without the words that a rule needs has no finding of the rule. If these may also be in an imported file, the
prefilter checks whether any import can lead into the project at all. So most files are finished before a project, a
table or a rule is imported.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.project.resolver import Resolver
from forklint.records import dataclass
from forklint.rules import registry
from forklint.rules.needs import Card
from forklint.source import document, suppressions
from forklint.source.kinds import Kind, kind_of
from forklint.source.paths import from_root
from forklint.source.roots import Roots

if TYPE_CHECKING:
    from collections.abc import Callable

    from forklint.config import SettingsFinder

EDITS = 8
"""So many edits of a file whose tree is at hand are made until a rule's own screen is asked again that let it pass."""
NAME = rb"[\w\x80-\xff]+"
IMPORT = rb"\bfrom\b[ \t\f]*([.\w\x80-\xff]+)(?:[ \t\f]+import\b)?|\bimport\b([^;#\r\n]*)"
"""The module that something is imported from, or what is imported; prose counts as well."""

WELL_KNOWN = frozenset(
    {
        "PIL",
        "click",
        "cv2",
        "h5py",
        "lmdb",
        "matplotlib",
        "numpy",
        "pandas",
        "pytest",
        "requests",
        "scipy",
        "torch",
        "torchvision",
    }
    | {"tqdm", "yaml"}
)
"""Packages that nobody gives the names of to modules of their own."""


@dataclass(frozen=True)
class _File:
    """What decides whether a file holds words that need not stand in it."""

    data: bytes
    names: frozenset[bytes] | None
    """All names in it; None if it may reach other files, and so their names."""


class Screen:
    """Answers for the files of one project."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._last: dict[Path, _File] = {}

    def may_want(self, card: Card, path: Path, data: bytes) -> bool:
        """Whether a rule may find something in a file that holds ``data``; ``path`` is written from the root."""
        needs = card.needs
        if not needs.may_be_met(data):
            return False
        if not (needs.reached or needs.named) or any(word in data for word in needs.reached):
            return True
        names = self._file(path, data).names
        return names is None or not names.isdisjoint(needs.named)

    def _file(self, path: Path, data: bytes) -> _File:
        known = self._last.get(path)
        if known is None or known.data is not data:
            names = frozenset(re.findall(NAME, data)) if self._is_alone(path, data) else None
            known = _File(data, names)
            self._last = {path: known}  # one rule after another is asked about one file
        return known

    def _is_alone(self, path: Path, data: bytes) -> bool:
        """Whether a file is in no package, and none of its imports can lead into the project."""
        resolver = self._resolver
        if path.name != "__init__.py" and resolver.find_from(resolver.start(path, 1), "", relative=True) is not None:
            return False
        imported = _imported(data)
        if imported is None:
            return False
        start = resolver.start(path, 0)
        return all(_is_foreign(name) and not resolver.has(start, name) for name in imported)


def _is_foreign(name: str) -> bool:
    """Whether a module is surely not the project's if it is not found in the usual places.

    Others may lie in a folder that some file adds to ``sys.path``; which those are takes a project to tell.
    """
    return name in sys.stdlib_module_names or name in WELL_KNOWN


def _imported(data: bytes) -> set[str] | None:
    """The first parts of the names of all modules that a text may import; None if these cannot be told."""
    if b"\\" in data:
        data = data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").replace(b"\\\r", b" ")
    if b"import_module" in data or b"__import__" in data:
        return None
    found = set()
    for source, modules in re.findall(IMPORT, data):
        for module in (source,) if source else modules.split(b","):
            name = module.partition(b".")[0].split()
            if not name or not name[0].isascii():  # relative to a package, or spelt in one of several ways
                return None
            found.add(name[0].decode())
    return found


class Prefilter:
    """Clears files of all suspicion, without a project."""

    def __init__(self, finder: SettingsFinder, *, parsed: bool = False) -> None:
        """``parsed``: whoever asks has parsed the files already."""
        self._finder = finder
        self._parsed = parsed
        self._roots = Roots()
        self._screens: dict[Path, Screen] = {}

    def clears(self, path: Path, data: bytes) -> bool:
        """Whether nothing is to be said of a file that holds ``data``; False where more must be known to tell.

        Raises ConfigError.
        """
        absolute = from_root(path)
        settings = self._finder.for_file(absolute)
        if (
            kind_of(path) is not Kind.PYTHON
            or settings.adds_rows
            or suppressions.may_name(data, registry.spelt_names())
        ):
            return False
        extent = self._roots.of(absolute)
        screen = self._screens.get(extent.walked)
        if screen is None:
            screen = self._screens[extent.walked] = Screen(Resolver(extent))
        wanting = [card.code for card in registry.cards(settings) if screen.may_want(card, absolute, data)]
        if wanting and not settings.enabled(registry.codes()).isdisjoint(wanting):
            return False
        return self._parsed or document.surely_parses(path, data)


class Passed:
    """Which files the rules' own screens let pass: a screen takes a third as long as its rule, and seldom changes."""

    def __init__(self) -> None:
        self._left: dict[tuple[str, Path], int] = {}

    def holds(self, code: str, path: Path, ask: Callable[[], bool], *, is_loaded: bool) -> bool:
        """What a screen says of a file, or that it let the file pass a few edits ago, if its tree is at hand."""
        left = self._left.get((code, path), 0) if is_loaded else 0
        passes = left > 0 or ask()
        self._left[code, path] = (left or EDITS) - 1 if passes else 0
        return passes
