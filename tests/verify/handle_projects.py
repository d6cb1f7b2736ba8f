"""Datasets that keep handles, or seem to, with the data that they read: `write` puts one into a folder."""

from __future__ import annotations

import io
import sqlite3
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

COUNT = 240
HEAD = """
import json, os, random, sqlite3, struct, tarfile, time, zipfile
import torch
from torch.utils.data import Dataset

class Base(Dataset):
    def __len__(self):
        return 240
"""

LMDB = """
import lmdb

class Images(Dataset):
    def __init__(self, path="images.lmdb"):
        self.env = lmdb.open(path, readonly=True{options})
        with self.env.begin() as transaction:
            self.length = int(transaction.get(b"length"))

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        with self.env.begin() as transaction:
            return transaction.get(b"%06d" % index)
"""

KEPT = """
import functools
import lmdb

{keeper}

class Images(Dataset):
    def __init__(self, path="images.lmdb"):
        self.path = path
        with {environment}(path).begin() as transaction:
            self.length = int(transaction.get(b"length"))

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        with {environment}(self.path).begin() as transaction:
            return transaction.get(b"%06d" % index)
"""
IN_DICTIONARY = """
ENVIRONMENTS = {}

def environment(path):
    if path not in ENVIRONMENTS:
        ENVIRONMENTS[path] = lmdb.open(path, readonly=True)
    return ENVIRONMENTS[path]
"""
IN_CACHE = """
@functools.lru_cache(maxsize=2)
def environment(path):
    return lmdb.open(path, readonly=True)
"""
IN_OBJECT = """
class Pool:
    def __init__(self):
        self.opened = {}

    def environment(self, path):
        if path not in self.opened:
            self.opened[path] = lmdb.open(path, readonly=True)
        return self.opened[path]

POOL = Pool()
"""

FILE = """
class Records(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")

    def __getitem__(self, index):
        self.file.seek(index * 400)
        return self.file.read(400)
"""

ZIP = """
class Pages(Base):
    def __init__(self, path="pages.zip"):
        self.archive = zipfile.ZipFile(path)

    def __getitem__(self, index):
        return self.archive.read("%06d" % index)
"""

TAR = """
class Clips(Base):
    def __init__(self, path="clips.tar"):
        self.archive = tarfile.open(path)
        self.members = self.archive.getmembers()

    def __getitem__(self, index):
        return self.archive.extractfile(self.members[index]).read()
"""

HDF5 = """
import h5py

class Volumes(Base):
    def __init__(self, path="volumes.h5"):
        self.file = h5py.File(path, "r")

    def __getitem__(self, index):
        return torch.from_numpy(self.file["volumes"][index])
"""

SQLITE = """
class Clicks(Base):
    def __init__(self, path="clicks.db"):
        self.connection = sqlite3.connect(path)

    def __getitem__(self, index):
        return self.connection.execute("SELECT item FROM clicks WHERE user = ?", (index,)).fetchone()
"""

MEMMAP = """
import numpy as np

class Tokens(Base):
    def __init__(self, path="records.bin"):
        self.tokens = np.memmap(path, dtype=np.uint8, mode="r").reshape(-1, 400)

    def __getitem__(self, index):
        return torch.from_numpy(self.tokens[index].copy())
"""

CLOSED = """
class Header(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")
        self.header = self.file.read(6)
        self.file.close()
        self.file = None

    def __getitem__(self, index):
        return self.header, index
"""

CLOSED_AND_KEPT = """
class Header(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")
        self.header = self.file.read(6)
        self.file.close()

    def __getitem__(self, index):
        return self.header, index
"""

AUGMENTED = """
import numpy as np

class Augmented(Base):
    def __getitem__(self, index):
        noise = torch.randn(4) + random.random() + np.random.rand()
        return (torch.full((4,), float(index)) + noise).float()
"""

GENERATOR = """
import numpy as np

class Generated(Base):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return index + self.rng.normal()
"""

