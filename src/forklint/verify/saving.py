"""What is kept of the verdicts of a run: on which finding, of which files, with which libraries."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from forklint.model import Finding
from forklint.saved_verdicts import LONGEST, MOST_FILES, Kept, digest_of
from forklint.source.paths import from_root
from forklint.verify.proving import Planned, Result
from forklint.verify.suspects import DOUBT

VERSIONS = """
import json, sys
from importlib import metadata
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""
PATIENCE = 60
ALWAYS = ("torch", "numpy")


def kept(
    planned: Sequence[Planned], results: Sequence[Result], python: Path, file_of: Callable[[Finding], Path]
) -> dict[Path, list[Kept]]:
    """The verdicts of a run by the file that they go into; those on suspicions are nobody's findings."""
    told: dict[Path, list[Kept]] = defaultdict(list)
    names = {name for one in planned for name in _libraries(one.finding)}
    versions = _versions(python, sorted(names))
    today = dt.datetime.now(dt.timezone.utc).date().isoformat()
    for one, result in zip(planned, results, strict=True):
        file = file_of(one.finding)
        path = _inside(from_root(Path(one.finding.path)), file.parent)
        if path is None or DOUBT in one.finding.proof:
            continue
        judgement = result.judgement
        told[file].append(
            Kept(
                path=path,
                code=one.finding.code,
                fingerprint=one.finding.fingerprint,
                verdict=judgement.verdict.value,
                evidence=judgement.evidence[:LONGEST],
                date=today,
                libraries={name: versions[name] for name in _libraries(one.finding) if name in versions},
                content=_content(one, file.parent),
            )
        )
    return told


def _libraries(finding: Finding) -> list[str]:
    """The libraries whose versions a verdict is about, by the names under which they are imported."""
    openers = [str(name).partition(".")[0] for name in finding.proof.get("openers", ()) if "." in str(name)]
    return list(dict.fromkeys([*ALWAYS, *openers]))


def _versions(python: Path, names: Sequence[str]) -> dict[str, str]:
    """Versions of those of the libraries that an interpreter has."""
    try:
        done = subprocess.run(  # noqa: S603 - the user's own interpreter runs a few lines of ours
            [str(python), "-c", VERSIONS, *names], capture_output=True, text=True, timeout=PATIENCE, check=True
        )
        found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return {}
    return found


def _content(planned: Planned, folder: Path) -> dict[str, str]:
    """Digests of the project's files that the trials run: what they begin with, and all that it imports."""
    project = planned.context.project()
    begun = {from_root(Path(planned.finding.path)), *files_of(planned)}
    reached = {path for one in begun for path in (one, *project.graph.reached(one))}
    inside = sorted(path for one in reached if (path := _inside(one, folder)) is not None)[:MOST_FILES]
    return {path: digest for path in inside if (digest := digest_of(folder, path))}


def files_of(planned: Planned) -> Iterable[Path]:
    """The files that the commands of the trials name, by path or as a module."""
    for trial in planned.trials:
        subject = trial.subject
        words = list(subject.command)
        if "-m" in words[:-1]:
            name = words[words.index("-m") + 1].replace(".", "/")
            words += [str(Path(folder, f"{name}{end}")) for folder in (subject.folder, *subject.paths) for end in ENDS]
        for word in words:
            path = subject.folder / word if len(word) < LONGEST and "\n" not in word else subject.folder
            if path.suffix == ".py" and path.is_file():
                yield from_root(path)


ENDS = (".py", "/__init__.py", "/__main__.py")


def _inside(path: Path, folder: Path) -> str | None:
    """A path relative to a folder; None outside."""
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return None
