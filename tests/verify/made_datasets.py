"""Datasets of every kind of store, for which there is no data."""

SOURCE = r'''
import csv, dbm, glob, gzip, io, json, mmap, os, pickle, shelve, sqlite3, struct, tarfile, wave, zipfile
from pathlib import Path
from torch.utils.data import Dataset, IterableDataset

class Lines(Dataset):
    def __init__(self, corpus_path, vocab, encoding="utf-8"):
        with open(corpus_path, encoding=encoding) as file:
            self.count = sum(1 for _ in file)
        self.file = open(corpus_path)
        self.vocab = vocab
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        first, second = next(self.file)[:-1].split("\t")
        return [self.vocab.stoi.get(one, self.vocab.unknown) for one in first.split()], second

class Records(Dataset):
    SIZE = 128
    def __init__(self, path):
        self.file = open(path, "rb")
        self.count = os.path.getsize(path) // self.SIZE
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        self.file.seek(index * self.SIZE)
        return self.file.read(self.SIZE)

class Indexed(Dataset):
    def __init__(self, data_file, index_file):
        self.places = [tuple(map(int, line.strip().split(","))) for line in open(index_file)]
        self.file = open(data_file, "rb")
    def __len__(self):
        return len(self.places)
    def __getitem__(self, index):
        offset, size = self.places[index]
        self.file.seek(offset)
        return self.file.read(size)

class Mapped(Dataset):
    def __init__(self, bin_path):
        self.file = open(bin_path, "rb")
        self.map = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)
    def __len__(self):
        return 40
    def __getitem__(self, index):
        return struct.unpack("<4I", self.map[index * 16 : index * 16 + 16])

class Zipped(Dataset):
    def __init__(self, root):
        self.archive = zipfile.ZipFile(os.path.join(root, "pages.zip"))
        self.names = [name for name in self.archive.namelist() if name.endswith(".txt")]
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        return int(self.archive.read(self.names[index]))

class Tarred(Dataset):
    def __init__(self, archive):
        self.archive = tarfile.open(archive)
        self.members = [one for one in self.archive.getmembers() if one.isfile()]
    def __len__(self):
        return len(self.members)
    def __getitem__(self, index):
        return json.loads(self.archive.extractfile(self.members[index]).read().decode())["caption"]

class Rows(Dataset):
    def __init__(self, db_path):
        self.database = sqlite3.connect(db_path)
        self.count = self.database.execute("select count(*) from samples").fetchone()[0]
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        found = self.database.execute("select payload, label from samples where id = ?", (index,)).fetchone()
        return pickle.loads(found[0])["size"], found[1]

class Table(Dataset):
    def __init__(self, csv_file):
        self.file = open(csv_file)
        self.rows = [(row["image"], int(row["label"])) for row in csv.DictReader(self.file)]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]

class Shelf(Dataset):
    def __init__(self, shelf_path):
        self.shelf = shelve.open(shelf_path, "r")
        self.names = list(self.shelf.keys())
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        return int(self.shelf[self.names[index]]["width"])

class Keys(Dataset):
    def __init__(self, cache_path):
        self.file = dbm.open(cache_path)
    def __len__(self):
        return 16
    def __getitem__(self, index):
        return self.file["sample-%d" % index].decode()

class Packed(Dataset):
    def __init__(self, file):
        self.file = gzip.open(file)
        self.all = self.file.read()
    def __len__(self):
        return 10
    def __getitem__(self, index):
        return self.all[index]

class Sound(Dataset):
    def __init__(self, wav_file):
        self.sound = wave.open(wav_file)
    def __len__(self):
        return 8
    def __getitem__(self, index):
        self.sound.setpos(index * 100)
        return self.sound.readframes(100)

class Listed(Dataset):
    def __init__(self, root, split):
        assert split in ("validate", "training")
        self.paths = sorted(glob.glob(os.path.join(root, split, "*.bin")))
        assert len(self.paths) > 0
        self.files = [open(path, "rb") for path in self.paths]
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        self.files[index].seek(8)
        return self.files[index].read(8)

class Configured(Dataset):
    def __init__(self, config):
        meta = json.load(open(config["meta"]))
        self.names = [one["name"] for one in meta["items"]]
        if not Path(config["store"]).exists():
            raise FileNotFoundError(config["store"])
        self.file = open(config["store"], "rb")
        self.size = config.get("size", 16)
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        self.file.seek(index * self.size)
        return self.names[index], self.file.read(self.size)

class Lengths(Dataset):
    """Its names are the keys of a dict, whose values it keeps and compares."""
    def __init__(self, folder, longest=60):
        lengths = json.load(open(folder + "/lengths.json"))
        self.names = [name for name, length in lengths.items() if length <= longest]
        self.file = open(folder + "/all.bin", "rb")
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        self.file.seek(8 * index)
        return self.names[index], self.file.read(8)

class Wrong(Dataset):
    """Its data has a check that nobody could guess."""
    def __init__(self, path):
        self.file = open(path, "rb")
        if self.file.read(8) != b"\x89MAGIC\r\n":
            raise ValueError("not one of our files")
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return index
'''

