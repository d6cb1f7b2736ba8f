"""A tolerant run goes on where the world is missing, and only there; what is made up is known as made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from needed import need_torch
from proven import environment

from tests.verify.tolerant_trial import raised, run, stood_in

TOLD = "from forklint_harness.tolerance import is_stand_in, missing_bases\n"


def shown(tmp_path: Path, text: str, **facts: object) -> str:
    seen = run(tmp_path, TOLD + text, **facts)
    assert raised(seen) is None, (raised(seen), seen.output)
    return seen.output


def test_what_is_missing_is_stood_in_and_named(tmp_path: Path) -> None:
    text = """
import missing.models as models
from gone import Thing, helper
from other import *
net = models.Net(Thing(), depth=3).cuda()
rows = open("data/rows.csv").read().splitlines()
@helper.decorate(3)
def plain(x):
    return x + 1
print("end", plain(2), len(rows) > 0, is_stand_in(net), is_stand_in(rows), is_stand_in(Unknown))
"""
    seen = run(tmp_path, TOLD + text)
    assert "end 3 True True True True" in seen.output
    told = stood_in(seen)
    assert {"missing", "gone", "other"} <= {name.partition(".")[0] for name in told["package"]}
    assert told["file"] == ["data/rows.csv"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("raise ValueError('a rule of mine')", "a rule of mine"),
        ("assert 1 > 2, 'an assertion of mine'", "an assertion of mine"),
        ("[][3]", "out of range"),
        ("{}['key']", "key"),
        ("int('x')", "invalid literal"),
        ("None.attribute", "NoneType"),
        ("undefined_name", "undefined_name"),
        ("raise FileNotFoundError('as I say')", "as I say"),
        ("len(3)", "has no len"),
    ],
)
def test_the_programs_own_errors_end_it(tmp_path: Path, error: str, words: str) -> None:
    seen = run(tmp_path, f"def work():\n    {error}\n\nwork()\nprint('went on')\n")
    assert "went on" not in seen.output
    told = raised(seen)
    assert told is not None
    assert words in told["text"]
    assert "program.py:2, in work" in told["frame"]


def test_what_is_computed_from_a_stand_in_is_made_up(tmp_path: Path) -> None:
    text = """
import os, missing
number, text = int(missing.workers), str(missing.name)
computed = [number, number + 1, 3 * number, -number, max(1, number), float(missing.rate) / 2, round(missing.rate),
            text, "a" + text, text + "b", f"{text}/x", "%s" % text, "{}".format(text), os.path.join("a", text),
            len(missing.items), missing.f(1)[2].g, missing.a + 1, abs(missing.x), sum([missing.x])]
real = [4, "x", os.path.join("a", "b"), len([1, 2]), f"{3}", max(1, 2), int("3")]
print(all(map(is_stand_in, computed)), [is_stand_in(one) for one in computed])
print(any(map(is_stand_in, real)))
"""
    assert shown(tmp_path, text).splitlines()[0].startswith("True")
    assert shown(tmp_path, text).splitlines()[1] == "False"


def test_a_class_keeps_its_own_methods_and_its_missing_base_is_known(tmp_path: Path) -> None:
    text = """
import missing
class Plain:
    pass
class Own(missing.Base, Plain):
    def __init__(self, size):
        super().__init__(size)
        self.size = size
    def double(self):
        return 2 * self.size
class Below(Own):
    def double(self):
        return super().double() + 1
one = Below(4)
print(one.double(), is_stand_in(one.nothing), missing_bases(Below), missing_bases(Plain), isinstance(one, Plain))
"""
    assert shown(tmp_path, text) == "9 True ['missing.Base'] [] True\n"


def test_stand_ins_are_pickled_and_small(tmp_path: Path) -> None:
    text = """
import copy, pickle, missing
again = pickle.loads(pickle.dumps([missing.a.b, int(missing.n), missing]))
small = len(list(missing.rows)) < 10
print(all(map(is_stand_in, again)), small, int(missing.n) < 10, copy.deepcopy(missing.a) is not None)
a, b, c = missing.three
for x, (y, z) in missing.pairs:
    pass
with missing.lock as held, open("nothing.txt") as file:
    inside = [line for line in file]
print(is_stand_in(c), is_stand_in(z), is_stand_in(held), len(inside))
"""
    assert shown(tmp_path, text).splitlines()[0] == "True True True True"


def test_the_programs_own_way_round_is_taken(tmp_path: Path) -> None:
    text = """
try:
    import missing
except ImportError:
    missing = None
try:
    settings = open("settings.txt").read()
except FileNotFoundError:
    settings = "default"
try:
    import needed
except ImportError:
    raise SystemExit("please install needed")
def given(path):
    try:
        return open(path).read()
    except OSError:
        return "given"
