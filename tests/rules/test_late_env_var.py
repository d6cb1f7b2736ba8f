"""FKL101 where the fixtures do not reach: odd layouts of its fix, settings, and the effect of a fixed script."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fixture_cases import fixed_text, lint, linters
from needed import need_torch

from forklint.environment import loaded
from forklint.model import Applicability
from forklint.runs.walk import Walk


def findings(folder: Path, text: str, name: str = "train.py", newline: str | None = None):
    """The findings of a text as a file of its own."""
    (folder / "forklint.toml").touch()
    file = folder / name
    with file.open("w", encoding="utf-8", newline=newline) as stream:
        stream.write(text)
    return linters(preview=False).of(file).lint(file).findings


def fixed(folder: Path, text: str) -> str:
    """A text after its fixes."""
    findings(folder, text, newline="")
    return fixed_text(folder / "train.py")


FIXES = {
    "one import of both is parted": (
        "import os, torch\nos.environ['OMP_NUM_THREADS'] = '1'\nprint(torch)\n",
        "import os\n\nos.environ['OMP_NUM_THREADS'] = '1'\n\nimport torch\nprint(torch)\n",
    ),
    "a form feed and tabs are kept": (
        "import os\n\x0c\nimport torch\nif True:\n\tos.environ['OMP_NUM_THREADS'] = '1'\n",
        "import os\n\nif True:\n\tos.environ['OMP_NUM_THREADS'] = '1'\n\x0c\nimport torch\n",
    ),
    "the header of the file stays on top": (
        (
            "#!/usr/bin/env python\n"
            "# Licence: MIT\n"
            "\n"
            "import torch\n"
            "import os\n"
            "os.environ['OMP_NUM_THREADS'] = '1'\n"
            "print(torch)\n"
        ),
        (
            "#!/usr/bin/env python\n"
            "# Licence: MIT\n"
            "\n"
            "import os\n"
            "\n"
            "os.environ['OMP_NUM_THREADS'] = '1'\n"
            "\n"
            "import torch\n"
            "print(torch)\n"
        ),
    ),
    "one name leaves an import of several": (
        "import torch\nimport os, sys\nos.environ['OMP_NUM_THREADS'] = '1'\nprint(sys.argv)\n",
        "import os\n\nos.environ['OMP_NUM_THREADS'] = '1'\n\nimport torch\nimport sys\nprint(sys.argv)\n",
    ),
    "one name leaves a from-import": (
        (
            "import torch\n"
            "from os import (\n"
            "    environ,\n"
            "    path,\n"
            ")\n"
            "environ['OMP_NUM_THREADS'] = '1'\n"
            "print(path.sep)\n"
        ),
        (
            "from os import environ\n"
            "\n"
            "environ['OMP_NUM_THREADS'] = '1'\n"
            "\n"
            "import torch\n"
            "from os import (\n"
            "    path,\n"
            ")\n"
            "print(path.sep)\n"
        ),
    ),
    "its comments travel, others stay": (
        (
            '"""Doc."""\n'
            "import os\n"
            "\n"
            "import torch\n"
            "\n"
            "# section\n"
            "\n"
            "# one thread\n"
            'os.environ["OMP_NUM_THREADS"] = "1"  # really\n'
            "\n"
            "\n"
            "def f():\n"
            "    pass\n"
        ),
        (
            '"""Doc."""\n'
            "import os\n"
            "\n"
            "# one thread\n"
            'os.environ["OMP_NUM_THREADS"] = "1"  # really\n'
            "\n"
            "import torch\n"
            "\n"
            "# section\n"
            "\n"
            "\n"
            "def f():\n"
            "    pass\n"
        ),
    ),
    "a last line leaves its section's comment nowhere": (
        'import os\nimport torch\n\n# section\n\nos.environ["OMP_NUM_THREADS"] = "1"\n',
        'import os\n\n\n# section\n\nos.environ["OMP_NUM_THREADS"] = "1"\n\nimport torch\n',
    ),
    "a constant goes along": (
        "import os\nimport torch\nTHREADS = 4\nos.environ['OMP_NUM_THREADS'] = str(THREADS)\n",
        "import os\n\nTHREADS = 4\nos.environ['OMP_NUM_THREADS'] = str(THREADS)\n\nimport torch\n",
    ),
    "an emptied guard keeps a body": (
        "import os\nimport torch\n\nif __name__ == '__main__':\n    os.environ['OMP_NUM_THREADS'] = '1'\n",
        "import os\n\nos.environ['OMP_NUM_THREADS'] = '1'\n\nimport torch\n\nif __name__ == '__main__':\n    pass\n",
    ),
    "carriage returns are kept": (
        "import os\r\nimport torch\r\nos.environ['OMP_NUM_THREADS'] = '1'\r\n",
        "import os\r\n\r\nos.environ['OMP_NUM_THREADS'] = '1'\r\n\r\nimport torch\r\n",
    ),
    "an import inside try moves as a whole": (
        (
            "import os\n"
            "try:\n"
            "    import torch\n"
            "except ImportError:\n"
            "    torch = None\n"
            "os.environ['OMP_NUM_THREADS'] = '1'\n"
        ),
        (
            "import os\n"
            "\n"
            "os.environ['OMP_NUM_THREADS'] = '1'\n"
            "\n"
            "try:\n"
            "    import torch\n"
            "except ImportError:\n"
            "    torch = None\n"
        ),
    ),
}


@pytest.mark.parametrize("name", FIXES)
def test_fix_in_odd_layouts(name: str, tmp_path: Path) -> None:
    before, after = FIXES[name]
    assert fixed(tmp_path, before) == after
    assert fixed(tmp_path, after) == after, "a second pass changes something"


SAFETY = {
    "import os\nimport torch\nos.environ['OMP_NUM_THREADS'] = '1'\n": Applicability.SAFE,
    "import os\nimport torch\nos.environ.setdefault('OMP_NUM_THREADS', str(os.cpu_count()))\n": Applicability.SAFE,
    "import os\nimport torch\nos.environ['OMP_NUM_THREADS'] = input()\n": Applicability.UNSAFE,
    "import os\nimport transformers\nos.environ['HF_HUB_OFFLINE'] = '1'\n": Applicability.UNSAFE,
    "import os\nimport torch\nif os.sep:\n    os.environ['OMP_NUM_THREADS'] = '1'\n": Applicability.UNSAFE,
    (
        "import os\nimport torch\nprint(os.environ['OMP_NUM_THREADS'])\nos.environ['OMP_NUM_THREADS'] = '1'\n"
    ): Applicability.UNSAFE,
    "import os\nimport torch\nfrom mine import N\nos.environ['OMP_NUM_THREADS'] = str(N)\n": Applicability.DISPLAY,
    "import os\nimport torch\n\ndef f(n):\n    os.environ['OMP_NUM_THREADS'] = n\n": Applicability.DISPLAY,
    "import os, torch; os.environ['OMP_NUM_THREADS'] = '1'\n": Applicability.DISPLAY,
}


@pytest.mark.parametrize("text", SAFETY)
def test_how_safe_the_fix_is(text: str, tmp_path: Path) -> None:
    (found,) = findings(tmp_path, text)
    assert found.fixes[0].applicability is SAFETY[text]


@pytest.mark.parametrize(
    "text",
    [
        "import os\nfrom torch import cuda\ncuda.is_available()\nos.environ.update(CUDA_VISIBLE_DEVICES='0')\n",
        "import os\nimport torch\nx = torch.zeros(2, device='cuda:1')\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
        "import os\nimport torch\nif torch.cuda.is_available():\n    os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
        (
            "import os\n"
            "import torch\n"
            "\n"
            "def up():\n"
            "    torch.cuda.init()\n"
            "\n"
            "up()\n"
            "os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n"
        ),
        "import os\nimport importlib\nimportlib.import_module('torch')\nos.environ['OMP_NUM_THREADS'] = '0'\n",
        "import os\nwith open('x') as f:\n    import torch\nos.environ['OMP_NUM_THREADS'] = '0'\n",
        "import os\n\nclass A:\n    import torch\nos.environ['OMP_NUM_THREADS'] = '0'\n",
        "import os\nimport torch\nos.environ['A'] = os.environ['OMP_NUM_THREADS'] = '0'\n",
        "import os\nimport torch\nos.environ['A'], os.environ['OMP_NUM_THREADS'] = '0', '1'\n",
        "import os\nimport torch\nOMP = 'OMP_NUM_THREADS'\nos.environ[OMP] = '0'\n",
        "import os\nimport torch\ntorch.set_num_threads(2)\nos.environ['KMP_BLOCKTIME'] = '0'\n",
        "import torch\nget_ipython().run_line_magic('env', 'OMP_NUM_THREADS=1')\n",
        "import os\nimport torch\n\nclass A:\n    def f(self):\n        os.environ['OMP_NUM_THREADS'] = '0'\n",
        (
            "import os\n"
            "import torch, git\n"
            "import subprocess\n"
            "subprocess.run(['git', 'log'])\n"
            "os.environ['OMP_NUM_THREADS'] = '0'\n"
        ),
    ],
)
def test_found(text: str, tmp_path: Path) -> None:
    assert [finding.code for finding in findings(tmp_path, text)] == ["FKL101"]


@pytest.mark.parametrize(
    "text",
    [
        "import os\nif os.name == 'nt':\n    import torch\nos.environ['OMP_NUM_THREADS'] = '0'\n",
        "import os\n\ndef f():\n    import torch\n    return torch\nos.environ['OMP_NUM_THREADS'] = '0'\nf()\n",
        (
            "import os\n"
            "\n"
            "def f():\n"
            "    if os.sep:\n"
            "        return\n"
            "    import torch\n"
            "\n"
            "f()\n"
            "os.environ['OMP_NUM_THREADS'] = '0'\n"
        ),
        "import os\n\ndef f():\n    os.environ['OMP_NUM_THREADS'] = '0'\n\ndef g():\n    f()\n\ng()\nimport torch\n",
        "import os\n\ndef f():\n    os.environ['OMP_NUM_THREADS'] = '0'\n    import torch\n\nf()\n",
        (
            "import os\n"
            "import torch\n"
            "a = os.sep and torch.cuda.is_available()\n"
            "os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n"
        ),
        "import os\nimport torch\na = lambda: torch.cuda.is_available()\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
        (
            "import os\n"
            "os.environ['PYTORCH_NVML_BASED_CUDA_CHECK'] = '1'\n"
            "import torch\n"
            "torch.cuda.is_available()\n"
            "os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n"
        ),
        "import os\nimport torch\nold = os.environ.get('OMP_NUM_THREADS')\nos.environ['OMP_NUM_THREADS'] = old\n",
        "import os\nimport torch\nos.environ['OMP_NUM_THREADS'] = '1'\nf()\nos.environ.pop('OMP_NUM_THREADS')\n",
        "import os\nimport torch\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True'\n",
        "import os\nimport torch\nos.environ['PYTHONHASHSEED'] = '0'\n",
        "os = {}\nimport torch\nos.environ['OMP_NUM_THREADS'] = '0'\n",
        "import os\nimport torch\nos.environ['OMP_NUM_THREADS'] = '0'\nos.execv('a', ['a'])\n",
        (
            "import os\n"
            "import torch\n"
            "from detectron2.engine import launch\n"
            "os.environ['OMP_NUM_THREADS'] = '0'\n"
            "launch(main, 8)\n"
        ),
    ],
)
def test_silent(text: str, tmp_path: Path) -> None:
    assert findings(tmp_path, text) == ()


def test_a_project_adds_a_variable(tmp_path: Path) -> None:
    rows = '[[env-vars]]\nname = "SCALER_THREADS"\nmodules = ["scaler"]\neffect = "it uses one"\n'
    (tmp_path / "forklint.toml").write_text(rows, encoding="utf-8")
    file = tmp_path / "train.py"
    file.write_text("import os\nimport scaler\nos.environ['SCALER_THREADS'] = '8'\n", encoding="utf-8")
    (found,) = linters(preview=False).of(file).lint(file).findings
    assert "it uses one" in found.message


def test_preview_shows_what_the_interpreter_reads(tmp_path: Path) -> None:
    text = (
        "import os\nos.environ['PYTHONHASHSEED'] = '0'\n\ndef seed_all(n):\n    os.environ['PYTHONHASHSEED'] = str(n)\n"
    )
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    (tmp_path / "forklint.toml").write_text("preview = true\n", encoding="utf-8")
    assert {row for row, _, _ in lint([tmp_path / "train.py"])[tmp_path / "train.py"]} == {2}


def test_the_chain_leads_through_the_project(tmp_path: Path) -> None:
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "config.py").write_text("import nets\n", encoding="utf-8")
    (tmp_path / "nets.py").write_text("\nfrom torch import nn\n", encoding="utf-8")
    (found,) = findings(tmp_path, "import os\nimport config\nos.environ['MKL_NUM_THREADS'] = '1'\n")
    steps = [(Path(link.path).name, link.row) for link in found.chain]
    assert steps == [("train.py", 2), ("config.py", 1), ("nets.py", 2)]


SCRIPT = """import json
import os
import shutil

