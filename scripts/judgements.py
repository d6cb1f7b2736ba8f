"""Write the tables of docs/corpus.md from bench/judgements.toml, or compare the judgements with what is found now.

    python scripts/judgements.py              rewrite the tables
    python scripts/judgements.py --check      fetch and lint both lists of packages; say which findings nobody has
                                              judged, and which judgements speak of no finding any more
    python scripts/judgements.py --unjudged   the same, and print a row to fill in for each finding without one

A judgement is a row of bench/judgements.toml: rule, package, version, place (file and line), the text of the line,
a verdict and why. `mended = true` stands in rows of false alarms that the rule no longer raises.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import corpus

from forklint.rules import registry

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REPOSITORY = Path(__file__).resolve().parent.parent
JUDGEMENTS = REPOSITORY / "bench" / "judgements.toml"
PAGE = REPOSITORY / "docs" / "corpus.md"
VERDICTS = ("true", "debatable", "false")


@dataclass(frozen=True)
class Judgement:
    """What a reader made of one finding."""

    rule: str
    package: str
    version: str
    place: str
    text: str
    verdict: str
    why: str
    mended: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """What a finding of the same place has as well: rule, folder of the package, place."""
        return self.rule, f"{self.package}-{self.version}", self.place


def judgements() -> list[Judgement]:
    """Read the rows, by rule, package and place. Raises ValueError for a verdict that is none."""
    rows = [Judgement(**row) for row in tomllib.loads(JUDGEMENTS.read_text(encoding="utf-8"))["judgement"]]
    for row in rows:
        if row.verdict not in VERDICTS or (row.mended and row.verdict != "false"):
            raise ValueError(f"{row.rule} {row.package} {row.place}: verdict {row.verdict!r}, mended {row.mended}")
    return sorted(rows, key=lambda row: (row.rule, row.package, _file_and_line(row.place)))


def tables() -> dict[str, str]:
    """The parts of the page that are made here: the name of each to its Markdown."""
    rows = judgements()
    return {
        "rules": _rules(rows),
        "findings": _places([row for row in rows if not row.mended]),
        "mended": _places([row for row in rows if row.mended]),
        "projects": ", ".join(f"{package.name} {package.version}" for package in corpus.packages(corpus.PROJECTS)),
    }


def rendered(text: str) -> str:
    """Give the text of the page with each part between its two comments written anew; ValueError if there are none."""
    for name, table in tables().items():
        start, end = f"<!-- {name}: made by scripts/judgements.py -->\n", f"<!-- end of {name} -->"
        before, found, rest = text.partition(start)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"{PAGE.name} has no place for {name!r}")
        text = f"{before}{start}\n{table}\n\n{end}{after}"
    return text


def compared(home: Path, folders: list[Path]) -> tuple[list[dict[str, Any]], list[Judgement]]:
    """Lint the folders with all rules; give the findings without a judgement and the judgements without a finding."""
    found = {}
    for finding in corpus.lint(folders, "--preview"):
        package = corpus.package_of(finding, home)
        inner = Path(finding["filename"]).resolve().relative_to((home / package).resolve()).as_posix()
        found[finding["code"], package, f"{inner}:{finding['location']['row']}"] = finding
    rows = [row for row in judgements() if f"{row.package}-{row.version}" in {folder.name for folder in folders}]
    known = {row.key for row in rows if not row.mended}
    return (
        [finding for key, finding in found.items() if key not in known],
        [row for row in rows if (row.key in found) == row.mended],
    )


def _rules(rows: list[Judgement]) -> str:
    in_corpus = {package.folder for package in corpus.packages()}
    lines = [
        "| rule | findings | in the sixteen | in the others | read | true | debatable | false | false, fixed since |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for rule in registry.all_rules():
        if rule.code.startswith("FKL0"):
            continue
        own = [row for row in rows if row.rule == rule.code and not row.mended]
        near = sum(f"{row.package}-{row.version}" in in_corpus for row in own)
        counts = Counter(row.verdict for row in own)
        name = f"[{rule.code} {rule.name}](corpus/{rule.code}.md){' (preview)' if rule.preview else ''}"
        numbers = [len(own), near, len(own) - near, len(own), *(counts[verdict] for verdict in VERDICTS)]
        numbers.append(sum(row.rule == rule.code and row.mended for row in rows))
        lines.append("| " + " | ".join([name, *map(str, numbers)]) + " |")
    return "\n".join(lines)


def _places(rows: list[Judgement]) -> str:
    lines = ["| package | place | rule | judgement |", "|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: (row.package, _file_and_line(row.place))):
        place = row.place.replace("__", r"\_\_").replace("|", r"\|")
        lines.append(f"| {row.package} {row.version} | {place} | {row.rule} | {row.verdict.capitalize()}: {row.why} |")
    return "\n".join(lines)


def _file_and_line(place: str) -> tuple[str, int]:
    path, _, line = place.rpartition(":")
    return path, int(line)


def _row_to_fill_in(finding: dict[str, Any], home: Path) -> str:
    package = corpus.package_of(finding, home)
    path = Path(finding["filename"]).resolve()
    row = finding["location"]["row"]
    name, _, version = package.rpartition("-")
    values = {
        "rule": finding["code"],
        "package": name,
        "version": version,
        "place": f"{path.relative_to((home / package).resolve()).as_posix()}:{row}",
        "text": path.read_text(encoding="utf-8").splitlines()[row - 1].strip(),
        "verdict": "",
        "why": "",
    }
    # A string of JSON is a string of TOML.
    return "\n".join(
        ["[[judgement]]", *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())]
    )


def _check(*, fill_in: bool) -> int:
    try:
        home, folders = corpus.ready(corpus.LIST, corpus.PROJECTS)
    except corpus.FetchError as error:
        print(f"SKIPPED: the packages are not at hand: {error}", file=sys.stderr)
        return 3
    unjudged, gone = compared(home, folders)
    for finding in unjudged:
        if fill_in:
            print(f"\n# {finding['message']}\n{_row_to_fill_in(finding, home)}")
        else:
            print(f"not judged: {finding['filename']}:{finding['location']['row']}: {finding['code']}")
    for row in gone:
        print(f"{'raised again' if row.mended else 'found no more'}: {row.package} {row.place}: {row.rule}")
    print(f"{len(unjudged)} findings not judged, {len(gone)} judgements that do not fit", file=sys.stderr)
    return 1 if unjudged or gone else 0


def main() -> int:
    """Run the command line; 0 when done, 1 when judgements and findings differ, 3 when packages cannot be had."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the judgements with what is found now")
    parser.add_argument("--unjudged", action="store_true", help="print a row to fill in for what is not judged")
    arguments = parser.parse_args()
    if arguments.check or arguments.unjudged:
        return _check(fill_in=arguments.unjudged)
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
