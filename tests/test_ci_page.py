"""docs/ci.md: its configurations parse, and each command in them does what the page says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from doc_snippets import snippet
from report_cases import HAZARD

from forklint.report.formats import FORMATS

PAGE = "ci.md"


def commands(value: Any) -> Iterator[str]:
    """All commands of forklint in a parsed configuration."""
    if isinstance(value, dict):
        for part in value.values():
            yield from commands(part)
    elif isinstance(value, list):
        for part in value:
            yield from commands(part)
    elif isinstance(value, str) and value.startswith("forklint "):
        yield value


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    (tmp_path / "work" / "data.py").write_text(HAZARD)
    return tmp_path / "work"


def run(command: str, project: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as the service does, in a shell that finds ``forklint``."""
    programs = project.parent / "bin"
    programs.mkdir(exist_ok=True)
    program = programs / "forklint"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m forklint \"$@\"\n")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["sh", "-e", "-c", command], cwd=project, env=environment, capture_output=True, text=True, check=False
    )


def parsed(name: str) -> Any:
    return yaml.safe_load(snippet(PAGE, name))


def test_annotations(project: Path) -> None:
    (command,) = commands(parsed("github-annotations"))
    done = run(command, project)
    assert done.returncode == 1
    assert done.stdout.startswith("::error file=data.py,line=7,")


def test_code_scanning(project: Path) -> None:
    workflow = parsed("github-code-scanning")
    (command,) = commands(workflow)
    assert run(command, project).returncode == 0
    job = workflow["jobs"]["forklint"]
    assert job["permissions"]["security-events"] == "write"
    (upload,) = (step for step in job["steps"] if "upload-sarif" in step.get("uses", ""))
    log = json.loads((project / upload["with"]["sarif_file"]).read_text(encoding="utf-8"))
    assert len(log["runs"][0]["results"]) == 1


def test_gitlab(project: Path) -> None:
    pipeline = parsed("gitlab")
    (command,) = commands(pipeline)
    assert run(command, project).returncode == 1
    artifact = project / pipeline["forklint"]["artifacts"]["reports"]["codequality"]
    assert json.loads(artifact.read_text())[0]["location"]["path"] == "data.py"


def test_jenkins(project: Path) -> None:
    text = snippet(PAGE, "jenkins")
    (command,) = commands(re.findall(r"sh '(.*)'", text))
    assert run(command, project).returncode == 0
    (report,) = re.findall(r"junit '(.*)'", text)
    assert ET.parse(project / report).getroot().get("failures") == "1"


def test_statistics(project: Path) -> None:
    done = run(snippet(PAGE, "statistics"), project)
    assert (done.returncode, done.stdout) == (0, "")
    assert json.loads((project / "forklint-counts.jsonl").read_text())["count"] == 1


def test_the_page_names_all_formats() -> None:
    text = (Path(__file__).parent.parent / "docs" / PAGE).read_text(encoding="utf-8")
    table = text.split("| format | for |")[1].split("\n\n")[0]
    assert set(re.findall(r"`([\w-]+)`", table)) == set(FORMATS)
