"""The command ``forklint init``: shows the changes that set up forklint in a project, asks, and writes them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forklint.cli.errors import CLEAN, FOUND, Failure, one_line_errors
from forklint.source.paths import from_root

if TYPE_CHECKING:
    from forklint.setup.proposal import Project, Proposal

NOT_WRITTEN = FOUND
"""The exit code if there are changes that were not written, as with ``--diff``."""


@click.command(short_help="Add forklint to a project.")
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False), default=Path())
@click.option("-y", "--yes", is_flag=True, help="Write the changes without asking.")
@click.option("--no-config", is_flag=True, help="Do not change the configuration.")
@click.option("--no-hook", is_flag=True, help="Do not add a commit hook.")
@click.option("--no-ci", is_flag=True, help="Do not change CI workflows.")
@click.option("--no-editor", is_flag=True, help="Do not change editor settings.")
def init(directory: Path, **options: bool) -> None:
    """Add forklint to the project in DIRECTORY (default: the current directory).

    Proposes a section in pyproject.toml and a pre-commit hook; a workflow or job if the repository uses GitHub Actions
    or GitLab CI; and settings for VS Code if there is a .vscode directory. The changes are shown as a diff and written
    only after you agree. Without a terminal, they are only shown, unless you pass --yes. Existing settings are never
    overwritten.

    Exit codes: 0 if there is nothing left to do, 1 if there is, 2 if forklint failed.
    """
    with one_line_errors(verbose=False):
        sys.exit(_init(directory, **options))


def _init(folder: Path, *, yes: bool, **left_out: bool) -> int:
    from forklint.setup.advice import advice  # noqa: PLC0415 - `--help` needs none of it
    from forklint.setup.proposal import find_project  # noqa: PLC0415

    if not folder.is_dir():
        raise Failure(f"{folder}: no such directory")
    project = find_project(folder)
    if project is None:
        raise Failure(
            f"{from_root(folder)} is not in a project: there is no pyproject.toml, forklint.toml, setup.py, setup.cfg "
            "or .git, neither here nor in a parent directory below the home directory; create one of them first"
        )
    proposals = _proposals(project, **left_out)
    _show(proposals)
    for line in advice(project.folder):
        click.echo(f"advice: {line}")
    changes = [proposal for proposal in proposals if proposal.after is not None]
    by_hand = any(proposal.by_hand for proposal in proposals)
    if not changes:
        if not by_hand:
            click.echo("Nothing to change.")
        return NOT_WRITTEN if by_hand else CLEAN
    if not yes:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            click.echo("Nothing written. Run with --yes to write these changes.")
            return NOT_WRITTEN
        if not click.confirm("Write these changes?", default=False):
            click.echo("Nothing written.")
            return NOT_WRITTEN
    _write(changes)
    if project.repository and any(change.path.name == ".pre-commit-config.yaml" for change in changes):
        click.echo("Next: run `pre-commit install` once in each clone, and `forklint .` to see the current findings.")
    return NOT_WRITTEN if by_hand else CLEAN


def _proposals(project: Project, *, no_config: bool, no_hook: bool, no_ci: bool, no_editor: bool) -> list[Proposal]:
    from forklint.setup import ci, editor, hook, section  # noqa: PLC0415

    proposals = [] if no_config else [section.propose(project)]
    if not no_hook:
        proposed = hook.propose(project)
        if proposed is None:
            click.echo(f"{_name(project.folder)}: not a git repository, so no commit hook")
        else:
            proposals.append(proposed)
    if not no_ci:
        proposals += ci.propose(project)
    settings = None if no_editor else editor.propose(project)
    return [*proposals, settings] if settings else proposals


def _show(proposals: Sequence[Proposal]) -> None:
    from forklint.cli.output import print_difference  # noqa: PLC0415

    for proposal in proposals:
        name = _name(proposal.path)
        if proposal.note:
            click.echo(f"{name}: {proposal.note}")
        elif proposal.by_hand:
            click.echo(f"{name}: cannot be changed automatically; add this yourself:")
            click.echo(proposal.by_hand)
        elif proposal.after is not None:
            before = "" if proposal.before is None else proposal.before.decode()
            print_difference(before, proposal.after.decode(), name, new=proposal.before is None)


def _write(changes: Sequence[Proposal]) -> None:
    """Write the files, in order; raises Failure naming the first that cannot be written."""
    from forklint.fixing import write_atomically  # noqa: PLC0415

    for change in changes:
        after = change.after or b""
        failure = _create(change.path, after) if change.before is None else ""
        if change.before is not None:
            failure = write_atomically(change.path, after, change.before)
        if failure:
            raise Failure(f"{change.path}: not written: {failure}")
        click.echo(f"wrote {_name(change.path)}")


def _create(path: Path, data: bytes) -> str:
    """Create a file with its directory; returns why this failed, else ``''``."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _name(path: Path) -> str:
    """A path as seen from the working directory."""
    from forklint.report import visible  # noqa: PLC0415

    relative = os.path.relpath(path)
    return visible(str(path) if relative.startswith(os.pardir + os.sep + os.pardir) else Path(relative).as_posix())
