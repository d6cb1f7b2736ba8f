"""The page on proving shows what happens."""

from __future__ import annotations

import re
from pathlib import Path

from doc_snippets import snippet
from records_project import RECORDS


def test_the_plan_is_as_shown(command, tmp_path: Path) -> None:
    (tmp_path / "records.py").write_text(RECORDS)
    (tmp_path / "pyproject.toml").write_text('[tool.forklint.verify]\nloaders = ["records:make_loader"]\n')
    done = command("verify", "records.py", "--plan", cwd=tmp_path)
    prompt, *shown = snippet("verify.md", "plan").splitlines()
    assert prompt == "$ forklint verify records.py --plan"
    wanted = re.sub(r"\s+", " ", " ".join(shown)).strip()
    plan = re.sub(r"\s+", " ", re.sub(r"fkl301-\w{6}-", "fkl301-...-", done.stdout))
    assert plan.startswith(wanted)


def test_the_settings_are_read(forklint, tmp_path: Path) -> None:
    (tmp_path / "records.py").write_text(RECORDS)
    (tmp_path / "pyproject.toml").write_text(snippet("verify.md", "settings"))
    done = forklint("--show-settings", cwd=tmp_path)
    assert done.returncode == 0
    assert 'verify = { "loaders" = [ "records:make_loader" ]' in done.stdout.replace('["', '[ "').replace('"]', '" ]')
