"""FKL501 proved: a method that is not there is confirmed, one that the class supplies is refuted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from needed import need_torch

need_torch()

SCRIPT = """
import torch


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 3

    def generate_sample(self, index):
        return torch.zeros(index + 1)


def main():
    samples = Samples()
    samples.generate_synthetic_data()


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def verdict(command, tmp_path: Path):
    def run(text: str, *arguments: str, expect: int) -> dict:
        (tmp_path / "forklint.toml").touch()
        (tmp_path / "train.py").write_text(text)
        done = command("verify", "train.py", "--output-format", "json", *arguments, cwd=tmp_path)
        assert done.returncode == expect, done.stdout + done.stderr
        return json.loads(done.stdout)["experiments"]

    return run


@pytest.mark.soak
def test_a_method_that_is_not_there(verdict) -> None:
    (found,) = verdict(SCRIPT, expect=1)
    assert found["verdict"] == "confirmed"
    error = "AttributeError: 'Samples' object has no attribute 'generate_synthetic_data'"
    assert found["evidence"] == f"{error}; if it is defined, it is found"
    assert found["details"] == {"control": "defined"}


@pytest.mark.soak
@pytest.mark.parametrize("name", ["__getattr__", "__getattribute__"])
def test_an_object_that_is_not_set_up_may_not_know_what_it_supplies(verdict, tmp_path: Path, name: str) -> None:
    """A class that passes everything on to another object, which a bare object of it lacks."""
    inner = "getattr(object.__getattribute__(self, 'inner'), name)"
    text = f"def add(cls):\n    setattr(cls, {name!r}, lambda self, name: {inner})\n"
    (tmp_path / "added.py").write_text(text)
    (found,) = verdict(SCRIPT.replace("def main", "__import__('added').add(Samples)\n\n\ndef main"), expect=3)
    assert found["verdict"] == "inconclusive"
    assert "no attribute 'inner' on an uninitialized object" in found["evidence"]


@pytest.mark.soak
def test_a_look_up_that_finds_nothing_at_all_decides_nothing(verdict, tmp_path: Path) -> None:
    says_so = "(_ for _ in ()).throw(AttributeError(f'{name} is not known'))"
    look = f"object.__getattribute__(self, name) if name.startswith('__') else {says_so}"
    (tmp_path / "added.py").write_text(f"def add(cls):\n    cls.__getattribute__ = lambda self, name: {look}\n")
    (found,) = verdict(SCRIPT.replace("def main", "__import__('added').add(Samples)\n\n\ndef main"), expect=3)
    assert found["verdict"] == "inconclusive"
    assert "but if it is defined, too" in found["evidence"]


@pytest.mark.parametrize(
    ("added", "where"),
    [
        ("'generate_' + 'synthetic_data', lambda self: None", "on the class"),
        pytest.param("'__get' + 'attr__', lambda self, name: print", "created on access", marks=pytest.mark.soak),
    ],
)
def test_a_name_that_another_module_supplies_is_there(verdict, tmp_path: Path, added: str, where: str) -> None:
    """The rule cannot see it: it is silent where the class's own module does such things."""
    (tmp_path / "added.py").write_text(f"def add(cls):\n    setattr(cls, {added})\n")
    text = SCRIPT.replace("def main", "__import__('added').add(Samples)\n\n\ndef main")
    (found,) = verdict(text, expect=0)
    assert (found["verdict"], found["evidence"]) == ("refuted", f"`generate_synthetic_data` exists, {where}")


