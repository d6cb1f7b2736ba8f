"""Ways to make a loader with some number of workers, as small projects: what rules of loaders see of each."""

from __future__ import annotations

from dataclasses import dataclass

DATASETS = {
    "FKL302": """
import numpy as np
from torch.utils.data import Dataset


class Samples(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index] + self.rng.random()
""",
    "FKL303": """
from torch.utils.data import IterableDataset


class Samples(IterableDataset):
    def __init__(self, rows: list):
        self.rows = rows

    def __iter__(self):
        for row in self.rows:
            yield row
""",
    "FKL304": """
import torch
from torch.utils.data import Dataset


class Samples(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return torch.as_tensor(self.rows[index]).cuda()
""",
}
PLAIN = """
from torch.utils.data import Dataset


class Samples(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.scale = 1.0

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index] * self.scale
"""


@dataclass(frozen=True)
class Way:
    """One way. NUMBER stands for how many workers there are, OPTIONS for further options of the loader."""

    before: str
    """What stands above: imports, settings."""
    loader: str
    """The statements that bind ``loader`` in a function ``build(rows, ...)``, one after another."""
    parameters: str = ""
    """Further parameters of that function."""
    decorators: str = ""
    files: tuple[tuple[str, str], ...] = ()


TORCH = "from torch.utils.data import DataLoader\n"


def _call(workers: str, function: str = "DataLoader") -> str:
    return f"loader = {function}(Samples(rows), batch_size=2, num_workers={workers}OPTIONS)"


WAYS = {
    "a number": Way(TORCH, _call("NUMBER")),
    "argparse": Way(
        TORCH
        + "import argparse\n\nparser = argparse.ArgumentParser()\n"
        + 'parser.add_argument("--workers", type=int, default=NUMBER)\nargs = parser.parse_args()\n',
        _call("args.workers"),
    ),
    "click": Way(
        TORCH + "import click\n",
        _call("workers"),
        ", workers",
        '@click.command()\n@click.option("--workers", type=int, default=NUMBER)\n',
    ),
    "a dataclass": Way(
        TORCH + "from dataclasses import dataclass\n\n\n@dataclass\nclass Settings:\n    workers: int = NUMBER\n",
        "settings = Settings()\n" + _call("settings.workers"),
    ),
    "pydantic": Way(
        TORCH
        + "from pydantic_settings import BaseSettings\n\n\nclass Settings(BaseSettings):\n    workers: int = NUMBER\n",
        "settings = Settings()\n" + _call("settings.workers"),
    ),
    "hydra": Way(
        TORCH + "import hydra\n",
        _call("config.loader.num_workers"),
        ", config",
        '@hydra.main(config_path="conf", config_name="train")\n',
        (("conf/train.yaml", "loader:\n  num_workers: NUMBER\n"),),
    ),
    "yaml": Way(
        TORCH + 'import yaml\n\nwith open("train.yaml") as file:\n    config = yaml.safe_load(file)\n',
        _call('config["num_workers"]'),
        files=(("train.yaml", "num_workers: NUMBER\n"),),
    ),
    "a parameter": Way(TORCH, _call("workers"), ", workers=NUMBER"),
    "unpacked": Way(
        TORCH,
        'options = {"num_workers": NUMBER, "pin_memory": False}\n'
        "loader = DataLoader(Samples(rows), batch_size=2, **optionsOPTIONS)",
    ),
    "partial": Way(
        TORCH + "from functools import partial\n",
        "make = partial(DataLoader, num_workers=NUMBER)\nloader = make(Samples(rows)OPTIONS)",
    ),
    "a subclass": Way(
        TORCH + '\n\nclass Batches(DataLoader):\n    """The project\'s."""\n', _call("NUMBER", "Batches")
    ),
    "StatefulDataLoader": Way(
        "from torchdata.stateful_dataloader import StatefulDataLoader\n", _call("NUMBER", "StatefulDataLoader")
    ),
    "PyG": Way("from torch_geometric.loader import DataLoader\n", _call("NUMBER")),
    "MONAI": Way("from monai.data import DataLoader\n", _call("NUMBER")),
    "import torch as th": Way("import torch as th\n", _call("NUMBER", "th.utils.data.DataLoader")),
    "from torch.utils import data": Way("from torch.utils import data\n", _call("NUMBER", "data.DataLoader")),
    "import torch.utils.data as D": Way("import torch.utils.data as D\n", _call("NUMBER", "D.DataLoader")),
    "import under try": Way(
        "try:\n    from torch.utils.data import DataLoader\nexcept ImportError as error:\n"
        '    raise SystemExit("needs torch") from error\n',
        _call("NUMBER"),
    ),
    "handed on by __init__": Way(
        "from parts import DataLoader\n",
        _call("NUMBER"),
        files=(("parts/__init__.py", "from .loading import DataLoader\n"), ("parts/loading.py", TORCH)),
    ),
    "a star import": Way("from parts import *\n", _call("NUMBER"), files=(("parts.py", TORCH),)),
    "named under TYPE_CHECKING": Way(
        "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING\n\n"
        "import torch.utils.data\n\nif TYPE_CHECKING:\n    from torch.utils.data import DataLoader\n",
        _call("NUMBER", "torch.utils.data.DataLoader").replace("loader =", "loader: DataLoader ="),
    ),
}


def project(way: Way, dataset: str, number: int, *, options: str = "", after: str = "") -> dict[str, str]:
    """The files of one way: ``samples.py`` with the dataset, ``script.py`` with the loader, and settings."""
    body = "\n".join("    " + line for line in f"{way.loader}\n{after}return loader".splitlines())
    head, *rest = way.before.split("\n\n", 1)
    future = "from __future__" in head
    imports = "from samples import Samples\n"
    before = f"{head}\n\n{imports}{''.join(rest)}" if future else f"{imports}{way.before}"
    script = f"{before}\n\n{way.decorators}def build(rows{way.parameters}):\n{body}\n"
    files = {"samples.py": dataset.lstrip(), "script.py": script, **dict(way.files)}
    return {name: text.replace("NUMBER", str(number)).replace("OPTIONS", options) for name, text in files.items()}
