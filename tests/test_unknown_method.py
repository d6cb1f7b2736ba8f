"""FKL501 against what Python says when the code runs, and against code that only looks wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from fixture_cases import FIXTURES, lint, linters
from needed import need_torch

from forklint.knowledge import table
from forklint.knowledge.removed import removed_from
from forklint.knowledge.torch_api import torch_class, torch_module
from forklint.rules.unknown_method.nearest import nearest

FOLDER = FIXTURES / "FKL501_unknown_method"
SCRIPTS = (
    "bad_dataset_weights.py",
    "bad_gan_trainer_elsewhere/train_gan_csv.py",
    "bad_inherited_elsewhere/finetune.py",
    "bad_loader_spelling.py",
    "bad_module_level_model.py",
    "bad_optimizer_step.py",
    "bad_own_helper.py",
    "bad_segmentation_unet.py",
    "bad_thread_count.py",
    "bad_torch_spellings.py",
)
"""Fixtures that need nothing but torch and a processor, and that a rename mends."""
UNMENDED = ("bad_config_dataclass.py", "bad_nothing_alike.py", "bad_two_near_names.py", "bad_wrapped_model.py")
UNMENDED += ("bad_only_attributes_alike.py", "bad_numbered_layers.py", "bad_given_itself.py", "bad_mixin_of_all.py")
UNMENDED += ("bad_other_class_stores.py",)
GOOD = (
    "good_asked_before.py",
    "good_assigned_elsewhere/caption.py",
    "good_attributes_from_dict.py",
    "good_changing_variable.py",
    "good_expected_error.py",
    "good_factory_new.py",
    "good_forwarding_wrapper.py",
    "good_given_itself.py",
    "good_injecting_decorator.py",
    "good_mixin.py",
    "good_module_attributes.py",
    "good_numbered_layers.py",
    "good_other_torch.py",
    "good_protocol_and_abc.py",
    "good_stored_from_outside.py",
    "good_subclass_supplies/detect.py",
    "good_torch_of_other_versions.py",
)

RUN = """
import json, os, runpy, sys, tempfile
import torch
os.chdir(tempfile.mkdtemp())
said = {}
scripts, sys.argv = sys.argv[1:], ["script"]
for script in scripts:
    before = set(sys.modules)
    sys.path.insert(0, os.path.dirname(script))
    try:
        runpy.run_path(script, run_name="__main__")
        said[script] = ""
    except Exception as error:
        said[script] = f"{type(error).__name__}: {error}"
    sys.path.pop(0)
    for name in set(sys.modules) - before:
        if not name.startswith("torch"):
            del sys.modules[name]
sys.stdout.flush()
print("\\n" + json.dumps(said))
"""


def run_all(scripts: list[Path]) -> dict[str, str]:
    """What each script raises, "" for nothing; all in one process, since torch takes seconds to import."""
    need_torch()
    command = [sys.executable, "-B", "-c", RUN, *map(str, scripts)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    said: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return said


def test_what_is_flagged_fails_when_it_runs() -> None:
    said = run_all([FOLDER / name for name in (*SCRIPTS, *UNMENDED)])
    assert all(error.startswith(("AttributeError", "ImportError")) for error in said.values()), said


@pytest.mark.soak
def test_what_the_fix_leaves_runs(tmp_path: Path) -> None:
    scripts = []
    for number, name in enumerate(SCRIPTS):
        source = FOLDER / name
        folder = tmp_path / str(number)
        copied = [source] if source.parent == FOLDER else sorted(source.parent.rglob("*.py"))
        for file in copied:
            target = folder / file.relative_to(source.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            fixed = file.with_suffix(".fixed.py")
            target.write_bytes((fixed if fixed.exists() else file).read_bytes())
        scripts.append(folder / source.name)
    assert set(run_all(scripts).values()) == {""}


@pytest.mark.soak
def test_what_is_spared_runs() -> None:
    assert set(run_all([FOLDER / name for name in GOOD]).values()) == {""}


MODEL = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)

    def encode(self, x):
        return self.body(x)
"""

FALLBACK_BASE = """
try:
    from fast import Base
except ImportError:
    Base = Net

class Sub(Base):
    pass

net = Sub()
net.encodes(1)
"""

SUPPLIED_BELOW = """
class Sub(Net):
    def run(self):
        self.encodes(1)

class Low(Sub):
    def encodes(self, x): ...
"""

