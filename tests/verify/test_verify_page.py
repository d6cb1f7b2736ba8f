"""The page on proving shows what happens."""

from __future__ import annotations

import re
from pathlib import Path

from doc_snippets import snippet

RECORDS = '''"""Records of 64 bytes each."""

from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self, path):
        # kept open: one file for all workers
        self.file = open(path, "rb")

    def __len__(self):
        return 400

    def __getitem__(self, index):
        self.file.seek(index * 64)
        return self.file.read(64)


def make_loader(path="records.bin"):
    return DataLoader(Records(path), batch_size=4, num_workers=2, collate_fn=list)
'''


def test_the_plan_is_as_shown(forklint, tmp_path: Path) -> None:
    (tmp_path / "records.py").write_text(RECORDS)
    (tmp_path / "pyproject.toml").write_text('[tool.forklint.verify]\nloaders = ["records:make_loader"]\n')
    done = forklint("verify", "records.py", "--plan", cwd=tmp_path)
    prompt, *shown = snippet("verify.md", "plan").splitlines()
    assert prompt == "$ forklint verify records.py --plan"
    wanted = re.sub(r"\s+", " ", " ".join(shown)).strip()
    plan = re.sub(r"\s+", " ", re.sub(r"fkl301-\w{6}-", "fkl301-...-", done.stdout))
    assert plan.startswith(wanted)


def test_the_settings_are_read(forklint, tmp_path: Path) -> None:
    (tmp_path / "records.py").write_text(RECORDS)
    (tmp_path / "pyproject.toml").write_text(snippet("verify.md", "settings"))
    done = forklint("--show-settings", cwd=tmp_path)
    assert done.returncode == 0
    assert 'verify = { "loaders" = [ "records:make_loader" ]' in done.stdout.replace('["', '[ "').replace('"]', '" ]')
