"""Fills the templates of a page.

Jinja escapes what is put into them, and what cannot be seen is spelt out before that. The policy in the page's head
allows one style and one script, by their digests, so that nothing else runs even if escaping failed.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from forklint import __version__

HERE = Path(__file__).parent
CODE = re.compile(r"`([^`]+)`")
KEPT = "\n\t"
"""Control characters that stay what they are: they are line ends and indents of code."""


def fill(template: str, view: Mapping[str, Any]) -> str:
    """Make the page from a template and what it shows."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = prose
    style, script = (HERE.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return environment.get_template(template).render(
        view,
        style=Markup(style),  # noqa: S704 - they are files of this folder
        script=Markup(script),  # noqa: S704
        policy=policy(style, script),
        version=__version__,
        made=_now(),
    )


def policy(style: str, script: str) -> str:
    """Say what the page may load and run: its own style and script, and nothing from anywhere."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def spelt(text: str) -> str:
    r"""Text with what cannot be seen spelt out: terminal escapes, bidi controls, undecodable bytes, as ``\x1b``."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in KEPT else char.encode("unicode_escape").decode("ascii") for char in text
    )


def prose(text: str) -> Markup:
    """A sentence of a message, in which names between backticks are code."""
    parts = CODE.split(text)
    return Markup().join(
        Markup("<code>{}</code>").format(spelt(part)) if number % 2 else spelt(part)
        for number, part in enumerate(parts)
    )


def _shown(value: Any) -> Any:
    return spelt(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _now() -> str:
    """The day, for the page's foot; reproducible builds set SOURCE_DATE_EPOCH."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return time.strftime("%Y-%m-%d", time.gmtime(int(fixed) if fixed.isdigit() else None))
