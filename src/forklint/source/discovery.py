"""From the paths a user names to the files to lint: folders walked, ignore files respected."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.records import dataclass
from forklint.source.kinds import LINTED_SUFFIXES, PYTHON_SUFFIXES
from forklint.source.paths import from_root
from forklint.source.regular import read_regular
from forklint.source.roots import INSTALLED, Extent

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".ignore")
NEVER = frozenset(
    [
        ".bzr",
        ".direnv",
        ".eggs",
        ".forklint_cache",
        ".git",
        ".hg",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".pants.d",
        ".pyenv",
        ".pytest_cache",
        ".pytype",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        ".vscode",
        "__pycache__",
        "__pypackages__",
        "_build",
        "buck-out",
        "forklint.toml",
        "node_modules",
        "venv",
        *INSTALLED,
    ]
)
MOST_FILES = 2_000
"""So many files belong to a project that nothing marks; of the others, only those that are imported are read."""
MOST_ENTRIES, MOST_IN_FOLDER = 200_000, 20_000
"""So many entries are looked at to find them, of all folders and of one: there may be a million images in a folder."""

FOREIGN = frozenset({"node_modules", "site-packages", "venv"})
"""Folders whose files belong to no project, though their names could be those of packages."""


@dataclass(frozen=True)
class Missing:
    """A path that was named and cannot be linted, with the reason."""

    path: Path
    reason: str


Excluded = Callable[[Path], bool]


def nothing(_: Path) -> bool:
    """What to exclude where nothing is."""
    return False


def find_files(paths: Iterable[Path], excluded: Excluded, forced: Excluded = nothing) -> Iterator[Path | Missing]:
    """Walk ``paths`` and give each file that can be linted once, in sorted order within a folder.

    A file named outright is given whatever its suffix, and though it be ignored or excluded, and what is excluded is
    also walked where the folder is named outright; not so where ``forced`` says that excluding goes before naming.
    Links to folders are not followed. A path that does not exist, and a folder that cannot be read, comes as Missing.
    """
    seen: set[str] = set()
    folders: dict[str, str] = {}
    for path in paths:
        for found in _expand(path, excluded, forced):
            key = found.path.as_posix() if isinstance(found, Missing) else _real(found, folders)
            if key not in seen:
                seen.add(key)
                yield found


def _real(file: Path, folders: dict[str, str]) -> str:
    """A file's path with no link in it; ``folders`` are those whose real paths are known."""
    parent, name = os.path.split(file)
    if name == os.pardir or os.path.islink(file):
        return os.path.realpath(file)
    if parent not in folders:
        folders[parent] = os.path.realpath(parent)
    return os.path.join(folders[parent], name)


def never_walked(path: Path, base: Path) -> bool:
    """Whether a path lies in one of the folders that no walk enters (``.venv`` and the like), seen from ``base``."""
    try:
        parts = from_root(path).relative_to(from_root(base)).parts
    except ValueError:
        return False
    return not NEVER.isdisjoint(parts)


def _expand(path: Path, excluded: Excluded, forced: Excluded) -> Iterator[Path | Missing]:
    try:
        is_folder = path.is_dir()
        exists = is_folder or path.exists()
    except OSError as error:  # a loop of links, a name that is too long
        yield Missing(path, error.strerror or str(error))
        return
    if exists and forced(path):
        return
    if is_folder:
        outright = excluded(path)  # then the settings do not speak of what is in it
        found = _walk(str(path), nothing if outright else excluded, _rules_for(path), LINTED_SUFFIXES)
        yield from (one if isinstance(one, Missing) else Path(one) for one in found)
    elif not exists:
        yield Missing(path, "a broken link" if path.is_symlink() else "no such file or directory")
    elif path.is_file():
        yield path
    else:
        yield Missing(path, "not a regular file")


