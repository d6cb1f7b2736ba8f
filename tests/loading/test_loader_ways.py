"""Each rule that depends on loaders sees each way to make one; docs/recall/loaders.md has the same table."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixture_cases import linters
from loader_ways import DATASETS, PLAIN, WAYS, Way, project

PAGE = Path(__file__).parents[2] / "docs" / "recall" / "loaders.md"
BY_DEFAULT = {"argparse", "click", "pydantic", "hydra", "a parameter"}
"""Ways in which a number is what is used unless someone says more."""
UNKNOWN = {"hydra"}
"""A way in which it is not known which number it is: Hydra gives its settings to the first parameter alone."""
LASTING = ", persistent_workers=True"
EPOCHS = """\
for epoch in range(9):
    loader.dataset.scale = epoch
    for batch in loader:
        print(batch)
"""


def codes(files: dict[str, str], folder: Path) -> set[str]:
    """The codes of what is found in a project."""
    (folder / "forklint.toml").touch()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    fresh = linters()
    paths = [folder / name for name in files if name.endswith(".py")]
    return {finding.code for path in paths for finding in fresh.of(path).lint(path).findings}


ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@ways
@pytest.mark.parametrize("code", DATASETS)
def test_with_workers_the_hazard_is_found(code: str, way: Way, tmp_path: Path) -> None:
    assert code in codes(project(way, DATASETS[code], 4), tmp_path)


@pytest.mark.parametrize("name", [name for name in WAYS if name not in BY_DEFAULT])
@pytest.mark.parametrize("code", DATASETS)
def test_without_workers_there_is_none(code: str, name: str, tmp_path: Path) -> None:
    assert code not in codes(project(WAYS[name], DATASETS[code], 0), tmp_path)


@pytest.mark.parametrize("name", sorted(BY_DEFAULT))
def test_a_default_of_0_does_not_say_that_there_are_none(name: str, tmp_path: Path) -> None:
    assert "FKL302" in codes(project(WAYS[name], DATASETS["FKL302"], 0), tmp_path)


@ways
def test_an_update_that_persistent_workers_lose(way: Way, tmp_path: Path) -> None:
    assert "FKL306" in codes(project(way, PLAIN, 4, options=LASTING, after=EPOCHS), tmp_path)


@pytest.mark.parametrize("name", WAYS)
def test_options_that_are_refused_without_workers(name: str, tmp_path: Path) -> None:
    assert ("FKL402" in codes(project(WAYS[name], PLAIN, 0, options=LASTING), tmp_path)) == (name not in UNKNOWN)


def test_the_page_has_the_same_table() -> None:
    rows = {
        cells[1].strip(): [cell.strip() for cell in cells[2:-1]]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if len(cells := line.split("|")) > 3
    }
    for name in WAYS:
        zero = "by default only: told" if name in BY_DEFAULT else "spared"
        is_default = name in BY_DEFAULT | {"yaml"}
        conflict = "not known: silent" if name in UNKNOWN else "by default only: no error" if is_default else "found"
        assert rows[name] == ["found", zero, "found", "found", "found", conflict], name
