"""Glyphs of a small alphabet, one record after another in a binary file."""

from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Dataset

FOLDER = Path(__file__).parent / ".data"
SIDE = 20
RECORD_BYTES = SIDE * SIDE
ALPHABET = "0123456789"


def ensure_glyphs(split, count):
    """Return the paths of the split's pixels and labels; draw them if they are not there."""
    pixels, labels = FOLDER / f"{split}.glyphs", FOLDER / f"{split}.labels.npy"
    if not labels.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        draw_glyphs(pixels, labels, count, seed=len(split))
    return pixels, labels


def draw_glyphs(pixels, labels, count, seed):
    """Write `count` glyphs: a fixed stencil for each letter, moved about and soiled."""
    stencils = np.random.default_rng(0).integers(0, 2, (len(ALPHABET), 4, 4), dtype=np.uint8)
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, len(ALPHABET), count)
    with open(pixels, "wb") as file:
        for target in targets:
            page = rng.normal(40, 25, (SIDE, SIDE))
            top, left = rng.integers(0, SIDE - 16 + 1, 2)
            page[top : top + 16, left : left + 16] += 150 * np.kron(
                stencils[target], np.ones((4, 4))
            )
            file.write(page.clip(0, 255).astype(np.uint8).tobytes())
    np.save(labels, targets)


class GlyphDataset(Dataset):
    def __init__(self, split, count):
        pixels, labels = ensure_glyphs(split, count)
        self.labels = np.load(labels)
        self.records = open(pixels, "rb")

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        self.records.seek(index * RECORD_BYTES)
        page = np.frombuffer(self.records.read(RECORD_BYTES), dtype=np.uint8)
        image = torch.from_numpy(page.reshape(1, SIDE, SIDE) / 255.0).float()
        return image, int(self.labels[index])
