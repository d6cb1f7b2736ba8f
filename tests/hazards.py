"""Sources with one finding of FKL301 each, in line 7, whose fix is safe."""

HAZARD = """\
import lmdb
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(root, readonly=True)

    def __len__(self):
        return 10

    def __getitem__(self, index):
        with self.env.begin() as txn:
            return txn.get(str(index).encode())
"""
SHORT_HAZARD = """\
import lmdb
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(root, readonly=True)

    def __getitem__(self, index):
        return self.env.stat()
"""
