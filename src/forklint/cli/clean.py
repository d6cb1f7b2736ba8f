"""The command ``forklint clean``: removes caches."""

from __future__ import annotations

from pathlib import Path

import click

from forklint.cli.errors import Failure, one_line_errors
from forklint.config import ConfigError, SettingsFinder
from forklint.report import count, visible
from forklint.source.paths import shown
from forklint.source.roots import find_extent
from forklint.store import folder


@click.command(options_metavar="[OPTIONS]", short_help="Remove caches.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="FORKLINT_CACHE_DIR",
    help="Path to the cache directory, if no configuration names it.",
)
def clean(paths: tuple[Path, ...], cache_dir: Path | None) -> None:
    """Remove the caches of all projects in PATHS (default: the current directory)."""
    with one_line_errors(verbose=False):
        found = dict.fromkeys(path.absolute() for path in _caches(paths or (Path(),), cache_dir))
        removed = [path for path in found if folder.is_cache(path)]
        for path in removed:
            try:
                files = folder.remove(path)
            except OSError as error:
                raise Failure(f"cannot remove {path}: {error.strerror or error}") from None
            click.echo(f"removed {visible(shown(path))} ({count(files, 'file')})")
        if not removed:
            click.echo("nothing to remove")


def _caches(paths: tuple[Path, ...], named: Path | None) -> list[Path]:
    """The cache directories that runs on these paths may have used."""
    found = [named] if named is not None else []
    for path in paths:
        inside = path / "x" if path.is_dir() else path
        extent = find_extent(inside)
        try:
            configured = folder.folder_of(extent, SettingsFinder().for_file(inside))
        except ConfigError:  # caches are removed even if the settings are invalid
            configured = None
        found += [configured] if configured else []
        found += [*(folder.below(extent.root) if extent.is_marked else ()), *folder.below(path)]
    return found
