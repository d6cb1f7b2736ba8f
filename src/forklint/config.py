"""Settings: ``[tool.forklint]`` in pyproject.toml, or forklint.toml; the closest one to a file is used."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from forklint.knowledge import read_toml
from forklint.model import DEFAULT_CELLS, NEWEST_PYTHON, OLDEST_PYTHON, PLATFORMS, Cell, Severity
from forklint.records import dataclass
from forklint.source.paths import from_root
from forklint.source.regular import read_regular
from forklint.source.roots import FILES

Version = tuple[int, int]
NEWEST_TORCH = (99, 99)  # stands for all that are still to come


class ConfigError(Exception):
    """An invalid setting; the message is one line that names the file, the key and what to do."""


@dataclass(frozen=True)
class Settings:
    """The settings for a file. Field names are the configuration keys, with ``_`` for ``-``."""

    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    baseline: str = ""
    platforms: tuple[str, ...] = PLATFORMS
    target_python: tuple[Version, Version] = (OLDEST_PYTHON, NEWEST_PYTHON)
    target_torch: tuple[Version, Version] | None = None
    """Oldest and newest torch that the project is used with; None if it does not say."""
    exit_on: Severity = Severity.WARNING
    preview: bool = False
    cache_dir: str = ""
    handles: tuple[Mapping[str, Any], ...] = ()
    env_vars: tuple[Mapping[str, Any], ...] = ()
    starters: tuple[Mapping[str, Any], ...] = ()
    """Additional rows for the tables of these names in ``knowledge/``."""
    verify: Mapping[str, Any] = field(default_factory=dict)
    """What ``forklint verify`` can run: ``loaders`` with their ``args``, and environment variables, ``env``."""
    base: Path = field(default=Path(), compare=False)
    """The directory that patterns are relative to: that of the configuration file."""
    source: Path | None = field(default=None, compare=False)
    """The configuration file, if there is one."""

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The platforms and start methods that the project runs with."""
        oldest, newest = self.target_python
        runs = {"fork": oldest < (3, 14), "forkserver": newest >= (3, 14), "spawn": True}
        return tuple(cell for cell in DEFAULT_CELLS if cell.platform in self.platforms and runs[cell.start_method])

    @property
    def adds_rows(self) -> bool:
        """Whether the project adds rows to the tables in ``knowledge/``."""
        return bool(self.handles or self.env_vars or self.starters)

    def meets_only_torch_below(self, version: Version) -> bool:
        """Whether the project is only used with versions of torch older than this one."""
        return self.target_torch is not None and self.target_torch[1] < version

    @property
    def baseline_file(self) -> Path | None:
        """The baseline file, if one is configured."""
        return from_root(self.base / self.baseline) if self.baseline else None

    def excludes(self, path: Path) -> bool:
        """Whether ``exclude`` matches this path or a directory above it."""
        return bool(self.exclude) and _matches(self.exclude, path, self.base)

    def enabled(self, codes: Mapping[str, tuple[str, bool]]) -> frozenset[str]:
        """The codes of the enabled rules.

        ``codes`` maps each code to its name and whether it is preview. The longest matching selector
        decides, as in Ruff; a preview rule needs ``preview`` or its code in full.
        """
        chosen = set()
        for code, (name, preview) in codes.items():
            taken = max((_strength(s, code, name) for s in (*self.select, *self.extend_select)), default=0)
            dropped = max((_strength(s, code, name) for s in (*self.ignore, *self.extend_ignore)), default=0)
            if taken > dropped and (not preview or self.preview or taken == EXACT):
                chosen.add(code)
        return frozenset(chosen)

    def ignored_in(self, path: Path, code: str, name: str) -> bool:
        """Whether ``per-file-ignores`` disables a rule in a file."""
        return any(
            _strength(selector, code, name) and _matches((pattern,), path, self.base)
            for pattern, selectors in self.per_file_ignores.items()
            for selector in selectors
        )


