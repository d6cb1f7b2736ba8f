"""A page of HTML, read by a strict parser and checked for what every page must be."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

import html5lib

LOADING = {"src", "srcset", "action", "formaction", "poster", "data", "background"}
"""Attributes by which a page loads something."""
TEXT_ONLY = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What a page must not hold, since nobody sees it."""


class Page:
    """A page, checked as it is read: raises AssertionError or html5lib's ParseError for what is wrong with it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root: Any = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)
        for one in self.root.iter():
            if isinstance(one.tag, str):
                one.tag = one.tag.rpartition("}")[2]  # those of SVG have a namespace
        self.check()

    def all(self, tag: str, kind: str = "") -> list[Element]:
        """The elements of a tag, with a class if one is named."""
        return [one for one in self.root.iter(tag) if not kind or kind in one.get("class", "").split()]

    def texts(self, tag: str, kind: str = "") -> list[str]:
        """The texts of such elements."""
        return [words(one) for one in self.all(tag, kind)]

    def check(self) -> None:
        """It loads nothing, runs its own script alone, and can be found one's way in."""
        assert not TEXT_ONLY.search(self.text)
        elements: list[Element] = [one for one in self.root.iter() if isinstance(one.tag, str)]
        ids = [one.get("id") for one in elements if one.get("id")]
        assert len(ids) == len(set(ids))
        for one in elements:
            assert not LOADING & set(one.attrib), one.attrib
            assert not [name for name in one.attrib if name.startswith("on") or name == "style"], one.attrib
            assert one.tag not in {"link", "iframe", "object", "embed", "base", "img"}, one.tag
            assert all(name in ids for name in one.get("aria-labelledby", "").split())
            if one.get("href", "").startswith("#"):
                assert one.get("href", "")[1:] in ids
        levels = [int(one.tag[1]) for one in elements if re.fullmatch(r"h[1-6]", one.tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        for svg in self.all("svg"):
            assert svg.get("aria-hidden") == "true" or svg.get("role") == "img"
        for table in self.all("table"):
            assert all(one.get("scope") for one in table.iter("th")) or not list(table.iter("caption"))
        self.check_policy()

    def check_policy(self) -> None:
        """Its policy forbids everything but the style and the script that it has."""
        [policy] = [
            one.get("content") for one in self.all("meta") if one.get("http-equiv") == "Content-Security-Policy"
        ]
        assert policy.startswith("default-src 'none';")
        [style], [script] = self.all("style"), self.all("script")
        for directive, element in (("style-src", style), ("script-src", script)):
            digest = base64.b64encode(hashlib.sha256((element.text or "").encode()).digest()).decode()
            assert f"{directive} 'sha256-{digest}';" in policy


def words(element: Element) -> str:
    """The text of an element, white space made equal."""
    return " ".join("".join(element.itertext()).split())


def lines(element: Element) -> Iterator[str]:
    """The lines of code of an excerpt, without their numbers."""
    for row in element.iter("span"):
        if row.get("class") == "text":
            yield "".join(row.itertext()).removesuffix("\n")
