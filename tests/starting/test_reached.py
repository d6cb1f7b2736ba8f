"""Starts of processes that an abstract run of a script's top level finds, each where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from reached_rows import rows

from forklint.config import Settings
from forklint.project.index import Project
from forklint.starting.reach import reached

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
    "fire with a parameter that has a default": """
import fire
def train(workers=4):
    for x in DataLoader(data, num_workers=workers): pass
fire.Fire(train)  # here
""",
    "a flag that has a default": """
import click
@click.command()
@click.option("--workers", default=4)
def main(workers):
    for x in DataLoader(data, num_workers=workers): pass
main()  # here
""",
    "an option of argparse that has a default": """
import argparse
def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-workers", type=int, default=4)
    return parser.parse_args()
def main(args):
    for x in DataLoader(data, num_workers=args.num_workers): pass
main(options())  # here
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


@pytest.mark.parametrize("name", STARTS)
def test_start_is_found(name: str, tmp_path: Path) -> None:
    said, found = rows(STARTS[name], tmp_path)
    assert said == found


def test_a_star_import_of_a_library(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from torch.utils.data import *\nfor x in DataLoader([1], num_workers=2): pass\n")
    project = Project(tmp_path, Settings())
    assert reached(project, project.load(script))