EXACT = 100


def _strength(selector: str, code: str, name: str) -> int:
    """How specific a selector is: 0 for no match, 1 for ALL, more for a longer prefix, EXACT for the code."""
    if selector == "ALL":
        return 1
    if selector in {code, name}:
        return EXACT
    return 1 + len(selector) if code.startswith(selector) else 0


def _matches(patterns: tuple[str, ...], path: Path, base: Path) -> bool:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - not needed where nothing is excluded

    absolute = from_root(path)
    try:
        relative = absolute.relative_to(from_root(base))
    except ValueError:
        relative = Path(*absolute.parts[1:])
    return GitIgnoreSpec.from_lines(patterns).match_file(relative.as_posix())


class SettingsFinder:
    """Finds the settings for each file, and reads each configuration file once.

    ``config`` names the only file to read, ``isolated`` reads none, and ``overrides`` (values by field name, from the
    command line) take precedence over configuration files.
    """

    def __init__(
        self, overrides: Mapping[str, Any] | None = None, *, config: Path | None = None, isolated: bool = False
    ) -> None:
        self._overrides = dict(overrides or {})
        self._fixed: Settings | None = None
        if config is not None:
            self._fixed = self._override(load(config, explicit=True) or Settings(base=Path.cwd()))
        elif isolated:
            self._fixed = self._override(Settings(base=Path.cwd()))
        self._by_folder: dict[Path, Settings] = {}
        self._by_name: dict[str, Settings] = {}
        """By directory as it is written in paths, so that only one file of a directory is resolved."""

    def for_file(self, path: Path) -> Settings:
        """Settings for a file; raises ConfigError."""
        if self._fixed is not None:
            return self._fixed
        parent, name = os.path.split(path)
        if name in {"", os.curdir, os.pardir}:  # the rest of the path is not the directory above
            return self.for_folder(from_root(path).parent)
        if parent not in self._by_name:
            self._by_name[parent] = self.for_folder(from_root(path).parent)
        return self._by_name[parent]

    def for_folder(self, folder: Path) -> Settings:
        """Settings for the files in a directory; raises ConfigError."""
        if self._fixed is not None:
            return self._fixed
        if folder not in self._by_folder:
            self._by_folder[folder] = self._read(folder)
        return self._by_folder[folder]

    def _read(self, folder: Path) -> Settings:
        for name in FILES:
            path = folder / name
            if path.is_file():
                settings = load(path)
                if settings is not None:
                    return self._override(settings)
        if folder.parent == folder:
            return self._override(Settings(base=Path.cwd()))
        above = self.for_folder(folder.parent)
        bounds = requires_python(folder / "pyproject.toml") if "target_python" not in self._overrides else None
        return replace(above, target_python=bounds) if bounds and above.source is None else above

    def _override(self, settings: Settings) -> Settings:
        return replace(settings, **self._overrides) if self._overrides else settings


def load(path: Path, *, explicit: bool = False) -> Settings | None:
    """Read one configuration file; None for a pyproject.toml without ``[tool.forklint]``.

    A pyproject.toml that does not mention forklint is not parsed. Raises ConfigError for a file that cannot be read
    and for an unknown key or an invalid value.
    """
    try:
        text = path.read_bytes() if explicit else read_regular(path)  # `--config <(...)` is a pipe
        if path.name == "pyproject.toml" and not explicit and b"forklint" not in text:
            return None
        data = read_toml(text.decode())
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except ValueError as error:  # not TOML, or not UTF-8
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    table: Any = data
    requires = None
    if path.name == "pyproject.toml":
        table = data.get("tool", {}).get("forklint")
        requires = data.get("project", {}).get("requires-python")
        if table is None and not explicit:
            return None
    settings = from_table(table or {}, path)
    if requires and "target-python" not in (table or {}):
        settings = replace(settings, target_python=python_range(str(requires)))
    return settings


