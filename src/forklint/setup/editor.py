"""Editor settings: entries in .vscode/settings.json that show findings while one types, through flake8.

The file is JSON with comments. It is changed as text, so that comments and layout stay; afterwards it is parsed again.
"""

from __future__ import annotations

import json
from typing import Any

from forklint.config import ConfigError
from forklint.records import dataclass
from forklint.setup.proposal import Project, Proposal, line_end, read

FOLDER = ".vscode"
SETTINGS: dict[str, Any] = {"flake8.importStrategy": "fromEnvironment", "flake8.args": ["--extend-select=FKL"]}
CODES = "FKL"


@dataclass(frozen=True)
class _Scanned:
    """JSON with comments, as far as it matters for adding an entry."""

    plain: str
    """The text with spaces in place of comments and trailing commas: valid JSON, with the same positions."""
    last: int
    """The position of the last character before the closing brace that is neither space nor comment."""
    closing: int
    """The position of the closing brace."""


def propose(project: Project) -> Proposal | None:
    """Propose the entries; None without a ``.vscode`` directory; raises ConfigError if the file cannot be read."""
    folders = [project.folder, *([project.repository] if project.repository else [])]
    folder = next((one / FOLDER for one in folders if (one / FOLDER).is_dir()), None)
    if folder is None:
        return None
    path = folder / "settings.json"
    there = read(path)
    if there is None or not there[1].strip():
        return Proposal(path, there[0] if there else None, (json.dumps(SETTINGS, indent=2) + "\n").encode())
    before, text = there
    try:
        scanned = _scan(text)
        settings = json.loads(scanned.plain)
    except ValueError as error:
        raise ConfigError(f"{path}: not valid JSON with comments: {error}; fix it, or pass --no-editor") from None
    if not isinstance(settings, dict):
        raise ConfigError(f"{path}: expected an object; fix it, or pass --no-editor")
    if any(CODES in str(word) for word in _list(settings.get("flake8.args"))):
        return Proposal(path, before, note="already shows forklint's findings; not changed")
    wanted = {key: value for key, value in SETTINGS.items() if settings.get(key) != value}
    after = None if any(key in settings for key in wanted) else _with_entries(text, scanned, wanted)
    if after is None or not _adds(after, settings, wanted):
        return Proposal(path, before, by_hand=json.dumps(wanted, indent=2))
    return Proposal(path, before, after.encode())


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _scan(text: str) -> _Scanned:
    """Find comments and commas; raises ValueError for a comment that does not end."""
    plain = list(text)
    index = closing = 0
    seen: list[int] = []  # positions of what is neither space nor comment
    while index < len(text):
        if text.startswith(("//", "/*"), index):
            line = text.startswith("//", index)
            found = text.find("\n" if line else "*/", index + 2)
            if found < 0 and not line:
                raise ValueError("a comment does not end")
            end = len(text) if found < 0 else found + (0 if line else 2)
            plain[index:end] = [one if one in "\r\n" else " " for one in text[index:end]]
            index = end
            continue
        start = index
        index = _end_of_string(text, index) if text[index] == '"' else index + 1
        if text[start] in "}]" and seen and text[seen[-1]] == ",":
            plain[seen[-1]] = " "
        if text[start] == "}":
            closing = start
        if not text[start].isspace():
            seen += [start] if index == start + 1 else [start, index - 1]
    before = [one for one in seen if one < closing]
    return _Scanned("".join(plain), before[-1] if before else -1, closing)


def _end_of_string(text: str, start: int) -> int:
    index = start + 1
    while index < len(text) and text[index] != '"':
        index += 2 if text[index] == "\\" else 1
    return min(index + 1, len(text))


def _with_entries(text: str, scanned: _Scanned, wanted: dict[str, Any]) -> str | None:
    """The text with more entries at the end; None if the object is written on one line."""
    end = line_end(text)
    last, closing = scanned.last, scanned.closing
    is_empty = text[last] == "{"
    start_of_line = text.rfind("\n", 0, closing) + 1
    if text[start_of_line:closing].strip() and not is_empty:
        return None
    first = next((line for line in scanned.plain.splitlines() if line.lstrip().startswith('"')), "  ")
    indent = first[: len(first) - len(first.lstrip())] or "  "
    lines = f",{end}".join(f"{indent}{json.dumps(key)}: {json.dumps(value)}" for key, value in wanted.items()) + end
    if is_empty and not text[last + 1 : closing].strip():
        return text[: last + 1] + end + lines + text[closing:]
    comma = "" if is_empty or text[last] == "," else ","
    return text[: last + 1] + comma + text[last + 1 : start_of_line] + lines + text[start_of_line:]


def _adds(text: str, before: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a text has the same content as before, with the wanted entries at its end."""
    try:
        after = json.loads(_scan(text).plain)
    except ValueError:
        return False
    return list(after.items()) == [*before.items(), *wanted.items()]
