"""docs/speed.md and its plot are what stands in bench/results.json."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from bench import figures, results
from bench.rows import chosen


def test_the_page_is_what_was_measured() -> None:
    """`python -m bench.run --page` writes it anew."""
    measured = results.read(results.FILE)
    assert figures.PAGE.read_text(encoding="utf-8") == figures.page(measured)
    keys = [row["key"] for row in measured["rows"]]
    rows = [row.key for row in chosen([], quick=measured["quick"])]
    assert keys == [key for key in rows if key in keys], "measure with make bench"
    left = [key for key in rows if key not in keys]
    assert all(f"`{key}`" in figures.page(measured) for key in left), "the page says what was not measured"


def test_the_plot_is_what_was_measured() -> None:
    texts = ["".join(one.itertext()) for one in ET.parse(figures.PLOT).iter("{http://www.w3.org/2000/svg}text")]
    for label, seconds, _ in figures.bars(results.read(results.FILE)):
        assert figures.bar_text(seconds) in texts
        assert any(text.startswith(label) for text in texts)
