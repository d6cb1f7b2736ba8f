"""The context of trials: what the options and settings of ``forklint verify`` say of each finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.source.roots import find_extent
from forklint.verify.experiments.base import Context
from forklint.verify.subjects import Factory

if TYPE_CHECKING:
    from forklint.config import SettingsFinder
    from forklint.model import Finding
    from forklint.verify.doctor import Environment


def contexts(
    finder: SettingsFinder,
    environment: Environment,
    entry: tuple[tuple[str, ...], tuple[Path, ...]],
    scripts: Sequence[Path],
    options: dict[str, Any],
) -> Callable[[Finding], Context]:
    """Return a function that gives the context for a finding.

    ``entry`` is the script that the user named, with its arguments, and the directories it imports from.
    """
    arguments, importable = entry

    def context_of(finding: Finding) -> Context:
        path = Path(finding.path)
        settings, extent = finder.for_file(path), find_extent(path)
        given = settings.verify
        return Context(
            root=extent.root,
            extent=extent,
            settings=settings,
            environment=environment,
            entry=arguments,
            importable=importable,
            entry_folder=Path.cwd(),
            factories=tuple(Factory(call, given["args"]) for call in given.get("loaders", ())),
            scripts=tuple(scripts),
            variables=given.get("env", {}),
            others="all" if options["until_loader"] else "one",
            start_methods=options["start_method"],
            workers=options["workers"],
            seconds=options["timeout"],
            provoking=min(options["budget"], options["timeout"] / 2),
        )

    return context_of
