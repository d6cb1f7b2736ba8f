"""Train a small reader of glyphs: python train.py [--epochs N] [--start-method spawn]."""

import argparse
import os

import torch
from torch.utils.data import DataLoader

from data import ALPHABET, FOLDER, GlyphDataset
from settings import PRESETS, default_preset
from trainer import GlyphReader, Trainer, available

os.environ["OMP_NUM_THREADS"] = "1"  # the workers need the cores


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", choices=PRESETS, default=default_preset())
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--start-method", choices=["fork", "spawn", "forkserver"])
    return parser.parse_args()


def make_loader(dataset, preset, start_method, shuffle=False):
    workers = preset["num_workers"]
    return DataLoader(
        dataset,
        batch_size=preset["batch_size"],
        shuffle=shuffle,
        num_workers=workers,
        persistent_workers=preset.get("persistent_workers", False),
        multiprocessing_context=start_method if workers else None,
    )


def main():
    arguments = parse_arguments()
    preset = PRESETS[arguments.preset]

    torch.manual_seed(0)
    trainer = Trainer(GlyphReader(len(ALPHABET)), available(preset["device"]))
    train = make_loader(GlyphDataset("train", 8000), preset, arguments.start_method, shuffle=True)
    test = make_loader(GlyphDataset("test", 1000), preset, arguments.start_method)
    for epoch in range(1, arguments.epochs + 1):
        loss = trainer.train_epoch(train)
        accuracy = trainer.evaluate(test)
        print(f"epoch {epoch}: loss {loss:.3f}, {accuracy:.1%} of glyphs read rightly")
    trainer.save_check_point(FOLDER / "reader.pt")


main()
