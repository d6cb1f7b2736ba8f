"""Writes docs/rules/: a page for each rule from its docstring, and an index of them."""

from __future__ import annotations

from pathlib import Path

from forklint import pages
from forklint.rules import registry

FOLDER = Path(__file__).parent.parent / "docs" / "rules"


def rendered() -> dict[str, str]:
    """File name to text, for every page."""
    rules = registry.all_rules()
    rows = [
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity.value} | {rule.page().summary} |"
        for rule in rules
    ]
    index = ["# Rules", "", "| Code | Name | Severity | What it finds |", "|---|---|---|---|", *rows]
    return {"README.md": "\n".join(index) + "\n", **{f"{rule.code}.md": pages.to_markdown(rule) for rule in rules}}


def main() -> None:
    """Write the pages and remove those of rules that are gone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    texts = rendered()
    for path in FOLDER.glob("*.md"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
