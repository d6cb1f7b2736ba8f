"""Commands whose line has a second part behind ``--``."""

from __future__ import annotations

import click


class CommandWithRest(click.Command):
    """What stands behind ``--`` is not for the command's own options, whatever it looks like."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep it aside in ``ctx.obj``; None if there is no ``--``."""
        ctx.obj = None
        if "--" in args:
            place = args.index("--")
            args, ctx.obj = args[:place], tuple(args[place + 1 :])
        return super().parse_args(ctx, self.own_words(args))

    def own_words(self, args: list[str]) -> list[str]:
        """What stands before ``--``, as click is to read it."""
        return args
