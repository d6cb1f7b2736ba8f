"""``--show-settings``: the settings for a path, as TOML."""

from __future__ import annotations

from pathlib import Path

import click

from forklint import config
from forklint.report import visible
from forklint.settings_reference import as_toml
from forklint.source.paths import from_root


def show_settings(finder: config.SettingsFinder, path: Path) -> None:
    """Print the settings for a path, the enabled rules, and the platforms and start methods that are checked."""
    from forklint.rules import registry  # noqa: PLC0415

    settings = finder.for_folder(from_root(path)) if path.is_dir() else finder.for_file(path)
    enabled = settings.enabled(registry.codes())
    click.echo(f"# from {visible(str(settings.source or 'defaults'))}")
    for key in config.READERS:
        if not key.startswith("target-"):
            click.echo(f"{key} = {as_toml(getattr(settings, key.replace('-', '_')))}")
    oldest, newest = (".".join(map(str, version)) for version in settings.target_python)
    click.echo(f'target-python = "{oldest}-{newest}"')
    if settings.target_torch is not None:
        first, last = (".".join(map(str, version)) for version in settings.target_torch)
        is_open = settings.target_torch[1] == config.NEWEST_TORCH
        click.echo(f'target-torch = "{f">={first}" if is_open else f"{first}-{last}"}"')
    click.echo(f"# enabled rules: {', '.join(sorted(enabled))}")
    click.echo(f"# platforms and start methods: {', '.join(map(str, settings.cells))}")
