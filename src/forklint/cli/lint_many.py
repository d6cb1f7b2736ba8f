"""The command ``forklint lint-many``: lints many repositories on other machines."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forklint.cli.connection import connected, tls_options
from forklint.cli.errors import CLEAN, FAILED, FOUND, Failure, one_line_errors
from forklint.cli.output import say
from forklint.cli.parameters import CODES, complete_scheduler
from forklint.report import count

if TYPE_CHECKING:
    from forklint.remote.cluster import Cluster
    from forklint.remote.repositories import Linted
    from forklint.remote.rows import Rows


@click.command("lint-many", short_help="Lint many repositories on other machines.")
@click.argument("list_file", metavar="LIST", type=click.File(encoding="utf-8", errors="surrogateescape"))
@click.option(
    "--on",
    metavar="SCHEDULER",
    required=True,
    shell_complete=complete_scheduler,
    help="Scheduler of the workers, such as tcp://scheduler:8786.",
)
@tls_options
@click.option(
    "--output-file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="Write findings to this file: .jsonl, or .parquet if pyarrow is installed.",
)
@click.option("--select", type=CODES, multiple=True, help="Rules to enable: codes, prefixes, names or ALL.")
@click.option("--ignore", type=CODES, multiple=True, help="Rules to disable.")
@click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("-v", "--verbose", is_flag=True, help="Show the traceback of internal errors.")
def lint_many(**options: Any) -> None:
    """Lint all repositories of LIST on the workers of a scheduler.

    LIST is a text file, or `-`, with one directory or archive per line. The output has one line of JSON for each
    finding, with the key `repository`. A run that was interrupted continues where it stopped, and repositories that
    have not changed since are not linted again. Workers keep what they learn, so a changed repository takes less time.

    Exit codes: 0 if there are no findings, 1 if there are, 2 if a repository could not be linted.
    """
    with one_line_errors(verbose=options["verbose"]):
        sys.exit(_lint_many(options))


def _lint_many(options: dict[str, Any]) -> int:
    target: Path = options["output_file"]
    is_table = target.suffix == ".parquet"
    if is_table and find_spec("pyarrow") is None:
        raise Failure("Parquet needs pyarrow: pip install 'forklint[parquet]'")
    names = _names(options["list_file"])
    with connected(options) as cluster:
        from forklint.remote.rows import Rows, RowsError, to_parquet  # noqa: PLC0415 - forklint[dask]

        words = _words(options)
        path = target.with_suffix(".jsonl") if is_table else target
        try:
            with Rows(path, " ".join(words)) as rows:
                failed = _run(cluster, names, words, rows, quiet=options["quiet"])
                rows.tidy(names)
            if is_table:
                to_parquet(path, target)
        except RowsError as error:
            raise Failure(str(error)) from None
    found = count(rows.findings, "finding")
    say(f"{len(rows.done)} of {len(names)} repositories linted: {found} in {target}")
    if failed:
        return FAILED
    return FOUND if rows.findings and not options["exit_zero"] else CLEAN


def _names(file: Any) -> list[str]:
    """The lines of the list, each once; raises Failure if there are none."""
    lines = (line.strip() for line in file)
    names = list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))
    if not names:
        raise Failure(f"{file.name}: no repositories")
    return names


def _words(options: dict[str, Any]) -> list[str]:
    """The options of lint, as workers take them."""
    words = [
        f"{name}={','.join(str(code) for some in options[name] for code in some)}" for name in ("select", "ignore")
    ]
    return [word for word in words if not word.endswith("=")] + ["isolated"] * options["isolated"]


def _run(cluster: Cluster, names: Sequence[str], words: Sequence[str], rows: Rows, *, quiet: bool) -> bool:
    """Lint, write and show progress; returns whether something could not be linted."""
    from rich.console import Console  # noqa: PLC0415 - `--help` needs none of it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    from forklint.remote.repositories import Linting  # noqa: PLC0415 - forklint[dask]

    machines = cluster.machines()
    if not machines:
        raise Failure("the scheduler has no workers: start one with `forklint worker`")
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
    failures: list[str] = []
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        bar = progress.add_task("linting", total=len(names))

        def write(done: Linted | None) -> None:
            progress.advance(bar)
            if done is None:
                return
            rows.write(done)
            failures.extend([done.error] if done.error else [f"{done.name}: {text}" for text in done.failures])

        Linting(cluster, words, write).run(names, machines, dict(rows.done))
    for text in failures:
        say(text)
    return bool(failures)
