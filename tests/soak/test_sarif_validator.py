"""SARIF as Microsoft's validator judges it: the schema, the specification and GitHub's own rules. Needs npm once."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(sys.platform != "linux" or shutil.which("npm") is None, reason="needs npm, on Linux"),
]
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
PACKAGE = "@microsoft/sarif-multitool-linux"
SECONDS = 3000
"""All fixtures take minutes of processor time; this ends only what hangs, however busy the machine is."""


@pytest.fixture(scope="module")
def validator(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("multitool")
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), PACKAGE]
    subprocess.run(command, check=True, timeout=300)
    program = folder / "node_modules" / PACKAGE / "Sarif.Multitool"
    program.chmod(0o755)
    return program


def verdicts(validator: Path, report: Path) -> list[str]:
    """What the validator says of a report with level warning or error."""
    out = report.with_suffix(".verdict")
    options = ["--rule-kind", "Sarif;Ghas", "--level", "Error;Warning", "--log", "ForceOverwrite", "--output", str(out)]
    subprocess.run(
        [str(validator), "validate", str(report), *options], check=False, capture_output=True, timeout=SECONDS
    )
    return [result["ruleId"] for result in json.loads(out.read_text(encoding="utf-8-sig"))["runs"][0]["results"]]


def test_nothing_is_wrong_with_the_report_of_all_fixtures(forklint, tmp_path: Path, validator: Path) -> None:
    report = tmp_path / "forklint.sarif"
    command = (".", "--isolated", "--output-format", "sarif", "--output-file", report)
    assert forklint(*command, cwd=FIXTURES, timeout=SECONDS).returncode
    assert verdicts(validator, report) == []
    log = json.loads(report.read_text(encoding="utf-8"))
    assert len(log["runs"][0]["results"]) > 100

    # The validator does judge: by the schema, and by what GitHub asks for beyond it.
    report.write_text(json.dumps(changed(log, region={"startLine": 0})), encoding="utf-8")
    assert "JSON1008" in verdicts(validator, report)
    report.write_text(json.dumps(changed(log, region=None)), encoding="utf-8")
    assert any(verdict.startswith("GH1") for verdict in verdicts(validator, report))


def changed(log: dict[str, Any], region: dict[str, int] | None) -> dict[str, Any]:
    """The report with another region in its first result, or without a place."""
    copy: dict[str, Any] = json.loads(json.dumps(log))
    result = copy["runs"][0]["results"][0]
    if region is None:
        del result["locations"]
    else:
        result["locations"][0]["physicalLocation"]["region"] = region
    return copy
