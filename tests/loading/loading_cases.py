"""Ways in which people write a loader: small projects, a script and after ``--- name`` the files beside it."""

from __future__ import annotations

WORKERS = {
    "nothing given": (
        """\
DataLoader(faces)
""",
        "0",
    ),
    "a number": (
        """\
DataLoader(faces, num_workers=4)
""",
        "4",
    ),
    "a number by position": (
        """\
DataLoader(faces, 8, True, None, None, 3)
""",
        "3",
    ),
    "a constant": (
        """\
WORKERS = 4
DataLoader(faces, num_workers=WORKERS)
""",
        "4",
    ),
    "a constant of another module": (
        """\
from settings import WORKERS as nw
DataLoader(faces, num_workers=nw)
--- settings.py
WORKERS = 2
""",
        "2",
    ),
    "a constant bound twice": (
        """\
W = 4
if os.environ:
    W = 0
DataLoader(faces, num_workers=W)
""",
        "unknown",
    ),
    "all processors but one": (
        """\
DataLoader(faces, num_workers=os.cpu_count() - 1)
""",
        "some",
    ),
    "processors or one": (
        """\
DataLoader(faces, num_workers=os.cpu_count() or 1)
""",
        "some",
    ),
    "two arms": (
        """\
DataLoader(faces, num_workers=2 if os.environ else 0)
""",
        "unknown",
    ),
    "two arms above zero": (
        """\
DataLoader(faces, num_workers=2 if os.environ else 4)
""",
        "some",
    ),
    "an environment variable": (
        """\
DataLoader(faces, num_workers=int(os.environ['W']))
""",
        "unknown",
    ),
    "unpacked literal": (
        """\
DataLoader(faces, **{'num_workers': 4})
""",
        "4",
    ),
    "unpacked dict()": (
        """\
options = dict(num_workers=4, pin_memory=True)
DataLoader(faces, **options)
""",
        "4",
    ),
    "unpacked with another inside": (
        """\
base = dict(num_workers=4)
options = {**base, 'pin_memory': True}
DataLoader(faces, **options)
""",
        "4",
    ),
    "unpacked, the key set in the next line": (
        """\
options = {'batch_size': 8}
options['num_workers'] = 4
DataLoader(faces, **options)
""",
        "4",
    ),
    "unpacked, the key set under a condition": (
        """\
options = {'num_workers': 4}
if os.environ:
    options['num_workers'] = 0
DataLoader(faces, **options)
""",
        "unknown",
    ),
    "unpacked, updated": (
        """\
options = {'num_workers': 4}
options.update(json.load(open('o')))
DataLoader(faces, **options)
""",
        "4",
    ),
    "unpacked from who knows where": (
        """\
def make(**options):
    return DataLoader(faces, **options)
""",
        "unknown",
    ),
    "unpacked from the only call": (
        """\
def make(**options):
    return DataLoader(faces, **options)
make(num_workers=2)
""",
        "2",
    ),
}
"""Each with the number of workers that its only loader is known to have."""

