"""The command ``forklint config``: what the keys of the configuration mean."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from forklint.cli.errors import Failure
from forklint.cli.parameters import completions

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _complete_key(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a key."""
    from forklint.settings_reference import SETTINGS  # noqa: PLC0415 - only a shell that completes needs it

    return completions((one.key, one.summary) for one in SETTINGS if one.key.startswith(incomplete))


@click.command(short_help="List or explain the settings.")
@click.argument("key", required=False, shell_complete=_complete_key)
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Output format.",
)
def config(key: str | None, output_format: str) -> None:
    """List the settings of forklint, or explain the setting KEY."""
    from forklint.config import nearest  # noqa: PLC0415 - `--help` needs none of it
    from forklint.settings_reference import BY_KEY, SETTINGS  # noqa: PLC0415

    if key is not None and key not in BY_KEY:
        raise Failure(f"unknown key '{key}'{nearest(key, BY_KEY)}")
    if output_format == "json":
        told = [one.to_dict() for one in SETTINGS] if key is None else BY_KEY[key].to_dict()
        click.echo(json.dumps(told, indent=2))
    elif key is not None:
        click.echo(BY_KEY[key].to_text(), nl=False)
    else:
        for one in SETTINGS:
            click.echo(one.key)
