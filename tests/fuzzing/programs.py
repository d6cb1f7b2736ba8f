"""Random programs: a grammar of all statements of Python 3.10, with the calls that the rules look for, and few names.

Few names make cycles: classes that inherit from themselves, values that are defined by each other, functions that call
one another without an end. A generator that only knows syntax (hypothesmith, say) makes programs that no rule looks
into, so this one writes what training code is made of.
"""

from __future__ import annotations

from random import Random

NAMES = ("data", "rows", "env", "loader", "Pages", "Words", "main", "run", "cfg", "index", "self", "torch")
FIELDS = ("file", "env", "rows", "num_workers", "cfg", "loader", "run", "__dict__", "device")
HEADS = (
    "import torch",
    "import torch.multiprocessing as mp",
    "import multiprocessing as mp",
    "import os, sys",
    "import h5py",
    "import lmdb",
    "import numpy as np",
    "import random",
    "from torch.utils.data import DataLoader, Dataset, IterableDataset",
    "from torch.utils.data import *",
    "from torch import nn",
    "from . import data",
    "from data import rows as env",
    "import argparse",
    "from tokenizers import Tokenizer",
    "import pytorch_lightning as pl",
    "from concurrent.futures import ThreadPoolExecutor, ProcessPoolExecutor",
    "from __future__ import annotations",
)
BASES = ("Dataset", "IterableDataset", "torch.utils.data.Dataset", "nn.Module", "Pages", "Words", "object", "data", "")
METHODS = (
    "__init__",
    "__getitem__",
    "__len__",
    "__iter__",
    "__getstate__",
    "__setstate__",
    "__del__",
    "__getitems__",
    "setup",
    "run",
    "forward",
    "__getitm__",
    "training_step",
    "__reduce__",
)
CALLS = (
    "open({0}, 'rb')",
    "lmdb.open({0}, readonly=True)",
    "h5py.File({0}, 'r')",
    "np.random.default_rng({0})",
    "np.random.randint({0})",
    "random.random()",
    "torch.Generator()",
    "DataLoader({0}, num_workers={1})",
    "DataLoader({0}, batch_size={1}, num_workers=2, persistent_workers=True, prefetch_factor={2})",
    "DataLoader({0}, **{1})",
    "torch.utils.data.DataLoader(Pages({0}), num_workers=4, multiprocessing_context='fork')",
    "mp.set_start_method({0})",
    "mp.set_start_method('spawn', force=True)",
    "mp.get_context('fork')",
    "mp.Process(target={0}, args=({1},)).start()",
    "mp.Pool({0}).map(lambda x: x, {1})",
    "mp.spawn({0}, args=({1},), nprocs=2)",
    "os.environ.setdefault('OMP_NUM_THREADS', {0})",
    "os.fork()",
    "torch.set_num_interop_threads({0})",
    "torch.set_num_threads(1)",
    "torch.cuda.is_available()",
    "torch.device('mps')",
    "{0}.to('cuda')",
    "{0}.cuda()",
    "{0}.backward()",
    "torch.ByteTensor(torch.ByteStorage.from_buffer({0}))",
    "np.memmap({0}, mode='r')",
    "Tokenizer.from_file({0})",
    "next(iter({0}))",
    "{0}.dataset.set_epoch({1})",
    "torch.utils.data.get_worker_info()",
    "nn.MultiheadAttention(8, 2)({0}, {0}, {0}, attn_mask={1})",
    "nn.Transformer.generate_square_subsequent_mask({0})",
    "argparse.ArgumentParser().parse_args()",
    "getattr({0}, 'num_workers', {1})",
    "super().__init__({0})",
    "type({0})({1})",
    "dict({0}, **{1})",
    "list(map({0}, {1}))",
    "ThreadPoolExecutor().submit({0}, {1})",
    "ProcessPoolExecutor().map({0}, {1})",
    "torch.random_spilt({0})",
    "pl.Trainer(accelerator={0}).fit({1})",
    "functools.partial({0}, {1})",
    "Pages({0})",
    "Words({0}, {1})",
    "run({0})",
    "{0}()",
    "{0}(*{1})",
)
CONSTANTS = (
    "0",
    "1",
    "2",
    "-1",
    "None",
    "True",
    "'fork'",
    "'spawn'",
    "'cuda'",
    "'mps'",
    "'x'",
    "b'y'",
    "1.5",
    "...",
    "10**400",
    "''",
    "f'{rows!r:>{index}}'",
    "'\\x1b[31m'",
    "'\\ud800'",
    "9" * 300,
    "1e999",
    "0x_ff",
    "'\\N{BULLET}'",
    "1j",
    "(),",
    "'é'",
)
TESTS = (
    "__name__ == '__main__'",
    "sys.platform == 'darwin'",
    "torch.cuda.is_available()",
    "os.name == 'nt'",
    "TYPE_CHECKING",
    "not __debug__",
)


