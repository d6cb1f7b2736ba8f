"""The blocks of code in the pages that tests run: each follows a comment ``<!-- test: NAME -->``."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^( *)<!-- test: ([\w-]+) -->\n(?:[ \t]*\n)*\1```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def snippet(page: str, name: str) -> str:
    """The block of a page of docs/ (or of ``README.md`` as ``../README.md``) that is marked with a name."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for indent, marked, _, content in BLOCK.findall(text):
        if marked == name:
            return re.sub(f"^{indent}", "", content, flags=re.MULTILINE)
    raise LookupError(f"docs/{page}: no block follows a comment '<!-- test: {name} -->'")
