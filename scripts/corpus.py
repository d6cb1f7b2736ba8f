"""Fetch the corpus of bench/corpus.toml, lint it, and sum the findings up by rule and package.

    python scripts/corpus.py                     fetch what is missing, lint, print the summary
    python scripts/corpus.py --offline           lint what is there
    python scripts/corpus.py --findings FKL401   list the findings of one rule instead
    python scripts/corpus.py --fetch             fetch what is missing, and no more

Packages are unpacked into <name>-<version>/ of the folder that $FORKLINT_CORPUS names, by default one in the
user's cache folder, and are never committed. Nothing of them is installed, and none of their code is run, save
what pip itself asks of a source distribution to learn its name.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import time
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REPOSITORY = Path(__file__).resolve().parent.parent
LIST = REPOSITORY / "bench" / "corpus.toml"
PROJECTS = REPOSITORY / "bench" / "projects.toml"
"""Training projects that no rule was written against; scripts/judgements.py lints them too."""


@dataclass(frozen=True)
class Package:
    """One row of corpus.toml."""

    name: str
    version: str
    platform: str = ""
    sdist: bool = False

    @property
    def folder(self) -> str:
        """Name of the folder it is unpacked into."""
        return f"{self.name}-{self.version}"


class FetchError(Exception):
    """A package could not be had; the message says which and why."""


def home() -> Path:
    """The folder of the corpus."""
    return Path(os.environ.get("FORKLINT_CORPUS") or cache_home() / "corpus")


def cache_home() -> Path:
    """The folder for what can be fetched again: of the user, so that all checkouts share it."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "forklint"


def packages(path: Path = LIST) -> list[Package]:
    """Read a list."""
    return [Package(**row) for row in tomllib.loads(path.read_text(encoding="utf-8"))["package"]]


def fetch(package: Package, into: Path) -> Path:
    """Download and unpack a package unless it is there; give its folder. Raises FetchError."""
    folder = into / package.folder
    if folder.is_dir():
        return folder
    archives = into / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    archive = _archive(package, archives) or _download(package, archives)
    half = into / f".{package.folder}.half"
    _unpack(archive, half)
    # Makes it a project of its own, wherever the corpus is kept: nothing above it ignores or resolves its files.
    (half / ".git").mkdir(exist_ok=True)
    half.rename(folder)
    return folder


def _archive(package: Package, archives: Path) -> Path | None:
    names = {package.name.lower(), package.name.lower().replace("-", "_"), package.name.lower().replace("_", "-")}
    for path in sorted(archives.iterdir()):
        if any(
            path.name.lower().startswith((f"{name}-{package.version}-", f"{name}-{package.version}.")) for name in names
        ):
            return path
    return None


def _download(package: Package, archives: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-binary", package.name] if package.sdist else ["--only-binary", ":all:"]
    if package.platform:
        command += ["--platform", package.platform, "--python-version", "3.11"]
    command += ["--dest", str(archives), f"{package.name}=={package.version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    archive = _archive(package, archives) if done.returncode == 0 else None
    if archive is None:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()[-1:]
        raise FetchError(f"{package.name} {package.version}: {said[0] if said else 'pip gave nothing'}")
    return archive


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack a wheel, or a source distribution without its outer folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                if name.endswith((".py", ".pyi")):
                    wheel.extract(name, folder)
        return
    with tarfile.open(archive) as bundle:
        for member in bundle.getmembers():
            inner = Path(*Path(member.name).parts[1:])
            if member.isfile() and member.name.endswith((".py", ".pyi")) and ".." not in inner.parts:
                target = folder / inner
                target.parent.mkdir(parents=True, exist_ok=True)
                source = bundle.extractfile(member)
                assert source is not None  # noqa: S101 - a regular file has content
                target.write_bytes(source.read())


def lint(folders: list[Path], *arguments: str) -> list[dict[str, Any]]:
    """Lint folders as one command; give the findings as JSON has them. Raises RuntimeError if it crashed."""
    command = [
        sys.executable,
        "-m",
        "forklint",
        *map(str, folders),
        "--isolated",
        "--no-cache",
        "--output-format",
        "json",
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 1} or "Traceback" in done.stderr:
        raise RuntimeError(f"forklint ended with {done.returncode}:\n{done.stderr[-4000:]}")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def package_of(finding: dict[str, Any], into: Path) -> str:
    """Name of the package folder that a finding lies in."""
    return Path(finding["filename"]).resolve().relative_to(into.resolve()).parts[0]


def summary(findings: list[dict[str, Any]], into: Path, folders: list[Path]) -> str:
    """A table: a row a package, a column a rule."""
    counts = Counter((package_of(finding, into), finding["code"]) for finding in findings)
    codes = sorted({code for _, code in counts})
    width = max(len(folder.name) for folder in folders)
    lines = [" ".join([" " * width, *(f"{code:>7}" for code in codes), "  total"])]
    for folder in folders:
        row = [counts[folder.name, code] for code in codes]
        lines.append(" ".join([f"{folder.name:<{width}}", *(f"{n or '.':>7}" for n in row), f"{sum(row):>7}"]))
    totals = [sum(n for (_, found), n in counts.items() if found == code) for code in codes]
    lines.append(" ".join([f"{'all':<{width}}", *(f"{n:>7}" for n in totals), f"{sum(totals):>7}"]))
    return "\n".join(lines)


def ready(*lists: Path, offline: bool = False) -> tuple[Path, list[Path]]:
    """Have the packages of the lists (the corpus, if none is named) at hand.

    Gives their home and the folders in it, in the order of the lists. Raises FetchError.
    """
    into = home()
    wanted = [package for path in lists or (LIST,) for package in packages(path)]
    missing = [package.folder for package in wanted if not (into / package.folder).is_dir()]
    if offline and missing:
        raise FetchError(f"not in {into}: {', '.join(missing)}")
    return into, [fetch(package, into) for package in wanted]


def main() -> int:
    """Run the command line; 0 when the corpus was linted, whatever was found, 3 when it could not be fetched."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--offline", action="store_true", help="fetch nothing")
    parser.add_argument("--fetch", action="store_true", help="fetch what is missing, and lint nothing")
    parser.add_argument("--findings", metavar="CODE", help="list the findings of one rule, or of ALL")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the findings there as well")
    arguments = parser.parse_args()
    try:
        into, folders = ready(offline=arguments.offline)
    except FetchError as error:
        print(f"SKIPPED: the corpus is not at hand: {error}", file=sys.stderr)
        return 3
    if arguments.fetch:
        print(f"{len(folders)} packages in {into}")
        return 0
    started = time.perf_counter()
    chosen = ["--select", arguments.findings] if arguments.findings else []
    findings = lint(folders, *chosen)
    seconds = time.perf_counter() - started
    if arguments.json:
        arguments.json.write_text(json.dumps(findings, indent=1), encoding="utf-8")
    if arguments.findings:
        for finding in findings:
            place = Path(finding["filename"]).resolve().relative_to(into.resolve())
            print(f"{place}:{finding['location']['row']}: {finding['code']} {finding['message']}")
    else:
        print(summary(findings, into, folders))
    print(f"{len(findings)} findings in {len(folders)} packages, {seconds:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
