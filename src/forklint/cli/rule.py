"""The command ``forklint rule``: the page of a rule."""

from __future__ import annotations

import json

import click

from forklint import config
from forklint.cli.ending import Failure
from forklint.cli.parameters import complete_rule


@click.command()
@click.argument("rule", required=False, shell_complete=complete_rule)
@click.option("--all", "every", is_flag=True, help="All rules.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rule(rule: str | None, every: bool, output_format: str) -> None:  # noqa: FBT001 - click passes flags so
    """Print the page of RULE (a code or a name), or of all rules."""
    from forklint import pages  # noqa: PLC0415
    from forklint.rules import registry  # noqa: PLC0415

    if every:
        chosen = list(registry.all_rules())
    elif rule is None:
        raise Failure("name a rule, for example `forklint rule FKL301`, or pass --all")
    else:
        one = registry.find(rule)
        if one is None:
            words = [word for code, (name, _) in registry.codes().items() for word in (code, name)]
            raise Failure(f"no rule '{rule}'{config.nearest(rule, words)}")
        chosen = [one]
    if output_format == "json":
        click.echo(json.dumps([pages.to_dict(one) for one in chosen] if every else pages.to_dict(chosen[0]), indent=2))
    else:
        click.echo("\n\n".join(pages.to_markdown(one).rstrip() for one in chosen))