@pytest.mark.soak
def test_a_module_that_cannot_be_imported_decides_nothing(verdict, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def\n")
    text = "import torch\nimport broken\n" + SCRIPT
    (found,) = verdict(text, expect=3)
    assert found["verdict"] == "inconclusive"
    assert "the import fails with SyntaxError" in found["evidence"]


def test_a_misspelt_name_of_torch(verdict) -> None:
    (found,) = verdict("import torch\n\ntorch.set_num_thread(1)\n", expect=1)
    error = "AttributeError: module 'torch' has no attribute 'set_num_thread'"
    assert found["evidence"] == f"{error}; with the fix, `set_num_threads`, it exists"


@pytest.mark.parametrize(
    "call",
    [
        "symeig(1)",
        *(
            pytest.param(one, marks=pytest.mark.soak)
            for one in ("solve(1, 2)", "eig(1)", "lstsq(1, 2)", "matrix_rank(1)")
        ),
    ],
)
def test_a_function_that_does_nothing_but_raise_is_called(verdict, call: str) -> None:
    (found,) = verdict(f"import torch\n\ntorch.{call}\n", expect=1)
    assert found["verdict"] == "confirmed"
    assert "is now removed" in found["evidence"]


def test_a_name_of_a_module_is_looked_up_in_it(verdict, tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text("EPOCHS = 3\n")
    (found,) = verdict(
        "import torch\nimport settings\n\nif __name__ == '__main__':\n    print(settings.ROUNDS)\n", expect=1
    )
    assert found["verdict"] == "confirmed"
    assert (
        found["evidence"]
        == "AttributeError: module 'settings' has no attribute 'ROUNDS'; if it is defined, it is found"
    )


@pytest.mark.soak
def test_names_that_modules_lack(verdict, tmp_path: Path) -> None:
    """A module that torch no longer has, though a function has its name, and a name of a module of the project."""
    (tmp_path / "metrics.py").write_text("import torch\n\n\ndef accuracy(rows):\n    return torch.mean(rows)\n")
    text = "import torch\nfrom torch.tensor import Tensor\n\nfrom metrics import mean_iou\n\nprint(mean_iou, Tensor)\n"
    gone, lacking = verdict(text, expect=1)
    assert gone["verdict"] == lacking["verdict"] == "confirmed"
    assert gone["evidence"].startswith("ModuleNotFoundError: No module named 'torch.tensor'")
    assert lacking["evidence"].startswith("AttributeError: module 'metrics' has no attribute 'mean_iou'")


def test_a_module_that_a_package_lacks(verdict, tmp_path: Path) -> None:
    """It is imported, by a program or by the package itself; an empty module in its place is the control."""
    mentioned = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n"  # it is seen, and not loaded
    for name, text in (("nets/__init__", ""), ("losses/__init__", "from .focal import focal\n"), ("tools/log", "")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / f"{name}.py").write_text(f"{mentioned}{text}")
    lacking = ("nets.unet", "losses.focal", "tools.timer")  # the last one is no package with an __init__.py
    text = "".join(f"import {name}\n" for name in ("torch", *lacking, "nets", "losses", "tools.log"))
    found = verdict(text, expect=1)
    assert [one["verdict"] for one in found] == ["confirmed"] * 3
    missing = "ModuleNotFoundError: No module named"
    assert [one["evidence"].partition(";")[0] for one in found] == [f"{missing} '{name}'" for name in lacking]
    assert found[2]["claim"] == "`tools` has no module `timer`"


@pytest.mark.parametrize("lacking", ["absent", "Lost"])
def test_a_package_that_imports_what_is_missing_is_asked_all_the_same(verdict, tmp_path: Path, lacking: str) -> None:
    """A module that the package lacks, and a name that one of its modules lacks."""
    package = tmp_path / "words"
    package.mkdir()
    (package / "__init__.py").write_text("import not_installed\nfrom not_installed.deep import Base\n")
    text = "import torch\nfrom not_installed import tune\n\n@tune\nclass Model:\n    pass\n"
    (package / "models.py").write_text(text)
    needed = f"words.{lacking} import Thing" if lacking == "absent" else f"words.models import Model, {lacking}"
    found = verdict(f"import torch\nfrom {needed}\n", expect=1)
    assert [one["verdict"] for one in found] == ["confirmed"], found
    assert "replaced: packages not_installed" in found[0]["evidence"]
    assert lacking in found[0]["evidence"]
