"""What the project of these tests holds."""

from __future__ import annotations

DATA = """\
import lmdb
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __getitem__(self, index):
        return self.env.stat()
"""