COMMAND_LINE = {
    "argparse": (
        """\
parser = argparse.ArgumentParser()
parser.add_argument('--num-workers', type=int, default=4)
args = parser.parse_args()
DataLoader(faces, num_workers=args.num_workers)
""",
        "4 by default",
    ),
    "argparse, zero": (
        """\
parser = argparse.ArgumentParser()
parser.add_argument('--num_workers', '-j', default=0)
args = parser.parse_args()
DataLoader(faces, num_workers=args.num_workers)
""",
        "0 by default",
    ),
    "argparse, dest": (
        """\
parser = argparse.ArgumentParser()
parser.add_argument('-j', '--jobs', dest='num_workers', default=2)
args = parser.parse_args()
DataLoader(faces, num_workers=args.num_workers)
""",
        "2 by default",
    ),
    "argparse, all processors": (
        """\
parser = argparse.ArgumentParser()
parser.add_argument('--num-workers', default=os.cpu_count())
args = parser.parse_args()
DataLoader(faces, num_workers=args.num_workers)
""",
        "some by default",
    ),
    "argparse, no default": (
        """\
parser = argparse.ArgumentParser()
parser.add_argument('--num-workers', type=int)
args = parser.parse_args()
DataLoader(faces, num_workers=args.num_workers)
""",
        "unknown",
    ),
    "argparse, required": (
        """\
parser = argparse.ArgumentParser()
parser.add_argument('--num-workers', required=True, default=4)
args = parser.parse_args()
DataLoader(faces, num_workers=args.num_workers)
""",
        "4 by default",
    ),
    "argparse, changed later": (
        """\
parser = argparse.ArgumentParser()
parser.add_argument('--num-workers', default=4)
args = parser.parse_args()
if os.environ:
    args.num_workers = 0
DataLoader(faces, num_workers=args.num_workers)
""",
        "unknown",
    ),
    "argparse, set from a file": (
        """\
parser = argparse.ArgumentParser()
parser.add_argument('--num-workers', default=4)
args = parser.parse_args()
for key, value in json.load(open('c.json')).items():
    setattr(args, key, value)
DataLoader(faces, num_workers=args.num_workers)
""",
        "unknown",
    ),
    "argparse, known arguments": (
        """\
parser = argparse.ArgumentParser()
parser.add_argument('--num-workers', default=4)
args, rest = parser.parse_known_args()
DataLoader(faces, num_workers=args.num_workers)
""",
        "4 by default",
    ),
    "argparse, a dictionary of them": (
        """\
parser = argparse.ArgumentParser()
parser.add_argument('--num-workers', default=4)
args = vars(parser.parse_args())
DataLoader(faces, num_workers=args['num_workers'])
""",
        "4 by default",
    ),
    "argparse in functions": (
        """\
def read():
    parser = argparse.ArgumentParser()
    parser.add_argument('--num-workers', default=4)
    return parser.parse_args()
def main(args):
    return DataLoader(faces, num_workers=args.num_workers)
if __name__ == '__main__':
    main(read())
""",
        "4 by default",
    ),
    "argparse in another module": (
        """\
from options import parse
args = parse()
DataLoader(faces, num_workers=args.num_workers)
--- options.py
import argparse
def parse():
    p = argparse.ArgumentParser()
    p.add_argument('--num_workers', default=6, type=int)
    return p.parse_args()
""",
        "6 by default",
    ),
    "argparse, two parsers that differ": (
        """\
parser = argparse.ArgumentParser()
parser.add_argument('--num-workers', default=4)
other = argparse.ArgumentParser()
other.add_argument('--num-workers', default=0)
args = parser.parse_args()
DataLoader(faces, num_workers=args.num_workers)
""",
        "unknown",
    ),
    "click": (
        """\
import click
@click.command()
@click.option('--num-workers', default=4)
def main(num_workers):
    DataLoader(faces, num_workers=num_workers)
main()
""",
        "4 by default",
    ),
    "click, no default": (
        """\
import click
@click.command()
@click.option('--num-workers', type=int)
def main(num_workers):
    DataLoader(faces, num_workers=num_workers)
main()
""",
        "unknown",
    ),
    "typer": (
        """\
import typer
def main(num_workers: int = typer.Option(4)):
    DataLoader(faces, num_workers=num_workers)
typer.run(main)
""",
        "4 by default",
    ),
    "fire": (
        """\
import fire
def main(num_workers=2):
    DataLoader(faces, num_workers=num_workers)
fire.Fire(main)
""",
        "2 by default",
    ),
    "Lightning's command line": (
        """\
import lightning.pytorch as pl
from lightning.pytorch.cli import LightningCLI
class Faces(pl.LightningDataModule):
    def __init__(self, num_workers: int = 0):
        self.num_workers = num_workers
    def train_dataloader(self):
        return DataLoader(faces, num_workers=self.num_workers)
LightningCLI(pl.LightningModule, Faces)
""",
        "0 by default",
    ),
    "lists of options": (
        """def make(datasets, numbers):
    for dataset, number in zip(datasets, numbers):
        yield DataLoader(dataset, num_workers=number)
make([faces, faces, faces], [0] + [0] * 2)
""",
        "0",
    ),
    "lists of options, one of them above zero": (
        """def make(datasets, numbers):
    for dataset, number in zip(datasets, numbers):
        yield DataLoader(dataset, num_workers=number)
make([faces, faces, faces], [4] + [0] * 2)
""",
        "some",
    ),
    "absl": (
        """\
from absl import flags
flags.DEFINE_integer('num_workers', 4, 'how many')
DataLoader(faces, num_workers=flags.FLAGS.num_workers)
""",
        "4 by default",
    ),
    "dataclasses of HfArgumentParser": (
        """\
from transformers import HfArgumentParser
@dataclasses.dataclass
class Data:
    num_workers: int = 4
data, = HfArgumentParser((Data,)).parse_args_into_dataclasses()
DataLoader(faces, num_workers=data.num_workers)
""",
        "4 by default",
    ),
    "tyro": (
        """\
import tyro
@dataclasses.dataclass
class Args:
    num_workers: int = 4
args = tyro.cli(Args)
DataLoader(faces, num_workers=args.num_workers)
""",
        "4 by default",
    ),
}

