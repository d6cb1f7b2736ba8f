"""``--show-settings``: the settings for a path, as TOML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from forklint import config
from forklint.model import Severity
from forklint.source.paths import from_root


def show_settings(finder: config.SettingsFinder, path: Path) -> None:
    """Print the settings for a path, the enabled rules, and the platforms and start methods that are checked."""
    from forklint.rules import registry  # noqa: PLC0415

    settings = finder.for_folder(from_root(path)) if path.is_dir() else finder.for_file(path)
    enabled = settings.enabled(registry.codes())
    click.echo(f"# from {settings.source or 'defaults'}")
    for key in config.READERS:
        if not key.startswith("target-"):
            click.echo(f"{key} = {_as_toml(getattr(settings, key.replace('-', '_')))}")
    oldest, newest = (".".join(map(str, version)) for version in settings.target_python)
    click.echo(f'target-python = "{oldest}-{newest}"')
    if settings.target_torch is not None:
        first, last = (".".join(map(str, version)) for version in settings.target_torch)
        is_open = settings.target_torch[1] == config.NEWEST_TORCH
        click.echo(f'target-torch = "{f">={first}" if is_open else f"{first}-{last}"}"')
    click.echo(f"# enabled rules: {', '.join(sorted(enabled))}")
    click.echo(f"# platforms and start methods: {', '.join(map(str, settings.cells))}")


def _as_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_as_toml(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_as_toml(item) for item in value) + "]"
    return json.dumps(value.value if isinstance(value, Severity) else value)