COUNTER = """
class Counted(Base):
    def __init__(self):
        self.count = 0

    def __getitem__(self, index):
        self.count += 1
        return index, self.count
"""

CACHE = """
class Cached(Base):
    def __init__(self):
        self.cache = {}

    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = (index, len(self.cache), os.getpid())
        return self.cache[index]
"""

FILE_AND_FIRST = """
class First(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")
        self.first = None

    def __getitem__(self, index):
        if self.first is None:
            self.first = index
        return os.pread(self.file.fileno(), 400, index * 400), self.first
"""

WORKER_NUMBER = """
class Numbered(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")

    def __getitem__(self, index):
        worker = torch.utils.data.get_worker_info()
        return os.pread(self.file.fileno(), 400, index * 400), worker and worker.id
"""

WORKER_SHARE = """
class Shared(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")

    def __getitem__(self, index):
        worker = torch.utils.data.get_worker_info()
        number = worker.id if worker else 0
        return os.pread(self.file.fileno(), 400, index * 400), number
"""

FILE_AND_GENERATOR = """
import numpy as np

class Noisy(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return os.pread(self.file.fileno(), 400, index * 400), self.rng.normal()
"""

PID_LAZY = """
class Lazy(Base):
    def __init__(self, path="records.bin"):
        self.path = path
        self.handle = self.pid = None
        self.first = self.file.read(4)

    @property
    def file(self):
        if self.pid != os.getpid():
            self.handle, self.pid = open(self.path, "rb"), os.getpid()
        return self.handle

    def __getstate__(self):
        return {**self.__dict__, "handle": None, "pid": None}

    def __getitem__(self, index):
        self.file.seek(index * 400)
        return self.file.read(400)
"""

GLOBAL = """
RECORDS = open("records.bin", "rb")

class Shared(Base):
    def __getitem__(self, index):
        RECORDS.seek(index * 400)
        return RECORDS.read(400)
"""

DYING = """
class Dying(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")

    def __getitem__(self, index):
        if torch.utils.data.get_worker_info() is not None and index == 37:
            {death}
        return os.pread(self.file.fileno(), 400, index * 400)
"""

LOCAL = """
class Records(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")

    def __getitem__(self, index):
        file = self.file
        file.seek(index * 400)
        return file.read(400)
"""

STREAM = """
class Lines(torch.utils.data.IterableDataset):
    def __init__(self, path="lines.txt"):
        self.lines = open(path)

    def __iter__(self):
        self.lines.seek(0)
        for line in self.lines:
            time.sleep(0)
            yield line
"""

LAZY_STREAM = """
class Lines(torch.utils.data.IterableDataset):
    def __init__(self, path="lines.txt"):
        self.path = path
        self.lines = None

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        with open(self.path) as lines:
            for number, line in enumerate(lines):
                if info is None or number % info.num_workers == info.id:
                    yield line
"""

SLOW = """
class Slow(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")

    def __getitem__(self, index):
        time.sleep(0.2)
        self.file.seek(index * 400)
        return self.file.read(400)
"""


def _lmdb(folder: Path) -> None:
    import lmdb

    with lmdb.open(str(folder / "images.lmdb"), map_size=1 << 24) as env, env.begin(write=True) as transaction:
        transaction.put(b"length", b"%d" % COUNT)
        for index in range(COUNT):
            transaction.put(b"%06d" % index, b"%06d" % index * 20)


def _records(folder: Path) -> None:
    data = b"".join(struct.pack("<I", index) * 100 for index in range(COUNT))
    (folder / "records.bin").write_bytes(data)


def _zip(folder: Path) -> None:
    with zipfile.ZipFile(folder / "pages.zip", "w") as archive:
        for index in range(COUNT):
            archive.writestr(f"{index:06d}", b"%06d" % index * 50)


