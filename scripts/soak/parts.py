"""The parts of the long tests, from tests/soak/parts.toml."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "tests" / "soak" / "parts.toml"


@dataclass(frozen=True)
class Part:
    """One part: patterns of test ids, and of those among them that belong elsewhere."""

    name: str
    about: str
    tests: tuple[str, ...]
    but: tuple[str, ...] = ()

    def has(self, test: str) -> bool:
        """Whether a test belongs to it, by its id; parameters do not matter."""
        plain = test.partition("[")[0]
        return any(fnmatchcase(plain, one) for one in self.tests) and not any(
            fnmatchcase(plain, one) for one in self.but
        )

    def files(self) -> list[Path]:
        """The files that may have such tests."""
        patterns = {one.partition("::")[0] for one in self.tests}
        found = {path for one in patterns for path in ROOT.glob(_of_files(one))}
        return sorted(path for path in found if path.name.startswith("test_"))


def _of_files(pattern: str) -> str:
    return pattern if pattern.endswith(".py") else f"{pattern.rpartition('/')[0]}/*.py"


def parts() -> dict[str, Part]:
    """All parts, by name."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: Part(name, row["about"], tuple(row["tests"]), tuple(row.get("but", ()))) for name, row in table.items()
    }
