"""Writes into the pages of docs/hazards what forklint prints for their programs."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "docs" / "hazards"
PROGRAM = re.compile(r"<!-- test: program -->\n```python\n(.*?)```", re.DOTALL)
SHOWN = re.compile(r"(<!-- test: finds -->\n```console\n\$ (forklint (\S+) [^\n]*)\n)(.*?)(```)", re.DOTALL)


def rendered(page: Path) -> str:
    """The text of a page with what forklint prints now; as it is if it shows nothing."""
    text = page.read_text(encoding="utf-8")
    program, shown = PROGRAM.search(text), SHOWN.search(text)
    if program is None or shown is None:
        return text
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "forklint.toml").touch()
        Path(folder, shown[3]).write_text(program[1], encoding="utf-8")
        command = [sys.executable, "-m", *shown[2].split(), "--no-cache"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 1:
        raise RuntimeError(f"{page.name}: forklint exits with {done.returncode}: {done.stderr}")
    return SHOWN.sub(lambda found: found[1] + done.stdout + found[5], text)


def main() -> None:
    """Write all pages."""
    for page in sorted(FOLDER.glob("*.md")):
        page.write_text(rendered(page), encoding="utf-8")