import numpy as np
import torch

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

if __name__ == "__main__":
    import threadpoolctl

    pools = {pool["internal_api"]: pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
    print(json.dumps({"torch": torch.get_num_threads(), "sum": float(np.ones(3).sum()), **pools}))
"""


@pytest.mark.soak
def test_the_fixed_script_has_the_threads_it_asks_for(tmp_path: Path) -> None:
    """On a machine with one core there is nothing to see: then both have one thread."""
    pytest.importorskip("threadpoolctl")
    need_torch()

    def run(text: str) -> dict[str, float]:
        (tmp_path / "train.py").write_text(text, encoding="utf-8")
        result = subprocess.run(
            [sys.executable, "train.py"], cwd=tmp_path, env={}, capture_output=True, text=True, timeout=120, check=True
        )
        found: dict[str, float] = json.loads(result.stdout)
        return found

    before, after = run(SCRIPT), run(fixed(tmp_path, SCRIPT))
    assert after.pop("sum") == before.pop("sum")
    assert set(after.values()) == {1}
    if len(os.sched_getaffinity(0)) > 1:
        assert all(count > 1 for count in before.values())


FIXTURE = Path(__file__).parent.parent / "fixtures" / "FKL101_late_env_var"
RUN = [
    "bad_feature_pool.py",
    *(
        pytest.param(name, marks=pytest.mark.soak)
        for name in [
            "bad_alloc_backend.py",
            "bad_gan_update.py",
            "bad_imports_in_function.py",
            "bad_loop_over_names.py",
            "bad_main_guard.py",
            "bad_mps_fallback.py",
            "bad_ocr_threads.py",
            "bad_preload.py",
            "bad_project_settings/train.py",
        ]
    ),
]


@pytest.mark.parametrize("name", RUN)
def test_a_fixed_fixture_runs(name: str, tmp_path: Path) -> None:
    need_torch()
    source = FIXTURE / name
    shutil.copytree(source.parent if "/" in name else FIXTURE, tmp_path / "code")
    outcome, folder = source.with_suffix(".fixed.py"), tmp_path / "code"
    (folder / source.name).write_bytes((outcome if outcome.exists() else source).read_bytes())
    command = [sys.executable, source.name]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180, check=False)
    assert result.returncode == 0, result.stderr


E = "import os\nimport torch\n"
OMP = 'os.environ["OMP_NUM_THREADS"]'
READS_WHAT_RUNS_BETWEEN = {
    "another variable": f'{E}os.environ["N"] = "4"\n{OMP} = os.environ["N"]\n',
    "a file of variables": f'{E}from dotenv import load_dotenv\nload_dotenv()\n{OMP} = os.environ["THREADS"]\n',
    "a module that sets one": f'{E}import mod\n{OMP} = os.environ["FROM_MOD"]\n',
    "a folder": f'{E}os.makedirs("out")\n{OMP} = str(len(os.listdir("out")))\n',
    "a file": f'{E}open("cfg.json", "w").close()\n{OMP} = str(os.path.getsize("cfg.json"))\n',
    "a list": f"{E}sizes = []\nsizes.append(4)\n{OMP} = str(sizes[0])\n",
    "a list from above": f"sizes = []\n{E}sizes.append(4)\n{OMP} = str(sizes[0])\n",
    "a mapping": f'{E}cfg = {{"t": "2"}}\ncfg["t"] = "3"\n{OMP} = cfg["t"]\n',
    "a mapping from above": f'cfg = {{"t": "2"}}\n{E}cfg["t"] = "3"\n{OMP} = cfg["t"]\n',
    "a constant of another": f'{E}os.environ["N"] = "4"\nn = str(os.environ["N"])\n{OMP} = n\n',
    "a default": f'{E}from dotenv import load_dotenv\nload_dotenv()\nos.environ.setdefault("OMP_NUM_THREADS", "1")\n',
    "a method of any object": f'{E}import requests\nprint(1)\n{OMP} = requests.get("http://localhost")\n',
    "cores that were taken away": f"{E}os.sched_setaffinity(0, [1])\n{OMP} = str(len(os.sched_getaffinity(0)))\n",
}


@pytest.mark.parametrize("text", READS_WHAT_RUNS_BETWEEN.values(), ids=READS_WHAT_RUNS_BETWEEN)
def test_no_safe_move_above_what_the_value_is_from(text: str, tmp_path: Path) -> None:
    (tmp_path / "mod.py").write_text("import os\nos.environ['FROM_MOD'] = '1'\n")
    found = findings(tmp_path, text)
    assert [one.code for one in found] == ["FKL101"]
    assert Applicability.SAFE not in [fix.applicability for fix in found[0].fixes]


SAFE_READS = {
    "the environment above imports alone": f'{E}{OMP} = os.environ.get("N", "1")\n',
    "a count of cores": f"{E}print(torch)\n{OMP} = str(os.cpu_count())\n",
    "the cores of the process above imports alone": f"{E}{OMP} = str(len(os.sched_getaffinity(0)))\n",
    "a constant": f'{E}print(torch)\nn = 4\n{OMP} = f"{{n}}"\n',
    "a mapping for this alone": f'{E}print(torch)\nown = {{"OMP_NUM_THREADS": "1"}}\nos.environ.update(own)\n',
}


@pytest.mark.parametrize("text", SAFE_READS.values(), ids=SAFE_READS)
def test_a_safe_move_of_what_nothing_between_changes(text: str, tmp_path: Path) -> None:
    assert findings(tmp_path, text)[0].fixes[0].applicability is Applicability.SAFE
    moved = fixed(tmp_path, text)
    assert moved.index("NUM_THREADS") < moved.index("import torch")


def test_a_name_that_torch_may_refuse_is_no_safe_fix(tmp_path: Path) -> None:
    text = f'{E}os.environ["TORCH_LOGS"] = "dynamo"\n'
    assert findings(tmp_path, text)[0].fixes[0].applicability is Applicability.UNSAFE


def test_a_module_is_run_once_for_all_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"runs": 0, "first uses": 0, "statements": 0}
    first_uses, imports, run = loaded._first_uses, Walk._imports, loaded._run

    def counted_first_uses(*given):
        counts["first uses"] += 1
        return first_uses(*given)

    def counted_run(*given):
        counts["runs"] += 1
        return run(*given)

    def counted_imports(self, statement):
        counts["statements"] += 1
        return imports(self, statement)

    monkeypatch.setattr(loaded, "_first_uses", counted_first_uses)
    monkeypatch.setattr(loaded, "_run", counted_run)
    monkeypatch.setattr(Walk, "_imports", counted_imports)
    parts = [
        f"{OMP} = '{n}'\ndef f{n}(x):\n    os.environ['MKL_NUM_THREADS'] = '{n}'\n    return f{n - 1}(x)\nf{n}({n})\n"
        for n in range(1, 26)
    ]
    text = E + "def f0(x):\n    return x\n" + "".join(parts)
    assert len(findings(tmp_path, text)) == 50
    assert counts == {"runs": 1, "first uses": 1, "statements": 2}
