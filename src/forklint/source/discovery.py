"""From the paths a user names to the files to lint: folders walked, ignore files respected."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.records import dataclass
from forklint.source.kinds import LINTED_SUFFIXES, PYTHON_SUFFIXES
from forklint.source.paths import from_root

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
        "site-packages",
        "venv",
    ]
)

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
        yield from _walk(str(path), nothing if outright else excluded, _rules_for(path), LINTED_SUFFIXES)
    elif not exists:
        yield Missing(path, "a broken link" if path.is_symlink() else "no such file or folder")
    elif path.is_file():
        yield path
    else:
        yield Missing(path, "not a regular file")


def walk(
    folder: Path,
    excluded: Excluded,
    suffixes: tuple[str, ...] = PYTHON_SUFFIXES,
    left_out: list[str] | None = None,
) -> Iterator[Path]:
    """Give the files below ``folder``, Python's unless told otherwise, that no ignore file and no setting excludes.

    ``left_out`` gets the files and folders that are excluded, or linked, and that an import could find all the same.
    """
    for found in _walk(str(folder), excluded, _rules_for(folder), suffixes, left_out):
        if isinstance(found, Path):
            yield found


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
) -> Iterator[Path | Missing]:
    try:
        with os.scandir(folder) as entries:
            listing = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield Missing(Path(folder), error.strerror or str(error))
        return
    names = {entry.name for entry in listing}
    for name in IGNORE_FILES:
        if name in names:
            rules = (*rules, *_read_rules(Path(folder) / name))
    folders = []
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
            yield Path(entry.path)
    for path in folders:
        yield from _walk(path, excluded, rules, suffixes, left_out)


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
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
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
