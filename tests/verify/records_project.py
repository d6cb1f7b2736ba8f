"""The project of docs/verify.md: a file that all workers share, with its data and a factory for its loader."""

from __future__ import annotations

from pathlib import Path

RECORDS = '''"""Records of 64 bytes each."""

from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self, path):
        # kept open: one file for all workers
        self.file = open(path, "rb")

    def __len__(self):
        return 400

    def __getitem__(self, index):
        self.file.seek(index * 64)
        return self.file.read(64)


def make_loader(path="records.bin"):
    return DataLoader(Records(path), batch_size=4, num_workers=2, collate_fn=list)
'''
ROW = 9
"""Where the file is opened."""
MARK = """

import pathlib

(pathlib.Path(__file__).parents[1] / "ran").touch()
"""
"""Tells beside the project that the module was run: what is written within it is thrown away."""


def write(folder: Path, *, marked: bool = True) -> None:
    """Write the module, its data and the settings that name its factory."""
    (folder / "forklint.toml").write_text('[verify]\nloaders = ["records:make_loader"]\n')
    (folder / "records.bin").write_bytes(b"".join(index.to_bytes(64, "big") for index in range(400)))
    (folder / "records.py").write_text(RECORDS + MARK * marked)
