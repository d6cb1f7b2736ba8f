"""docs/speed.md and its plot are what stands in bench/results.json."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from bench import figures, results
from bench.rows import chosen

README = Path(__file__).parent.parent / "README.md"


def test_the_page_is_what_was_measured() -> None:
    """`python -m bench.run --page` writes it anew."""
    measured = results.read(results.FILE)
    assert figures.PAGE.read_text(encoding="utf-8") == figures.page(measured)
    keys = [row["key"] for row in measured["rows"]]
    assert keys == [row.key for row in chosen([], quick=measured["quick"])], "measure with make bench"


def test_the_readme_says_what_was_measured() -> None:
    measured = results.read(results.FILE)["contenders"]
    cold, warm = measured["forklint"], measured["forklint-warm"]
    text = " ".join(README.read_text(encoding="utf-8").split())
    assert f"the {cold['files']:,} files of sixteen packages take {cold['median_seconds']:.0f} s the first time" in text
    assert f"and {warm['median_seconds']:.1f} s when nothing changed" in text
    edited, named = measured["forklint-comment"], measured["forklint-hook"]
    assert f"after a comment was edited takes {edited['median_seconds']:.1f} s" in text
    assert f"one changed file in the commit hook {named['median_seconds']:.1f} s" in text


def test_the_plot_is_what_was_measured() -> None:
    texts = ["".join(one.itertext()) for one in ET.parse(figures.PLOT).iter("{http://www.w3.org/2000/svg}text")]
    for label, seconds, _ in figures.bars(results.read(results.FILE)):
        assert figures.bar_text(seconds) in texts
        assert any(text.startswith(label) for text in texts)