LMDB = r"""
import lmdb
from PIL import Image

class Images(Dataset):
    def __init__(self, root, transform=None):
        self.env = lmdb.open(root, readonly=True, lock=False)
        with self.env.begin() as transaction:
            self.length = int(transaction.get("num-samples".encode()))
        self.transform = transform
    def __len__(self):
        return self.length
    def __getitem__(self, index):
        with self.env.begin(write=False) as transaction:
            data = transaction.get("image-{:09d}".format(index + 1).encode())
            word = transaction.get(b"label-%09d" % (index + 1)).decode("utf-8").lower()
        return Image.open(io.BytesIO(data)).convert("RGB").size, word

class Pickled(Dataset):
    def __init__(self, config):
        self.env = lmdb.open(config["src"], subdir=False, readonly=True)
        self.keys = [str(number).encode() for number in range(self.env.stat()["entries"])]
    def __len__(self):
        return len(self.keys)
    def __getitem__(self, index):
        return int(pickle.loads(self.env.begin().get(self.keys[index]))["height"])

class Captioned(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(f"{root}/captions.db", readonly=True, create=False)
        with open(f"{root}/captions.db/lengths.json") as file:
            self.names = list(json.load(file))
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        return self.env.begin().get(self.names[index].encode())
"""

HDF5 = r"""
import h5py
import numpy as np
import torch

class Volumes(Dataset):
    def __init__(self, data_folder, split):
        assert split in {"TRAIN", "VAL"}
        self.file = h5py.File(os.path.join(data_folder, split + "_volumes.hdf5"), "r")
        self.volumes = self.file["raw"]
        assert self.volumes.ndim in (3, 4)
        self.per_volume = self.file.attrs["slices_per_volume"]
    def __len__(self):
        return len(self.volumes)
    def __getitem__(self, index):
        return torch.from_numpy(self.volumes[index].astype(np.float32)), int(self.per_volume)

class Groups(Dataset):
    def __init__(self, h5_path):
        self.file = h5py.File(h5_path, "r")
        self.names = list(self.file["episodes"].keys())
    def __len__(self):
        return len(self.names)
    def __getitem__(self, index):
        episode = self.file["episodes/" + self.names[index]]
        return episode["actions"][:2].sum(), episode["labels"][0]
"""

NUMPY = r"""
import numpy as np

class Arrays(Dataset):
    def __init__(self, npz_file):
        self.data = np.load(npz_file)
    def __len__(self):
        return len(self.data["labels"])
    def __getitem__(self, index):
        return self.data["images"][index].mean(), self.data["labels"][index]

class Tokens(Dataset):
    def __init__(self, data_path, meta):
        count = json.load(open(meta))["n_tokens"]
        self.tokens = np.memmap(data_path, dtype=np.uint16, mode="r", shape=(count, 8))
    def __len__(self):
        return len(self.tokens)
    def __getitem__(self, index):
        return self.tokens[index].astype(np.int64)

class Vectors(Dataset):
    def __init__(self, db_path):
        self.database = sqlite3.connect(db_path)
    def __len__(self):
        return 20
    def __getitem__(self, index):
        found = self.database.execute("select vector from samples where id = ?", (index,)).fetchone()
        return np.frombuffer(found[0], dtype=np.float32).reshape(16, 16)
"""
