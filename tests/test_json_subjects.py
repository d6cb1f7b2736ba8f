"""Every finding says in JSON what it is about, whatever the words of its message."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from fixture_cases import FIXTURES

SUBJECTS = {
    "FKL101": ("bad_alloc_backend.py", {"PYTORCH_CUDA_ALLOC_CONF"}),
    "FKL102": ("bad_after_jit_fork.py", {"torch.set_num_interop_threads"}),
    "FKL201": ("bad_async_environments.py", {"gym.vector.AsyncVectorEnv"}),
    "FKL202": ("bad_asked_before_setting.py", {"set_start_method"}),
    "FKL204": ("bad_bound_to_trainer.py", {"writer"}),
    "FKL205": ("bad_collate.py", {"TOKENIZERS_PARALLELISM"}),
    "FKL301": ("bad_also_written.py", {"file", "log"}),
    "FKL302": ("bad_assignments.py", {"generator", "mask_rng", "rng"}),
    "FKL303": ("bad_base_class.py", {"Cached", "Labelled"}),
    "FKL304": ("bad_callable_collate.py", {"CUDA"}),
    "FKL305": ("bad_builder_method.py", {"features"}),
    "FKL306": ("bad_augmentation_off.py", {"mosaic", "strength", "scores"}),
    "FKL401": ("bad_asked_by_key.py", {"num_workers"}),
    "FKL402": ("bad_base_called.py", {"shuffle", "persistent_workers"}),
    "FKL502": ("bad_dataset.py", {"__getitem", "__get_item__", "__len", "__length__"}),
    "FKL601": ("bad_alibi_beside_bool.py", {"attn_mask, key_padding_mask"}),
    "FKL602": ("bad_base_loads.py", {"Classify", "Confidence"}),
}
"""By rule: a fixture, and what its findings are about."""


@pytest.mark.parametrize("code", SUBJECTS)
def test_json_says_what_a_finding_is_about(forklint, tmp_path: Path, code: str) -> None:
    name, wanted = SUBJECTS[code]
    (folder,) = FIXTURES.glob(f"{code}_*")
    shutil.copy(folder / name, tmp_path)
    (tmp_path / "forklint.toml").touch()
    line = ("--preview", "--select", code, "--output-format", "json", name)
    first, again = (json.loads(forklint(*line, cwd=tmp_path).stdout) for _ in range(2))
    assert {one["subject"] for one in first} == wanted
    assert again == first, "what is kept of a report gives other findings"