OBJECTS = {
    "a dataclass": (
        """\
@dataclasses.dataclass
class Config:
    batch_size: int = 8
    num_workers: int = 4
config = Config()
DataLoader(faces, num_workers=config.num_workers)
""",
        "4",
    ),
    "a dataclass, given": (
        """\
@dataclasses.dataclass
class Config:
    batch_size: int = 8
    num_workers: int = 4
config = Config(num_workers=0)
DataLoader(faces, num_workers=config.num_workers)
""",
        "0",
    ),
    "a dataclass, given by position": (
        """\
@dataclasses.dataclass
class Config:
    batch_size: int = 8
    num_workers: int = 4
config = Config(16, 2)
DataLoader(faces, num_workers=config.num_workers)
""",
        "2",
    ),
    "a dataclass, given from somewhere": (
        """\
@dataclasses.dataclass
class Config:
    batch_size: int = 8
    num_workers: int = 4
config = Config(**json.load(open('c')))
DataLoader(faces, num_workers=config.num_workers)
""",
        "unknown",
    ),
    "a dataclass, changed": (
        """\
@dataclasses.dataclass
class Config:
    batch_size: int = 8
    num_workers: int = 4
config = Config()
config.num_workers = int(input())
DataLoader(faces, num_workers=config.num_workers)
""",
        "unknown",
    ),
    "a dataclass as annotation": (
        """\
@dataclasses.dataclass
class Config:
    batch_size: int = 8
    num_workers: int = 4
def make(config: Config):
    return DataLoader(faces, num_workers=config.num_workers)
make(Config())
""",
        "4",
    ),
    "a dataclass, all of it unpacked": (
        """\
@dataclasses.dataclass
class Config:
    batch_size: int = 8
    num_workers: int = 4
DataLoader(faces, **dataclasses.asdict(Config()))
""",
        "4",
    ),
    "a dataclass within another": (
        """\
@dataclasses.dataclass
class Config:
    batch_size: int = 8
    num_workers: int = 4
@dataclasses.dataclass
class All:
    data: Config = dataclasses.field(default_factory=Config)
DataLoader(faces, num_workers=All().data.num_workers)
""",
        "4",
    ),
    "field(default=...)": (
        """\
@dataclasses.dataclass
class Config:
    num_workers: int = dataclasses.field(default=3, metadata={})
DataLoader(faces, num_workers=Config().num_workers)
""",
        "3",
    ),
    "pydantic": (
        """\
from pydantic import BaseModel, Field
class Config(BaseModel):
    num_workers: int = Field(4, ge=0)
DataLoader(faces, num_workers=Config().num_workers)
""",
        "4",
    ),
    "pydantic settings": (
        """\
from pydantic_settings import BaseSettings
class Config(BaseSettings):
    num_workers: int = 4
DataLoader(faces, num_workers=Config().num_workers)
""",
        "4 by default",
    ),
    "a class of constants": (
        """\
class Config:
    NUM_WORKERS = 4
DataLoader(faces, num_workers=Config.NUM_WORKERS)
""",
        "4",
    ),
    "a namespace": (
        """\
from types import SimpleNamespace
cfg = SimpleNamespace(workers=4)
DataLoader(faces, num_workers=cfg.workers)
""",
        "4",
    ),
    "a dictionary": (
        """\
cfg = {'data': {'workers': 4}}
DataLoader(faces, num_workers=cfg['data']['workers'])
""",
        "4",
    ),
    "a dictionary, get": (
        """\
cfg = {'lr': 4}
DataLoader(faces, num_workers=cfg.get('workers', 2))
""",
        "2",
    ),
    "an attribute": (
        """\
class Task:
    def __init__(self, num_workers=4):
        self.num_workers = num_workers
    def loader(self):
        return DataLoader(faces, num_workers=self.num_workers)
Task()
""",
        "4",
    ),
    "an attribute, nobody makes the object": (
        """\
class Task:
    def __init__(self, num_workers=4):
        self.num_workers = num_workers
    def loader(self):
        return DataLoader(faces, num_workers=self.num_workers)
""",
        "4 by default",
    ),
    "an attribute, objects that differ": (
        """\
class Task:
    def __init__(self, num_workers=4):
        self.num_workers = num_workers
    def loader(self):
        return DataLoader(faces, num_workers=self.num_workers)
Task()
Task(0)
""",
        "unknown",
    ),
    "an attribute assigned twice": (
        """\
class Task:
    def __init__(self):
        self.num_workers = 4
    def debug(self):
        self.num_workers = 0
    def loader(self):
        return DataLoader(faces, num_workers=self.num_workers)
""",
        "unknown",
    ),
    "an attribute handed up": (
        """\
class Task:
    def __init__(self, num_workers):
        self.num_workers = num_workers
    def loader(self):
        return DataLoader(faces, num_workers=self.num_workers)
class Mine(Task):
    def __init__(self):
        super().__init__(num_workers=2)
""",
        "2",
    ),
    "a data module": (
        """\
import lightning as L
class Data(L.LightningDataModule):
    def __init__(self, batch_size=8, num_workers=4):
        super().__init__()
        self.save_hyperparameters()
    def train_dataloader(self):
        return DataLoader(faces, num_workers=self.hparams.num_workers)
Data(num_workers=2)
""",
        "2",
    ),
    "a data module that ignores it": (
        """\
import lightning as L
class Data(L.LightningDataModule):
    def __init__(self, batch_size=8, num_workers=4):
        super().__init__()
        self.save_hyperparameters(ignore=['num_workers'])
    def train_dataloader(self):
        return DataLoader(faces, num_workers=self.hparams.num_workers)
Data(num_workers=2)
""",
        "unknown",
    ),
    "a class attribute that a subclass covers": (
        """\
class Task:
    num_workers = 4
    def loader(self):
        return DataLoader(faces, num_workers=self.num_workers)
class Debug(Task):
    num_workers = 0
""",
        "unknown",
    ),
    "an attribute that a subclass sets": (
        """\
class Task:
    def __init__(self):
        self.num_workers = 4
    def loader(self):
        return DataLoader(faces, num_workers=self.num_workers)
class Debug(Task):
    def __init__(self):
        super().__init__()
        self.num_workers = 0
""",
        "unknown",
    ),
    "a class that sets whatever it is given": (
        """\
class Config:
    num_workers = 4
    def __init__(self, **options):
        for name, value in options.items():
            setattr(self, name, value)
DataLoader(faces, num_workers=Config().num_workers)
""",
        "4",
    ),
    "a class that sets whatever a file says": (
        """\
import json
class Config:
    num_workers = 4
    def __init__(self, **options):
        for name, value in options.items():
            setattr(self, name, value)
DataLoader(faces, num_workers=Config(**json.load(open("options.json"))).num_workers)
""",
        "unknown",
    ),
    "a property": (
        """\
class Task:
    @property
    def workers(self):
        return 4
    def loader(self):
        return DataLoader(faces, num_workers=self.workers)
""",
        "4",
    ),
}

