"""What FKL306 rests on, measured: which workers see that a dataset was changed, and when."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from needed import need_torch

SCRIPT = """
import json, sys
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __init__(self):
        self.scale, self.more = 1, [1]
    def __len__(self):
        return 6
    def __getitem__(self, index):
        return self.scale, len(self.more)

def epochs(method, persistent, inside):
    numbers, seen = Numbers(), []
    loader = DataLoader(numbers, batch_size=None, num_workers=1, multiprocessing_context=method,
                        persistent_workers=persistent)
    for epoch in (1, 2):
        if not inside:
            numbers.scale, numbers.more = epoch, [0] * epoch
        for number, sample in enumerate(loader):
            if inside and number == 0:
                numbers.scale = 10 * epoch
        seen.append(sample)
    return seen

if __name__ == "__main__":
    cells = [(persistent, inside) for persistent in (False, True) for inside in (False, True)]
    print(json.dumps([epochs(sys.argv[1], *cell) for cell in cells]))
"""


@pytest.mark.soak
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_persistent_workers_never_see_it_and_others_in_the_next_epoch(method: str, tmp_path: Path) -> None:
    need_torch()
    if sys.platform != "linux" and method == "fork":
        pytest.skip("workers are forked on Linux")
    script = tmp_path / "epochs.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script, method], capture_output=True, text=True, timeout=280, check=False)
    anew, anew_inside, lasting, lasting_inside = json.loads(done.stdout)
    assert anew == [[1, 1], [2, 2]]
    assert anew_inside == [[1, 1], [10, 1]]
    assert lasting == [[1, 1], [1, 1]]
    assert lasting_inside == [[1, 1], [1, 1]]