def requires_python(path: Path) -> tuple[Version, Version] | None:
    """The range in ``requires-python`` of a pyproject.toml without ``[tool.forklint]``, if there is one."""
    try:
        text = read_regular(path).decode()
        wanted = read_toml(text).get("project", {}).get("requires-python") if "requires-python" in text else None
        return python_range(wanted) if wanted else None
    except (OSError, ValueError, AttributeError):  # a TOMLDecodeError and a UnicodeDecodeError are ValueErrors
        return None


def from_table(table: Any, path: Path) -> Settings:
    """Turn a table into Settings; raises ConfigError that names the key and the most similar one."""
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.forklint must be a table")
    values: dict[str, Any] = {}
    for key, value in table.items():
        reader = READERS.get(key)
        if reader is None:
            here = "; write keys here without [tool.forklint]" if key == "tool" else nearest(key, READERS)
            raise ConfigError(f"{path}: unknown key '{key}'{here}")
        try:
            values[key.replace("-", "_")] = reader(value)
        except ValueError as error:
            raise ConfigError(f"{path}: {key}: {error}") from None
    return Settings(**values, base=from_root(path).parent, source=path)


def nearest(word: str, known: Any) -> str:
    """Return ``; did you mean 'x'?`` if a known word is similar, else the list of them."""
    import difflib  # noqa: PLC0415 - only for a mistake

    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else f"; choose from {', '.join(sorted(known))}"


def platforms(value: Any) -> tuple[str, ...]:
    """Read a list of platforms; raises ValueError."""
    names = tuple("darwin" if name == "macos" else name for name in strings(value))
    for name in names:
        if name not in PLATFORMS:
            raise ValueError(f"unknown platform '{name}'{nearest(name, PLATFORMS)}")
    if not names:
        raise ValueError("expected at least one platform")
    return names


