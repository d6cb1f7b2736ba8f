"""What FKL603's page says of torch, measured with the torch at hand."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from needed import need_torch

need_torch()

PROGRAM = """
import json, warnings, torch
from torch.utils.data import DataLoader, Dataset

WAYS = {
    "storage": lambda data: torch.ByteTensor(torch.ByteStorage.from_buffer(data)),
    "clone": lambda data: torch.frombuffer(data, dtype=torch.uint8).clone(),
    "bytearray": lambda data: torch.frombuffer(bytearray(data), dtype=torch.uint8),
}

class Samples(Dataset):
    def __init__(self, make):
        self.make = make
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return self.make(bytes([index] * 3))

def raised(ask):
    try:
        ask()
    except Exception as error:
        return type(error).__name__
    return ""

def shown(make):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        tensor = make(bytes(range(8)))
    source = bytearray(8)
    copy = make(source)
    source[0] = 9
    samples = Samples(make)
    return {
        "warned": [str(one.message).partition(".")[0] for one in warned],
        "values": tensor.tolist(),
        "shares": copy[0].item() == 9,
        "part": make(bytes(range(8)))[2:].tolist(),
        "empty": raised(lambda: make(b"")),
        "resize": raised(lambda: make(b"abc").resize_(20)),
        "batches": [batch.tolist() for batch in DataLoader(samples, batch_size=2, num_workers=1)],
        "samples": [sample.tolist() for sample in DataLoader(samples, batch_size=None, num_workers=1)],
    }

print(json.dumps({way: shown(make) for way, make in WAYS.items()}))
"""


@pytest.fixture(scope="module")
def shown() -> dict[str, dict]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.soak
def test_torch_warns_of_the_storage(shown: dict[str, dict]) -> None:
    assert shown["storage"]["warned"] == ["TypedStorage is deprecated"]


@pytest.mark.soak
def test_a_clone_of_bytes_warns_as_well_and_a_bytearray_does_not(shown: dict[str, dict]) -> None:
    assert len(shown["clone"]["warned"]) == 1
    assert shown["clone"]["warned"][0].startswith("The given buffer is not writable")
    assert shown["bytearray"]["warned"] == []


@pytest.mark.soak
@pytest.mark.parametrize("what", ["values", "shares", "part", "batches", "samples"])
def test_the_tensor_is_the_same_in_workers_too(shown: dict[str, dict], what: str) -> None:
    assert shown["storage"][what] == shown["bytearray"][what] == shown["clone"][what]
    assert shown["storage"]["shares"] is False


@pytest.mark.soak
def test_the_two_corners_for_which_the_fix_is_unsafe(shown: dict[str, dict]) -> None:
    assert [shown[way]["empty"] for way in ("storage", "clone", "bytearray")] == ["", "ValueError", "ValueError"]
    assert [shown[way]["resize"] for way in ("storage", "clone", "bytearray")] == ["", "", "RuntimeError"]
