"""SARIF: the structure that the specification asks for, what GitHub wants beyond it, and a reader of another's hand."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path, PureWindowsPath
from typing import Any
from urllib.parse import unquote_to_bytes, urljoin

import pytest
from fixture_cases import all_cases
from report_cases import HAZARD, outcome_of

from forklint.edits.text import apply_edits
from forklint.model import Applicability, Cell, Edit, Fix, Link, Note, Span
from forklint.report import repository, sarif
from forklint.rules import registry

# What each object must hold, and what forklint writes beyond it: sections 3.13 to 3.58 of the specification.
OBJECTS: dict[str, tuple[set[str], set[str]]] = {
    "log": ({"version", "runs"}, {"$schema"}),
    "run": ({"tool"}, {"invocations", "originalUriBaseIds", "columnKind", "newlineSequences", "results"}),
    "driver": ({"name"}, {"version", "informationUri", "rules"}),
    "rule": (
        {"id"},
        {"name", "shortDescription", "fullDescription", "help", "helpUri", "defaultConfiguration", "properties"},
    ),
    "invocation": ({"executionSuccessful"}, {"toolExecutionNotifications"}),
    "notification": ({"message"}, {"level", "locations"}),
    "result": (
        {"message"},
        {
            "ruleId",
            "ruleIndex",
            "level",
            "locations",
            "relatedLocations",
            "partialFingerprints",
            "fixes",
            "properties",
        },
    ),
    "location": (set(), {"id", "message", "physicalLocation", "logicalLocations"}),
    "physical": ({"artifactLocation"}, {"region", "contextRegion"}),
    "artifact": ({"uri"}, {"uriBaseId"}),
    "region": ({"startLine"}, {"startColumn", "endLine", "endColumn", "snippet"}),
    "fix": ({"artifactChanges"}, {"description", "properties"}),
    "change": ({"artifactLocation", "replacements"}, set()),
    "replacement": ({"deletedRegion"}, {"insertedContent"}),
}


def check(kind: str, value: dict[str, Any]) -> None:
    required, optional = OBJECTS[kind]
    assert required <= set(value) <= required | optional, (kind, set(value))


def check_document(log: dict[str, Any]) -> dict[str, Any]:
    """Hold a document to the specification; gives its run."""
    check("log", log)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    check("run", run)
    assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}
    driver = run["tool"]["driver"]
    check("driver", driver)
    for rule in driver["rules"]:
        check("rule", rule)
        assert rule["defaultConfiguration"]["level"] in {"none", "note", "warning", "error"}
    (invocation,) = run["invocations"]
    check("invocation", invocation)
    for notification in invocation["toolExecutionNotifications"]:
        check("notification", notification)
        for location in notification["locations"]:
            check_location(location, run)
    for base in run["originalUriBaseIds"].values():
        assert base["uri"].endswith("/")
    for result in run["results"]:
        check_result(result, run)
    return run


def check_result(result: dict[str, Any], run: dict[str, Any]) -> None:
    check("result", result)
    assert result["level"] in {"none", "note", "warning", "error"}
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["message"]["text"]
    for location in result["locations"]:
        check_location(location, run)
    related = result.get("relatedLocations", [])
    assert len({location["id"] for location in related}) == len(related)
    for location in related:
        check_location(location, run)
        assert f"]({location['id']})" in result["message"]["text"]
    for fix in result.get("fixes", []):
        check("fix", fix)
        assert fix["artifactChanges"]
        for change in fix["artifactChanges"]:
            check("change", change)
            check("artifact", change["artifactLocation"])
            assert change["replacements"]
            for replacement in change["replacements"]:
                check("replacement", replacement)
                check_region(replacement["deletedRegion"])


def check_location(location: dict[str, Any], run: dict[str, Any]) -> None:
    check("location", location)
    place = location["physicalLocation"]
    check("physical", place)
    check("artifact", place["artifactLocation"])
    uri = place["artifactLocation"]["uri"]
    assert uri.isascii()
    assert not set(uri) & set(' "<>\\^`{|}')
    if "uriBaseId" in place["artifactLocation"]:
        assert place["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
        assert ":" not in uri.split("/")[0]
    else:
        assert uri.startswith("file:///")
    for name in ("region", "contextRegion"):
        if name in place:
            check_region(place[name])


def check_region(region: dict[str, Any]) -> None:
    check("region", region)
    start = (region["startLine"], region.get("startColumn", 1))
    assert min(start) >= 1
    if "endColumn" in region:
        assert (region["endLine"], region["endColumn"]) >= start


def rendered(outcome: Any) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(sarif.render(outcome))
    return check_document(log)


SECONDS = 3000
"""All fixtures take minutes of processor time; this ends only what hangs, however busy the machine is."""


@pytest.mark.soak
def test_all_fixtures_as_one_project_give_a_document_of_the_right_structure(forklint) -> None:
    check_document_of_fixtures(forklint, Path(__file__).parent / "fixtures", 100, "--isolated")


def test_fixtures_give_a_document_of_the_right_structure(forklint, tmp_path: Path) -> None:
    """Each a project of its own."""
    for number, case in enumerate(all_cases()[::36]):
        folder = tmp_path / f"{number}-{case.path.stem}"
        folder.mkdir()
        case.copy_to(folder)
    check_document_of_fixtures(forklint, tmp_path, 30)


def check_document_of_fixtures(forklint, folder: Path, fewest: int, *options: str) -> None:
    done = forklint(".", *options, "--preview", "--output-format", "sarif", cwd=folder, timeout=SECONDS)
    run = check_document(json.loads(done.stdout))
    assert len(run["results"]) > fewest
    assert {result["level"] for result in run["results"]} == {"error", "warning", "note"}
    assert any("relatedLocations" in result for result in run["results"])
    assert {fix["properties"]["applicability"] for result in run["results"] for fix in result.get("fixes", [])} == {
        "safe",
        "unsafe",
    }
    assert any("suggestions" in result["properties"] for result in run["results"])
    assert all(result["partialFingerprints"]["forklint/v1"] for result in run["results"])


def test_github_has_all_that_it_requires(forklint, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(HAZARD)
    log = json.loads(forklint("--output-format", "sarif", cwd=tmp_path).stdout)
    assert log["$schema"].startswith("https://")
    run = check_document(log)
    for rule in run["tool"]["driver"]["rules"]:
        assert 0 < len(rule["name"]) <= 255
        assert 0 < len(rule["shortDescription"]["text"]) <= 1024
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert rule["help"]["text"]
        assert rule["help"]["markdown"].startswith(f"# {rule['name']} ({rule['id']})")
        assert len(rule["properties"]["tags"]) <= 10
        assert rule["properties"]["precision"] in {"very-high", "high", "medium", "low"}
        assert rule["properties"]["problem.severity"] in {"error", "warning", "recommendation"}
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "data.py", "uriBaseId": "%SRCROOT%"}
    snippet = {"text": "self.env = lmdb.open(root, readonly=True)"}
    assert place["region"] == {"startLine": 7, "startColumn": 9, "endLine": 7, "endColumn": 50, "snippet": snippet}
    assert "linux/fork" in result["properties"]["cells"]


def test_rules_are_those_that_ran_or_were_found(forklint, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(HAZARD)
    run = check_document(
        json.loads(forklint("--select", "FKL301,FKL4", "--output-format", "sarif", cwd=tmp_path).stdout)
    )
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["FKL301", "FKL401", "FKL402"]


def test_nothing_found_is_a_document_too(forklint, tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    done = forklint("--output-format", "sarif", cwd=tmp_path)
    run = check_document(json.loads(done.stdout))
    assert (done.returncode, run["results"], run["invocations"][0]["executionSuccessful"]) == (0, [], True)


def test_what_failed_and_what_was_skipped_is_told(forklint, tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(b"name = '\xe9'\n")
    done = forklint("latin.py", "no where.py", "--output-format", "sarif", cwd=tmp_path)
    (invocation,) = check_document(json.loads(done.stdout))["invocations"]
    assert done.returncode == 2
    assert invocation["executionSuccessful"] is False
    assert [
        (one["level"], one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        for one in invocation["toolExecutionNotifications"]
    ] == [("error", "no%20where.py"), ("note", "latin.py")]


NAMES = [
    b"a b.py",
    b"#1%20.py",
    b"x:y.py",
    "épreuve 数据.py".encode(),
    b"bytes\xff.py",
    b"two\nlines.py",
    b"back\\slash.py",
]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not take such names")
def test_uris_lead_back_to_the_files(forklint, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "sub folder"
    folder.mkdir()
    for name in NAMES:
        (folder / os.fsdecode(name)).write_text(HAZARD)
    outside = tmp_path.parent / f"{tmp_path.name} outside.py"
    outside.write_text(HAZARD)
    done = forklint(".", outside, "--output-format", "sarif", cwd=folder)
    run = check_document(json.loads(done.stdout))
    base = run["originalUriBaseIds"]["%SRCROOT%"]["uri"]
    found = set()
    for result in run["results"]:
        uri = urljoin(base, result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        found.add(unquote_to_bytes(uri.removeprefix("file://")))
    assert found == {os.fsencode(folder / os.fsdecode(name)) for name in NAMES} | {os.fsencode(outside)}


def test_paths_of_windows_have_forward_slashes() -> None:
    assert repository.relative_uri(PureWindowsPath("src\\my data.py")) == "src/my%20data.py"


def test_fixes_applied_by_region_are_forklints_own(forklint, tmp_path: Path) -> None:
    path = tmp_path / "data.py"
    path.write_bytes(HAZARD.rstrip("\n").encode())  # the last line has no end
    run = check_document(json.loads(forklint("--output-format", "sarif", cwd=tmp_path).stdout))
    (fix, *_) = run["results"][0]["fixes"]
    edits = []
    text = path.read_text()
    offsets = [0]
    for line in text.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    for replacement in fix["artifactChanges"][0]["replacements"]:
        region = replacement["deletedRegion"]
        start = offsets[region["startLine"] - 1] + region["startColumn"] - 1
        end = offsets[region["endLine"] - 1] + region["endColumn"] - 1
        assert end <= len(text)
        edits.append((start, end, replacement["insertedContent"]["text"]))
    for start, end, content in sorted(edits, reverse=True):
        text = text[:start] + content + text[end:]
    forklint("--fix", cwd=tmp_path)
    assert text == path.read_text()


def test_an_edit_behind_the_last_line_stays_in_the_file() -> None:
    text = "first\nlast"
    edit = Edit(Span(2, 1, 3, 1), "new\nlast")
    fix = Fix("mend it", Applicability.SAFE, (edit,))
    run = rendered(outcome_of(fixes=(fix,), text=text, path="short.py"))
    (replacement,) = run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["deletedRegion"] == {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 5}
    assert apply_edits(text, (edit,)) == "first\nnew\nlast"


def test_a_notebook_is_named_by_cell() -> None:
    fix = Fix("mend it", Applicability.SAFE, (Edit(Span(1, 1, 2, 1), "", 3),))
    link = Link("other.ipynb", 2, 1, "it is opened [here]", 2)
    run = rendered(outcome_of(path="x.ipynb", notebook_cell=3, fixes=(fix,), chain=(link,)))
    (result,) = run["results"]
    assert result["properties"]["notebookCell"] == 3
    assert result["locations"][0]["logicalLocations"][0]["name"] == "cell 3, line 7"
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1, "endLine": 1}
    assert result["relatedLocations"][0]["logicalLocations"][0]["name"] == "cell 2, line 2"
    assert result["message"]["text"].endswith("([it is opened \\[here\\]](1))")
    assert "fixes" not in result


def test_words_without_edits_are_suggestions() -> None:
    fixes = (Fix("ask a colleague", Applicability.DISPLAY), Fix("mend it", Applicability.UNSAFE, (EDIT,)))
    (result,) = rendered(outcome_of(subject="env", fixes=fixes, cells=(Cell("darwin", "spawn"),)))["results"]
    told = {"subject": "env", "cells": ["darwin/spawn"], "suggestions": ["ask a colleague"]}
    assert result["properties"] == told
    assert [fix["properties"] for fix in result["fixes"]] == [{"applicability": "unsafe"}]


EDIT = Edit(Span(1, 1, 2, 1), "new\n")


def test_hard_texts_stay_json() -> None:
    message = 'a "quoted" line\nand a \x00\x1b[31mcontrol\udcff character'
    outcome = outcome_of(message=message, notes=(Note("odd\udcff.py", "skipped: \udcfe"),))
    run = rendered(outcome)
    assert run["results"][0]["message"]["text"] == message.replace("\udcff", "\\udcff")
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "skipped: \\udcfe"
    assert note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "odd%FF.py"


def test_a_very_long_line_is_no_snippet() -> None:
    outcome = outcome_of(text="x" * 100_000, path="table.py")
    assert len(sarif.render(outcome)) < 100_000


def test_every_rule_can_be_told() -> None:
    codes = frozenset(registry.codes())
    assert {rule["id"] for rule in rendered(outcome_of(enabled=codes))["tool"]["driver"]["rules"]} == codes


def test_sarif_tools_reads_it(forklint, tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(HAZARD)
    forklint("--output-format", "sarif", "--output-file", "report.sarif", cwd=tmp_path)
    program = "from sarif.cmdline.main import main\nfor words in {}:\n    sys.argv[1:] = words\n    assert not main()\n"
    runs = [["summary", "report.sarif"], ["csv", "report.sarif", "--output", "report.csv"]]
    command = [sys.executable, "-c", "import sys\n" + program.format(runs)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "error: 1" in done.stdout
    assert "FKL301" in done.stdout
    with (tmp_path / "report.csv").open(encoding="utf-8-sig") as file:
        (row,) = csv.DictReader(file)
    assert (row["Tool"], row["Severity"], row["Code"], row["Line"]) == ("forklint", "error", "FKL301", "7")
    assert row["Location"].endswith("data.py")


def test_the_repository_is_that_of_the_folder_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / name)
        assert repository.root() == tmp_path / name