OTHER_SELF = """
class Sub(Net):
    def run(self, other):
        def inner(self):
            self.encodes(1)
        return inner
"""


def rows(folder: Path, **files: str) -> set[tuple[str, int]]:
    """File and row of each FKL501 in a small project."""
    (folder / "forklint.toml").touch()
    paths = []
    for name, text in files.items():
        path = folder / f"{name}.py"
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        paths.append(path)
    found = lint(paths)
    return {(path.stem, row) for path, items in found.items() for row, code, _ in items if code == "FKL501"}


IMPORTING = "import torch\ntry:\n    import clearml\nexcept ImportError:\n    clearml = None\n"
"""What tries a library, in a folder that has one called like it."""


@pytest.mark.parametrize(
    "files",
    [
        {"__init__": IMPORTING},
        {"__init__": "", "run": IMPORTING, "names": "from .run import clearml"},
        {"__init__": "", "run": IMPORTING, "../__init__": ""},
    ],
    ids=["the package tries it", "a file imports by dots", "the folder is in a package"],
)
def test_a_folder_may_be_called_like_the_library_that_it_is_about(tmp_path: Path, files: dict[str, str]) -> None:
    (tmp_path / "loggers/clearml").mkdir(parents=True)
    about = {
        "clearml/__init__": "",
        "clearml/search": "from clearml import Task\n\ntask = Task.init(project_name='a')\n",
    }
    assert not rows(tmp_path, **{f"loggers/{name}": text for name, text in (files | about).items()})


@pytest.mark.parametrize(
    "use",
    [
        "net = Net()\nnet.encodes(1)",
        "from model import Net as Other\nnet: Net = Other()\nnet.encodes(1)",
        "import model\nnet = model.Net()\nnet.encodes(1)",
        "net = Net()\nprint(f'{net.encodes(1)}')",
        "net = Net().eval\nother = Net()\nother.encodes(1)",
        "def run():\n    net = Net()\n    return [net.encodes(x) for x in range(2)]",
        "def run(flag):\n    if flag:\n        net = Net()\n        net.encodes(1)",
        "async def run():\n    net = Net()\n    await net.encodes(1)",
        "def run(net: Net):\n    net.encodes(1)",
        "class Sub(Net):\n    def forward(self, x):\n        return self.encodes(x)",
        "class Sub(Net):\n    @classmethod\n    def make(cls):\n        return cls.encodes()",
    ],
)
def test_found(use: str, tmp_path: Path) -> None:
    text = f"from model import Net\n{use}\n"
    row = next(number for number, line in enumerate(text.splitlines(), 1) if ".encodes" in line)
    assert rows(tmp_path, model=MODEL, train=text) == {("train", row)}


