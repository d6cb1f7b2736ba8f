"""How little of a project is read and parsed for an answer: what is asked of every file of a run must stay cheap."""

from __future__ import annotations

import re
from pathlib import Path

from forklint.config import Settings
from forklint.handles.carried import Handles
from forklint.handles.read_early import early_calls
from forklint.handles.screening import HandleScreen
from forklint.knowledge.handles import openers
from forklint.machines.programs import mps_only
from forklint.project.graph import Words, word_test
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.rules.handle_in_init.handed_over import HandedOver
from forklint.values import callers
from forklint.values.evaluator import Evaluator


def project(root: Path, files: dict[str, str]) -> Project:
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    return Project(root, Settings())


def module(made: Project, name: str) -> Module:
    found = made.module(made.root / name)
    assert found is not None
    return found


def test_no_other_file_is_searched_for_what_a_file_without_imports_reaches(tmp_path: Path) -> None:
    made = project(tmp_path, {"train.py": "import torch\n", "other.py": "import sklearn\n"})
    assert made.graph.any_reached(tmp_path / "train.py", word_test(b"torch"))
    assert not made.graph.any_reached(tmp_path / "train.py", word_test(b"sklearn"))
    assert not made.questions.all_of("containing")


def test_one_file_that_passes_ends_the_search_through_all_files(tmp_path: Path) -> None:
    files = {"train.py": "import near\n", "near.py": "import torch\n", "far.py": "import polars\nimport sklearn\n"}
    made = project(tmp_path, files)
    either = Words(re.compile(rb"polars|sklearn"), (b"polars", b"sklearn"))
    assert not made.graph.any_reached(tmp_path / "train.py", either)
    assert [key for key, _ in made.questions.all_of("containing")] == [b"polars"]


def test_a_program_of_one_file_is_one_for_mps_by_itself(tmp_path: Path) -> None:
    files = {"train.py": "workers = 0\n", "mac.py": "net.to('mps')\n", "other.py": "import far\nnet.to('mps')\n"}
    made = project(tmp_path, {**files, "far.py": "device = 'mps'\n"})
    assert mps_only(made, module(made, "train.py")) is None
    assert mps_only(made, module(made, "mac.py")) == tmp_path / "mac.py"
    assert mps_only(made, module(made, "far.py")) is not None  # its importer is part of the program
    assert not made.questions.all_of("containing")


def test_subclasses_are_not_asked_for_where_the_name_of_a_function_is_too_common(tmp_path: Path) -> None:
    layer = "class Layer:\n    def forward(self, x):\n        return x\n"
    users = {f"user_{number}.py": "net.forward(1)\n" for number in range(callers.MOST_MODULES)}
    made = project(tmp_path, {"layer.py": layer, "deep.py": "from layer import Layer\nclass D(Layer): ...\n", **users})
    assert callers.of(Evaluator(made), module(made, "layer.py").functions[0]).escapes
    assert not made.questions.all_of("classes with a base")


def test_files_without_a_loader_are_not_parsed_for_what_runs_before_loading(tmp_path: Path) -> None:
    data = "class Rows:\n    def __getitem__(self, index):\n        return self.file()[index]\n"
    loading = (
        "from torch.utils.data import DataLoader\nfrom data import Rows\nrows = Rows()\nfirst = rows[0]\n"
        "loader = DataLoader(rows, num_workers=2)\n"
    )
    naming = "from data import Rows\nclass More(Rows): ...\nprint(Rows)\n"
    made = project(tmp_path, {"data.py": data, "loading.py": "import torch\n", "naming.py": naming})
    assert not early_calls(made, module(made, "data.py").classes[0])
    assert not made.is_loaded(tmp_path / "naming.py")
    made = project(tmp_path, {"loading.py": loading})
    assert [call.method for call in early_calls(made, module(made, "data.py").classes[0])] == ["__getitem__"]


def test_what_is_handed_to_no_dataset_is_not_evaluated(tmp_path: Path) -> None:
    reader = (
        "import os\n\nclass Reader:\n    def __init__(self, root):\n        self.root = root\n"
        "        self.file = open(os.path.join(self.root, 'rows'))\n        self.load(self.file)\n"
    )
    made = project(tmp_path, {"reader.py": reader})
    screen = HandleScreen(made, openers({}))
    handed = HandedOver(made, Handles(made, screen))
    assert not list(handed.in_module(module(made, "reader.py")))
    assert not made.questions.all_of("what an expression holds")
