"""The command ``forklint lint``, which is the default: its options."""

from __future__ import annotations

import gc
import io
import sys
from pathlib import Path
from typing import Any

import click

from forklint import __version__
from forklint.cli.errors import one_line_errors
from forklint.cli.parameters import CODES, PLATFORM, PYTHON, SEVERITY, complete_file_rules, complete_paths
from forklint.report.formats import FORMATS


class LintCommand(click.Command):
    """The default command: its usage leaves out its name, and its help lists the other commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read ``--add-noqa`` as ``--add-noqa=``: its value is optional, and what follows is a path."""
        end = args.index("--") if "--" in args else len(args)
        args[:end] = ["--add-noqa=" if word == "--add-noqa" else word for word in args[:end]]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write ``Usage: forklint [OPTIONS] [PATHS]...``."""
        formatter.write_usage(ctx.find_root().info_name or "forklint", " ".join(self.collect_usage_pieces(ctx)))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the other commands."""
        group = ctx.find_root().command
        if isinstance(group, click.Group):
            names = [name for name in group.list_commands(ctx) if name != self.name]
            rows = [(name, one.get_short_help_str()) for name in names if (one := group.get_command(ctx, name))]
            with formatter.section("Commands"):
                formatter.write_dl(rows)
        super().format_epilog(ctx, formatter)


@click.command(
    cls=LintCommand,
    short_help="Find and fix hazards (the default command).",
    epilog="To lint a file or directory that has the name of a command, write ./rule.",
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), shell_complete=complete_paths)
@click.option("--stdin-filename", type=click.Path(path_type=Path), help="File name of the code on standard input.")
@click.option("--fix", is_flag=True, help="Apply safe fixes.")
@click.option("--fix-only", is_flag=True, help="Apply safe fixes, but do not report remaining findings.")
@click.option("--unsafe-fixes", is_flag=True, help="Include fixes that may change what the code does.")
@click.option("--diff", is_flag=True, help="Show a diff of what --fix would change, without writing files.")
@click.option("--show-fixes", is_flag=True, help="List all applied fixes.")
@click.option(
    "--baseline", type=click.Path(path_type=Path, dir_okay=False), help="Hide findings recorded in this file."
)
@click.option("--update-baseline", is_flag=True, help="Record all current findings in the baseline.")
@click.option("--only-confirmed", is_flag=True, help="Report only findings that `forklint verify` has confirmed.")
@click.option("--add-noqa", metavar="[=REASON]", help="Add `# noqa` comments for all current findings.")
@click.option("--watch", is_flag=True, help="Run again whenever a file changes.")
@click.option("--select", type=CODES, multiple=True, help="Rules to enable: codes, prefixes, names or ALL.")
@click.option("--ignore", type=CODES, multiple=True, help="Rules to disable.")
@click.option("--extend-select", type=CODES, multiple=True, help="Like --select, but adds to the configured rules.")
@click.option("--extend-ignore", type=CODES, multiple=True, help="Like --ignore, but adds to the configured rules.")
@click.option(
    "--per-file-ignores",
    multiple=True,
    metavar="PATTERN:CODES",
    shell_complete=complete_file_rules,
    help="Rules to disable in matching files.",
)
@click.option(
    "--force-exclude", is_flag=True, default=None, help="Exclude files even if they are passed on the command line."
)
@click.option("--preview", is_flag=True, default=None, help="Enable preview rules.")
@click.option(
    "--platform", type=PLATFORM, multiple=True, help="Platforms that the code runs on: linux, darwin, windows."
)
@click.option(
    "--target-python",
    type=PYTHON,
    help="Python versions that the code runs on, for example 3.12 or 3.10-3.13.",
)
@click.option("--exit-on", type=SEVERITY, help="Lowest severity that leads to exit code 1: info, warning, error.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if a fix was applied.")
@click.option(
    "--output-format", type=click.Choice(list(FORMATS)), default="full", show_default=True, help="Output format."
)
@click.option("--output-file", type=click.Path(path_type=Path), help="Write the report to this file.")
@click.option("--statistics", is_flag=True, help="Show the number of findings for each rule.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Configuration file to use.")
@click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
@click.option("--show-settings", is_flag=True, help="Show the settings for the first path, then exit.")
@click.option("--show-files", is_flag=True, help="List the files that would be linted, then exit.")
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="FORKLINT_CACHE_DIR",
    show_envvar=True,
    help="Path to the cache directory.",
)
@click.option(
    "--no-cache",
    is_flag=True,
    envvar="FORKLINT_NO_CACHE",
    show_envvar=True,
    help="Do not read or write the cache.",
)
@click.option(
    "--explain-cache",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Show why the next run would lint FILE again instead of using the cache, then exit.",
)
@click.option("--no-screen", is_flag=True, help="Run every rule on every file. Slower, with the same findings.")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), help="Number of processes to use.  [default: number of CPU cores]"
)
@click.option("-q", "--quiet", is_flag=True, help="Print findings, but nothing else.")
@click.option("-v", "--verbose", is_flag=True, help="Also print notes about skipped files.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="When to use colors.",
)
@click.version_option(__version__, "--version", "-V", message="forklint %(version)s")
@click.pass_context
def lint(ctx: click.Context, /, **options: Any) -> None:
    """Find hazards of PyTorch DataLoader workers in PATHS, and fix them with --fix.

    PATHS are files and directories, or `-` for standard input. The default is the current directory.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without Unicode shows what it can
    if options["output_file"] == Path("-"):  # standard output, as in other commands
        options["output_file"] = None
    ctx.color = False if options["output_file"] else {"always": True, "never": False}.get(options["color"])
    gc.disable()  # there is next to no garbage in what is imported and known
    with one_line_errors(verbose=options["verbose"]):
        from forklint.cli.run import run  # noqa: PLC0415 - `--help` needs none of it

        code = run(options)
        gc.freeze()  # everything lives until the process ends: a last collection would take a tenth of the run
        sys.exit(code)
