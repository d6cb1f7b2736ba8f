"""The command ``forklint``. It lints if no sub-command is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from forklint import __version__

COMMANDS = {
    "lint": "forklint.cli.lint",
    "verify": "forklint.cli.verify",
    "explain": "forklint.cli.explain",
    "doctor": "forklint.cli.doctor",
    "lint-many": "forklint.cli.lint_many",
    "worker": "forklint.cli.worker",
    "scheduler": "forklint.cli.scheduler",
    "server": "forklint.cli.server",
    "rule": "forklint.cli.rule",
    "config": "forklint.cli.config",
    "init": "forklint.cli.init",
    "clean": "forklint.cli.clean",
}
"""The module of each command, imported when the command is called; its function has the command's name."""


@contextmanager
def visible_errors() -> Iterator[None]:
    """Escape control characters in messages of errors: they quote names, settings and files of other people."""
    try:
        yield
    except click.ClickException as error:
        from forklint.report import visible  # noqa: PLC0415 - most runs end without an error

        vars(error)["message"] = "\n".join(map(visible, error.message.split("\n")))
        raise


class Commands(click.Group):
    """A group that imports its commands lazily; ``lint`` is the default command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command; None if there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name]), cmd_name.replace("-", "_"))
        return command

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """As in click, with the errors that it raises made visible."""
        with visible_errors():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """As in click, with the errors that it raises made visible."""
        with visible_errors():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert ``lint`` if the first argument is no command; ``--version`` needs no command."""
        if not args or args[0] not in {*COMMANDS, "--version", "-V"}:
            args = ["lint", *args]
        return super().parse_args(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", "-V", message="forklint %(version)s")
def main() -> None:
    """Find, fix and prove hazards of PyTorch DataLoader workers."""
