"""What an abstract run of a script's top level understands, and where it is rightly at a loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.facts.starting.reach import reached
from forklint.project.index import Project

HEAD = """\
import contextlib, functools, itertools, os, sys
import multiprocessing as mp
import torch
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm
data = range(8)
"""
STARTS = {
    "sys.exit around main": """
def main():
    for x in DataLoader(data, num_workers=2): pass
sys.exit(main())  # here
""",
    "partial": """
make = functools.partial(DataLoader, num_workers=2)
for x in make(data):  # here
    pass
""",
    "asyncio": """
import asyncio
async def main():
    for x in DataLoader(data, num_workers=2): pass
asyncio.run(main())  # here
""",
    "fire with a number that no flag changes": """
import fire
def train(lr=0.1):
    return [x for x in DataLoader(data, num_workers=2)]
fire.Fire(train)  # here
""",
    "a dictionary of loaders": """
loaders = {split: DataLoader(data, num_workers=4) for split in ["train", "val"]}
for epoch in range(3):
    for phase in ["train", "val"]:
        for x in loaders[phase]:  # here
            pass
""",
    "items of a dictionary": """
loaders = {"train": DataLoader(data, num_workers=4), "val": DataLoader(data)}
for name, loader in loaders.items():
    total = sum(1 for _ in loader)  # here
""",
    "zip and enumerate": """
source, target = DataLoader(data, num_workers=2), DataLoader(data)
for i, (x, y) in enumerate(zip(source, target)):  # here
    pass
""",
    "zip with itertools.cycle": """
labelled, unlabelled = DataLoader(data), DataLoader(data, num_workers=2)
for x, y in zip(itertools.cycle(labelled), unlabelled):  # here
    pass
""",
    "a progress bar with a set text": """
bar = tqdm(DataLoader(data, num_workers=2), desc="train")
for x in bar:  # here
    bar.set_postfix(loss=0)
""",
    "iter, then next": """
it = iter(DataLoader(data, num_workers=2))  # here
while True:
    batch = next(it)
""",
    "an iterator class": """
class Repeat:
    def __init__(self, loader):
        self.loader = loader
    def __iter__(self):
        while True:
            yield from self.loader
stream = Repeat(DataLoader(data, num_workers=1))
for x in stream:  # here
    break
""",
    "a wrapper that counts": """
class Counted:
    def __init__(self, loader):
        self.loader, self.count = loader, 0
    def __iter__(self):
        self.inner = iter(self.loader)
        return self
    def __next__(self):
        return next(self.inner)
for x in Counted(DataLoader(data, num_workers=1)):  # here
    pass
""",
    "a property": """
class Data:
    @property
    def loader(self):
        return DataLoader(data, num_workers=2)
for x in Data().loader:  # here
    pass
""",
    "a dataclass": """
from dataclasses import dataclass
@dataclass
class Config:
    batch_size: int = 4
    num_workers: int = 4
cfg = Config(batch_size=8)
for x in DataLoader(data, cfg.batch_size, num_workers=cfg.num_workers):  # here
    pass
""",
    "keywords in a dictionary": """
common = dict(batch_size=4, pin_memory=True)
common["num_workers"] = 2
for x in DataLoader(data, **common):  # here
    pass
""",
    "half the processors": """