def _tar(folder: Path) -> None:
    with tarfile.open(folder / "clips.tar", "w") as archive:
        for index in range(COUNT):
            info = tarfile.TarInfo(f"{index:06d}")
            info.size = 600
            archive.addfile(info, io.BytesIO(b"%06d" % index * 100))


def _hdf5(folder: Path) -> None:
    import h5py
    import numpy as np

    with h5py.File(folder / "volumes.h5", "w") as file:
        file["volumes"] = np.arange(COUNT * 64, dtype="float32").reshape(COUNT, 64)


def _sqlite(folder: Path) -> None:
    connection = sqlite3.connect(folder / "clicks.db")
    connection.execute("CREATE TABLE clicks (user INTEGER, item INTEGER)")
    connection.executemany("INSERT INTO clicks VALUES (?, ?)", ((index, index * 7) for index in range(COUNT)))
    connection.commit()
    connection.close()


def _lines(folder: Path) -> None:
    (folder / "lines.txt").write_text("".join(f"line {index:05d} {'x' * 200}\n" for index in range(1200)))


def _nothing(folder: Path) -> None:
    """Datasets that make their samples need no file."""


Project = tuple[str, str, str, Callable[[Path], Any]]
PROJECTS: dict[str, Project] = {
    "lmdb": (LMDB.format(options=""), "Images", "env", _lmdb),
    "lmdb-unlocked": (LMDB.format(options=", lock=False"), "Images", "env", _lmdb),
    "kept-in-dictionary": (KEPT.format(keeper=IN_DICTIONARY, environment="environment"), "Images", "", _lmdb),
    "kept-in-cache": (KEPT.format(keeper=IN_CACHE, environment="environment"), "Images", "", _lmdb),
    "kept-in-object": (KEPT.format(keeper=IN_OBJECT, environment="POOL.environment"), "Images", "", _lmdb),
    "file": (FILE, "Records", "file", _records),
    "local": (LOCAL, "Records", "file", _records),
    "zip": (ZIP, "Pages", "archive", _zip),
    "tar": (TAR, "Clips", "archive", _tar),
    "hdf5": (HDF5, "Volumes", "file", _hdf5),
    "sqlite": (SQLITE, "Clicks", "connection", _sqlite),
    "memmap": (MEMMAP, "Tokens", "tokens", _records),
    "closed": (CLOSED, "Header", "file", _records),
    "closed-and-kept": (CLOSED_AND_KEPT, "Header", "file", _records),
    "file-and-first": (FILE_AND_FIRST, "First", "file", _records),
    "worker-number": (WORKER_NUMBER, "Numbered", "file", _records),
    "worker-share": (WORKER_SHARE, "Shared", "file", _records),
    "augmented": (AUGMENTED, "Augmented", "file", _nothing),
    "generator": (GENERATOR, "Generated", "rng", _nothing),
    "counter": (COUNTER, "Counted", "count", _nothing),
    "cache": (CACHE, "Cached", "cache", _nothing),
    "file-and-generator": (FILE_AND_GENERATOR, "Noisy", "file", _records),
    "lazy": (PID_LAZY, "Lazy", "file", _records),
    "global": (GLOBAL, "Shared", "RECORDS", _records),
    "stream-lazy": (LAZY_STREAM, "Lines", "lines", _lines),
    "slow": (SLOW, "Slow", "file", _records),
    "stream": (STREAM, "Lines", "lines", _lines),
}


def write(name: str, folder: Path) -> tuple[str, str]:
    """Write `data.py` and its data; the class and the attribute that is in question."""
    text, qualname, attribute, make = PROJECTS[name]
    (folder / "data.py").write_text(HEAD + text)
    make(folder)
    return qualname, attribute


def write_dying(death: str, folder: Path) -> tuple[str, str]:
    """Write a dataset whose worker dies at sample 37."""
    (folder / "data.py").write_text("import signal\n" + HEAD + DYING.format(death=death))
    _records(folder)
    return "Dying", "file"
