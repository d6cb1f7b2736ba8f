"""The command that is meant when none is named: its options."""

from __future__ import annotations

import gc
import io
import sys
from pathlib import Path
from typing import Any

import click

from forklint import __version__, config
from forklint.cli.ending import one_line_errors
from forklint.cli.parameters import CODES, PLATFORM, SEVERITY, Checked, complete_paths
from forklint.report.formats import FORMATS


class LintCommand(click.Command):
    """The command that is meant when none is named, so its usage does not name it either."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read ``--add-noqa`` as ``--add-noqa=``: its value is optional, and what follows is a path."""
        end = args.index("--") if "--" in args else len(args)
        args[:end] = ["--add-noqa=" if word == "--add-noqa" else word for word in args[:end]]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write ``Usage: forklint [OPTIONS] [PATHS]...``."""
        formatter.write_usage(ctx.find_root().info_name or "forklint", " ".join(self.collect_usage_pieces(ctx)))


@click.command(
    cls=LintCommand,
    epilog="Also: `forklint init` adds forklint to a project, `forklint rule CODE` prints a rule's page, "
    "`forklint explain` goes from a crash log to the findings that fit, "
    "`forklint clean` removes what runs have kept. "
    "A path named like a command is reached as ./rule.",
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), shell_complete=complete_paths)
@click.option("--stdin-filename", type=click.Path(path_type=Path), help="What the text of `-` is the content of.")
@click.option("--fix", is_flag=True, help="Apply safe fixes.")
@click.option("--fix-only", is_flag=True, help="Apply safe fixes and speak of nothing else.")
@click.option("--unsafe-fixes", is_flag=True, help="Let --fix and --diff apply fixes that must be judged, too.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--show-fixes", is_flag=True, help="List the fixes that were applied.")
@click.option("--baseline", type=click.Path(path_type=Path, dir_okay=False), help="Report what is not in this file.")
@click.option("--update-baseline", is_flag=True, help="Put all findings into the baseline.")
@click.option("--only-confirmed", is_flag=True, help="Report only findings that `forklint verify` has confirmed.")
@click.option("--add-noqa", metavar="[=REASON]", help="Silence all findings by `# noqa` comments.")
@click.option("--watch", is_flag=True, help="Lint again at each change, until Ctrl-C.")
@click.option("--select", type=CODES, multiple=True, help="Rules to run: codes, prefixes, names, ALL.")
@click.option("--ignore", type=CODES, multiple=True, help="Rules to leave out.")
@click.option("--extend-select", type=CODES, multiple=True, help="Like --select, on top of the configuration.")
@click.option("--extend-ignore", type=CODES, multiple=True, help="Like --ignore, on top of the configuration.")
@click.option("--per-file-ignores", multiple=True, metavar="PATTERN:CODES", help="Rules to leave out in some files.")
@click.option("--force-exclude", is_flag=True, default=None, help="Leave out excluded files though they be named.")
@click.option("--preview", is_flag=True, default=None, help="Run rules that are still in preview.")
@click.option("--platform", type=PLATFORM, multiple=True, help="linux, darwin, windows.")
@click.option(
    "--target-python", type=Checked("python", config.python_range), help="Where the code runs: 3.12 or 3.10-3.13."
)
@click.option("--exit-on", type=SEVERITY, help="Lowest severity that fails: info, warning, error.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 though there be findings.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if something was fixed.")
@click.option("--output-format", type=click.Choice(list(FORMATS)), default="full", show_default=True)
@click.option("--output-file", type=click.Path(path_type=Path), help="Write the report to this file.")
@click.option("--statistics", is_flag=True, help="Count findings by rule instead of listing them.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Use this file and no other.")
@click.option("--isolated", is_flag=True, help="Read no configuration.")
@click.option("--show-settings", is_flag=True, help="Print the settings for the first path and end.")
@click.option("--show-files", is_flag=True, help="Print the files that would be linted and end.")
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="FORKLINT_CACHE_DIR",
    help="Keep findings for the next run in this folder.",
)
@click.option(
    "--no-cache", is_flag=True, envvar="FORKLINT_NO_CACHE", help="Neither use nor keep findings of other runs."
)
@click.option(
    "--explain-cache",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Print why FILE would be linted again, and exit.",
)
@click.option("--no-screen", is_flag=True, help="Ask every rule about every file: slower, with the same findings.")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), help="Processes to use; as many as there are cores by default."
)
@click.option("-q", "--quiet", is_flag=True, help="Print findings alone.")
@click.option("-v", "--verbose", is_flag=True, help="Print notes on files that were passed over.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
@click.version_option(__version__, "--version", "-V", message="forklint %(version)s")
@click.pass_context
def lint(ctx: click.Context, /, **options: Any) -> None:
    """Lint PATHS (files and folders, by default the current one; `-` is standard input), and fix them with --fix."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without Unicode shows what it can
    if options["output_file"] == Path("-"):  # standard output, as in other commands
        options["output_file"] = None
    ctx.color = False if options["output_file"] else {"always": True, "never": False}.get(options["color"])
    gc.disable()  # there is next to no garbage in what is imported and known
    with one_line_errors(verbose=options["verbose"]):
        from forklint.cli.run import run  # noqa: PLC0415 - `--help` needs none of it

        code = run(options)
        gc.freeze()  # all of it lives until the process ends: looking for what could go first takes a tenth of a run
        sys.exit(code)