class Program:
    """Writes one program with the dice that it is given."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.left = dice.choice((10, 25, 25, 60, 150))
        """How many statements it may still write."""

    def text(self) -> str:
        """The program."""
        dice = self.dice
        heads = [one for one in HEADS if dice.random() < 0.5]
        heads.sort(key=lambda one: "__future__" not in one)
        lines = [line for head in heads for line in [head, *[""] * (dice.random() < 0.1)]]
        while self.left > 0:
            lines += self.statement(0, "module")
        text = "\n".join(lines) + "\n" * dice.randrange(3)
        if dice.random() < 0.05:
            text = text.replace("    ", "\t")
        if dice.random() < 0.05:
            text = text.replace("\n", "\r\n")
        return text

    def name(self) -> str:
        return self.dice.choice(NAMES)

    def target(self, depth: int = 0) -> str:
        dice = self.dice
        roll = dice.random()
        if roll < 0.5:
            return self.name()
        if roll < 0.75:
            return f"{self.name()}.{dice.choice(FIELDS)}"
        if roll < 0.85:
            return f"{self.name()}[{self.expression(2)}]"
        return f"{self.name()}, *{self.name()}" if roll < 0.9 else f"({self.name()}, [{self.name()}, {self.name()}])"

    def expression(self, depth: int = 0) -> str:
        dice = self.dice
        if depth > 3:
            return dice.choice((dice.choice(CONSTANTS), self.name()))
        deeper = lambda: self.expression(depth + 1)  # noqa: E731 - used in a dozen places below
        roll = dice.randrange(22)
        if roll < 4:
            return dice.choice(CONSTANTS)
        if roll < 8:
            return self.name()
        if roll < 10:
            return f"{self.name()}.{dice.choice(FIELDS)}"
        if roll < 15:
            return dice.choice(CALLS).format(deeper(), deeper(), deeper())
        if roll == 15:
            return f"({deeper()} if {dice.choice(TESTS)} else {deeper()})"
        if roll == 16:
            return f"{{'num_workers': {deeper()}, {deeper()}: {deeper()}, **{self.name()}}}"
        if roll == 17:
            return f"[{deeper()} for {self.name()} in {deeper()} if {deeper()}]"
        if roll == 18:
            return f"(lambda {self.name()}, *a, k={deeper()}: {deeper()})"
        if roll == 19:
            return (
                f"({deeper()} {dice.choice(('+', '-', 'or', 'and', 'is not', '<', '@', '//', '%', '**'))} {deeper()})"
            )
        if roll == 20:
            return f"({self.name()} := {deeper()})"
        return f"{self.name()}[{deeper()}:{deeper()}]"

    def block(self, depth: int, kind: str) -> list[str]:
        lines = [line for _ in range(self.dice.randrange(1, 4)) for line in self.statement(depth + 1, kind)]
        return ["    " + line for line in lines] or ["    pass"]

    def signature(self, kind: str) -> str:
        own = ["self"] if kind == "class" else []
        others = self.dice.sample([name for name in NAMES if name != "self"], self.dice.randrange(4))
        written = [f"{name}={self.expression(3)}" for name in others]
        tail = ["*args", "**kwargs"] if self.dice.random() < 0.3 else []
        return ", ".join([*own, *written, *tail])

    def function(self, depth: int, kind: str) -> list[str]:
        dice = self.dice
        name = dice.choice(METHODS) if kind == "class" else self.name()
        marks = [f"@{dice.choice(('property', 'staticmethod', 'functools.cache', 'hydra.main()', self.name()))}"]
        marks = marks if dice.random() < 0.15 else []
        prefix = "async " if dice.random() < 0.05 else ""
        return [*marks, f"{prefix}def {name}({self.signature(kind)}):", *self.block(depth, "function")]

    def statement(self, depth: int, kind: str) -> list[str]:  # noqa: C901 - a branch for each kind
        dice = self.dice
        self.left -= 1
        if self.left <= 0 or depth > 5:
            return [dice.choice(("pass", f"{self.name()} = {self.expression(2)}"))]
        if kind == "class" and dice.random() < 0.8:
            return self.function(depth, "class")
        roll = dice.randrange(32)
        if roll < 7:
            return [f"{self.target()} = {self.expression()}"]
        if roll < 11:
            return [dice.choice(CALLS).format(self.expression(1), self.expression(1), self.expression(1))]
        if roll < 14:
            return [f"class {self.name()}({dice.choice(BASES)}):", *self.block(depth, "class")]
        if roll < 17:
            return self.function(depth, kind)
        if roll < 20:
            lines = [f"if {dice.choice((*TESTS, self.expression(1)))}:", *self.block(depth, kind)]
            while dice.random() < 0.3:
                lines += [f"elif {self.expression(2)}:", *self.block(depth, kind)]
            return lines + (["else:", *self.block(depth, kind)] if dice.random() < 0.3 else [])
        if roll < 22:
            lines = [f"for {self.target()} in {self.expression(1)}:", *self.block(depth, kind)]
            return lines + (["else:", *self.block(depth, kind)] if dice.random() < 0.1 else [])
        if roll == 22:
            return [f"while {self.expression(1)}:", *self.block(depth, kind)]
        if roll == 23:
            return [f"with {self.expression(1)} as {self.name()}:", *self.block(depth, kind)]
        if roll == 24:
            lines = ["try:", *self.block(depth, kind), f"except {dice.choice(('OSError', 'Exception', self.name()))}:"]
            lines += self.block(depth, kind)
            return lines + (["finally:", *self.block(depth, kind)] if dice.random() < 0.3 else [])
        if roll == 25:
            lines = [
                f"match {self.expression(1)}:",
                f"    case {{'num_workers': {self.name()}, **rest}} if {self.name()}:",
            ]
            inner = [*self.block(depth, kind), "    case [1, *_] | str(): pass"]
            return [*lines, *("    " + line for line in inner[:-1]), inner[-1]]
        if roll == 26:
            return [f"{self.name()} {dice.choice(('+=', '|=', '**='))} {self.expression(1)}"]
        if roll == 27:
            return [f"{self.name()}: {self.expression(2)} = {self.expression(2)}"]
        if roll == 28 and kind == "function":
            return [f"{dice.choice(('return', 'return', 'yield', 'raise'))} {self.expression(1)}"]
        if roll == 29:
            return [f"del {self.name()}", f"assert {self.expression(2)}; {self.name()} = {self.expression(2)}"]
        if roll == 30:
            return [f"# {dice.choice(('noqa', 'noqa: FKL301', 'forklint: ignore', 'type: ignore', 'é'))}", "pass"]
        word = dice.choice(("noqa", "noqa: FKL201,FKL301", "fmt: skip"))
        return [f"{self.name()} = {self.expression()}  # {word}"]


def program(dice: Random) -> str:
    """A random program; it always has the form of one, and may still be refused (``return`` at the wrong place)."""
    return Program(dice).text()
