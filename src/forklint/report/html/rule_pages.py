"""The pages of rules, for the end of a report."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from forklint import pages
from forklint.report.html.code import colored
from forklint.rules import registry

SCROLLING = (
    ("pre", '<pre tabindex="0" role="group" aria-label="Example">', "</pre>"),
    ("table", '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>', "</table></div>"),
)
"""Tags that Markdown gives, and what stands for them: what is wider than a phone can then be reached."""


def explanations(codes: Iterable[str]) -> list[dict[str, Any]]:
    """The page of each rule as data, its texts as HTML; codes that belong to no rule are passed over."""
    markdown = MarkdownIt("commonmark", {"html": False, "highlight": _highlight}).enable("table")
    rules = [rule for code in sorted(set(codes)) if (rule := registry.find(code)) is not None]
    return [_explanation(pages.to_dict(rule), markdown) for rule in rules]


def _explanation(page: dict[str, Any], markdown: MarkdownIt) -> dict[str, Any]:
    sections = [
        {"title": one["title"], "text": Markup(_scrolling(markdown.render(one["text"])))}  # noqa: S704 - html is off: all is escaped
        for one in page["sections"]
    ]
    return {**page, "summary": Markup(markdown.renderInline(page["summary"])), "sections": sections}  # noqa: S704 - as above


def _scrolling(text: str) -> str:
    """The same with code and tables that can be scrolled by keyboard."""
    for tag, before, after in SCROLLING:
        text = text.replace(f"<{tag}>", before).replace(f"</{tag}>", after)
    return text


def _highlight(code: str, language: str, _attributes: str) -> str:
    """Python in colours, all other code escaped."""
    if language != "python":
        return escape(code)
    lines = colored(code.splitlines(keepends=True), "page.py")
    return "\n".join(
        "".join(f'<span class="{piece.color}">{escape(piece.text)}</span>' for piece in line) for line in lines
    )
