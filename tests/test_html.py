"""The page of a run of lint: what it shows, that nothing of a project acts in it, that large reports stay usable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hazards import HAZARD
from html_pages import Page, lines, words
from report_cases import finding_of, outcome_of

from forklint.model import Applicability, Cell, Edit, Fix, Link, Note, Severity, Span
from forklint.report import Outcome, html
from forklint.report.html.code import colored
from forklint.report.html.lint import MOST_WITH_CODE
from forklint.report.sources import Sources
from forklint.saved_verdicts import Kept, Shown

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\x1b[31m\u202e\udcff"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "data.py").write_text(HAZARD)
    (tmp_path / "train.py").write_text("import os\n\nimport torch\n\nos.environ['OMP_NUM_THREADS'] = '1'\n")
    return tmp_path


def test_a_run_as_a_page(forklint, project: Path) -> None:
    done = forklint("--output-format", "html", cwd=project)
    assert done.returncode == 1
    page = Page(done.stdout)
    assert page.texts("h1") == ["2 findings in 2 files"]
    assert page.texts("h3")[:2] == ["src/data.py", "train.py"]
    articles = page.all("article")
    assert [one.get("data-code") for one in articles] == ["FKL301", "FKL101"]
    shown = list(lines(articles[0]))
    at = HAZARD.splitlines().index(next(line for line in HAZARD.splitlines() if "lmdb.open" in line))
    assert HAZARD.splitlines()[at].strip() in [line.strip() for line in shown]
    assert min(len(line) - len(line.lstrip()) for line in shown if line) == 0
    assert [words(one) for one in articles[0].iter("mark")]
    added = [words(one) for one in articles[0].iter("span") if one.get("class") == "added"]
    assert "+ def __getstate__(self):" in added
    assert {"Linux: fork, forkserver", "macOS: spawn"} <= {words(one) for one in page.all("span", "cell")}
    rule = next(one for one in page.all("details", "rule") if one.get("id") == "rule-FKL301")
    assert "Why is this bad?" in words(rule)
    assert list(rule.iter("pre"))


def test_no_findings(forklint, tmp_path: Path) -> None:
    (tmp_path / "clean.py").write_text("import torch\n")
    done = forklint("--isolated", "--output-format", "html", cwd=tmp_path)
    assert done.returncode == 0
    page = Page(done.stdout)
    assert page.texts("h1") == ["No findings"]
    assert "1 file checked" in words(page.root)


def test_the_chain_a_verdict_and_what_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    chain = (Link(str(tmp_path / "data.py"), 5, 1, "`Words` is a dataset"),)
    finding = finding_of(chain=chain, cells=(Cell("linux", "fork"),), severity=Severity.WARNING)
    kept = Kept("data.py", "FKL301", finding.fingerprint, "confirmed", "3 samples differ", "2026-11-01", {}, {})
    outcome = Outcome(
        [finding],
        [Note("gone.py", "no such file", failure=True), Note("a.py", "skipped")],
        ["data.py"],
        frozenset,
        Sources({"data.py": HAZARD.encode()}),
        {finding: Shown(kept, "")},
    )
    page = Page(html.render(outcome))
    text = words(page.root)
    assert "`" not in words(page.all("div", "chain")[0])
    assert "Words is a dataset" in text
    assert HAZARD.splitlines()[4].strip() in list(lines(page.all("div", "chain")[0]))
    assert "confirmed on 2026-11-01: 3 samples differ" in text
    assert page.texts("ul", "failures") == ["gone.py: no such file"]


def test_nothing_of_a_project_acts_in_the_page(tmp_path: Path) -> None:
    text = f'name = "{HOSTILE.encode(errors="replace").decode()}"\n# {HOSTILE.encode(errors="replace").decode()}\n'
    path = f"src/{HOSTILE}.py"
    fix = Fix(HOSTILE, Applicability.SAFE, (Edit(Span(1, 1, 2, 1), f"{HOSTILE}\n"),))
    link = Link(str(tmp_path / path), 1, 1, HOSTILE)
    finding = finding_of(
        path=path, message=f"`{HOSTILE}` {HOSTILE}", span=Span(1, 1, 2, 5), fixes=(fix,), chain=(link,)
    )
    page = Page(html.render(outcome_of(finding, text=text, notes=[Note(path, HOSTILE, failure=True)])))
    assert len(page.all("script")) == 1
    spelt = r"</script><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\x1b[31m\u202e\udcff"
    assert f"src/{spelt}.py" in page.texts("h3")
    assert page.texts("p", "message") == [f"{spelt} {spelt}"]
    assert page.all("section", "file")[0].get("data-file") == f"src/{spelt}.py"
    assert any(spelt in one for one in page.texts("span", "added"))


def test_code_is_shown_as_it_is() -> None:
    text = 'def f(x):\n\treturn """a\n  b <b>\n"""  # é\n\n\nf(1)\r\n'
    rows = colored(text.splitlines(keepends=True), "a.py")
    assert ["".join(piece.text for piece in row) for row in rows] == text.splitlines()
    assert {piece.color for piece in rows[2]} == {"s"}
    assert [piece.color for piece in rows[0] if piece.text == "def"] == ["k"]


@pytest.mark.parametrize(
    ("span", "marked"),
    [
        (Span(2, 5, 2, 6), ["y"]),
        (Span(1, 1, 3, 2), ["if x:", "y = (1,", ")"]),
        (Span(2, 5, 9, 1), ["y = (1,", ")"]),
        (Span(9, 1, 9, 2), []),
    ],
)
def test_the_place_is_marked(span: Span, marked: list[str]) -> None:
    page = Page(html.render(outcome_of(finding_of(span=span), text="if x:\n    y = (1,\n)\n")))
    rows = [[*row.iter("mark")] for row in page.all("span", "row")]
    assert ["".join("".join(one.itertext()) for one in row) for row in rows if row] == marked


def test_a_line_of_a_table_is_cut() -> None:
    page = Page(html.render(outcome_of(finding_of(span=Span(1, 5001, 1, 5004)), text="x" * 5000 + "abc" + "y" * 5000)))
    [line] = lines(page.all("pre", "excerpt")[0])
    assert len(line) < 210
    assert page.texts("mark") == ["abc"]


def test_ten_thousand_findings_stay_usable(tmp_path: Path) -> None:
    findings = [
        finding_of(path=f"package/file_{number // 4:04}.py", span=Span(7, 9, 7, 40 + number % 4))
        for number in range(10_000)
    ]
    text = html.render(outcome_of(*findings))
    assert len(text) < 12_000_000
    assert text.count("<article ") == 10_000
    assert text.count('<pre class="excerpt"') == MOST_WITH_CODE
    assert f"The first {MOST_WITH_CODE} findings are shown with their code" in text
    assert "and 2300 more files below" in text


def test_text_needs_no_templates(project: Path) -> None:
    code = (
        "import sys; sys.argv = ['forklint', 'src']; from forklint.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted({'jinja2', 'pygments', 'markdown_it'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True)
    assert "FKL301" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_modules_of_the_project_are_not_run(forklint, project: Path) -> None:
    """Jinja imports ``numbers``, and with ``python -m`` the project's folder would be the first to have it."""
    (project / "numbers.py").write_text("raise SystemExit('the project was run')\n")
    done = forklint("--output-format", "html", cwd=project)
    assert done.returncode == 1
    assert "2 findings in 2 files" in done.stdout
