"""What must hold for each input: no error, no hang, whole fixes, and the same findings in every way of asking."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from forklint import baseline, saved_verdicts
from forklint.config import ConfigError, SettingsFinder
from forklint.engine import Options
from forklint.fixing import applicable, fix
from forklint.linters import Linters
from forklint.model import FileReport, Finding
from forklint.parallel import Job, lint
from forklint.source import document
from forklint.source.document import UnreadableError
from fuzzing.documents import configuration, notebook, preset, record
from fuzzing.mutants import mutant, mutated, text_of
from fuzzing.programs import program

PREVIEW = {"preview": True}
SECONDS = 4.0
"""Processor time that any small file may take; a cold start of all rules takes half of that."""
SECONDS_EACH_KB = 0.15
"""What each kilobyte adds: far more than any file of the corpus takes, and linear."""


@contextmanager
def in_proportion(size: int) -> Iterator[None]:
    """Fail if the block takes more processor time than a file of ``size`` bytes may."""
    start = time.process_time()
    yield
    taken, allowed = time.process_time() - start, SECONDS + SECONDS_EACH_KB * size / 1000
    assert taken < allowed, f"took {taken:.1f} s of {allowed:.1f} s for {size} bytes"


def told(report: FileReport) -> list[object]:
    """All that a report says of findings, as it can be compared."""
    return [(one, one.cells, one.chain, one.fingerprint) for one in report.findings]


def linted(path: Path, *, screen: bool = True) -> tuple[Linters, FileReport]:
    linters = Linters(SettingsFinder(PREVIEW), Options(screen=screen))
    return linters, linters.of(path).lint(path)


def check_file(path: Path, data: bytes, dice: Random) -> None:
    """Lint and fix one file: a Python file, a notebook or a settings file."""
    path.write_bytes(data)
    with in_proportion(len(data)):
        linters, report = linted(path)
    assert not [note for note in report.notes if note.failure], report.notes
    for finding in report.findings:
        assert finding.span.row >= 1, finding
        assert finding.span.column >= 1, finding
    if dice.random() < 0.25:
        assert told(linted(path, screen=False)[1]) == told(report), "without screens"
    wanted = [one for one in report.findings if applicable(one, unsafe=True)]
    for finding in wanted:
        check_edges(path, data, finding)
    if wanted:
        check_fixes(path, data, linters)
    if dice.random() < 0.1:
        check_store(path)


def check_edges(path: Path, data: bytes, finding: Finding) -> None:
    """What a fix does not touch is byte for byte as it was, cut into lines without the linter's own functions."""
    assert finding.fix is not None
    whole = document.decode(path, data)
    new = whole.encode_whole(whole.edited(finding.fix.edits))
    if whole.notebook is not None:
        old_cells, new_cells = (bytes_outside(text) for text in (data, new))
        assert len(old_cells) == len(new_cells), "the same keys and cells"
        return
    old_lines = re.split(rb"(?<=\n)|(?<=\r)(?!\n)", data)
    rows = [(edit.span.row - 1, edit.span.end_row - 1) for edit in finding.fix.edits]
    first, last = min(start for start, _ in rows), max(end for _, end in rows)
    if path.suffix in (".py", ".yaml", ".yml", ".toml", ".json"):
        assert new.startswith(b"".join(old_lines[:first])), "bytes before the first edit"
        assert new.endswith(b"".join(old_lines[last:])), "bytes after the last edit"


def bytes_outside(data: bytes) -> list[bytes]:
    """The keys of a JSON text in their order."""
    return re.findall(rb'"(?:cell_type|metadata|outputs|execution_count|source|id)"\s*:', data)


def check_fixes(path: Path, data: bytes, linters: Linters) -> None:
    """All fixes together: what comes out is read like what went in, and a second pass changes nothing."""
    with in_proportion(20 * len(data)):
        done = fix(linters.of(path), path, unsafe=True, write=True)
    after = path.read_bytes()
    assert not [note for note in done.report.notes if note.failure], done.report.notes
    assert not [note for note in done.report.notes if note.refused], done.report.notes
    if done.applied:
        old, new = document.decode(path, data), document.decode(path, after)
        assert (new.encoding, new.data[:3] == document.BOM) == (old.encoding, old.data[:3] == document.BOM)
        if path.suffix == ".py":
            compile(after, str(path), "exec", dont_inherit=True, flags=0x400)  # only the tree
    twice = fix(Linters(SettingsFinder(PREVIEW), Options()).of(path), path, unsafe=True, write=False)
    assert not twice.changed, f"a second pass changes something: {[one.code for one in twice.applied]}"
    assert told(done.report) == told(twice.report), "what is left after a fix is what a new run finds"


def check_store(path: Path) -> None:
    """The findings without a store, into an empty one, and out of it."""
    runs = [lint(Job(PREVIEW, with_fixes=True, keeps=keeps), [path], 1) for keeps in (False, True, True)]
    assert told(runs[0][0]) == told(runs[1][0]) == told(runs[2][0])


def in_one_line(error: Exception) -> None:
    """An error is one line."""
    assert len(str(error).splitlines()) == 1, str(error)