for x in DataLoader(data, num_workers=max(1, os.cpu_count() // 2)):  # here
    pass
""",
    "a base class and super": """
class Base:
    def __init__(self, workers):
        self.workers = workers
    def loader(self):
        return DataLoader(data, num_workers=self.workers)
class Model(Base):
    def __init__(self):
        super().__init__(workers=2)
    def train(self):
        for x in self.loader(): pass
Model().train()  # here
""",
    "a subclass of Process": """
class Actor(mp.Process):
    def run(self):
        pass
actors = [Actor() for _ in range(4)]
for actor in actors:
    actor.start()  # here
""",
    "a context object": """
ctx = mp.get_context("spawn")
queue = ctx.Queue()
worker = ctx.Process(target=print)
worker.daemon = True
worker.start()  # here
""",
    "an executor handed on": """
from concurrent.futures import ProcessPoolExecutor
def submit_all(executor):
    return [executor.submit(abs, i) for i in data]
with ProcessPoolExecutor() as pool:
    futures = submit_all(pool)  # here
""",
    "a context manager of the project": """
@contextlib.contextmanager
def workers(n):
    pool = mp.Pool(n)
    yield pool
with workers(2) as pool:  # here
    pass
""",
    "accelerate": """
from accelerate import Accelerator
accelerator = Accelerator()
model, loader = accelerator.prepare(torch.nn.Linear(1, 1), DataLoader(data, num_workers=2))
for x in loader:  # here
    pass
""",
    "a lightning data module": """
import lightning as L
class Data(L.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(data, num_workers=3)
L.Trainer(max_epochs=1).fit(torch.nn.Linear(1, 1), datamodule=Data())  # here
""",
    "a decorator of the project": """
def timed(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner
@timed
def main():
    mp.Pool(2).map(abs, data)
main()  # here
""",
    "an early return before": """
def main(flag):
    if not torch.cuda.is_available():
        return
    for x in DataLoader(data, num_workers=2): pass
main(True)  # here
""",
    "a global set by a function": """
loader = None
def setup():
    global loader
    loader = DataLoader(data, num_workers=2)
setup()
for x in loader:  # here
    pass
""",
    "inside try": """
try:
    for x in DataLoader(data, num_workers=2):  # here
        pass
except KeyboardInterrupt:
    print("stopped")
""",
    "set_start_method before a guard": """
mp.set_start_method("spawn")  # here
def main():
    mp.Pool(2)
if __name__ == "__main__":
    main()
""",
    "a guard that children pass": """
if __name__ in ("__main__", "__mp_main__"):
    mp.Pool(2)  # here
""",
    "what a notebook's test does not decide": """
try:
    get_ipython()
    inside = True
except NameError:
    inside = False
for x in DataLoader(data, num_workers=2):  # here
    pass
""",
    "a match on something else": """
def main():
    for x in DataLoader(data, num_workers=2): pass
match len(sys.argv):
    case 1:
        main()  # here
""",
    "an attribute of another loader": """
loader, other = DataLoader(data, num_workers=2), DataLoader(data, num_workers=2)
other.num_workers = 0
for x in loader:  # here
    pass
""",
}
STARTS |= {
    "a Trainer of transformers": """
from transformers import Trainer, TrainingArguments
args = TrainingArguments("out", dataloader_num_workers=4)
trainer = Trainer(model=torch.nn.Linear(1, 1), args=args, train_dataset=data)
trainer.train()  # here
""",
    "an import in a function": """
def main():
    from torch.utils.data import DataLoader as Loader
    for x in Loader(data, num_workers=2): pass
main()  # here
""",
    "a start method that may have been set": """
try:
    mp.set_start_method("spawn")
except RuntimeError:
    pass
for x in DataLoader(data, num_workers=2):  # here
    pass
""",
}
SILENT = {
    "a start method that is asked for": """
if mp.get_start_method() == "fork":
    mp.Pool(2)
if hasattr(os, "fork"):
    mp.Pool(2)
""",
    "a fork that may have been set": """
try:
    mp.set_start_method("fork")
except RuntimeError:
    pass
for x in DataLoader(data, num_workers=2): pass
""",
    "an executor that may be threads": """
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
Executor = ProcessPoolExecutor if len(sys.argv) > 2 else ThreadPoolExecutor
with Executor(2) as executor:
    list(executor.map(abs, data))
""",
    "a Trainer without workers": """
from transformers import Trainer, TrainingArguments
trainer = Trainer(torch.nn.Linear(1, 1), TrainingArguments("out"), train_dataset=data)
trainer.train()
""",
    "an infinite number": """
for x in DataLoader(data, num_workers=int(1e999)): pass
""",
    "the last assignment counts": """
loader = DataLoader(data, num_workers=4)
loader = DataLoader(data, num_workers=0)
for x in loader: pass
""",
    "two branches that differ": """
if torch.cuda.is_available():
    workers = 4
else:
    workers = 0
for x in DataLoader(data, num_workers=workers): pass
""",
    "keywords that may be overridden": """
import json
overrides = json.load(open("options.json"))
options = {"num_workers": 4, **overrides}
for x in DataLoader(data, **options): pass
""",
    "an update that may override": """
import yaml
options = {"num_workers": 4}
options.update(yaml.safe_load("{}"))
for x in DataLoader(data, **options): pass
""",
    "a flag": """
import click
@click.command()
@click.option("--workers", default=4)
def main(workers=4):
    for x in DataLoader(data, num_workers=workers): pass
main()
""",
    "fire with a parameter": """
import fire
def train(workers=4):
    for x in DataLoader(data, num_workers=workers): pass
fire.Fire(train)
""",
    "suppressed": """
with contextlib.suppress(RuntimeError):
    mp.set_start_method("spawn")
if __name__ == "__main__":
    mp.Pool(2)
""",
    "set only if not set": """
if mp.get_start_method(allow_none=True) is None:
    mp.set_start_method("spawn")
if __name__ == "__main__":
    mp.Pool(2)
""",
    "a platform of its own": """
if sys.platform == "linux":
    mp.Pool(2)
""",
    "a process not started": """
process = mp.Process(target=print)
process.run()
pool_size = mp.cpu_count()
queue = mp.Queue()
""",
    "an executor not used": """
from concurrent.futures import ProcessPoolExecutor
EXECUTOR = ProcessPoolExecutor(4)
""",
    "a generator not drawn from": """
def batches():
    for x in DataLoader(data, num_workers=2):
        yield x
stream = batches()
""",
    "a loader asked for its length": """
loader = DataLoader(data, num_workers=2)
print(len(loader), loader.dataset, loader.batch_size)
bar = tqdm(loader)
""",
    "the dataset iterated": """
loader = DataLoader(data, num_workers=2)
for sample in loader.dataset: pass
""",
    "a guard in a variable": """
is_main = __name__ == "__main__"
if is_main:
    mp.Pool(2)
""",
    "a guard with more": """
if len(sys.argv) > 1 and __name__ == "__main__":
    mp.Pool(2)
""",
    "the end of a run in a child": """
if __name__ != "__main__":
    sys.exit()
mp.Pool(2)
""",
    "a name that is shadowed": """
class Pool:
    def __init__(self, n): self.n = n
Pool(4)
""",
    "recursion": """
def walk(n):
    return walk(n - 1)
walk(3)
class A:
    def f(self): return self.g()
    def g(self): return self.f()
A().f()
""",
    "fork by context": """
for x in DataLoader(data, num_workers=2, multiprocessing_context=mp.get_context("fork")): pass
""",
    "a context that depends": """
method = "fork" if torch.backends.mps.is_available() else None
for x in DataLoader(data, num_workers=2, multiprocessing_context=method): pass
""",
    "type checking only": """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    mp.Pool(2)
""",
    "removed by hand": """
options = {"num_workers": 4}
options.pop("num_workers")
for x in DataLoader(data, **options): pass
""",
    "match __name__": """
def main():
    for x in DataLoader(data, num_workers=2): pass
match __name__:
    case "__main__" | "train":
        main()
""",
    "match __name__ with the child's name sorted out": """
def main():
    for x in DataLoader(data, num_workers=2): pass
match __name__:
    case "__mp_main__":
        pass
    case _:
        main()
""",
    "workers taken away by setattr": """
loader = DataLoader(data, num_workers=2)
setattr(loader, "num_workers", 0)
for x in loader: pass
""",
    "workers taken away in a subclass": """
class Loader(DataLoader):
    def __init__(self, data):
        super().__init__(data, num_workers=2)
        self.num_workers = 0
for x in Loader(data): pass
""",
    "get_ipython among the globals": """
if "get_ipython" in globals():
    next(iter(DataLoader(data, num_workers=2)))
""",
    "IPython's get_ipython": """
try:
    from IPython import get_ipython
    shell = get_ipython()
except ImportError:
    shell = None
if shell is not None:
    next(iter(DataLoader(data, num_workers=2)))
""",
    "a loader unpacked with others": "a, b = 1, DataLoader(data, num_workers=2)",
    "a loader looked for": "loader = DataLoader(data, num_workers=2)\nprint(loader in [loader])",
    "a method of a class": """
class A:
    def f(self):
        for x in DataLoader(data, num_workers=2): pass
""",
    "a class's name is not its methods' global": """
class A:
    data = DataLoader(data, num_workers=2)
    def f():
        return [x for x in data]
    found = f()
""",
}


def rows(text: str, folder: Path) -> tuple[list[int], list[int]]:
    """Rows where the text says that processes start, and where they are found to."""
    script = folder / "script.py"
    script.write_text(HEAD + text, encoding="utf-8")
    project = Project(folder, Settings())
    module = project.load(script)
    reach = reached(project, module)
    said = [row for row, line in enumerate(module.document.lines, 1) if "# here" in line]
    return said, [reach.node.lineno] if reach else []  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", STARTS)
def test_start_is_found(name: str, tmp_path: Path) -> None:
    said, found = rows(STARTS[name], tmp_path)
    assert said == found


@pytest.mark.parametrize("name", SILENT)
def test_nothing_is_claimed(name: str, tmp_path: Path) -> None:
    assert rows(SILENT[name], tmp_path)[1] == []


def test_a_long_table_of_calls_is_left_alone(tmp_path: Path) -> None:
    body = "\n".join(f"    'm{i}': cfg(url='u{i}', size={i})," for i in range(30_000))
    text = f"def cfg(**kwargs):\n    return dict(kwargs)\ntable = {{\n{body}\n}}\n"
    assert rows(text, tmp_path)[1] == []


def test_a_star_import_of_a_library(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from torch.utils.data import *\nfor x in DataLoader([1], num_workers=2): pass\n")
    project = Project(tmp_path, Settings())
    assert reached(project, project.load(script)) is not None
