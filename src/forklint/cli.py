"""The command ``forklint``: linting and fixing with no sub-command, ``rule`` beside it."""

from __future__ import annotations

import difflib
import io
import json as json_module
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from forklint import __version__, config
from forklint.config import ConfigError
from forklint.model import FileReport, Finding, Severity
from forklint.source.discovery import Missing, find_files

CLEAN, FOUND, FAILED = 0, 1, 2
SKIPPED = ("skipped", "cannot be read")
"""How a note begins that says that a file was not linted."""


class DefaultCommand(click.Group):
    """A group whose first command, ``lint``, is meant when no other is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``lint`` before arguments that name no sub-command."""
        if not args or args[0] not in self.commands:
            args = ["lint", *args]
        return super().parse_args(ctx, args)


class Failure(click.ClickException):
    """Ends the command with one line and the exit code that says that it could not do its work."""

    exit_code = FAILED


class LintCommand(click.Command):
    """The command that is meant when none is named, so its usage does not name it either."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write ``Usage: forklint [OPTIONS] [PATHS]...``."""
        formatter.write_usage(ctx.find_root().info_name or "forklint", " ".join(self.collect_usage_pieces(ctx)))


class Checked(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.2 on alone
    """A parameter read by one of the readers of the configuration, so that both accept the same."""

    def __init__(self, name: str, reader: Any, *, split: bool = False) -> None:
        self.name = name
        self._reader = reader
        self._split = split

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text; a wrong one ends the command with a line that says why."""
        if not isinstance(value, str):
            return value
        try:
            return self._reader([part for part in value.replace(" ", "").split(",") if part] if self._split else value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


CODES = Checked("codes", config.selectors, split=True)


@click.group(cls=DefaultCommand, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Find, fix and prove the hazards of PyTorch worker processes."""


@main.command(
    cls=LintCommand,
    epilog="Also: `forklint rule CODE` prints a rule's page. A path named like a command is reached as ./rule.",
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--fix", is_flag=True, help="Apply safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="Let --fix and --diff apply fixes that must be judged, too.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--show-fixes", is_flag=True, help="List the fixes that were applied.")
@click.option("--select", type=CODES, multiple=True, help="Rules to run: codes, prefixes, names, ALL.")
@click.option("--ignore", type=CODES, multiple=True, help="Rules to leave out.")
@click.option("--extend-select", type=CODES, multiple=True, help="Like --select, on top of the configuration.")
@click.option("--extend-ignore", type=CODES, multiple=True, help="Like --ignore, on top of the configuration.")
@click.option("--per-file-ignores", multiple=True, metavar="PATTERN:CODES", help="Rules to leave out in some files.")
@click.option("--preview", is_flag=True, default=None, help="Run rules that are still in preview.")
@click.option(
    "--platform", type=Checked("platforms", config.platforms, split=True), multiple=True, help="linux, darwin, windows."
)
@click.option(
    "--target-python", type=Checked("python", config.python_range), help="Where the code runs: 3.12 or 3.10-3.13."
)
@click.option(
    "--exit-on", type=Checked("severity", config.severity), help="Lowest severity that fails: info, warning, error."
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 though there be findings.")
@click.option("--output-format", type=click.Choice(["full", "concise", "json"]), default="full", show_default=True)
@click.option("--statistics", is_flag=True, help="Count findings by rule instead of listing them.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Use this file and no other.")
@click.option("--isolated", is_flag=True, help="Read no configuration.")
@click.option("--show-settings", is_flag=True, help="Print the settings for the first path and end.")
@click.option("--show-files", is_flag=True, help="Print the files that would be linted and end.")
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
    """Lint PATHS (files and folders, by default the current one), and fix them with --fix."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without Unicode shows what it can
    ctx.color = {"always": True, "never": False}.get(options["color"])
    try:
        sys.exit(run(options))
    except ConfigError as error:
        raise Failure(str(error)) from None
    except (click.ClickException, click.Abort, BrokenPipeError):
        raise
    except Exception as error:  # a crash must not look like findings (exit code 1)
        if options["verbose"]:
            raise
        raise Failure(
            f"forklint itself failed ({type(error).__name__}: {error}); -v shows where, please report it"
        ) from None


def run(options: dict[str, Any]) -> int:
    """Do what the options of ``lint`` say; gives the exit code; raises ConfigError."""
    from forklint.parallel import Job, fix_all  # noqa: PLC0415 - `--version` and `--help` need none of it
    from forklint.parallel import lint as lint_files  # noqa: PLC0415

    finder = config.SettingsFinder(_overrides(options), config=options["config_file"], isolated=options["isolated"])
    paths = options["paths"] or (Path(),)
    if options["show_settings"]:
        return _show_settings(finder, paths[0])
    found = list(find_files(paths, lambda path: finder.for_file(path).excludes(path)))
    missing = [item for item in found if isinstance(item, Missing)]
    files = [item for item in found if isinstance(item, Path)]
    for item in missing:
        _say(f"{item.path}: {item.reason}")
    if options["show_files"]:
        click.echo("".join(f"{path}\n" for path in files), nl=False)
        return FAILED if missing else CLEAN
    for path in files:
        finder.for_file(path)  # a wrong configuration is said before any work is done
    job = Job(
        overrides=_overrides(options),
        config=options["config_file"],
        isolated=options["isolated"],
        screen=not options["no_screen"],
        with_fixes=not options["statistics"] or options["fix"],
    )
    if options["fix"] or options["diff"]:
        write = options["fix"] and not options["diff"]
        results = fix_all(job, files, options["jobs"], unsafe=options["unsafe_fixes"], write=write)
        reports = [result.report for result in results]
        if options["diff"]:
            code = _show_diff(results, reports, missing)
            return CLEAN if options["exit_zero"] and code == FOUND else code
    else:
        results, reports = [], lint_files(job, files, options["jobs"])
    _print_notes(reports, verbose=options["verbose"] or options["fix"])
    findings = _print_findings(reports, options)
    if options["fix"]:
        _print_fixed(results, findings, options)
    elif not options["quiet"] and options["output_format"] != "json":
        _print_summary(findings, reports)
    return _exit_code(reports, missing, finder, exit_zero=options["exit_zero"])


def _overrides(options: dict[str, Any]) -> dict[str, Any]:
    """Settings that the command line gives, by the names of Settings' fields."""
    values: dict[str, Any] = {}
    for name, key in (
        ("select", "select"),
        ("ignore", "ignore"),
        ("extend_select", "extend_select"),
        ("extend_ignore", "extend_ignore"),
        ("platform", "platforms"),
    ):
        if options[name]:
            values[key] = tuple(word for words in options[name] for word in words)
    for name in ("target_python", "exit_on", "preview"):
        if options[name] is not None:
            values[name] = options[name]
    if options["per_file_ignores"]:
        values["per_file_ignores"] = _per_file_ignores(options["per_file_ignores"])
    return values


def _per_file_ignores(pairs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    ignores: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        pattern, colon, words = pair.rpartition(":")
        try:
            if not colon or not pattern:
                raise ValueError("write PATTERN:CODES, for example tests/*:FKL201")
            codes = config.selectors([word.strip() for word in words.split(",") if word.strip()])
        except ValueError as error:
            raise Failure(f"--per-file-ignores '{pair}': {error}") from None
        ignores[pattern] = (*ignores.get(pattern, ()), *codes)
    return ignores


def _print_findings(reports: Sequence[FileReport], options: dict[str, Any]) -> list[Finding]:
    from forklint import report  # noqa: PLC0415
    from forklint.report import concise, full  # noqa: PLC0415
    from forklint.report import json as json_report  # noqa: PLC0415

    findings = report.all_findings(reports)
    if options["statistics"]:
        _print_statistics(findings, as_json=options["output_format"] == "json")
    else:
        render = {"full": full.render, "concise": concise.render, "json": json_report.render}[options["output_format"]]
        click.echo(render(findings), nl=False)
    return findings


def _print_statistics(findings: Sequence[Finding], *, as_json: bool) -> None:
    counts = Counter((finding.code, finding.name) for finding in findings)
    if as_json:
        rows = [{"code": code, "name": name, "count": number} for (code, name), number in counts.most_common()]
        click.echo(json_module.dumps(rows, indent=2))
        return
    for (code, name), number in counts.most_common():
        click.echo(f"{number:>6}  {code}  {name}")


def _print_summary(findings: Sequence[Finding], reports: Sequence[FileReport]) -> None:
    from forklint.report import Summary  # noqa: PLC0415

    if not reports:
        _say("warning: no Python files found under the given paths")
        return
    skipped = sum(note.message.startswith(SKIPPED) for report in reports for note in report.notes)
    if findings or skipped < len(reports):
        click.echo(Summary.of(findings).line())


def _print_fixed(results: Sequence[Any], findings: Sequence[Finding], options: dict[str, Any]) -> None:
    from forklint.report import Summary  # noqa: PLC0415

    applied = [finding for result in results for finding in result.applied]
    if options["show_fixes"]:
        for finding in applied:
            click.echo(
                f"fixed {finding.path}:{finding.span.row}: {finding.code} {finding.fix.message if finding.fix else ''}"
            )
    if options["quiet"] or options["output_format"] == "json":
        return
    summary = Summary.of(findings)
    tail = "" if options["unsafe_fixes"] else f", {summary.unsafe} more with --unsafe-fixes"
    click.echo(f"{len(applied)} fixed{tail}, {summary.findings} left")


def _print_notes(reports: Sequence[FileReport], *, verbose: bool) -> None:
    for report in reports:
        for note in report.notes:
            if note.failure or verbose or not report.findings:
                _say(f"{note.path}: {note.message}")


def _show_diff(results: Sequence[Any], reports: Sequence[FileReport], missing: Sequence[Missing]) -> int:
    from forklint.edits.text import split_lines  # noqa: PLC0415
    from forklint.report import visible  # noqa: PLC0415

    changed = 0
    for result in results:
        if result.changed:
            changed += 1
            before, after, name = split_lines(result.before), split_lines(result.after), visible(result.report.path)
            for line in difflib.unified_diff(before, after, name, name):
                color = {"+": "green", "-": "red", "@": "cyan"}.get(line[0])
                click.echo(
                    click.style(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n", fg=color),
                    nl=False,
                )
    _print_notes(reports, verbose=True)
    _say(f"{changed} file{'' if changed == 1 else 's'} would change")
    if missing or any(note.failure for report in reports for note in report.notes):
        return FAILED
    return FOUND if changed else CLEAN


def _exit_code(
    reports: Sequence[FileReport], missing: Sequence[Missing], finder: config.SettingsFinder, *, exit_zero: bool
) -> int:
    if missing or any(note.failure for report in reports for note in report.notes):
        return FAILED
    if exit_zero:
        return CLEAN
    for report in reports:
        threshold: Severity = finder.for_file(Path(report.path)).exit_on
        if any(finding.severity.rank >= threshold.rank for finding in report.findings):
            return FOUND
    return CLEAN


def _show_settings(finder: config.SettingsFinder, path: Path) -> int:
    from forklint.rules import registry  # noqa: PLC0415

    settings = finder.for_folder(path.absolute()) if path.is_dir() else finder.for_file(path)
    enabled = settings.enabled(registry.codes())
    click.echo(f"# from {settings.source or 'defaults'}")
    for key in config.READERS:
        if key != "target-python":
            click.echo(f"{key} = {_as_toml(getattr(settings, key.replace('-', '_')))}")
    oldest, newest = (".".join(map(str, version)) for version in settings.target_python)
    click.echo(f'target-python = "{oldest}-{newest}"')
    click.echo(f"# rules that run: {', '.join(sorted(enabled))}")
    click.echo(f"# cells: {', '.join(map(str, settings.cells))}")
    return CLEAN


def _as_toml(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{json_module.dumps(k)} = {_as_toml(v)}" for k, v in value.items()) + " }"
            if value
            else "{}"
        )
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_as_toml(item) for item in value) + "]"
    return json_module.dumps(value.value if isinstance(value, Severity) else value)


@main.command()
@click.argument("rule", required=False)
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
        click.echo(
            json_module.dumps([pages.to_dict(one) for one in chosen] if every else pages.to_dict(chosen[0]), indent=2)
        )
    else:
        click.echo("\n\n".join(pages.to_markdown(one).rstrip() for one in chosen))


def _say(line: str) -> None:
    """Print to standard error, with characters that cannot be printed made visible."""
    from forklint.report import visible  # noqa: PLC0415

    click.echo(f"forklint: {visible(line)}", err=True)