@pytest.mark.parametrize(
    "use",
    [
        "net = Net()\nnet = wrap(net)\nnet.encodes(1)",
        "net = Net()\nfor net in nets:\n    net.encodes(1)",
        "net = Net()\nprint([net.encodes(1) for net in nets])",
        "net = Net()\nprint(list(map(lambda net: net.encodes(1), nets)))",
        "def run(net=Net()):\n    net.encodes(1)",
        "net = Net()\nnet.encodes = print\nnet.encodes(1)",
        "net = Net()\nsetattr(net, 'encodes', print)\nnet.encodes(1)",
        "net = Net()\nfor name in names:\n    setattr(net, name, print)\nnet.encodes(1)",
        "net = Net()\nnet.__class__ = Other\nnet.encodes(1)",
        "net = Net()\nnet.__dict__.update(extra)\nnet.encodes(1)",
        "Net.encodes = print\nnet = Net()\nnet.encodes(1)",
        "import peft\nnet = Net()\npeft.inject(net)\nnet.encodes(1)",
        "net = Net()\nassert isinstance(net, Other)\nnet.encodes(1)",
        "net = Net()\nif isinstance(net, Other):\n    net.encodes(1)",
        "net = Net()\nhasattr(net, 'encodes') and net.encodes(1)",
        "import contextlib\nnet = Net()\nwith contextlib.suppress(AttributeError):\n    net.encodes(1)",
        "net = Net()\ntry:\n    net.encodes(1)\nexcept Exception:\n    pass",
        "try:\n    from fast import Net\nexcept ImportError:\n    pass\nnet = Net()\nnet.encodes(1)",
        "if fast:\n    from fast import Net\nnet = Net()\nnet.encodes(1)",
        FALLBACK_BASE,
        "global net\nnet = Net()\ndef load():\n    global net\n    net = other()\nnet.encodes(1)",
        "net = Net()\ndel net\nnet.encodes(1)",
        "with Net() as net:\n    net.encodes(1)",
        "net, other = Net(), 1\nnet, other = other, net\nnet.encodes(1)",
        "if (net := other()):\n    pass\nnet = Net()\nnet.encodes(1)",
        "@register\nclass Sub(Net):\n    pass\nnet = Sub()\nnet.encodes(1)",
        "class Sub(Net, metaclass=Meta):\n    pass\nnet = Sub()\nnet.encodes(1)",
        "class Sub(Net, Unknown):\n    pass\nnet = Sub()\nnet.encodes(1)",
        "class SubMixin(Net):\n    def run(self):\n        self.encodes(1)",
        SUPPLIED_BELOW,
        "class Sub(Net):\n    def run(self):\n        self.encodes(1)\nclass Low(Sub, Unknown):\n    pass",
        "class Sub(Net):\n    @staticmethod\n    def run(self):\n        self.encodes(1)",
        "class Sub(Net):\n    def run(self, other):\n        self = other\n        self.encodes(1)",
        OTHER_SELF,
        "class Sub(Net):\n    def __getattr__(self, name):\n        return print\nnet = Sub()\nnet.encodes(1)",
        "class Sub(Net):\n    __slots__ = ('encodes',)\nnet = Sub()\nnet.encodes(1)",
        "class Sub(Net):\n    def forget(self):\n        exec('self.encodes = print')\nnet = Sub()\nnet.encodes(1)",
        "class Sub(Net):\n    def __init__(self, encodes):\n        store_attr()\nnet = Sub(1)\nnet.encodes(1)",
        "class Sub(Net):\n    def __init__(self):\n        fill(self, 'body,encodes')\nnet = Sub()\nnet.encodes(1)",
        "class Plain:\n    pass\nplain = Plain()\nplain.__getattribute__('x')",
        "def run(self):\n    self.encodes(1)",
        "net = Net()  # net.encodes(1)",
        "class Sub(Net):\n    def new():\n        return make(Sub)\nnet = Sub.new()\nnet.encodes(1)",
        "class Net2(Net):\n    pass\nNet2 = wrap(Net2)\nnet = Net2()\nnet.encodes(1)",
    ],
)
def test_spared(use: str, tmp_path: Path) -> None:
    assert rows(tmp_path, model=MODEL, train=f"from model import Net\n{use}\n") == set()


def test_an_alias_in_another_file_may_mix_the_class_in(tmp_path: Path) -> None:
    trainer = """
        import torch

        class TorchTrainer:
            def fit(self):
                self.zero_grad()
    """
    model = """
        if backend() == "torch":
            from trainer import TorchTrainer as Trainer
        else:
            from elsewhere import Trainer

        class Model(Trainer, Layer):
            pass
    """
    assert rows(tmp_path, trainer=trainer, model=model) == set()


@pytest.mark.parametrize(
    "how", ["net.encodes = print", "setattr(net, 'encodes', print)", "net.a, net.encodes = 1, print"]
)
def test_an_attribute_given_in_another_file_counts(how: str, tmp_path: Path) -> None:
    patch = f"import model\n\ndef patch(net):\n    {how}\n"
    train = "from model import Net\nnet = Net()\nnet.encodes(1)\n"
    assert rows(tmp_path, model=MODEL, patch=patch, train=train) == set()


def test_a_file_that_has_nothing_to_do_with_torch_is_not_judged(tmp_path: Path) -> None:
    text = "class A:\n    pass\n\na = A()\na.b()\n"
    assert rows(tmp_path, plain=text) == set()
    assert rows(tmp_path, plain="import torch\n" + text) == {("plain", 6)}


def test_an_import_of_what_a_package_lacks_is_reported_once(tmp_path: Path) -> None:
    """``from . import clips`` asks for a module as for any other name."""
    shutil.copytree(FOLDER / "bad_missing_modules", tmp_path, dirs_exist_ok=True)
    (tmp_path / "forklint.toml").touch()
    path = tmp_path / "imaging" / "readers" / "frames.py"
    found = linters().of(path).lint(path).findings
    assert [one.subject for one in found if one.code == "FKL501"] == ["clips"]


