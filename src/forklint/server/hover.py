"""What a finding means, where the pointer rests on it."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from forklint import pages
from forklint.model import Applicability, Finding
from forklint.rules import registry
from forklint.server.diagnostics import Result
from forklint.server.positions import holds

NAMES = {
    Applicability.SAFE: "Fix",
    Applicability.UNSAFE: "Fix (unsafe: it must be judged)",
    Applicability.DISPLAY: "To do",
}


def hover(result: Result, uri: str, place: types.Position, encoding: str) -> types.Hover | None:
    """The findings at a position, each with its page; None if there is none."""
    here = [
        (finding, where)
        for finding, of, where in result.ranges(encoding)
        if of == uri and holds(where, types.Range(place, place))
    ]
    if not here:
        return None
    text = "\n\n---\n\n".join(map(markdown, dict.fromkeys(finding for finding, _ in here)))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), here[0][1])


def markdown(finding: Finding) -> str:
    """A finding, the platforms and start methods on which it occurs, its fixes, and the page of its rule."""
    parts = [f"**{finding.code} {finding.name}** ({finding.severity.value}): {finding.message}"]
    if finding.cells:
        parts.append(_table(finding))
    parts += [f"{NAMES[fix.applicability]}: {fix.message}" for fix in finding.fixes]
    rule = registry.find(finding.code)
    if rule is not None:
        page = rule.page()
        parts += ["---", page.summary, *(f"### {title}\n\n{body}" for title, body in page.sections)]
        parts.append(f"[{finding.code} in the documentation]({pages.URL.format(code=finding.code)})")
    return "\n\n".join(parts)


def _table(finding: Finding) -> str:
    """Where it occurs: a row for each platform, a column for each start method."""
    platforms = list(dict.fromkeys(cell.platform for cell in finding.cells))
    methods = list(dict.fromkeys(cell.start_method for cell in finding.cells))
    found = {(cell.platform, cell.start_method) for cell in finding.cells}

    def row(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    lines = [row(["occurs with", *methods]), row(["---"] * (len(methods) + 1))]
    lines += [row([one, *("yes" if (one, other) in found else "" for other in methods)]) for one in platforms]
    return "\n".join(lines)
