"""The section of the configuration: ``[tool.forklint]`` at the end of pyproject.toml, or a forklint.toml."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from forklint.config import ConfigError
from forklint.setup.proposal import Project, Proposal, line_end, read
from forklint.source.roots import FILES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HEADER = "[tool.forklint]\n"
SUGGESTIONS = """\
# Uncomment the settings you need; `forklint --show-settings .` shows the current values.
# platforms = ["linux"]        # platforms the code runs on; default: linux, darwin and windows
# target-python = "3.10-3.13"  # Python versions the code runs on; default: {default}
# extend-ignore = ["FKL401"]   # rules to disable: codes, prefixes or names
# exclude = ["third_party/"]   # patterns as in a .gitignore
"""


def propose(project: Project) -> Proposal:
    """Propose the section; raises ConfigError if pyproject.toml cannot be read."""
    path = project.folder / "pyproject.toml"
    there = read(path)
    data = _parse(path, there[1]) if there else {}
    governing = _governing(project.folder)
    if governing is not None:
        return Proposal(governing, note="already configures forklint; not changed")
    wanted = data.get("project")
    requires = wanted.get("requires-python") if isinstance(wanted, dict) else None
    default = f'requires-python, "{requires}"' if isinstance(requires, str) else "3.10 or newer"
    lines = SUGGESTIONS.format(default=default)
    if there is None:
        return Proposal(project.folder / "forklint.toml", after=lines.encode())
    before, text = there
    end = line_end(text)
    gap = "" if not text else end if text.endswith("\n") else 2 * end
    after = text + gap + (HEADER + lines).replace("\n", end)
    if not _adds_a_section(after, data):
        return Proposal(path, before, by_hand=HEADER + lines)
    return Proposal(path, before, after.encode())


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}; fix it, or pass --no-config") from None


def _governing(folder: Path) -> Path | None:
    """The configuration file that applies to a directory."""
    for parent in (folder, *folder.parents):
        for name in FILES:
            path = parent / name
            try:
                there = read(path)
                if there and (name != "pyproject.toml" or "forklint" in tomllib.loads(there[1]).get("tool", {})):
                    return path
            except (ConfigError, tomllib.TOMLDecodeError, TypeError):  # another project's, and none of ours
                continue
    return None


def _adds_a_section(text: str, before: dict[str, Any]) -> bool:
    """Whether a text has the same content as before, with an empty section; not if ``tool`` is an inline table."""
    try:
        after = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    tool = before.get("tool", {})
    return isinstance(tool, dict) and after == {**before, "tool": {**tool, "forklint": {}}}
