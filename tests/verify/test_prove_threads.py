"""FKL101 proved: by the pools themselves, with a value that none of them would choose by itself."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from needed import need_torch

need_torch()

TAIL = """

import torch

print(torch.get_num_threads())
"""


@pytest.fixture
def verdict(command, tmp_path: Path):
    def run(text: str, *arguments: str, **environment: str) -> dict:
        (tmp_path / "forklint.toml").write_text('[verify]\nenv = { DATA = "here" }\n')
        (tmp_path / "train.py").write_text(text)
        options = {"cwd": tmp_path, "env": environment}
        done = command("verify", "train.py", "--select", "FKL101", "--output-format", "json", *arguments, **options)
        (found,) = json.loads(done.stdout)["experiments"]
        return found

    return run


def test_after_torch_it_is_confirmed(verdict) -> None:
    found = verdict('import os\nimport torch\n\nos.environ["OMP_NUM_THREADS"] = "1"\n')
    assert found["verdict"] == "confirmed"
    assert found["details"]["pools"]["OpenMP"]["verdict"] == "confirmed"


@pytest.mark.soak
def test_a_default_is_looked_at_in_the_control_too_and_the_settings_variables_are_there(verdict) -> None:
    text = 'import os\nimport torch\n\nos.environ["DATA"]\nos.environ.setdefault("OMP_NUM_THREADS", "1")\n'
    assert verdict(text)["verdict"] == "confirmed"


@pytest.mark.soak
def test_a_value_that_is_the_default_does_not_matter(verdict) -> None:
    cores = len(os.sched_getaffinity(0))
    found = verdict(f'import os\nimport torch\n\nos.environ["OMP_NUM_THREADS"] = "{cores}"\n')
    assert found["verdict"] == "confirmed"


@pytest.mark.soak
def test_between_numpy_and_torch_one_pool_has_read_it_and_one_has_not(verdict) -> None:
    found = verdict('import os\nimport numpy\n\nos.environ["OMP_NUM_THREADS"] = "1"' + TAIL)
    assert {name: row["verdict"] for name, row in found["details"]["pools"].items()} == {
        "OpenBLAS": "confirmed",
        "OpenMP": "refuted",
    }
    assert found["verdict"] == "confirmed"


@pytest.mark.soak
def test_a_variable_of_the_users_own_shell_does_not_decide(verdict) -> None:
    found = verdict('import os\nimport torch\n\nos.environ["OMP_NUM_THREADS"] = "1"\n', OMP_NUM_THREADS="1")
    assert found["verdict"] == "confirmed"


@pytest.mark.soak
def test_a_line_that_is_never_reached_decides_nothing_and_nothing_is_trained(verdict, tmp_path: Path) -> None:
    text = 'import os\nimport sys\nimport torch\n\nif len(sys.argv) > 5:\n    os.environ["OMP_NUM_THREADS"] = "1"\n'
    text += 'print("begins")\nfor batch in torch.utils.data.DataLoader([1, 2]):\n    open("trained", "w").close()\n'
    found = verdict(text)
    assert found["verdict"] == "inconclusive"
    assert found["evidence"].startswith("line 6 was never reached before a loader was; in a tolerant run, ")
    assert not (tmp_path / "trained").exists()


@pytest.mark.soak
def test_a_variable_that_no_pool_reads_is_seen_in_another_way(verdict) -> None:
    found = verdict('import os\nimport torch\n\nos.environ["TORCH_LOGS"] = "dynamo"\n')
    assert found["verdict"] == "confirmed"
    assert "pools" not in found["details"]