def check_program(folder: Path, dice: Random) -> None:
    """A program of the grammar, now and then beside another that it imports."""
    if dice.random() < 0.3:
        (folder / "data.py").write_text(program(dice), encoding="utf-8", errors="surrogatepass", newline="")
    check_file(folder / "program.py", program(dice).encode(errors="surrogatepass"), dice)


def check_mutant(folder: Path, dice: Random) -> None:
    """A real file with changes."""
    check_file(folder / "mutant.py", mutant(dice), dice)


def check_notebook(folder: Path, dice: Random) -> None:
    """A notebook."""
    check_file(folder / "book.ipynb", notebook(dice), dice)


def check_preset(folder: Path, dice: Random) -> None:
    """A settings file of a training program."""
    name, data = preset(dice)
    check_file(folder / name, data, dice)


def check_configuration(folder: Path, dice: Random) -> None:
    """A configuration: it is refused in one line, or a file is linted under it."""
    (folder / "forklint.toml").unlink()
    name, data = configuration(dice)
    (folder / name).write_bytes(data)
    path = folder / "train.py"
    path.write_text(program(dice), encoding="utf-8", errors="surrogatepass", newline="")
    with in_proportion(len(data) + path.stat().st_size):
        try:
            reports = lint(Job(keeps=False), [path], 1)
        except ConfigError as error:
            in_one_line(error)
            return
    assert not [note for note in reports[0].notes if note.failure], reports[0].notes


HAZARD = """\
import h5py
from torch.utils.data import Dataset


class Pages(Dataset):
    def __init__(self, path):
        self.file = h5py.File(path, "r")

    def __getitem__(self, index):
        return self.file["pages"][index]
"""


def check_baseline(folder: Path, dice: Random) -> None:
    """A baseline: it is refused in one line, or findings are sifted by it; an update writes a whole one."""
    (folder / "pages.py").write_text(HAZARD)
    target = folder / "baseline.json"
    reports = lint(Job(keeps=False), [folder / "pages.py"], 1)
    scope = baseline.Scope({"pages.py": ["FKL301"]}, folder)
    baseline.update(target, baseline.entries(target, reports), scope)
    target.write_bytes(record(target.read_bytes(), dice))
    try:
        counts = baseline.read(target)
    except baseline.BaselineError as error:
        in_one_line(error)
        return
    sifted = baseline.sift(target, counts, reports, scope)
    assert sifted.known <= 1
    baseline.update(target, baseline.entries(target, reports), scope)
    assert baseline.sift(target, baseline.read(target), reports, scope).known == 1


VERDICT = {
    "path": "pages.py",
    "code": "FKL301",
    "fingerprint": "0" * 16,
    "verdict": "confirmed",
    "evidence": "x",
    "date": "2026-01-01",
    "content": {"pages.py": "0" * 64},
    "libraries": {"torch": "2.1"},
}
VERDICTS = json.dumps({"version": 1, "verdicts": [VERDICT]}).encode()


def check_verdicts(folder: Path, dice: Random) -> None:
    """Saved verdicts: refused in one line, or read."""
    target = folder / saved_verdicts.NAME
    target.write_bytes(record(VERDICTS, dice))
    try:
        saved_verdicts.read(target)
    except saved_verdicts.VerdictsError as error:
        in_one_line(error)


def check_stored(folder: Path, dice: Random) -> None:
    """A project with a store: files are edited and the store is spoilt at random, and a run without one agrees."""
    names = ["data.py", "rows.py", "train.py", "base.py"]
    paths = [folder / name for name in names]

    def write(path: Path) -> None:
        text = program(dice) if dice.random() < 0.5 else mutated(text_of(dice), dice, HAZARD)
        path.write_text(text.replace("fixtures", "data"), encoding="utf-8", errors="surrogatepass", newline="")

    for path in paths:
        write(path)
    for _ in range(3):
        kept = lint(Job(PREVIEW, keeps=True), paths, 1)
        fresh = lint(Job(PREVIEW, keeps=False), paths, 1)
        assert [told(one) for one in kept] == [told(one) for one in fresh]
        write(dice.choice(paths))
        stores = list((folder / ".forklint_cache").glob("store-*.sqlite*"))
        if stores and dice.random() < 0.3:
            spoilt = dice.choice(stores)
            data = bytearray(spoilt.read_bytes())
            for _ in range(dice.choice((1, 50)) if data else 0):
                data[dice.randrange(len(data))] = dice.randrange(256)
            spoilt.write_bytes(data[: dice.choice((len(data), dice.randrange(len(data) + 1)))])


KINDS: dict[str, Callable[[Path, Random], None]] = {
    "programs": check_program,
    "mutants": check_mutant,
    "notebooks": check_notebook,
    "presets": check_preset,
    "configurations": check_configuration,
    "baselines": check_baseline,
    "verdicts": check_verdicts,
    "stores": check_stored,
}


def check(kind: str, number: int, folder: Path) -> None:
    """Make the input of a kind with a number in an empty folder, and check it; raises AssertionError or what fails."""
    (folder / "forklint.toml").touch()
    with suppress(UnreadableError):
        KINDS[kind](folder, Random(f"{kind} {number}"))
