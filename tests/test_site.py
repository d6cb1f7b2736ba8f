"""The documentation builds as a site, without a warning."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from doc_snippets import ROOT


@pytest.mark.soak
def test_the_site_builds(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    built = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("index.html")}
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        assert f"{name}/index.html" in built or page.name == "README.md", name
    start = (tmp_path / "site" / "start" / "index.html").read_text(encoding="utf-8")
    loaded = re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=\"?(https?://[^\" >]+)", start)
    assert all(address.startswith("https://forklint.readthedocs.io/") for address in loaded)  # the page's own address
