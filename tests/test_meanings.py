"""What names may mean, by summaries: at least what trees make of them, and also after edits."""

from __future__ import annotations

from pathlib import Path

from forklint.config import Settings
from forklint.project.index import Project
from forklint.project.meanings import Definition, Meanings

TWO = b"class First:\n    pass\n\n\nclass Net(First):\n    def run(self): pass\n"


def project_of(root: Path, files: dict[str, bytes]) -> Project:
    for name, data in {"pyproject.toml": b"", **files}.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    return Project(root, Settings())


def test_a_definition_that_an_edit_removes_has_no_bases(tmp_path: Path) -> None:
    project = project_of(tmp_path, {"nets.py": TWO})
    meanings, net = Meanings(project), Definition(tmp_path / "nets.py", 2)

    def bases() -> int:
        return project.answer("a test", net, lambda: len(meanings.lineage(net).classes), compared=True)

    assert bases() == 2
    project.replace(tmp_path / "nets.py", b"class First: pass\n")
    assert bases() == 1
    project.replace(tmp_path / "nets.py", b"class First(:\n")
    assert bases() == 1
    project.replace(tmp_path / "nets.py", TWO)
    assert bases() == 2


def test_a_name_from_a_file_that_cannot_be_read_may_mean_more(tmp_path: Path) -> None:
    files = {"run.py": b"from nets import *\nfrom kit import part\nimport torch\n", "kit/part.py": TWO}
    project = project_of(tmp_path, {**files, "nets.py": b"def f(:\n"})
    meanings, run = Meanings(project), tmp_path / "run.py"
    assert not meanings.meant(run, "Net").is_whole
    assert meanings.meant(run, "torch.nn.Module")[::2] == ({"torch.nn.Module"}, True)
    assert meanings.meant(run, "part.Net")[::2] == ({Definition(tmp_path / "kit/part.py", 2)}, True)
    assert meanings.meant(run, "part.Net.run").found == set()


def test_a_private_name_comes_through_a_star_only_if_it_is_listed(tmp_path: Path) -> None:
    project = project_of(tmp_path, {"run.py": b"from nets import *\n", "nets.py": b"class _Net: pass\n"})
    meanings, run = Meanings(project), tmp_path / "run.py"
    assert not meanings.meant(run, "_Net").found
    project.replace(tmp_path / "nets.py", b"class _Net: pass\n__all__ = [name for name in dir()]\n")
    assert meanings.meant(run, "_Net").found == {Definition(tmp_path / "nets.py", 1)}
