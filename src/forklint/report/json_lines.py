"""One JSON object per line, each as in the JSON array."""

from __future__ import annotations

import json

from forklint.report import Outcome
from forklint.report.json import of_outcome


def render(outcome: Outcome) -> str:
    """Each finding on a line of its own; nothing where there is none."""
    return "".join(json.dumps(of_outcome(finding, outcome)) + "\n" for finding in outcome.findings)
