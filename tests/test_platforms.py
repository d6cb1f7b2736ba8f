"""What each way of asking for a machine means: how many findings of FKL401 a few lines have."""

from __future__ import annotations

from pathlib import Path

import pytest

from forklint.config import SettingsFinder
from forklint.engine import Options
from forklint.linters import Linters
from forklint.model import Severity

HEAD = "import sys, os, platform\nimport torch\nfrom torch.utils.data import DataLoader\n"
FOUND = [
    """if bool(sys.platform == 'darwin'):
    num_workers = 2
""",
    """if platform.system().lower() == 'darwin':
    num_workers = 2
""",
    """if platform.system().strip().casefold() == 'darwin':
    num_workers = 2
""",
    "num_workers = min(4, os.cpu_count() or 1) if sys.platform == 'darwin' else 8\n",
    "num_workers = max(1, os.cpu_count() - 2) if sys.platform == 'darwin' else 8\n",
    "num_workers = os.cpu_count() // 2 if sys.platform == 'darwin' else 8\n",
    "num_workers = len(os.sched_getaffinity(0)) if sys.platform == 'darwin' else 8\n",
    """if sys.platform == 'darwin':
    n = DataLoader(d, num_workers=2)
""",
    """if sys.platform in ('win32', 'linux'):
    pass
else:
    n = DataLoader(d, num_workers=2)
""",
    """if 'darwin' in sys.platform:
    n = DataLoader(d, num_workers=2)
""",
    """if platform.system().lower() == 'darwin' and torch.backends.mps.is_available():
    n = DataLoader(d, num_workers=2)
""",
    """if hasattr(torch.backends, 'mps') and torch.backends.mps.is_available():
    device = torch.device('mps')
    num_workers = 2
else:
    device = torch.device('cuda')
    num_workers = 8
""",
    """if getattr(torch.backends, 'mps', None) is not None and torch.backends.mps.is_available():
    num_workers = 2
""",
    """s = platform.system()
if s == 'Darwin':
    num_workers = 2
""",
    """os_name = sys.platform
if os_name.startswith('darwin'):
    num_workers = 2
""",
    """if os.uname().sysname == 'Darwin':
    num_workers = 4
""",
    """if platform.machine() == 'arm64' and sys.platform == 'darwin':
    num_workers = 4
""",
    """if not torch.backends.mps.is_available():
    raise SystemExit('no')
num_workers = 4
""",
    """assert torch.backends.mps.is_available()
num_workers = 4
""",
    """if sys.platform != 'darwin':
    sys.exit(1)
def f(d):
    return DataLoader(d, num_workers=2)
""",
    """def f(d, device):
    kw = {'num_workers': 4} if device == 'mps' else {}
    return DataLoader(d, **kw)
""",
    """device = 'mps' if torch.backends.mps.is_available() else 'cpu'
l = DataLoader([], num_workers=4)
""",
    """device = 'mps' if torch.backends.mps.is_available() else 'cpu'
l = DataLoader([], num_workers=4, multiprocessing_context=None)
""",
    """device = 'mps' if torch.backends.mps.is_available() else 'cpu'
l = DataLoader([], 32, True, None, None, 4)
""",
    """CONFIG = {'device': 'mps' if torch.backends.mps.is_available() else 'cpu', 'num_workers': 2}
""",
    """CONFIG = dict(device='mps', num_workers=2)
""",
    """trainer = make(accelerator='mps', num_workers=2)
""",
    """CFG = {'mac': {'data': {'num_workers': 2}}, 'cuda': {'data': {'num_workers': 8}}}
""",
    """num_workers = {'darwin': 2, 'linux': 8}[sys.platform]
DataLoader([], num_workers=num_workers)
""",
    """num_workers = {'darwin': 2, 'linux': 8}.get(sys.platform, 4)
DataLoader([], num_workers=num_workers)
""",
    """class MPSConfig:
    num_workers: int = 2
""",
    """class TrainerConfig:
    device: str = 'mps'
    num_workers: int = 2
""",
    """def train_mps():
    l = DataLoader([], num_workers=2)
""",
    """def setup_macos():
    os.environ['A'] = '1'
    return {'num_workers': 3}
""",
    """def f(args):
    if args.device == 'mps':
        args.workers = 2
    return DataLoader([], num_workers=args.workers)
""",
    """IS_MPS = torch.backends.mps.is_available()
num_workers = 4 if IS_MPS else 8
""",
    """def on_mac():
    return platform.system() == 'Darwin'
num_workers = 4 if on_mac() else 8
""",
    """def f(use_mps, d):
    return DataLoader(d, num_workers=2 if use_mps else 8)
""",
    """if sys.platform == 'darwin':
    num_workers = 2
num_workers = 8
""",
    """while torch.backends.mps.is_available():
    num_workers = 2
    break
""",
    """try:
    assert sys.platform == 'darwin'
    num_workers = 2
except AssertionError:
    num_workers = 4
""",
    """sys.platform == 'darwin' and DataLoader([], num_workers=2)
""",
    """match device:
    case 'mps':
        num_workers = 4
    case 'cuda':
        num_workers = 8
""",
    """if torch.backends.mps.is_available() and not torch.cuda.is_available():
    num_workers = 4
""",
    """parser.set_defaults(num_workers=4, device='mps')
""",
    """apple_config = {'num_workers': 4, 'batch_size': 3}
print(apple_config)
""",
]
SPARED = [
    """class Copier:
    def __init__(self, num_workers):
        self.pool = ThreadPool(num_workers)
num_workers = 2 if sys.platform == 'darwin' else 8
copier = Copier(num_workers=num_workers)
""",
    "num_workers = min(0, os.cpu_count()) if sys.platform == 'darwin' else 8\n",
    "num_workers = max(0, os.cpu_count() - 16) if sys.platform == 'darwin' else 8\n",
    """if sys.platform in ('darwin', 'linux'):
    n = DataLoader(d, num_workers=2)
""",
    """if not sys.platform == 'darwin':
    n = DataLoader(d, num_workers=2)
""",
    """if torch.cuda.is_available():
    w = 8
elif torch.backends.mps.is_available():
    w = 0
else:
    w = 2
l = DataLoader(d, num_workers=w)
""",
    """if os.name == 'nt':
    num_workers = 0
else:
    num_workers = 4
""",
    """def f(d, device):
    if device != 'mps':
        return DataLoader(d, num_workers=2)
    return DataLoader(d)
""",
    """def f(d, device):
    kw = {} if device == 'mps' else {'num_workers': 4}
    return DataLoader(d, **kw)
""",
    """def f(d, device):
    return DataLoader(d, num_workers=0 if device == 'mps' else 4)
""",
    """def f(d, device):
    return DataLoader(d, num_workers=4 * (device != 'mps'))
""",
    """device = 'mps' if torch.backends.mps.is_available() else 'cpu'
num_workers = 0 if device == 'mps' else 4
l = DataLoader([], num_workers=num_workers)
""",
    """device = 'mps' if torch.backends.mps.is_available() else 'cpu'
l = DataLoader([], num_workers=4, multiprocessing_context='fork')
""",
    """device = 'cuda' if torch.cuda.is_available() else 'mps'
l = DataLoader([], num_workers=4)
""",
    """device = torch.device('mps')
import multiprocessing as mp
if __name__ == '__main__':
    mp.set_start_method('fork')
    l = DataLoader([], num_workers=4)
""",
    """def train(model, device):
    if device.type == 'mps':
        torch.mps.synchronize()
    l = DataLoader([], num_workers=4)
""",
    """CONFIG = {'device': 'cuda' if torch.cuda.is_available() else 'mps', 'num_workers': 2}
""",
    """CFG = {'mac': 2, 'linux': 8}
num_workers = CFG[sys.platform]
""",
    """class MacroConfig:
    num_workers: int = 2
""",
    """class MACConfig:
    num_workers: int = 2
""",
    """class MPSTensorNetwork:
    def loader(self, d):
        return DataLoader(d, num_workers=2)
""",
    """from ffcv.loader import Loader
if sys.platform == 'darwin':
    l = Loader('x', num_workers=2)
""",
    """from faster_whisper import WhisperModel
if sys.platform == 'darwin':
    m = WhisperModel('x', num_workers=2)
""",
    """from multiprocessing import Pool
num_workers = 2 if sys.platform == 'darwin' else 8
if __name__ == '__main__':
    p = Pool(num_workers)
""",
    """if sys.platform == 'darwin':
    workers = 2
server(workers=workers)
""",
    """def f(args):
    if args.device == 'mps':
        args.workers = 2
    return serve(args.workers)
""",
    """is_mac = sys.platform == 'darwin'
is_linux = not is_mac
if is_linux:
    num_workers = 4
""",
    """def gpu():
    if torch.cuda.is_available():
        return True
    return False
num_workers = 4 if gpu() else 8
""",
    """def f(d, no_mps):
    return DataLoader(d, num_workers=2 if no_mps else 8)
""",
    """def f(d, args):
    if args.no_mps:
        return DataLoader(d, num_workers=2)
""",
    """for platform_name in ['darwin']:
    num_workers = 2
""",
    """device = torch.accelerator.current_accelerator()
l = DataLoader([], num_workers=2)
""",
    """import pytest
@pytest.mark.skipif(sys.platform == 'darwin', reason='x')
def test_x():
    DataLoader([], num_workers=2)
""",
    """import pytest
@pytest.mark.skipif(sys.platform != 'darwin', reason='x')
def test_x():
    DataLoader([], num_workers=2)
""",
    """print('mps') if sys.platform == 'darwin' else print(DataLoader([], num_workers=2))
""",
    """sys.platform == 'darwin' or DataLoader([], num_workers=2)
""",
    """num_workers = 0 if sys.platform.startswith(('win', 'darwin')) else 4
""",
    """num_workers = 4 if sys.platform.startswith(('win', 'darwin')) else 0
""",
    """num_workers = 4 if sys.platform == 'linux' else 2
""",
    """if device.type == 'mps' or device.type == 'cpu':
    num_workers = 4
""",
    """num_workers = int(os.environ.get('W', 4)) if sys.platform == 'darwin' else 8
""",
    """if sys.platform == 'darwin':
    num_workers = -1
""",
    """if sys.platform == 'darwin':
    num_workers = True
""",
    """if sys.platform == 'darwin':
    max_workers = 4
""",
    """if sys.platform == 'darwin':
    persistent_workers = True
""",
    """apple_detection_config = {'num_workers': 4, 'batch_size': 3}
""",
    """mac_layers = {'num_workers': 4}
""",
    """m1_config = {'num_workers': 4}
""",
    "if sys.platform == 'darwin':\n    max_workers = 4\n",
]


def findings(text: str, folder: Path, *, screen: bool = True) -> list:
    (folder / "forklint.toml").touch()
    file = folder / "train.py"
    file.write_text(HEAD + text, encoding="utf-8")
    report = Linters(SettingsFinder({"select": ("FKL401",)}), Options(screen=screen)).of(file).lint(file)
    assert not report.notes
    return list(report.findings)


@pytest.mark.parametrize("text", FOUND)
def test_is_for_a_mac(text: str, tmp_path: Path) -> None:
    found = findings(text, tmp_path)
    assert [finding.severity for finding in found] == [Severity.WARNING]
    assert found == findings(text, tmp_path, screen=False)


@pytest.mark.parametrize("text", SPARED)
def test_is_for_others_as_well(text: str, tmp_path: Path) -> None:
    assert not findings(text, tmp_path)
    assert not findings(text, tmp_path, screen=False)
