"""A condition that asks for a notebook rests on no more than the words by which one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.answers import facts_under
from forklint.project.index import Project
from forklint.runs.guards import asks_for_notebook

CONDITIONS = (
    "HAS = 1\nif HAS:\n    pass\n",
    "def here():\n    return 1\n\n\nif here():\n    pass\n",
    "def here():\n    return get_ipython()\n\n\nif here():\n    pass\n",
    "try:\n    get_ipython()\n    HAS = 1\nexcept NameError:\n    HAS = 0\nif HAS:\n    pass\n",
)


@pytest.mark.parametrize(("text", "asks"), [*zip(CONDITIONS, (False, False, True, True), strict=True)])
def test_what_it_rests_on(text: str, asks: bool, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(text)
    project = Project(tmp_path, Settings())
    module = project.module(tmp_path / "tools.py")
    assert module is not None
    test = module.tree.body[-1].test  # type: ignore[attr-defined]
    found, rests = project.questions.watched(lambda: asks_for_notebook(project, module, module.scope, test))
    assert found == asks
    assert "text" not in {fact[0] for fact in facts_under(rests)}, "a comment would be a change"
