"""The other formats, each read back by a parser, and the file that a report is written to."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import notebook_cases
import pytest
from click import unstyle
from html_pages import Page
from notebook_cases import IMPORTS, LATE
from report_cases import HAZARD, finding_of, outcome_of

from forklint.config import SettingsFinder
from forklint.engine import Options
from forklint.linters import Linters
from forklint.model import Note, Severity, Span
from forklint.report import github, gitlab, grouped, json_lines, junit
from forklint.report.formats import FORMATS
from forklint.source import writing

WORDS = f"from torch.utils.data import Dataset\n\n{notebook_cases.WORDS}"  # 30 and 80 characters end within lines
MACHINE = [name for name, form in FORMATS.items() if not form.for_people]
NOT_ROOT = pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "data.py").write_text(HAZARD)
    (tmp_path / "src" / "model.py").write_text("import torch\n")
    return tmp_path


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Read workflow commands as GitHub documents them: ``::name key=value,key=value::message``, with escapes."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(\w+) ([^\n]*?)::(.*)", line)
        assert match, line
        name, pairs, message = match.groups()
        properties = dict(pair.split("=", 1) for pair in pairs.split(","))
        found.append((name, {key: unescaped(value) for key, value in properties.items()}, unescaped(message)))
    return found


def unescaped(text: str) -> str:
    escapes = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}
    assert not re.search(r"%(?!0D|0A|3A|2C|25)", text), text
    return re.sub("%0D|%0A|%3A|%2C|%25", lambda match: escapes[match[0]], text)


def test_github_annotates_the_line(forklint, project: Path) -> None:
    done = forklint(".", "--output-format", "github", cwd=project / "src")
    ((name, properties, message),) = commands(done.stdout)
    assert (done.returncode, name) == (1, "error")
    assert properties == {
        "file": "src/data.py",
        "line": "7",
        "endLine": "7",
        "col": "9",
        "endColumn": "50",
        "title": "forklint (FKL301)",
    }
    assert message.startswith("`self.env` holds an open LMDB environment")


def test_github_escapes_and_levels() -> None:
    findings = [
        finding_of(path="a,b:c%2C\nd.py", message="100%: a, b\r\nc\x1b", severity=Severity.WARNING),
        finding_of(span=Span(7, 9, 8, 3), severity=Severity.INFO),
        finding_of(path="x.ipynb", notebook_cell=2),
    ]
    hard, long, cell = commands(github.render(outcome_of(*findings)))
    assert hard[0] == "warning"
    assert hard[1]["file"].endswith("a,b:c%2C\nd.py")
    assert hard[2] == "100%: a, b\r\nc\\x1b"
    assert long[0] == "notice"
    assert (long[1]["line"], long[1]["endLine"]) == ("7", "8")
    assert not {"col", "endColumn"} & set(long[1])
    assert cell[1]["line"] == "1"  # it is not to be found
    assert not {"col", "endColumn"} & set(cell[1])
    assert cell[2].startswith("cell 2, line 7: ")


def test_a_path_up_and_down_again_is_the_path(forklint, project: Path) -> None:
    (project / "tools").mkdir()
    (project / "tools" / "pyproject.toml").write_text('[tool.forklint]\nignore = ["FKL301"]\n')
    (project / "far").symlink_to(project / "src", target_is_directory=True)

    def names(*arguments: str, cwd: Path, **options) -> list[str]:
        done = forklint(*arguments, "--output-format", "json", cwd=cwd, **options)
        return [Path(found["filename"]).relative_to(project).as_posix() for found in json.loads(done.stdout)]

    for cwd, path in ((project / "tools", "../src"), (project / "src", "../src/data.py"), (project, "far/../src")):
        assert names(path, cwd=cwd) == ["src/data.py"]  # the settings of tools speak of what is in it
    name = ("-", "--stdin-filename", "../src/data.py")
    assert names(*name, cwd=project / "tools", input=HAZARD) == ["src/data.py"]
    printed = forklint("../src", "..", "--output-format", "concise", cwd=project / "src").stdout
    assert printed.startswith("../src/data.py:7:9: FKL301")  # as it was typed


def test_gitlab_has_what_it_requires(forklint, project: Path) -> None:
    (project / "src" / "more.py").write_text(HAZARD)
    issues = json.loads(forklint("--output-format", "gitlab", cwd=project).stdout)
    assert len(issues) == 2
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert isinstance(issue["location"]["lines"]["begin"], int)
    assert issues[0]["location"]["path"] == "src/data.py"
    before = [issue["fingerprint"] for issue in issues]
    (project / "src" / "data.py").write_text("\n\n" + HAZARD)
    after = [issue["fingerprint"] for issue in json.loads(forklint("--output-format", "gitlab", cwd=project).stdout)]
    assert before == after


@pytest.mark.parametrize("written", ["list", "text", "odd"])
@pytest.mark.parametrize("piped", [False, True])
def test_services_are_told_the_lines_of_a_notebooks_json(forklint, project: Path, written: str, piped: bool) -> None:
    path = notebook_cases.write(project / "src" / "words.ipynb", IMPORTS, "#md prose", WORDS, LATE)
    content = json.loads(path.read_text())
    cell = content["cells"][2]
    source = "".join(cell["source"])
    cell["source"] = {"list": cell["source"], "text": source, "odd": [source[:30], source[30:80], source[80:]]}[written]
    path.write_text("\n\n" + json.dumps(content, indent=1))
    lines = path.read_text().splitlines()
    row, imported = (
        next(number for number, line in enumerate(lines, 1) if text in line)
        for text in ("self.env = lmdb", "import torch")
    )
    arguments = ["words.ipynb"]
    options = {}
    if piped:
        options["input"] = path.read_text()
        arguments = ["-", "--stdin-filename", "words.ipynb"]
        path.write_text("{}")

    def told(name: str, code: str = "FKL301") -> str:
        return forklint(*arguments, "--output-format", name, "--select", code, cwd=path.parent, **options).stdout

    ((_, properties, message),) = commands(told("github"))
    assert (properties["line"], message[:16]) == (str(row), "cell 3, line 5: ")
    (issue,) = json.loads(told("gitlab"))
    assert issue["location"]["lines"] == {"begin": row, "end": row}
    (result,) = json.loads(told("sarif"))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": row, "endLine": row}
    (result,) = json.loads(told("sarif", "FKL101"))["runs"][0]["results"]
    assert imported in {place["physicalLocation"]["region"]["startLine"] for place in result["relatedLocations"]}
    assert ET.fromstring(told("junit")).find("testsuite/testcase").get("line") == str(row)


def test_gitlab_tells_apart_what_is_alike() -> None:
    alike = outcome_of(finding_of(), finding_of(span=Span(8, 9, 8, 50)))
    assert len({finding.fingerprint for finding in alike.findings}) == 1
    assert len({issue["fingerprint"] for issue in json.loads(gitlab.render(alike))}) == 2


def test_junit_counts_and_survives_any_character() -> None:
    hard = finding_of(path="odd\udcff\x01.py", message="<&\x1b\ud800\n>")
    outcome = outcome_of(hard, finding_of(), notes=[Note("lost.py", "cannot be read", failure=True)])
    suites = ET.fromstring(junit.render(outcome).encode())
    assert {key: suites.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "2",
        "errors": "1",
    }
    assert [suite.get("name") for suite in suites] == ["odd\\udcff\\x01.py", "data.py", "lost.py"]
    failure = suites.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("message") == "<&\\x1b\\ud800\\n>"


def test_junit_has_a_case_for_a_clean_file(forklint, project: Path) -> None:
    suites = ET.fromstring(forklint("--output-format", "junit", cwd=project / "src").stdout)
    cases = {case.get("classname"): case.find("failure") is None for case in suites.iter("testcase")}
    assert cases == {"src/data.py": False, "src/model.py": True}


def test_json_lines_are_the_elements_of_the_array(forklint, project: Path) -> None:
    (project / "src" / "more.py").write_text(HAZARD)
    lines, array = (forklint("--output-format", name, cwd=project).stdout for name in ("json-lines", "json"))
    assert [json.loads(line) for line in lines.splitlines()] == json.loads(array)
    assert len(lines.splitlines()) == 2
    assert json_lines.render(outcome_of(message="two\nlines \udcff")).count("\n") == 1


def test_grouped_stands_in_columns() -> None:
    spans = [Span(7, 9, 7, 12), Span(123, 1, 123, 4)]
    findings = [finding_of(span=span) for span in spans] + [finding_of(path="x.ipynb", notebook_cell=3)]
    assert unstyle(grouped.render(outcome_of(*findings))) == (
        "data.py:\n"
        "    7:9  FKL301 it keeps a handle\n"
        "  123:1  FKL301 it keeps a handle\n"
        "\n"
        "x.ipynb:\n"
        "  cell 3:7:9  FKL301 it keeps a handle\n"
        "\n"
    )


@pytest.mark.parametrize("name", MACHINE)
def test_a_report_for_programs_holds_nothing_else(forklint, project: Path, name: str) -> None:
    (project / "src" / "latin.py").write_bytes(b"name = '\xe9'\n")
    done = forklint("src", "--fix", "--show-fixes", "-v", "--output-format", name, "--color", "always", cwd=project)
    assert "fixed src/data.py:7: FKL301" in done.stderr
    assert "latin.py" in done.stderr
    assert done.returncode == 0
    if name in {"github", "json-lines"}:
        assert done.stdout == ""
    elif name == "junit":
        assert ET.fromstring(done.stdout).get("failures") == "0"
    elif name == "html":
        assert Page(done.stdout).texts("h1") == ["No findings"]
    else:
        assert not json.loads(done.stdout) or json.loads(done.stdout)["runs"][0]["results"] == []


def test_statistics_in_each_format(forklint, project: Path) -> None:
    row = {"code": "FKL301", "name": "handle-in-init", "count": 1}
    for name, form in FORMATS.items():
        done = forklint("--statistics", "-q", "--output-format", name, cwd=project)
        if form.for_people:
            assert done.stdout.split() == ["1", "FKL301", "handle-in-init"]
        elif form.statistics:
            read = json.loads(done.stdout)
            assert read == ([row] if name == "json" else row)
        else:
            assert done.returncode == 2
            assert f"--statistics cannot be used with --output-format {name}: choose one of full" in done.stderr


@pytest.mark.parametrize("arguments", [["--statistics"], ["--output-format", "github"]])
def test_a_difference_is_worked_out_whatever_the_report_would_show(
    forklint, project: Path, arguments: list[str]
) -> None:
    done = forklint("--diff", *arguments, cwd=project)
    assert (done.returncode, done.stdout) == (1, forklint("--diff", cwd=project).stdout)


def test_formats_without_fixes_say_what_they_would_say_with_them(forklint, project: Path) -> None:
    reports = Linters(SettingsFinder(isolated=True), Options()).of(project / "src").lint(project / "src" / "data.py")
    assert reports.findings[0].fixes
    bare = [replace(finding, fixes=()) for finding in reports.findings]
    for form in FORMATS.values():
        if not form.shows_fixes:
            assert form.render(outcome_of(*bare)) == form.render(outcome_of(*reports.findings))


@pytest.mark.parametrize("name", list(FORMATS))
def test_the_file_has_what_would_be_printed(forklint, project: Path, name: str) -> None:
    printed = forklint("src", "--output-format", name, cwd=project)
    report = project / "report"
    report.write_text("old")
    report.chmod(0o640)
    if name == "json":
        assert forklint("src", "--output-format", name, "--output-file", "-", cwd=project).stdout == printed.stdout
    done = forklint("src", "--output-format", name, "--output-file", report, "--color", "always", cwd=project)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert report.read_text(encoding="utf-8") == printed.stdout
    assert stat.S_IMODE(report.stat().st_mode) == 0o640
    assert sorted(path.name for path in project.iterdir()) == [".forklint_cache", ".git", "report", "src"]


def test_a_new_file_has_the_usual_permissions_and_links_stay(forklint, project: Path) -> None:
    (project / "real").mkdir()
    (project / "link").symlink_to("real/report")
    assert forklint("src", "--output-file", "link", cwd=project).returncode == 1
    assert (project / "link").is_symlink()
    plain = project / "plain"
    plain.touch()
    assert (project / "real" / "report").stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere/report", "does not exist; create it first"),
        ("src", "this is a directory"),
        ("src/data.py", "refusing to overwrite a source file"),
        ("src/data.py/report", "does not exist; create it first"),
        ("loop", "too many levels of symbolic links"),
        ("two\nlines/report", "two\\nlines/report: the directory"),
        pytest.param("closed/report", "is not writable", marks=NOT_ROOT),
        pytest.param("kept", "the file is not writable", marks=NOT_ROOT),
    ],
)
def test_a_file_that_cannot_be_written_is_said_before_work(forklint, project: Path, name: str, message: str) -> None:
    (project / "loop").symlink_to("loop")
    (project / "closed").mkdir(0o500)
    (project / "kept").touch(0o400)
    done = forklint("src", "--fix", "--output-file", name, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"Error: --output-file [^\n]*\n", done.stderr)
    assert message in done.stderr
    assert (project / "src" / "data.py").read_text() == HAZARD


def test_an_interrupted_write_leaves_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writing.replace(project / "report", b"new")
    assert sorted(path.name for path in project.iterdir()) == [".git", "src"]


@pytest.mark.parametrize("other", ["--diff", "--show-files", "--show-settings"])
def test_what_prints_no_report_takes_no_file(forklint, project: Path, other: str) -> None:
    done = forklint("src", other, "--output-file", "report", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"cannot be used with {other}" in done.stderr
    assert not (project / "report").exists()


def test_an_error_leaves_the_old_report(forklint, project: Path) -> None:
    (project / "report").write_text("old")
    (project / "pyproject.toml").write_text("[tool.forklint]\nselekt = []\n")
    assert forklint("src", "--output-file", "report", cwd=project).returncode == 2
    assert (project / "report").read_text() == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("name", ["full", "json", "sarif"])
def test_a_full_disk_is_one_line(forklint, project: Path, name: str) -> None:
    command = [sys.executable, "-m", "forklint", "src", "--output-format", name]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, cwd=project, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "Error: cannot print the report: No space left on device\n")
    done = forklint("src", "--output-format", name, "--output-file", "/dev/full", cwd=project)
    assert (done.returncode, done.stderr) == (2, "Error: --output-file /dev/full: No space left on device\n")


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
def test_a_closed_pipe_is_silent(project: Path) -> None:
    for number in range(40):  # more than a pipe holds
        (project / "src" / f"data{number}.py").write_text(HAZARD)
    command = f"'{sys.executable}' -m forklint src -j 1 --output-format json | head -n 1"
    done = subprocess.run(["sh", "-c", command], cwd=project, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[\n", "")


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_a_stream_is_written_into(forklint, project: Path) -> None:
    done = forklint("src", "--output-format", "concise", "-q", "--output-file", "/dev/stdout", cwd=project)
    assert done.stdout.startswith("src/data.py:7:9: FKL301 ")


def test_formats_are_imported_when_they_are_asked_for(project: Path) -> None:
    code = (
        "import sys; sys.argv = ['forklint', 'src']; from forklint.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([name for name in ('sarif', 'junit', 'github') if f'forklint.report.{name}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
    assert gitlab.render(outcome_of()).startswith("[")