@pytest.mark.parametrize(
    "name",
    [
        "torch.npu.is_available()",
        "torch._C._made_up()",
        "torch.ops.mine.scaled()",
        "torch.classes.mine.Tree()",
        "torch.cuda.nvtx.range_push('x')",
        "torch.Tensor.made_up",
        "print(torch.symeig)",  # it is still there, and raises an error when it is called
        "torch.version.cuda",
        "torch.nn.modules.batchnorm._BatchNorm",
        "torch.backends.mps.is_available()",
        "torch.utils.tensorboard.SummaryWriter()",
    ],
)
def test_names_of_torch_that_are_left_alone(name: str, tmp_path: Path) -> None:
    assert rows(tmp_path, train=f"import torch\n{name}\n") == set()


@pytest.mark.parametrize("name", ["torch.distributed.made_up()", "torch.gels(x)", "torch.rfft(x)"])
def test_names_that_no_torch_has_or_that_torch_removed(name: str, tmp_path: Path) -> None:
    assert rows(tmp_path, train=f"import torch\n{name}\n") == {("train", 2)}


@pytest.mark.parametrize(
    ("wanted", "known", "outstanding"),
    [
        ("generate_synthetic_data", "generate_sample generator critic train_epoch save", "generate_sample"),
        ("train_step", "train_step_g train_step_d net_g", ""),
        ("load_config", "from_config save", ""),
        ("as_dict", "to_dict optimizer", ""),
        ("count_params", "count_parameters parameters freeze", "count_parameters"),
        ("get_sample_weights", "labels sample_weights", "sample_weights"),
        ("set_num_thread", "set_num_threads get_num_threads set_num_interop_threads", "set_num_threads"),
        ("Dataloader", "DataLoader dataloader Dataset", "DataLoader"),
        ("Relu", "ReLU PReLU RReLU relu", "ReLU"),
        ("Conv2D", "Conv1d Conv2d Conv3d", "Conv2d"),
        ("warm_up_cache", "decode alphabet", ""),
        ("save", "_save load", "_save"),
        ("fit", "", ""),
        ("compute_input_seq", "_compute_lengths forward", ""),
        ("get_incremental_state", "get_extra_state forward", ""),
        ("get_input_frames", "get_lengths forward", ""),
        ("_read_page", "read_page forward", "read_page"),
    ],
)
def test_one_name_stands_out_or_none(wanted: str, known: str, outstanding: str) -> None:
    assert nearest(wanted, known.split()).outstanding == outstanding


NAMES = """
import importlib, json, sys, warnings
import torch
warnings.simplefilter("ignore")
names = {}
sys.path.insert(0, sys.argv[1])
for path in sys.argv[2:]:
    module, _, name = path.rpartition(".")
    try:
        thing = importlib.import_module(path)
    except ImportError:
        thing = getattr(importlib.import_module(module), name)
    names[path] = dir(thing)
print(json.dumps([torch.__version__, names]))
"""


MODULES = ["torch", "torch.nn", "torch.nn.functional", "torch.utils.data", "torch.optim", "torch.cuda"]
CLASSES = ["torch.nn.Module", "torch.nn.Conv2d", "torch.optim.Adam", "torch.utils.data.DataLoader", "torch.Tensor"]
TRAINER = "gan.trainer.GANTrainer"


@pytest.fixture(scope="module")
def dirs() -> tuple[str, dict[str, list[str]]]:
    """The version of torch, and the names that are in modules and classes."""
    need_torch()
    paths = [*MODULES, *CLASSES, TRAINER]
    command = [sys.executable, "-B", "-c", NAMES, str(FOLDER / "bad_gan_trainer_elsewhere"), *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    version, names = json.loads(done.stdout)
    return version, names


def test_the_class_in_another_module_lacks_it_and_has_the_one_offered(dirs: tuple[str, dict[str, list[str]]]) -> None:
    assert "generate_synthetic_data" not in dirs[1][TRAINER]
    assert "generate_sample" in dirs[1][TRAINER]


def test_the_names_are_those_of_the_torch_that_is_installed(dirs: tuple[str, dict[str, list[str]]]) -> None:
    version, names = dirs
    if version.partition("+")[0] != table("torch_api.json")["about"]["torch"].partition("+")[0]:
        pytest.skip(f"torch_api.json was made from another torch than {version}")
    for path in (*MODULES, *CLASSES):
        found, known = names[path], torch_module(path) if path in MODULES else torch_class(path)
        assert known is not None
        raising = {name for name, gone in removed_from(path).items() if gone.raises}
        assert {name for name in found if not name.startswith("_")} - known.every == raising, path
