"""FKL401 against real torch: what raises without workers, and fixed scripts run as on a Mac."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from needed import need_torch

FIXTURES = Path(__file__).parent / "fixtures" / "FKL401_workers_on_darwin"

PRETEND = """
import ctypes.util, json, os, platform, runpy, sys, sysconfig, traceback  # ctypes looks at the platform
import torch
from torch.utils.data import dataloader


class Started(Exception):
    pass


def refuse(loader):
    raise Started


dataloader._MultiProcessingDataLoaderIter = refuse
torch.backends.mps.is_available = lambda: True
sysconfig.get_config_vars()  # names its file after the platform
platform.system = lambda: "Darwin"
sys.platform = "darwin"
outcomes = {}
scripts, sys.argv[1:] = sys.argv[1:], []
for script in scripts:
    try:
        runpy.run_path(script, run_name="__main__")
        outcomes[os.path.basename(script)] = "loaded in the main process"
    except Started:
        outcomes[os.path.basename(script)] = "started workers"
    except Exception:
        outcomes[os.path.basename(script)] = traceback.format_exc()
print(json.dumps(outcomes))
"""
SCRIPTS = (
    "bad_conditional_expression.py",
    "bad_short_name.py",
    "bad_early_exit.py",
    "bad_options_elsewhere.py",
    "bad_match_platform.py",
    "bad_platform_system.py",
    "bad_startswith_darwin.py",
    "bad_sys_platform.py",
)


def run_as_on_a_mac(folder: Path) -> dict[str, str]:
    """Run scripts where every question about the machine is answered as on a Mac; no worker may start."""
    need_torch()
    scripts = [str(path) for path in sorted(folder.glob("*.py"))]
    command = [sys.executable, "-c", PRETEND, *scripts]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.soak
def test_fixed_scripts_run_without_workers_on_a_mac(forklint, tmp_path: Path) -> None:
    (tmp_path / "forklint.toml").touch()
    for name in SCRIPTS:
        shutil.copy(FIXTURES / name, tmp_path)
    assert run_as_on_a_mac(tmp_path) == dict.fromkeys(SCRIPTS, "started workers")
    fixed = forklint(".", "--fix", "--unsafe-fixes", "--select", "FKL401", cwd=tmp_path)
    assert fixed.returncode == 0, fixed.stdout + fixed.stderr
    assert run_as_on_a_mac(tmp_path) == dict.fromkeys(SCRIPTS, "loaded in the main process")


@pytest.mark.soak
def test_setting_the_count_alone_would_break_them(tmp_path: Path) -> None:
    for name in ("bad_startswith_darwin.py", "bad_match_platform.py", "bad_options_elsewhere.py"):
        text = (FIXTURES / name).read_text(encoding="utf-8")
        naive = re.sub(r"(num_workers\s*=\s*)\d+", r"\g<1>0", text, flags=re.IGNORECASE)
        (tmp_path / name).write_text(naive, encoding="utf-8")
    assert all("ValueError" in outcome for outcome in run_as_on_a_mac(tmp_path).values())


RAISES_WHEN_MADE = {"persistent_workers": True, "prefetch_factor": 2, "multiprocessing_context": "spawn"}


@pytest.mark.parametrize("option", [*RAISES_WHEN_MADE, "timeout"])
def test_options_of_the_table_raise_without_workers(option: str) -> None:
    """Setting the count alone to 0 breaks the loader; the neutral value of the table does not."""
    need_torch()
    from torch.utils.data import DataLoader

    from forklint.knowledge import presets

    data: Any = [1, 2, 3]
    if option == "timeout":
        loader: Any = DataLoader(data, num_workers=0, timeout=30)  # forklint: ignore[FKL402]
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
