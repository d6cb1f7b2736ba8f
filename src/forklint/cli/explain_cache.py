"""``--explain-cache``: why a file would be linted again instead of being read from the cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forklint.cli.output import say

if TYPE_CHECKING:
    from forklint.parallel import Job


def explain_cache(job: Job, path: Path) -> None:
    """Print why a run with the same options would lint a file again; raises ConfigError."""
    from forklint.incremental.explaining import reasons, told  # noqa: PLC0415
    from forklint.incremental.lookup import Lookup  # noqa: PLC0415

    lookup = Lookup(job.finder, [path], job.variant, frozenset(), say)
    click.echo(told(path, reasons(lookup.session(path), path)), nl=False)
    lookup.close()
