"""``--repro``: one stand-alone script that shows a hazard with torch and the one library alone, for a bug report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import Template

from forklint import __version__
from forklint.knowledge.environment import Environment
from forklint.model import Finding
from forklint.verify.probed_variables import row_of
from forklint.verify.proving import Planned
from forklint.verify.words import Trial

TEMPLATES = Path(__file__).parent / "repros"
WORKERS = 4
COUNTS = {"OMP_NUM_THREADS": "torch.get_num_threads()", "MKL_NUM_THREADS": "torch.get_num_threads()"}
PARTS = (
    ("lambda", "lambda value: value"),
    ("lock", "threading.Lock()"),
    ("generator", "(value for value in range(3))"),
    ("thread", "threading.Thread()"),
    ("", "(lambda: None)"),
)
"""What stands for a payload, by a word of what the finding says that it is."""


class NoScriptError(ValueError):
    """A hazard for which there is no small script; the message is one line for the user."""


def script(finding: Finding, trial: Trial) -> str:
    """The script for a finding in the cell of one of its trials; raises NoScriptError."""
    find = SCRIPTS.get(finding.code)
    if find is None:
        raise NoScriptError(f"no script for {finding.code}; `forklint rule {finding.code}` shows an example")
    name, given = find(finding)
    text = (TEMPLATES / f"{name}.template").read_text(encoding="utf-8")
    where = f"forklint {__version__} reported {finding.code} ({finding.name}) at {finding.path}:{finding.span.row}."
    factors = trial.factors
    method = factors.start_method or ("spawn" if finding.code in {"FKL201", "FKL204"} else "fork")
    told = {"place": where, "method": method, "workers": str(factors.workers or WORKERS), **given}
    return Template(text).substitute({name: _plain(value) for name, value in told.items()})


def _plain(value: str) -> str:
    """A text that cannot end the docstring or the line it is put into."""
    return "".join(char if char.isprintable() else "?" for char in value).replace('"""', "'''").replace("\\", "/")


Found = tuple[str, Mapping[str, str]]


def _handle(finding: Finding) -> Found:
    openers = [str(name).partition(".")[0] for name in finding.proof["openers"]]
    kind = next((name for name in ("lmdb", "h5py") if name in openers), "file")
    if kind == "file" and not {"open", "io", "builtins", "codecs", "gzip", "bz2"} & set(openers):
        library = openers[0] if openers else "this handle"
        raise NoScriptError(f"no script for {library}; there are scripts for open(), lmdb and h5py")
    return kind, {}


def _payload(finding: Finding) -> Found:
    what = str(finding.proof["what"])
    return "payload", {"what": what[:1].upper() + what[1:], "part": next(part for word, part in PARTS if word in what)}


def _variable(finding: Finding) -> Found:
    name = finding.proof["variable"]
    expression, value, module = COUNTS.get(name, ""), "1", "torch"
    if not expression:
        row = row_of(name, finding.proof.get("value"), finding.proof.get("readers", ()), Environment())
        values = [probe for _, probe in row.probes if probe.startswith("value:")] if row else []
        if row is None or not values:
            raise NoScriptError(f"no script for {name}: its effect does not show in a single expression")
        expression, value = values[0].partition(":")[2].replace("{name}", name), row.value
        module = next((one for reader in row.readers for one in reader.modules if one in expression), "sys")
    return "variable", {"variable": name, "value": value, "expression": expression, "module": module}


def _same(name: str) -> Callable[[Finding], Found]:
    return lambda _: (name, {})


def _generator(finding: Finding) -> Found:
    if "function" in finding.proof:
        raise NoScriptError("no script for a worker_init_fn that gives all workers the same seed")
    return "generator", {}


SCRIPTS: Mapping[str, Callable[[Finding], Found]] = {
    "FKL101": _variable,
    "FKL201": _same("guard"),
    "FKL204": _payload,
    "FKL301": _handle,
    "FKL302": _generator,
    "FKL303": _same("stream"),
}
"""By the rule's code: which template, and what is put into it."""


def find(name: str, planned: Sequence[Planned]) -> tuple[Finding, Trial] | None:
    """The trial of this name, with its finding."""
    return next(((one.finding, trial) for one in planned for trial in one.trials if trial.name == name), None)
