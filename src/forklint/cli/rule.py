"""The command ``forklint rule``: the documentation of a rule."""

from __future__ import annotations

import json

import click

from forklint import config
from forklint.cli.errors import Failure
from forklint.cli.parameters import complete_rule


@click.command(short_help="Explain a rule.")
@click.argument("rule", required=False, shell_complete=complete_rule)
@click.option("--all", "every", is_flag=True, help="Explain all rules.")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output format."
)
def rule(rule: str | None, every: bool, output_format: str) -> None:  # noqa: FBT001 - click passes flags so
    """Explain RULE (a code such as FKL301, or a name), or all rules."""
    from forklint import pages  # noqa: PLC0415
    from forklint.rules import registry  # noqa: PLC0415

    if every:
        chosen = list(registry.all_rules())
    elif rule is None:
        raise Failure("missing rule: pass a code or name, for example `forklint rule FKL301`, or --all")
    else:
        one = registry.find(rule)
        if one is None:
            words = [word for code, (name, _) in registry.codes().items() for word in (code, name)]
            raise Failure(f"unknown rule '{rule}'{config.nearest(rule, words)}")
        chosen = [one]
    if output_format == "json":
        click.echo(json.dumps([pages.to_dict(one) for one in chosen] if every else pages.to_dict(chosen[0]), indent=2))
    else:
        click.echo("\n\n".join(pages.to_markdown(one).rstrip() for one in chosen))
