"""The pages in headless Chromium: axe finds nothing, nothing is loaded, filters and keys work, phones fit.

Needs ``pip install playwright axe-playwright-python`` and a Chromium: the one that playwright brings, or the system's.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from doc_snippets import ROOT
from report_cases import finding_of, outcome_of

from forklint.model import Span
from forklint.report import html

api = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = pytest.mark.soak
SCREENS = [(1280, 900, "light"), (1280, 900, "dark"), (390, 844, "light"), (390, 844, "dark")]


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> dict[str, Path]:
    """The report of the example, one of a proof, and one with 10,000 findings."""
    folder = tmp_path_factory.mktemp("pages")
    shutil.copytree(ROOT / "examples" / "ocr", folder / "ocr", ignore=shutil.ignore_patterns(".data", "__pycache__"))
    (folder / "forklint.toml").touch()
    made = {"lint": folder / "lint.html", "verify": folder / "verify.html", "large": folder / "large.html"}
    for name, words in (("lint", []), ("verify", ["verify"])):
        scope = ["ocr"] if name == "lint" else ["ocr", "--select", "FKL301", "--fix"]
        command = [sys.executable, "-m", "forklint", *words, *scope, "--output-format", "html"]
        done = subprocess.run([*command, "--output-file", str(made[name])], cwd=folder, check=False)
        assert done.returncode == 1
    findings = [finding_of(path=f"file_{number // 4}.py", span=Span(7, 9, 7, 40)) for number in range(10_000)]
    made["large"].write_text(html.render(outcome_of(*findings)), encoding="utf-8")
    return made


def opened(browser, path: Path, width: int = 1280, height: int = 900, scheme: str = "light"):
    """A page, which fails the test if it writes an error to the console or asks for anything but itself."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.problems = []
    page.on("console", lambda message: page.problems.append(message.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("request", lambda asked: asked.url == path.as_uri() or page.problems.append(asked.url))
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("name", ["lint", "verify"])
@pytest.mark.parametrize(("width", "height", "scheme"), SCREENS)
def test_axe_finds_nothing(browser, pages: dict[str, Path], name: str, width: int, height: int, scheme: str) -> None:
    page = opened(browser, pages[name], width, height, scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    violations = axe.Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in violations] == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.problems == []
    page.close()


def test_filters(browser, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["lint"])
    shown = page.locator("article:visible")
    assert shown.count() == 5
    page.get_by_label("warnings").uncheck()
    assert shown.count() == 3
    page.get_by_label("Rule", exact=True).select_option("FKL501")
    assert [shown.count(), shown.first.get_attribute("data-code")] == [1, "FKL501"]
    page.get_by_label("File", exact=True).fill("data.py")
    assert shown.count() == 0
    assert page.get_by_role("status").inner_text() == "0 of 5 shown"
    assert page.locator("section.file:visible").count() == 0
    page.get_by_role("link", name="ocr/settings.py").click()  # what is linked to is shown
    assert shown.count() == 5
    assert page.problems == []
    page.close()


def test_by_keyboard(browser, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["lint"])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the findings"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "kind"
    page.keyboard.press("Space")
    assert page.locator("article:visible").count() == 2
    page.locator("a.code:visible").first.focus()
    page.keyboard.press("Enter")  # the page of its rule opens
    assert page.locator("details.rule[open]").count() == 1
    page.locator("details.fix summary:visible").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("pre.changes:visible").count() == 1
    page.close()


def test_without_a_script_all_is_there(browser, pages: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["lint"].as_uri())
    assert page.locator("article:visible").count() == 5
    assert not page.locator("#filters").is_visible()
    context.close()


def test_a_large_report_opens_and_filters_in_seconds(browser, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["large"])
    took = page.evaluate(
        """() => {
            const began = performance.now();
            const field = document.querySelector("[name=file]");
            field.value = "file_7.py";
            field.dispatchEvent(new Event("input", { bubbles: true }));
            document.body.offsetHeight;
            return performance.now() - began;
        }"""
    )
    assert page.get_by_role("status").inner_text() == "4 of 10000 shown"
    assert took < 5000
    assert page.problems == []
    page.close()
