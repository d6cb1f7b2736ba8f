"""One page of HTML that needs nothing else: no network, no other file, and no script that a project could bring along.

``lint`` makes the page of findings, ``verify`` that of proofs; ``page`` fills the templates beside this file, in which
everything is escaped.
"""

from __future__ import annotations

from forklint.report import Outcome


def render(outcome: Outcome) -> str:
    """Make the page of a run of lint."""
    from forklint.report.html.lint import view  # noqa: PLC0415 - importing this package must cost nothing
    from forklint.report.html.page import fill  # noqa: PLC0415

    return fill("lint.html.jinja", view(outcome))
