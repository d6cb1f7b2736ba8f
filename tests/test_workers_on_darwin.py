"""FKL401 against real torch: what raises without workers, and fixed scripts run as on a Mac."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parent / "fixtures" / "FKL401_workers_on_darwin"

PRETEND = """
import os, platform, runpy, sys
import torch
from torch.utils.data import dataloader


class Started(Exception):
    pass


def refuse(loader):
    raise Started(f"{loader.num_workers} workers")


dataloader._MultiProcessingDataLoaderIter = refuse
torch.backends.mps.is_available = lambda: True
platform.system = lambda: "Darwin"
sys.platform = "darwin"
os.cpu_count = lambda: 8
script = sys.argv.pop(1)
try:
    runpy.run_path(script, run_name="__main__")
except Started as started:
    sys.exit(f"started {started}")
"""


def run_as_on_a_mac(script: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in which every question about the machine is answered as on a Mac, and no worker may start."""
    return subprocess.run(
        [sys.executable, "-c", PRETEND, str(script)], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    "name",
    [
        "bad_conditional_expression",
        "bad_early_exit",
        "bad_match_platform",
        "bad_options_elsewhere",
        "bad_platform_system",
        "bad_startswith_darwin",
        "bad_sys_platform",
    ],
)
def test_fixed_script_runs_without_workers_on_a_mac(name: str, tmp_path: Path) -> None:
    script = tmp_path / f"{name}.py"
    shutil.copy(FIXTURES / script.name, script)
    (tmp_path / "forklint.toml").touch()
    before = run_as_on_a_mac(script)
    assert "started" in before.stderr or name == "bad_options_elsewhere", before.stderr
    command = [sys.executable, "-m", "forklint", str(script), "--fix", "--unsafe-fixes", "--select", "FKL401"]
    fixed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert fixed.returncode == 0, fixed.stdout + fixed.stderr
    after = run_as_on_a_mac(script)
    assert after.returncode == 0, after.stderr


RAISES_WHEN_MADE = {"persistent_workers": True, "prefetch_factor": 2, "multiprocessing_context": "spawn"}


@pytest.mark.parametrize("option", [*RAISES_WHEN_MADE, "timeout"])
def test_options_of_the_table_raise_without_workers(option: str) -> None:
    """Setting the count alone to 0 breaks the loader; the neutral value of the table does not."""
    from torch.utils.data import DataLoader

    from forklint.knowledge import presets

    data: Any = [1, 2, 3]
    if option == "timeout":
        loader: Any = DataLoader(data, num_workers=0, timeout=30)
        with pytest.raises(AssertionError):
            list(loader)
    else:
        with pytest.raises(ValueError, match=option):
            DataLoader(data, num_workers=0, **{option: RAISES_WHEN_MADE[option]})
    neutral = {"False": False, "None": None, "0": 0}[presets.options()[option]]
    assert len(list(DataLoader(data, num_workers=0, **{option: neutral}))) == 3


def test_the_table_names_all_options_that_raise() -> None:
    from forklint.knowledge import presets

    assert set(presets.options()) == {*RAISES_WHEN_MADE, "timeout"}