FUNCTIONS = {
    "a parameter, every call agrees": (
        """\
def make(n):
    return DataLoader(faces, num_workers=n)
make(4)
make(n=4)
""",
        "4",
    ),
    "a parameter, calls that differ": (
        """\
def make(n):
    return DataLoader(faces, num_workers=n)
make(4)
make(0)
""",
        "unknown",
    ),
    "a parameter, all above zero": (
        """\
def make(n=2):
    return DataLoader(faces, num_workers=n)
make(4)
make()
""",
        "some",
    ),
    "a parameter nobody gives": (
        """\
def make(n=2):
    return DataLoader(faces, num_workers=n)
""",
        "2 by default",
    ),
    "a function handed on": (
        """\
def make(n=2):
    return DataLoader(faces, num_workers=n)
print(list(map(make, [0, 1])))
""",
        "unknown",
    ),
    "a parameter called from elsewhere": (
        """\
def make(n=2):
    return DataLoader(faces, num_workers=n)
--- run.py
from script import make as build
build(0)
""",
        "0",
    ),
    "what a function returns": (
        """\
def workers():
    return 4
DataLoader(faces, num_workers=workers())
""",
        "4",
    ),
    "what a function returns at random": (
        """\
def workers():
    if os.environ:
        return 0
    return 4
DataLoader(faces, num_workers=workers())
""",
        "unknown",
    ),
    "options that a function returns": (
        """\
def options(n):
    return dict(num_workers=n, pin_memory=True)
DataLoader(faces, **options(3))
""",
        "3",
    ),
}