def strings(value: Any) -> tuple[str, ...]:
    """Read a list of strings; raises ValueError."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"expected a list of strings, not {value!r}")
    return tuple(value)


def selectors(value: Any) -> tuple[str, ...]:
    """Read a list of rule codes, prefixes and names; raises ValueError for an unknown one."""
    from forklint.rules import registry  # noqa: PLC0415 - the registry loads every rule

    codes = registry.codes()
    words = tuple(word.upper() if re.fullmatch(r"fkl\d*|all", word) else word for word in strings(value))
    for word in words:
        if word != "ALL" and not any(code.startswith(word) or word == name for code, (name, _) in codes.items()):
            raise ValueError(f"unknown rule '{word}'{nearest(word, [*codes, *(name for name, _ in codes.values())])}")
    return words


def python_range(value: Any) -> tuple[Version, Version]:
    """Read ``3.12``, ``3.10-3.13`` or a specifier such as ``>=3.10,<3.14``; raises ValueError."""
    if not isinstance(value, str):
        raise ValueError(f'expected a string such as "3.12", not {value!r}')
    text = value.strip().lower().replace("py", "")
    exact = re.fullmatch(r"(\d)\.?(\d+)(?:\s*-\s*(\d)\.?(\d+))?", text)
    if exact:
        oldest = (int(exact[1]), int(exact[2]))
        newest = (int(exact[3]), int(exact[4])) if exact[3] else oldest
        if oldest > newest or oldest[0] != 3 or newest > (NEWEST_PYTHON[0], NEWEST_PYTHON[1] + 5):
            raise ValueError(f"'{value}' is not a supported range of Python versions; write 3.12 or 3.10-3.13")
        return oldest, newest
    oldest, newest = OLDEST_PYTHON, NEWEST_PYTHON
    clauses = re.findall(r"(>=|<=|==|~=|!=|<|>)\s*(\d+)(?:\.(\d+|\*))?[\d.*]*", text)
    if not clauses:
        raise ValueError(f"'{value}' is not a Python version; write 3.12, 3.10-3.13 or >=3.10,<3.14")
    for operator, major, minor in clauses:
        version = (int(major), int(minor) if minor.isdigit() else 0)
        if operator in {">=", "~=", ">"}:
            oldest = max(oldest, version)
        elif operator == "<" and version[1]:
            newest = min(newest, (version[0], version[1] - 1))
        elif operator == "<=":
            newest = min(newest, version)
        elif operator == "==" and minor.isdigit():
            oldest = newest = version
    return oldest, newest


def torch_range(value: Any) -> tuple[Version, Version]:
    """Read ``2.4``, ``2.1-2.6`` or ``>=2.1``; raises ValueError."""
    found = re.fullmatch(r"(>=)?\s*(\d+)\.(\d+)(?:\s*-\s*(\d+)\.(\d+))?", value) if isinstance(value, str) else None
    oldest, newest = ((int(found[2]), int(found[3])), NEWEST_TORCH) if found else (NEWEST_TORCH, (0, 0))
    if found and not found[1]:
        newest = (int(found[4]), int(found[5])) if found[4] else oldest
    if oldest > newest:
        raise ValueError(f'expected a string such as "2.4", "2.1-2.6" or ">=2.1", not {value!r}')
    return oldest, newest


def _per_file_ignores(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ValueError("expected a table that maps patterns to lists of rules")
    return {pattern: selectors(codes) for pattern, codes in value.items()}


def severity(value: Any) -> Severity:
    """Read ``info``, ``warning`` or ``error``; raises ValueError."""
    try:
        return Severity(value)
    except ValueError:
        raise ValueError(f"unknown severity {value!r}; choose from info, warning, error") from None


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, not {value!r}")
    return value


def _file_name(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"expected a path, not {value!r}")
    return value


def _rows(kind: str) -> Callable[[Any], tuple[Mapping[str, Any], ...]]:
    def read(value: Any) -> tuple[Mapping[str, Any], ...]:
        from forklint import knowledge  # noqa: PLC0415 - only where a project adds rows

        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            raise ValueError("expected a list of tables")
        for row in value:
            knowledge.check_row(kind, row)
        return tuple(value)

    return read


def _verify(value: Any) -> dict[str, Any]:
    known: dict[str, Any] = {"loaders": (), "args": {}, "env": {}, "files": ()}
    if not isinstance(value, dict):
        raise ValueError(f"expected a table, not {value!r}")
    for key in value:
        if key not in known:
            raise ValueError(f"unknown key '{key}'{nearest(key, known)}")
    table = {**known, **value}
    for call in strings(table["loaders"]):
        if not re.fullmatch(r"[\w.]+:[\w.]+", call):
            raise ValueError(f"'{call}' is not the name of a callable; write package.module:function")
    for pattern in strings(table["files"]):
        if pattern.startswith("/") or ".." in pattern.split("/"):
            raise ValueError(f"files: '{pattern}' is not relative to the project's root")
    if not isinstance(table["args"], dict):
        raise ValueError(f"args: expected a table of keyword arguments, not {table['args']!r}")
    if not isinstance(table["env"], dict) or not all(isinstance(text, str) for text in table["env"].values()):
        raise ValueError(f"env: expected a table of strings, not {table['env']!r}")
    return table


READERS: dict[str, Callable[[Any], Any]] = {
    "select": selectors,
    "ignore": selectors,
    "extend-select": selectors,
    "extend-ignore": selectors,
    "per-file-ignores": _per_file_ignores,
    "exclude": strings,
    "force-exclude": _boolean,
    "baseline": _file_name,
    "platforms": platforms,
    "target-python": python_range,
    "target-torch": torch_range,
    "exit-on": severity,
    "preview": _boolean,
    "cache-dir": _file_name,
    "handles": _rows("handles"),
    "env-vars": _rows("env_vars"),
    "starters": _rows("starters"),
    "verify": _verify,
}
"""Each key of the configuration and what reads its value (raising ValueError)."""
