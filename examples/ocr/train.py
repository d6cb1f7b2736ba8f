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


def main():
    arguments = parse_arguments()
    preset = PRESETS[arguments.preset]
    train = DataLoader(
        GlyphDataset("train", 8000),
        batch_size=preset["batch_size"],
        shuffle=True,
        num_workers=preset["num_workers"],
        persistent_workers=preset["persistent_workers"],
        multiprocessing_context=arguments.start_method if preset["num_workers"] else None,
    )
    test = DataLoader(GlyphDataset("test", 1000), batch_size=preset["batch_size"], num_workers=2)

    torch.manual_seed(0)
    trainer = Trainer(GlyphReader(len(ALPHABET)), available(preset["device"]))
    for epoch in range(1, arguments.epochs + 1):
        loss = trainer.train_epoch(train)
        accuracy = trainer.evaluate(test)
        print(f"epoch {epoch}: loss {loss:.3f}, {accuracy:.1%} of glyphs read rightly")
    trainer.save_check_point(FOLDER / "reader.pt")


main()