FILES = {
    "yaml that the user names": (
        """\
def main(cfg):
    DataLoader(faces, **cfg['data']['loader'])
main(yaml.safe_load(open(input())))
--- conf/train.yaml
data:
  loader: {batch_size: 8, num_workers: 6}
""",
        "6",
    ),
    "json that the user names, kept by an object": (
        """\
class Run:
    def __init__(self, path):
        self.cfg = json.load(open(path))
    def load(self):
        options = self.cfg.get('loader', {})
        return DataLoader(faces, **options)
--- conf/train.json
{"data": {"loader": {"num_workers": 6}}}
""",
        "6",
    ),
    "one of several files, of which one has none": (
        """\
cfg = yaml.safe_load(open(input()))
DataLoader(faces, **cfg['loader'])
--- conf/train.yaml
loader: {num_workers: 6}
--- conf/debug.yaml
loader: {num_workers: 0}
""",
        "unknown",
    ),
    "a file in a folder farther away has none": (
        """\
import tools.load
--- tools/load.py
import sys, yaml
from torch.utils.data import DataLoader
DataLoader([1], **yaml.safe_load(open(sys.argv[1]))['loader'])
--- tools/train.yaml
loader: {num_workers: 6}
--- conf/debug.yaml
loader: {num_workers: 0}
""",
        "6",
    ),
    "yaml of something else": (
        """\
cfg = yaml.safe_load(open(input()))
DataLoader(faces, **cfg['loader'])
--- conf/train.yaml
loader: {num_workers: 6, resolution: 64}
""",
        "unknown",
    ),
    "yaml": (
        """\
cfg = yaml.safe_load(open('conf/train.yaml'))
DataLoader(faces, num_workers=cfg['data']['num_workers'])
--- conf/train.yaml
data:
  num_workers: 6
  debug: ${data.num_workers}
""",
        "6",
    ),
    "yaml in a with": (
        """\
with open(os.path.join('conf', 'train.yaml')) as f:
    cfg = yaml.load(f, Loader=yaml.SafeLoader)
DataLoader(faces, num_workers=cfg['data'].get('num_workers', 0))
--- conf/train.yaml
data:
  num_workers: 6
  debug: ${data.num_workers}
""",
        "6",
    ),
    "yaml by Path": (
        """\
from pathlib import Path
cfg = yaml.safe_load((Path(__file__).parent / 'conf' / 'train.yaml').read_text())
DataLoader(faces, num_workers=cfg['data']['num_workers'])
--- conf/train.yaml
data:
  num_workers: 6
  debug: ${data.num_workers}
""",
        "6",
    ),
    "yaml named on the command line": (
        """\
parser = argparse.ArgumentParser()
parser.add_argument('--config', default='conf/train.yaml')
args = parser.parse_args()
cfg = yaml.safe_load(open(args.config))
DataLoader(faces, num_workers=cfg['data']['num_workers'])
--- conf/train.yaml
data:
  num_workers: 6
  debug: ${data.num_workers}
""",
        "6 by default",
    ),
    "yaml, changed": (
        """\
cfg = yaml.safe_load(open('conf/train.yaml'))
if os.environ:
    cfg['data']['num_workers'] = 0
DataLoader(faces, num_workers=cfg['data']['num_workers'])
--- conf/train.yaml
data:
  num_workers: 6
""",
        "unknown",
    ),
    "yaml, unpacked and changed": (
        """\
cfg = yaml.safe_load(open('conf/train.yaml'))
if os.environ:
    cfg['data']['num_workers'] = 0
DataLoader(faces, **cfg['data'])
--- conf/train.yaml
data:
  num_workers: 6
""",
        "unknown",
    ),
    "yaml, updated": (
        """\
cfg = yaml.safe_load(open('conf/train.yaml'))
cfg.update(json.load(open('mine.json')))
DataLoader(faces, num_workers=cfg['data']['num_workers'])
--- conf/train.yaml
data:
  num_workers: 6
""",
        "6",
    ),
    "yaml, another value set": (
        """\
cfg = yaml.safe_load(open('conf/train.yaml'))
cfg['data']['root'] = os.getcwd()
DataLoader(faces, num_workers=cfg['data']['num_workers'])
--- conf/train.yaml
data:
  num_workers: 6
""",
        "6",
    ),
    "yaml, another key": (
        """\
cfg = yaml.safe_load(open('conf/train.yaml'))
DataLoader(faces, num_workers=cfg['num_workers'])
--- conf/train.yaml
data:
  num_workers: 6
  debug: ${data.num_workers}
""",
        "unknown",
    ),
    "yaml that is not there": (
        """\
cfg = yaml.safe_load(open('conf/test.yaml'))
DataLoader(faces, num_workers=cfg['data']['num_workers'])
--- conf/train.yaml
data:
  num_workers: 6
  debug: ${data.num_workers}
""",
        "6",
    ),
    "yaml of which there are two": (
        """\
cfg = yaml.safe_load(open('train.yaml'))
DataLoader(faces, num_workers=cfg['data']['num_workers'])
--- conf/train.yaml
data:
  num_workers: 6
  debug: ${data.num_workers}
--- old/train.yaml
a: 1
""",
        "6",
    ),
    "yaml, unpacked": (
        """\
cfg = yaml.safe_load(open('conf/l.yaml'))
DataLoader(faces, **cfg['loader'])
--- conf/l.yaml
loader:
  num_workers: 2
""",
        "2",
    ),
    "omegaconf": (
        """\
from omegaconf import OmegaConf
cfg = OmegaConf.load('conf/train.yaml')
DataLoader(faces, num_workers=cfg.data.num_workers)
--- conf/train.yaml
data:
  num_workers: 6
  debug: ${data.num_workers}
""",
        "6",
    ),
    "omegaconf, referred": (
        """\
from omegaconf import OmegaConf
cfg = OmegaConf.load('conf/train.yaml')
DataLoader(faces, num_workers=cfg.data.debug)
--- conf/train.yaml
data:
  num_workers: 6
  debug: ${data.num_workers}
""",
        "6",
    ),
    "json": (
        """\
cfg = json.load(open('c.json'))
DataLoader(faces, num_workers=cfg['workers'])
--- c.json
{"workers": 3}
""",
        "3",
    ),
    "toml": (
        """\
import tomllib
with open('c.toml', 'rb') as f:
    cfg = tomllib.load(f)
DataLoader(faces, num_workers=cfg['data']['workers'])
--- c.toml
[data]
workers = 3
""",
        "3",
    ),
    "a dataclass made of yaml": (
        """\
@dataclasses.dataclass
class Config:
    batch_size: int = 8
    num_workers: int = 4
config = Config(**yaml.safe_load(open('conf/l.yaml')))
DataLoader(faces, num_workers=config.num_workers)
--- conf/l.yaml
num_workers: 2
""",
        "2",
    ),
    "hydra": (
        """\
import hydra
@hydra.main(config_path='conf', config_name='train')
def main(cfg):
    DataLoader(faces, num_workers=cfg.data.num_workers)
main()
--- conf/train.yaml
data:
  num_workers: 6
  debug: ${data.num_workers}
""",
        "6 by default",
    ),
    "hydra, a group": (
        """\
import hydra
@hydra.main(config_path='conf', config_name='config')
def main(cfg):
    DataLoader(faces, num_workers=cfg.data.num_workers)
main()
--- conf/config.yaml
defaults:
  - data: faces
  - _self_
lr: 1
--- conf/data/faces.yaml
num_workers: 5
""",
        "5 by default",
    ),
    "hydra, a group that the file covers": (
        """\
import hydra
@hydra.main(config_path='conf', config_name='config')
def main(cfg):
    DataLoader(faces, num_workers=cfg.data.num_workers)
main()
--- conf/config.yaml
defaults:
  - data: faces
  - _self_
data:
  num_workers: 0
--- conf/data/faces.yaml
num_workers: 5
""",
        "0 by default",
    ),
    "an object that a file describes": (
        """\
class Data:
    def __init__(self, num_workers):
        self.num_workers = num_workers
    def loader(self):
        return DataLoader(faces, num_workers=self.num_workers)
--- conf/data.yaml
_target_: script.Data
num_workers: 3
""",
        "3 by default",
    ),
}

