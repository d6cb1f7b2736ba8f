"""Writes the generated parts of the documentation, and rules/table.py.

docs/rules/ has a page for each rule, from its docstring, and an index. A section of docs/configuration.md explains each
setting. What forklint prints in docs/hazards/ is written again. rules/table.py says what each rule needs, so that rules
are imported only for files that have it.
"""

from __future__ import annotations

from pathlib import Path
from pprint import pformat

import hazard_pages

from forklint import pages, settings_reference
from forklint.config import Settings
from forklint.rules import registry

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "rules"
CONFIGURATION = ROOT / "docs" / "configuration.md"
START, END = "<!-- settings: written by make docs -->\n\n", "\n<!-- end of settings -->\n"
TABLE = ROOT / "src" / "forklint" / "rules" / "table.py"
HEAD = '''"""What each rule needs, as its class says: written by `make docs`, for files that need few rules or none."""

from __future__ import annotations

from forklint.rules.needs import Row

# fmt: off
# ruff: noqa: Q000 - it is written by a program
'''


def rendered() -> dict[str, str]:
    """File name to text, for every page."""
    rules = registry.all_rules()
    rows = [
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity.value} | {rule.page().summary} |"
        for rule in rules
    ]
    index = ["# Rules", "", "| Code | Name | Severity | What it finds |", "|---|---|---|---|", *rows]
    return {"README.md": "\n".join(index) + "\n", **{f"{rule.code}.md": pages.to_markdown(rule) for rule in rules}}


def table() -> str:
    """The text of rules/table.py."""
    drawn = [(card, card.needs) for card in registry.drawn(Settings())]
    rows = tuple(
        (card.code, card.name, card.module, card.preview, (needs.here, needs.reached, needs.named))
        for card, needs in drawn
    )
    files = tuple(sorted({*registry.files(), TABLE.name}))
    return (
        f"{HEAD}\nFILES = frozenset(\n{pformat(files, width=116, compact=True)}\n)\n"
        '"""The files of this folder; if there are others, what stands here is passed over."""\n\n'
        f"ROWS: tuple[Row, ...] = {pformat(rows, width=116, compact=True)}\n"
        '"""The rules, by code."""\n'
    )


def configuration(text: str) -> str:
    """docs/configuration.md with its section on the settings written anew."""
    before, _, rest = text.partition(START)
    return before + START + settings_reference.to_markdown() + END + rest.partition(END)[2]


def main() -> None:
    """Write the table, the section on settings and the pages of rules, and remove the pages of rules that are gone."""
    TABLE.write_text(table(), encoding="utf-8")
    CONFIGURATION.write_text(configuration(CONFIGURATION.read_text(encoding="utf-8")), encoding="utf-8")
    FOLDER.mkdir(parents=True, exist_ok=True)
    texts = rendered()
    for path in FOLDER.glob("*.md"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    hazard_pages.main()


if __name__ == "__main__":
    main()
