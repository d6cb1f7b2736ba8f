"""A rule's page, as Markdown and as data, from its docstring."""

from __future__ import annotations

from typing import Any

from forklint.rules.base import Rule

SITE = "https://forklint.readthedocs.io/"
"""Where the documentation is published."""
URL = SITE + "rules/{code}/"
"""Where a rule's page is published."""


def to_markdown(rule: type[Rule]) -> str:
    """The page with its title; ends with a newline."""
    page = rule.page()
    mark = "  \n*Preview: runs only with `--preview`, or when selected by its code.*" if rule.preview else ""
    parts = [f"# {rule.name} ({rule.code})", f"{page.summary}{mark}", f"Severity: {rule.severity.value}."]
    parts += [f"## {title}\n\n{body}" for title, body in page.sections]
    return "\n\n".join(parts) + "\n"


def to_dict(rule: type[Rule]) -> dict[str, Any]:
    """The page as plain data."""
    page = rule.page()
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": page.summary,
        "severity": rule.severity.value,
        "preview": rule.preview,
        "sections": [{"title": title, "text": body} for title, body in page.sections],
        "url": URL.format(code=rule.code),
    }
