"""One preset a machine: what differs between a training box and a laptop."""

import sys

PRESETS = {
    "linux": {
        "device": "cuda",
        "batch_size": 64,
        "num_workers": 2,
        "persistent_workers": True,
    },
    "mac": {
        "device": "mps",
        "batch_size": 32,
        "num_workers": 2,
        "persistent_workers": True,
    },
}


def default_preset():
    return "mac" if sys.platform == "darwin" else "linux"