@dataclass(frozen=True)
class Walk:
    """The files that a walk found."""

    texts: tuple[str, ...]
    """Their paths as text: a store compares thousands of them."""
    left_out: tuple[str, ...] = ()
    """The files and folders that are excluded, linked or beyond a bound, and that an import could find all the same."""
    is_whole: bool = True
    """Whether no bound ended the walk."""

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The paths of the files."""
        return tuple(map(Path, self.texts))


def walk(extent: Extent, excluded: Excluded, suffixes: tuple[str, ...] = PYTHON_SUFFIXES) -> Walk:
    """Find a project's files, Python's unless told otherwise, that no ignore file and no setting excludes.

    Of a project that is bounded, those of the nearest folders come first, and at most MOST_FILES.
    """
    folder, rules = str(extent.walked), _rules_for(extent.walked)
    if extent.is_bounded:
        return _walk_nearest(folder, excluded, rules, suffixes, is_flat=extent.is_flat)
    left_out: list[str] = []
    found = _walk(folder, excluded, rules, suffixes, left_out)
    return Walk(tuple(path for path in found if isinstance(path, str)), tuple(left_out))


def _walk_nearest(
    folder: str, excluded: Excluded, rules: tuple[_IgnoreRules, ...], suffixes: tuple[str, ...], *, is_flat: bool
) -> Walk:
    """Walk level by level, up to MOST_FILES and MOST_ENTRIES."""
    found: list[str] = []
    left_out: list[str] = []
    waiting, entries_left, is_whole = deque([(folder, rules)]), MOST_ENTRIES, True
    while waiting and entries_left and len(found) <= MOST_FILES:
        current, rules = waiting.popleft()
        most = min(MOST_IN_FOLDER, entries_left)
        listing = _listing(current, most + 1)
        if isinstance(listing, Missing):
            continue
        entries_left -= min(len(listing), most)
        if len(listing) > most:
            is_whole = False
            left_out.append(current)
            continue
        folders, files, rules = _kept(current, listing, excluded, rules, suffixes, left_out)
        found += files
        waiting += () if is_flat else [(path, rules) for path in folders]
    beyond = [*found[MOST_FILES:], *(path for path, _ in waiting)][:1]
    return Walk(tuple(found[:MOST_FILES]), (*left_out, *beyond), is_whole=is_whole and not beyond)


def _rules_for(folder: Path) -> tuple[_IgnoreRules, ...]:
    """The rules from above that still speak in a folder that was named, though one of them ignore the folder itself."""
    absolute = from_root(folder)
    return tuple(rule for rule in _rules_above(absolute) if not _ignored(str(absolute), (rule,), is_folder=True))


def _walk(
    folder: str,
    excluded: Excluded,
    rules: tuple[_IgnoreRules, ...],
    suffixes: tuple[str, ...],
    left_out: list[str] | None = None,
) -> Iterator[str | Missing]:
    listing = _listing(folder)
    if isinstance(listing, Missing):
        yield listing
        return
    folders, files, rules = _kept(folder, listing, excluded, rules, suffixes, left_out)
    yield from files
    for path in folders:
        yield from _walk(path, excluded, rules, suffixes, left_out)


def _listing(folder: str, most: int | None = None) -> list[os.DirEntry[str]] | Missing:
    """The entries of a folder in the order of their names, at most so many of them."""
    try:
        with os.scandir(folder) as entries:
            return sorted(islice(entries, most), key=lambda entry: entry.name)
    except OSError as error:
        return Missing(Path(folder), error.strerror or str(error))


def _kept(  # noqa: PLR0913, PLR0917 - one step of a walk, which has so many sides
    folder: str,
    listing: list[os.DirEntry[str]],
    excluded: Excluded,
    rules: tuple[_IgnoreRules, ...],
    suffixes: tuple[str, ...],
    left_out: list[str] | None,
) -> tuple[list[str], list[str], tuple[_IgnoreRules, ...]]:
    """The folders and files of a listing that are not left out, and the rules that hold below."""
    names = {entry.name for entry in listing}
    for name in IGNORE_FILES:
        if name in names:
            rules = (*rules, *_read_rules(Path(folder) / name))
    folders, files = [], []
    for entry in listing:
        if entry.name in NEVER:
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        is_linked = not is_folder and not entry.name.endswith(suffixes)
        if is_linked and not entry.is_symlink():
            continue
        if is_linked or _is_left_out(entry.path, rules, excluded, is_folder=is_folder):
            if left_out is not None and entry.name.removesuffix(".py").isidentifier():
                left_out.append(entry.path)
            continue
        if is_folder:
            folders.append(entry.path)
        elif _is_file(entry):
            files.append(entry.path)
    return folders, files, rules


def _is_left_out(path: str, rules: tuple[_IgnoreRules, ...], excluded: Excluded, *, is_folder: bool) -> bool:
    """Whether an ignore file or a setting excludes a file or folder."""
    if rules and _ignored(os.path.abspath(path), rules, is_folder=is_folder):
        return True
    return excluded is not nothing and excluded(Path(path))


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a loop of links
        return False


@dataclass(frozen=True)
class _IgnoreRules:
    """The patterns of one ignore file and the folder that they are relative to."""

    base: str
    spec: GitIgnoreSpec


def _read_rules(path: Path, base: Path | None = None) -> tuple[_IgnoreRules, ...]:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - not needed where nothing is ignored

    try:
        lines = read_regular(path).decode(errors="replace").splitlines()
        return (_IgnoreRules(str(base or from_root(path.parent)), GitIgnoreSpec.from_lines(lines)),)
    except (OSError, ValueError):
        return ()


@lru_cache(maxsize=64)
def _rules_above(folder: Path) -> tuple[_IgnoreRules, ...]:
    """Give the ignore rules of the folders above, as far up as the repository that holds ``folder``."""
    repository = next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)
    if repository is None:
        return ()
    rules: tuple[_IgnoreRules, ...] = ()
    own = repository / ".git" / "info" / "exclude"
    if own.is_file():
        rules += _read_rules(own, repository)
    between = [parent for parent in folder.parents if parent == repository or repository in parent.parents]
    for parent in reversed(between):
        for name in IGNORE_FILES:
            if (parent / name).is_file():
                rules += _read_rules(parent / name)
    return rules


def forget_ignore_files() -> None:
    """Read the ignore files above a folder anew from now on."""
    _rules_above.cache_clear()


def _ignored(path: str, rules: tuple[_IgnoreRules, ...], *, is_folder: bool) -> bool:
    """Whether the deepest ignore file that speaks of ``path`` ignores it."""
    for rule in reversed(rules):
        relative = os.path.relpath(path, rule.base).replace(os.sep, "/")
        verdict = rule.spec.check_file(relative + "/" if is_folder else relative).include
        if verdict is not None:
            return verdict
    return False
