"""Fixes of confirmed findings: applied to a copy by ``verify --fix``, and written by ``verify --apply``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forklint import config
from forklint.cli.output import print_notes
from forklint.model import Finding
from forklint.source.paths import from_root

if TYPE_CHECKING:
    from forklint.fixing import Fixed
    from forklint.verify.curing import Cure


def _fixed(findings: Sequence[Finding], finder: config.SettingsFinder, *, write: bool) -> Iterator[tuple[Path, Fixed]]:
    """Yield each file of some findings with the fixes of these findings, and no others."""
    from forklint.engine import Options  # noqa: PLC0415 - seldom asked
    from forklint.fixing import fix  # noqa: PLC0415
    from forklint.linters import Linters  # noqa: PLC0415

    linters = Linters(finder, Options())
    only = {finding.fingerprint for finding in findings}
    for path in dict.fromkeys(Path(finding.path) for finding in findings):
        yield path, fix(linters.of(path), path, unsafe=True, write=write, only=only)


def mended(findings: Sequence[Finding], finder: config.SettingsFinder) -> dict[str, str]:
    """The text of each file with the fixes of some findings, by path."""
    done = _fixed(findings, finder, write=False)
    return {str(from_root(path).resolve()): fixed.after for path, fixed in done if fixed.changed}


def write(cures: Sequence[Cure], finder: config.SettingsFinder) -> list[Finding]:
    """Write the proved fixes; returns the findings that they fix, and reports those that could not be written."""
    proved = [one.result.finding for one in cures if one.is_proved]
    done = [fixed for _, fixed in _fixed(proved, finder, write=True)]
    print_notes([fixed.report for fixed in done], (), verbose=False)
    applied = {finding.fingerprint for fixed in done for finding in fixed.applied}
    return [finding for finding in proved if finding.fingerprint in applied]