print(missing, settings, is_stand_in(needed), given("nowhere"))
"""
    assert shown(tmp_path, text) == "None default True given\n"


def test_conditions_on_what_is_missing_do_not_end_it(tmp_path: Path) -> None:
    text = """
import os, sys
if not os.path.isdir("data"):
    sys.exit("no data")
assert os.path.exists("data/list.txt"), "no list"
if len(sys.argv) > 5:
    print("never")
if len(sys.argv) < 3:
    sys.exit("usage: train DATA SPLIT")
if os.path.exists("checkpoint.pt"):
    print("never")
names = sorted(os.listdir("data"))
import glob
images = glob.glob("data/*.jpg")
print(len(names) > 0, len(images) > 0, images[0].endswith(".jpg"), is_stand_in(images[0]))
"""
    assert shown(tmp_path, text) == "True True True True\n"


@pytest.mark.parametrize("option", ["required=True", "choices=['mean', 'sum']"])
def test_a_chain_of_options_that_nobody_gave_loses_what_it_would_have_bound(tmp_path: Path, option: str) -> None:
    text = f"""
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--loss", type=str, {option})

def made(args):
    if args.loss == "mean":
        loss = 1
    elif args.loss == "sum":
        loss = 2
    return loss

print(is_stand_in(made(parser.parse_args())))
"""
    assert shown(tmp_path, text) == "True\n"


def test_an_assertion_that_there_is_a_gpu_holds(tmp_path: Path) -> None:
    text = """
import torch
if not torch.cuda.is_available():
    print("none")
    assert torch.cuda.device_count() > 7, "training needs eight GPUs"
    assert torch.cuda.is_available(), "training needs a GPU"
print("trained")
"""
    assert shown(tmp_path, text) == "none\ntrained\n"


def test_a_name_that_nothing_binds_ends_it(tmp_path: Path) -> None:
    text = """
def made(rows):
    if len(rows) > 3:
        loss = 1
    return loss

made([1])
"""
    seen = run(tmp_path, text)
    assert raised(seen)["type"] == "UnboundLocalError"


def test_required_arguments_are_made_from_type_choices_and_name(tmp_path: Path) -> None:
    text = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("data", type=str)
parser.add_argument("--mode", required=True, choices=["train", "test"])
parser.add_argument("--workers", type=int, required=True)
parser.add_argument("--names", nargs="+", required=True)
parser.add_argument("--given", type=int, default=4)
parser.add_argument("further", nargs="*")
args = parser.parse_args()
print(args.mode, isinstance(args.workers, int), is_stand_in(args.workers), is_stand_in(args.data), args.given,
      is_stand_in(args.given), len(args.names), args.further)
"""
    assert shown(tmp_path, text) == "train True True True 4 False 1 []\n"


def test_cuda_that_is_not_there_runs_on_the_cpu_and_a_process_group_has_one_rank(tmp_path: Path) -> None:
    need_torch()
    text = """
import torch
net = torch.nn.Linear(2, 2).cuda()
x = torch.ones(1, 2, device="cuda").to("cuda:0")
torch.cuda.set_device(0)
print(net(x).shape, x.device, torch.cuda.is_available())
import os, torch.distributed as dist
rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl", init_method="env://")
print(rank, dist.get_world_size(), dist.get_rank())
"""
    if environment().has_cuda:
        pytest.skip("there is a card")
    assert shown(tmp_path, text) == "torch.Size([1, 2]) cpu False\n0 1 0\n"


@pytest.mark.parametrize("task", ["guard", pytest.param("", marks=pytest.mark.soak)])
def test_the_compiler_is_loaded_only_where_it_may_matter(tmp_path: Path, task: str) -> None:
    """It takes longer than all else on the way to a loader; a variable may be read by it."""
    need_torch()
    text = """
import sys, torch
@torch.compile(dynamic=True)
def twice(x):
    return 2 * x
torch.nn.Linear(2, 2).compile()
print(twice(3) if "torch._inductor.compile_fx" not in sys.modules else "loaded")
"""
    seen = run(tmp_path, text, task=task, call={"file": str(tmp_path / "other.py"), "first": 1, "last": 1})
    assert seen.output == ("6\n" if task else "loaded\n")
    skipped = [(one["what"], one["why"]) for one in seen.of("stood-in") if one["of"] == "statement"]
    assert skipped == ([("torch.compile", "skipped")] if task else []), "the report names what did not run"


def test_a_script_finds_its_package_from_another_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("import missing\nVALUE = 3\n")
    (tmp_path / "torchvision").mkdir()
    seen = run(tmp_path, "import mine\nprint(mine.VALUE)\n", name="tools/program.py")
    assert seen.output == "3\n"
    assert "missing" in stood_in(seen)["package"]


