"""Scripts that must not be said to start processes: an abstract run is at a loss with them, or they start none."""

from __future__ import annotations

from pathlib import Path

import pytest
from reached_rows import rows

SILENT = {
    "a start method that is asked for": """
if mp.get_start_method() == "fork":
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
    "two branches that differ, and nobody knows which is taken": """
if len(data) > 1000:
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
    "a flag that is 0 unless it is given": """
import click
@click.command()
@click.option("--workers", default=0)
def main(workers=4):
    for x in DataLoader(data, num_workers=workers): pass
main()
""",
    "fire with a parameter that is 0 unless it is given": """
import fire
def train(workers=0):
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


def test_workers_where_there_is_a_gpu_are_workers(tmp_path: Path) -> None:
    text = """
if torch.cuda.is_available():
    workers = 4
else:
    workers = 0
for x in DataLoader(data, num_workers=workers): pass
"""
    assert rows(text, tmp_path)[1] != []


@pytest.mark.parametrize("name", SILENT)
def test_nothing_is_claimed(name: str, tmp_path: Path) -> None:
    assert rows(SILENT[name], tmp_path)[1] == []


def test_a_long_table_of_calls_is_left_alone(tmp_path: Path) -> None:
    body = "\n".join(f"    'm{i}': cfg(url='u{i}', size={i})," for i in range(10_000))
    text = f"def cfg(**kwargs):\n    return dict(kwargs)\ntable = {{\n{body}\n}}\n"
    assert rows(text, tmp_path)[1] == []
