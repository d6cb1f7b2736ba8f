"""The types of option values: parsed, completed in a shell, and turned into settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from forklint import config
from forklint.cli.errors import Failure
from forklint.model import NEWEST_PYTHON, OLDEST_PYTHON, PLATFORMS, Severity
from forklint.source.paths import from_root

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def completions(rows: Iterable[tuple[str, str]], kind: str = "plain") -> list[CompletionItem]:
    """Completions from words and their descriptions."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only a shell that completes needs it

    return [CompletionItem(word, type=kind, help=meaning or None) for word, meaning in rows]


class Checked(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.2 on alone
    """An option value that is parsed like a key of the configuration, so that both accept the same values."""

    def __init__(
        self, name: str, reader: Any, *, split: bool = False, words: Callable[[], Iterable[tuple[str, str]]] = tuple
    ) -> None:
        self.name = name
        self._reader = reader
        self._split = split
        self._words = words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the text; an invalid one ends the command with a usage error."""
        if not isinstance(value, str):
            return value
        try:
            if not self._split:
                return self._reader(value)
            parts = [part for part in value.replace(" ", "").split(",") if part]
            if not parts:
                raise ValueError("expected at least one value")
            return self._reader(parts)
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete the word, or the last word of a comma-separated list."""
        head, comma, last = incomplete.rpartition(",") if self._split else ("", "", incomplete)
        taken = head.split(",")
        return completions(
            (head + comma + word, meaning)
            for word, meaning in self._words()
            if word.lower().startswith(last.lower()) and word not in taken
        )


def codes() -> list[tuple[str, str]]:
    """All rule codes with their names, and all rule names with their codes."""
    from forklint.rules import registry  # noqa: PLC0415

    rows = [(code, name) for code, (name, _) in registry.codes().items()]
    return [*rows, *((name, code) for code, name in rows)]


CODES = Checked("codes", config.selectors, split=True, words=lambda: [("ALL", "every rule"), *codes()])
PLATFORM = Checked("platforms", config.platforms, split=True, words=lambda: [(name, "") for name in PLATFORMS])
PYTHON = Checked(
    "python",
    config.python_range,
    words=lambda: [(f"3.{minor}", "") for minor in range(OLDEST_PYTHON[1], NEWEST_PYTHON[1] + 1)],
)
SEVERITY = Checked("severity", config.severity, words=lambda: [(one.value, "") for one in Severity])


def complete_rule(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the code or name of a rule."""
    return completions(row for row in codes() if row[0].lower().startswith(incomplete.lower()))


def complete_paths(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a path, and the name of a command if it is the first argument."""
    group = ctx.find_root().command
    first = not ctx.params.get("paths") and isinstance(group, click.Group)
    names = group.list_commands(ctx) if first and isinstance(group, click.Group) else []
    commands = completions((name, "") for name in names if name.startswith(incomplete))
    return [*completions([(incomplete, "")], "file"), *commands]  # bash drops what comes before a file


def complete_file_rules(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the rules of PATTERN:CODES."""
    pattern, colon, written = incomplete.rpartition(":")
    head, comma, last = written.rpartition(",")
    found = [(word, name) for word, name in codes() if colon and word.lower().startswith(last.lower())]
    return completions((pattern + colon + head + comma + word, name) for word, name in found)


def complete_suspect(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete PATH:LINE:CODE: first the path, and the code after the line."""
    place, colon, last = incomplete.rpartition(":")
    if ":" not in place:
        return completions([(incomplete, "")], "file") if not colon else []
    return completions((place + colon + word, name) for word, name in codes() if word.startswith(last.upper()))


def complete_label(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the label of a machine."""
    minors = range(OLDEST_PYTHON[1], NEWEST_PYTHON[1] + 1)
    labels = (*PLATFORMS, "cuda", "mps", *(f"python3.{minor}" for minor in minors))
    return completions((label, "") for label in labels if label.startswith(incomplete))


def complete_scheduler(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the protocol of a scheduler's address, and one on this machine."""
    addresses = ("tcp://", "tcp://127.0.0.1:8786", "tls://")
    return completions((address, "") for address in addresses if address.startswith(incomplete))


def complete_host(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete an address to listen on."""
    hosts = (("127.0.0.1", "this machine alone"), ("0.0.0.0", "all networks"))  # noqa: S104 - it is only proposed
    return completions(row for row in hosts if row[0].startswith(incomplete))


def overrides(options: dict[str, Any]) -> dict[str, Any]:
    """The settings given on the command line, by field name of Settings; a command need not have all options."""
    values: dict[str, Any] = {}
    for name, key in (
        ("select", "select"),
        ("ignore", "ignore"),
        ("extend_select", "extend_select"),
        ("extend_ignore", "extend_ignore"),
        ("platform", "platforms"),
    ):
        if options.get(name):
            values[key] = tuple(word for words in options[name] for word in words)
    for name in ("target_python", "exit_on", "preview", "force_exclude"):
        if options.get(name) is not None:
            values[name] = options[name]
    if options.get("baseline"):
        values["baseline"] = str(from_root(options["baseline"]))
    if options.get("cache_dir"):
        values["cache_dir"] = str(from_root(options["cache_dir"]))
    if options.get("per_file_ignores"):
        values["per_file_ignores"] = _per_file_ignores(options["per_file_ignores"])
    return values


def _per_file_ignores(pairs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    ignores: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        pattern, colon, words = pair.rpartition(":")
        try:
            if not colon or not pattern:
                raise ValueError("expected PATTERN:CODES, for example tests/*:FKL201")
            codes = config.selectors([word.strip() for word in words.split(",") if word.strip()])
        except ValueError as error:
            raise Failure(f"--per-file-ignores '{pair}': {error}") from None
        ignores[pattern] = (*ignores.get(pattern, ()), *codes)
    return ignores
