"""``--baseline`` and ``--update-baseline``: findings that are already recorded are not reported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.cli.errors import Failure
from forklint.cli.output import SKIPPED, say
from forklint.config import SettingsFinder
from forklint.model import FileReport
from forklint.report import count
from forklint.source.paths import shown

if TYPE_CHECKING:
    from forklint.baseline import Counts, Scope


class Baselines:
    """The baselines that the settings of some files name; usually there is one."""

    def __init__(self, finder: SettingsFinder, files: Sequence[Path], options: dict[str, Any]) -> None:
        """Read them; raises Failure if one is missing or invalid, unless it is about to be written."""
        self._finder = finder
        self._updates: bool = options["update_baseline"]
        self._says = not options["quiet"] and (self._updates or not options["fix_only"])
        paths = {path for file in files for path in [self._of(file)] if path}
        if self._updates and files and not paths:
            raise Failure(
                "--update-baseline needs a file: pass --baseline FILE, or set `baseline` in the configuration"
            )
        self._counts = {path: {} if self._updates and not path.exists() else _read(path) for path in sorted(paths)}

    def _of(self, file: Path) -> Path | None:
        path = self._finder.for_file(file).baseline_file
        return Path(shown(path)) if path else None

    def sift(self, reports: Sequence[FileReport]) -> list[FileReport]:
        """Remove recorded findings, after updating the baselines if requested, and print how many; raises Failure."""
        sifted = list(reports)
        if not self._counts:
            return sifted
        from forklint import baseline  # noqa: PLC0415 - most runs have none

        for path in self._counts:
            places = [place for place, report in enumerate(reports) if self._of(Path(report.path)) == path]
            own = [reports[place] for place in places]
            scope = baseline.Scope(
                {baseline.path_in(path, Path(one.path)): self._judged(one) for one in own}, baseline.folder_of(path)
            )
            if self._updates:
                self._update(path, own, scope)
            done = baseline.sift(path, self._counts[path], own, scope)
            for place, report in zip(places, done.reports, strict=True):
                sifted[place] = report
            if self._says and done.known and not self._updates:
                say(f"{count(done.known, 'finding')} hidden by the baseline {path}")
            if self._says and done.gone:
                what = f"{count(done.gone, 'finding')} in {path} no longer {'occurs' if done.gone == 1 else 'occur'}"
                say(f"{what}; run with --update-baseline to remove {'it' if done.gone == 1 else 'them'}")
        return sifted

    def _update(self, path: Path, reports: Sequence[FileReport], scope: Scope) -> None:
        from forklint import baseline  # noqa: PLC0415

        found = baseline.entries(path, reports)
        try:
            change = baseline.update(path, found, scope)
        except baseline.BaselineError as error:
            raise Failure(str(error)) from None
        self._counts[path] = dict(found)
        if self._says:
            say(f"{path}: {count(change.added, 'finding')} added, {change.dropped} removed, {change.total} in total")

    def _judged(self, report: FileReport) -> frozenset[str]:
        """Codes of the rules that ran to the end in a file."""
        from forklint.rules import registry  # noqa: PLC0415 - it imports all rules
        from forklint.rules.syntax_error import SyntaxFault  # noqa: PLC0415

        for note in report.notes:
            if note.failure or note.unfinished or note.message.startswith(SKIPPED):
                return frozenset()
        if any(finding.code == SyntaxFault.code for finding in report.findings):
            return frozenset([SyntaxFault.code])
        settings, path, codes = self._finder.for_file(Path(report.path)), Path(report.path), registry.codes()
        judged = settings.enabled(codes) - {note.stopped for note in report.notes}
        return frozenset(code for code in judged if not settings.ignored_in(path, code, codes[code][0]))


def _read(path: Path) -> Counts:
    from forklint import baseline  # noqa: PLC0415

    try:
        return baseline.read(path)
    except baseline.BaselineError as error:
        raise Failure(str(error)) from None
