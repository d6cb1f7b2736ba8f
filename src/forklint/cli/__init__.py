"""The command ``forklint``: linting and fixing with no sub-command, the others beside it."""

from __future__ import annotations

from importlib import import_module

import click

from forklint import __version__

COMMANDS = {
    "lint": "forklint.cli.lint",
    "verify": "forklint.cli.verify",
    "doctor": "forklint.cli.doctor",
    "server": "forklint.cli.server",
    "rule": "forklint.cli.rule",
    "init": "forklint.cli.init",
    "clean": "forklint.cli.clean",
}
"""Each command's module, imported when the command is called; the function has the command's name."""


class Commands(click.Group):
    """A group whose commands lie in modules of their own; ``lint`` is meant when none is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command; None if there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name]), cmd_name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``lint`` before arguments that name no command; the version is said without it, and sooner."""
        if not args or args[0] not in {*COMMANDS, "--version", "-V"}:
            args = ["lint", *args]
        return super().parse_args(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", "-V", message="forklint %(version)s")
def main() -> None:
    """Find, fix and prove the hazards of PyTorch worker processes."""