def test_a_module_is_run_within_its_package(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").touch()
    (tmp_path / "pack" / "part.py").write_text("from missing import x\nVALUE = 5\n")
    text = "from .part import VALUE\nprint(VALUE, __name__)\n"
    seen = run(tmp_path, text, "-m", "pack.program", name="pack/program.py")
    assert seen.output == "5 __main__\n"


def test_a_spawned_child_imports_the_program_in_the_same_form(tmp_path: Path) -> None:
    text = """
import multiprocessing, missing
data = open("nothing.bin", "rb").read()
def work(queue):
    queue.put((__name__, str(type(data).__name__)))
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    child = context.Process(target=work, args=(queue,))
    child.start()
    print(queue.get())
    child.join()
"""
    assert run(tmp_path, text).output == "('__mp_main__', 'StandIn')\n"


def test_what_a_missing_package_loads_is_loaded(tmp_path: Path) -> None:
    text = "import sys, missing\nprint('wave' in sys.modules)\n"
    assert run(tmp_path, text, loads={"missing": ["wave", "not_there"]}).output == "True\n"
    assert run(tmp_path, text).output == "False\n"


def test_another_text_is_laid_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text("VALUE = 'before'\n")
    texts = {str((tmp_path / "part.py").resolve()): "VALUE = 'mended'\n"}
    assert run(tmp_path, "import part\nprint(part.VALUE)\n", texts=texts).output == "mended\n"
    assert (tmp_path / "part.py").read_text() == "VALUE = 'before'\n"


def test_loops_that_wait_for_an_end_are_left(tmp_path: Path) -> None:
    text = """
import missing
line = missing.readline()
while line != "" and line is not None:
    line = missing.readline()
while True:
    if missing.done == 1:
        break
print("left")
"""
    seen = run(tmp_path, text)
    assert "left" in seen.output


def test_what_a_missing_decorator_would_have_given_is_made_up(tmp_path: Path) -> None:
    text = """
import missing
@missing.main(config_path="conf")
def main(settings, *, split):
    print(is_stand_in(settings), is_stand_in(split))
main()
given = missing.wrap(lambda row: row)
print(is_stand_in(given))
"""
    assert shown(tmp_path, text) == "True True\nTrue\n"


def test_what_an_option_imports_is_there_where_the_option_is_taken(tmp_path: Path) -> None:
    text = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--remote", action="store_true")
args = parser.parse_args()
if args.remote:
    import no_such_store as store
    import colorsys

def load(path):
    if args.remote:
        store.fetch(path)
        print(colorsys.__name__, is_stand_in(store))

load("rows")
"""
    rows = [number for number, line in enumerate((TOLD + text).splitlines(), 1) if "print(" in line]
    seen = run(tmp_path, TOLD + text, wanted={str(tmp_path / "program.py"): rows})
    assert raised(seen) is None, seen.output
    assert seen.output == "colorsys True\n"
    assert stood_in(seen)["argument"] == ["--remote"]


def test_a_function_that_is_called_by_itself_finds_an_empty_command_line(tmp_path: Path) -> None:
    text = """
import argparse
import sys

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=3)
    print(parser.parse_args().rows, sys.argv[0].endswith("program.py"))
"""
    assert shown(tmp_path, text, reach="main") == "3 True\n"


def test_what_a_function_returns_is_iterated_if_it_is_a_loader(tmp_path: Path) -> None:
    """Its argument is no path, whatever it is called: the function reads an attribute that no text has."""
    text = """
import torch
from torch.utils.data import DataLoader
from missing import MEAN

def loader(config, path):
    means = torch.tensor(MEAN)
    rows = [config.data.first, type(path).__mro__[1].__name__, means]
    return {"train": DataLoader(rows, batch_size=None, collate_fn=print)}
"""
    seen = run(tmp_path, text, reach="loader")
    assert raised(seen) is None, seen.output
    assert seen.output.strip().endswith("stand-in-config-data-first"), seen.output


def test_a_name_whose_import_may_fail_is_stood_in_where_its_handler_binds_nothing(tmp_path: Path) -> None:
    text = """
try:
    import missing
except ImportError:
    print("without it")

class Layer(missing.Layer):
    pass

print(is_stand_in(Layer))
"""
    assert shown(tmp_path, text) == "without it\nTrue\n"


def test_a_script_of_torch_that_holds_a_stand_in_stays_as_it_is(tmp_path: Path) -> None:
    text = """
import torch
from missing import turned

@torch.jit.script
def double(rows: torch.Tensor):
    return rows * 2

@torch.jit.script
def moved(rows: torch.Tensor):
    return turned(rows)

print(type(double).__name__, type(moved).__name__)
"""
    assert shown(tmp_path, text) == "ScriptFunction function\n"
