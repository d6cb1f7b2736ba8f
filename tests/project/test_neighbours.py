"""Files of packages that import the files beside them by plain names, as what is run as a script does."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project

FILES = {
    "__init__.py": "",
    "steps/__init__.py": "",
    "steps/data.py": "",
    "other/data.py": "",
    "steps/inner/__init__.py": "",
}


def project(root: Path, files: dict[str, str]) -> Project:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "forklint.toml").touch()
    return Project(root, Settings())


def found(made: Project, module: str) -> str:
    path = made.resolver.find(made.root / "steps" / "train.py", module)
    return path.relative_to(made.root).as_posix() if path is not None else ""


@pytest.mark.parametrize(("module", "file"), [("data", "steps/data.py"), ("inner", "steps/inner/__init__.py")])
def test_a_script_in_a_package_finds_what_is_beside_it(tmp_path: Path, module: str, file: str) -> None:
    made = project(tmp_path, {**FILES, "steps/train.py": f"import {module}\n"})
    assert found(made, module) == file


@pytest.mark.parametrize(
    ("text", "more"),
    [
        pytest.param("import data\nfrom . import losses\n", {}, id="a file that imports by dots"),
        pytest.param("import data\nimport steps.losses\n", {}, id="a file that names its package"),
        pytest.param("import wandb\n", {"steps/wandb.py": "import wandb\n"}, id="a file that wraps a library"),
        pytest.param("import h5py\n", {"steps/h5py.py": ""}, id="a well-known library"),
    ],
)
def test_other_files_of_a_package_do_not(tmp_path: Path, text: str, more: dict[str, str]) -> None:
    root = tmp_path / "project"
    made = project(root, {**FILES, **more, "steps/train.py": text})
    assert found(made, text.split()[1]) == ""


def test_what_is_found_in_the_usual_places_is_meant(tmp_path: Path) -> None:
    made = project(tmp_path, {**FILES, "data.py": "", "steps/train.py": "import data\n"})
    assert found(made, "data") == "data.py"


def test_an_edit_makes_a_file_a_part_of_its_package(tmp_path: Path) -> None:
    made = project(tmp_path, {**FILES, "steps/train.py": "import data\n"})
    path = made.root / "steps" / "train.py"
    assert made.root / "steps" / "data.py" in made.graph.imports(path)
    made.replace(path, b"import data\nfrom . import losses\n")
    assert made.root / "steps" / "data.py" not in made.graph.imports(path)
    made.replace(path, b"import data\n")
    assert made.root / "steps" / "data.py" in made.graph.imports(path)
