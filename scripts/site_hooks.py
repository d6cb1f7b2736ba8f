"""What MkDocs does besides for `make site`: lists the pages of rules, and links to other files on GitHub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCE = "https://github.com/forklint/forklint/blob/main/"
RULES = "rules/README.md"
LINK = re.compile(r"(\]\()((?:\.\./)+[^)#\s]+)(#[^)\s]*)?(\))")


def on_config(config: Any) -> Any:
    """Put the page of each rule behind the index of rules."""
    pages = sorted(path.name for path in Path(config.docs_dir, "rules").glob("FKL*.md"))
    for section in config.nav:
        entries = next(iter(section.values())) if isinstance(section, dict) else None
        if isinstance(entries, list) and RULES in entries:
            entries += [f"rules/{name}" for name in pages]
    return config


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Turn links that leave docs/ into links to GitHub; raises FileNotFoundError if there is no such file."""
    folder, docs = Path(page.file.abs_src_path).parent, Path(config.docs_dir)

    def on_github(found: re.Match[str]) -> str:
        target = (folder / found[2]).resolve()
        if target.is_relative_to(docs):
            return found[0]
        if not target.exists():
            raise FileNotFoundError(f"{page.file.src_path}: {found[2]}")
        return f"{found[1]}{SOURCE}{target.relative_to(ROOT).as_posix()}{found[3] or ''}{found[4]}"

    return LINK.sub(on_github, markdown)
