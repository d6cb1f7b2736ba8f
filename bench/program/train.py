"""Train on records of a file, whose handle every worker inherits: python train.py [--workers N]."""

import argparse
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset

RECORDS = Path(__file__).with_name("records.bin")
SIZE = 64


class Records(Dataset):
    """Records of fixed size."""

    def __init__(self, path, length):
        self.file = open(path, "rb")
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        self.file.seek(index * SIZE)
        record = self.file.read(SIZE).ljust(SIZE, b"\0")
        return torch.frombuffer(bytearray(record), dtype=torch.uint8)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    workers = parser.parse_args().workers
    loader = DataLoader(Records(RECORDS, 2048), batch_size=32, num_workers=workers)
    total = 0
    for batch in loader:
        total += int(batch.sum())
    print(total)


if __name__ == "__main__":
    main()