MAKERS = {
    "import torch as th": """\
import torch as th
th.utils.data.DataLoader(faces, num_workers=4)
""",
    "from torch.utils import data": """\
from torch.utils import data
data.DataLoader(faces, num_workers=4)
""",
    "import torch.utils.data as D": """\
import torch.utils.data as D
D.DataLoader(faces, num_workers=4)
""",
    "renamed": """\
from torch.utils.data import DataLoader as Loader
Loader(faces, num_workers=4)
""",
    "another name for it": """\
Loader = DataLoader
Loader(faces, num_workers=4)
""",
    "re-exported": """\
from lib import Batches
Batches(faces, num_workers=4)
--- lib/__init__.py
from .loading import Batches
--- lib/loading.py
from torch.utils.data import DataLoader as Batches
""",
    "by a star": """\
from lib import *
Loader(faces, num_workers=4)
--- lib.py
from torch.utils.data import DataLoader as Loader
""",
    "in a try": """\
try:
    from torchdata.stateful_dataloader import StatefulDataLoader as Loader
except ImportError:
    from torch.utils.data import DataLoader as Loader
Loader(faces, num_workers=4)
""",
    "under TYPE_CHECKING": """\
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from torch.utils.data import DataLoader as L
def make(n=4) -> 'L':
    from torch.utils.data import DataLoader as L
    return L(faces, num_workers=4)
""",
    "a partial": """\
make = functools.partial(DataLoader, num_workers=4)
make(faces)
""",
    "a partial of another module": """\
from lib import make
make(faces)
--- lib.py
from functools import partial
from torch.utils.data import DataLoader
make = partial(DataLoader, num_workers=4)
""",
    "a partial that is overridden": """\
make = functools.partial(DataLoader, num_workers=0)
make(faces, num_workers=4)
""",
    "a subclass": """\
class Batches(DataLoader):
    pass
Batches(faces, num_workers=4)
""",
    "a subclass with its own __init__": """\
class Batches(DataLoader):
    def __init__(self, data, workers=4, **options):
        super().__init__(data, num_workers=workers, **options)
Batches(faces, pin_memory=True)
""",
    "a subclass of a subclass": """\
class Batches(DataLoader):
    def __init__(self, data, workers=0):
        super().__init__(data, num_workers=workers)
class More(Batches):
    def __init__(self, data):
        Batches.__init__(self, data, workers=4)
More(faces)
""",
    "torchdata": """\
from torchdata.stateful_dataloader import StatefulDataLoader
StatefulDataLoader(faces, num_workers=4)
""",
    "PyG": """\
from torch_geometric.loader import DataLoader as L
L(faces, batch_size=2, num_workers=4)
""",
    "MONAI": """\
from monai.data import DataLoader as L
L(faces, 4)
""",
    "lightning": """\
import lightning as L
class Data(L.LightningDataModule):
    def setup(self, stage):
        self.train = Faces()
    def train_dataloader(self):
        return DataLoader(self.train, num_workers=4)
""",
    "transformers": """\
from transformers import Trainer, TrainingArguments
args = TrainingArguments(output_dir='o', dataloader_num_workers=4)
Trainer(model=None, args=args, train_dataset=faces)
""",
    "accelerate": """\
from accelerate import Accelerator
loader = Accelerator().prepare(DataLoader(faces, num_workers=4))
""",
    "a split": """\
from torch.utils.data import random_split
train, val = random_split(faces, [8, 2])
DataLoader(train, num_workers=4)
""",
    "a subset of a list": """\
from torch.utils.data import ConcatDataset, Subset
both = ConcatDataset([Subset(faces, [1])])
DataLoader(both, num_workers=4)
""",
    "a dictionary of datasets": """\
sets = {name: Faces(name) for name in ('train', 'val')}
DataLoader(sets['train'], num_workers=4)
""",
    "a dataset that a function makes": """\
def build(root):
    return Faces(root)
DataLoader(build('a'), num_workers=4)
""",
    "a dataset that is a parameter": """\
def make(data):
    return DataLoader(data, num_workers=4)
make(Faces('a'))
""",
}
"""Each gives four workers a dataset of Faces."""

NO_LOADER = {
    "a class of that name": """\
class DataLoader:
    pass
DataLoader()
""",
    "another library's": """\
from ffcv.loader import Loader
Loader(faces, num_workers=4)
""",
    "a module of the project": """\
import torch_data
torch_data.DataLoader(4)
--- torch_data.py
class DataLoader:
    pass
""",
}
"""None makes a loader."""
