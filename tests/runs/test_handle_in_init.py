"""FKL301 on real data: the hazard is there before the fix and gone after it.

The fixtures are copied into one folder, `forklint --fix --unsafe-fixes` runs over the copies once, and both
versions are imported and read: with no workers, and with workers under fork, forkserver and spawn, with a
parent that has read nothing yet and with one that has read its first sample.
"""

from __future__ import annotations

import importlib
import multiprocessing
import pickle
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import handle_data as data
import pytest
from needed import need_torch
from preloading import preload

if TYPE_CHECKING:
    from collections.abc import Callable

need_torch()
pytest.importorskip("numpy")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="all three start methods exist on Linux alone"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
]

FIXTURES = Path(__file__).parents[1] / "fixtures" / "FKL301_handle_in_init"
WORKERS_UNDER_FORK = 4  # more than cores, so that workers are stopped between seek and read
SECONDS_TO_PROVOKE = 25.0


@dataclass(frozen=True)
class Case:
    """One fixture: its class, what it needs on disk, and what forked workers were seen to meet before the fix."""

    fixture: str
    name: str
    build: Callable[[Path], dict[str, Any]]
    needs: str = "torch"
    pickles: bool = False
    harm: str = ""  # under fork: "samples" (wrong ones), "error", or "" where none was ever seen
    module: str = ""
    mended: bool = True  # False where the fix is left to a person

    @property
    def import_name(self) -> str:
        return self.module or self.fixture


CASES = [
    Case("bad_lmdb_recognition", "LMDBRecognitionDataset", data.words_lmdb, "lmdb", harm="error"),
    Case("bad_lmdb_recognition_getstate", "LMDBRecognitionDataset", data.words_lmdb, "lmdb", True, "error"),
    Case("bad_transaction_kept", "OCPStructures", data.structures_lmdb, "lmdb", mended=False),
    Case("bad_hdf5_volumes", "CTPatchDataset", data.volumes_h5, "h5py"),
    Case("bad_hdf5_members_kept", "SatelliteTiles", data.tiles_h5, "h5py", mended=False),
    Case("bad_handle_list", "LatentShards", data.latent_shards, "h5py"),
    Case("bad_opened_by_len", "SpectrogramDataset", data.spectrograms_h5, "h5py"),
    Case("bad_closed_on_one_path", "RadarSweeps", data.sweeps_h5, "h5py"),
    Case("bad_zip_images", "ImageZipDataset", data.raw_zip, pickles=True, harm="error"),
    Case("bad_base_class_init", "DepthMaps", data.tensors_zip, harm="error"),
    Case("bad_npz_features", "ClipFeatures", data.features_npz, "numpy"),
    Case("bad_tar_speech", "TarredKeywords", data.clips_tar, harm="samples"),
    Case("bad_jsonl_offsets", "JsonlDataset", data.records_jsonl, harm="samples"),
    Case("bad_handle_dict", "ParallelCorpus", data.corpora, harm="samples", mended=False),
    Case("bad_plain_class", "IdxImages", data.idx_images, harm="samples"),
    Case("bad_two_files", "IdxDigits", data.idx_pair, harm="samples"),
    Case("bad_getstate_for_something_else", "BlockDataset", data.records_jsonl, harm="samples"),
    Case("bad_dataclass_post_init", "QuantisedEmbeddings", data.embeddings, harm="samples"),
    Case("bad_reader_object", "Utterances", data.packed_records, harm="samples", module="dataset"),
    Case("bad_sqlite_recsys", "ClickDataset", data.clicks_db),
    Case("bad_iterable_stream", "DumpStream", data.dump_gz, harm="samples"),
    Case("bad_pread_descriptor", "TokenShard", data.token_shard, pickles=True),
    Case("bad_pil_multipage", "StackFrames", data.stack_tiff, "PIL", pickles=True, harm="samples"),
]

QUICK = {"jsonl_offsets"}
"""A kind of handle; the others are read in the soak."""


def cases(*, mended: bool = False) -> list[Any]:
    return [
        pytest.param(case, id=case.fixture, marks=[pytest.mark.soak] * (case.fixture.removeprefix("bad_") not in QUICK))
        for case in CASES
        if case.mended or not mended
    ]


@pytest.fixture(scope="module", autouse=True)
def forkserver_with_torch() -> None:
    """Let the fork server import torch once, not each of its workers."""
    preload("torch")


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """Return two folders with copies of the fixtures that are read: as they are, and after the fix."""
    given = [getattr(item, "callspec", None) for item in request.session.items]
    read = {one.params["case"].fixture for one in given if one and isinstance(one.params.get("case"), Case)}
    before = tmp_path_factory.mktemp("before") / "plain"
    after = tmp_path_factory.mktemp("after") / "fixed"
    for folder in (before, after):
        folder.mkdir()
        for path in FIXTURES.glob("bad_*"):
            if path.is_dir() and path.name in read:
                shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("*.fixed.py"))
            elif path.stem in read:
                shutil.copy(path, folder)
        (folder / "__init__.py").touch()
    command = [sys.executable, "-m", "forklint", str(after), "--isolated", "--select", "FKL301"]
    done = subprocess.run(
        [*command, "--fix", "--unsafe-fixes", "-q"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return before, after


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, Case], Callable[..., Any]]:
    """Import a case's class from a copy of the fixtures, in a way that spawned workers can repeat."""

    def import_class(folder: Path, case: Case) -> Callable[..., Any]:
        for stale in ("dataset", "readers"):
            sys.modules.pop(stale, None)
        monkeypatch.syspath_prepend(str(folder / case.fixture if case.module else folder.parent))
        return getattr(importlib.import_module(case.module or f"{folder.name}.{case.fixture}"), case.name)

    return import_class


def plain(sample: Any) -> Any:
    """Turn a sample into something that compares by value and pickles small."""
    if isinstance(sample, (tuple, list)):
        return tuple(plain(part) for part in sample)
    if isinstance(sample, dict):
        return tuple((key, plain(value)) for key, value in sorted(sample.items()))
    return sample.tolist() if hasattr(sample, "tolist") else sample


def collate(samples: list[Any]) -> list[Any]:
    return [plain(sample) for sample in samples]


def read(dataset: Any, workers: int = 0, method: str | None = None) -> list[Any]:
    """Read the whole dataset through a DataLoader; iterable ones come sorted, since workers race."""
    import torch

    context = multiprocessing.get_context(method) if method else None
    iterable = isinstance(dataset, torch.utils.data.IterableDataset)
    sizes = {"batch_size": None} if iterable else {"batch_size": 4, "collate_fn": collate}
    loader = torch.utils.data.DataLoader(
        dataset, num_workers=workers, multiprocessing_context=context, timeout=40 if workers else 0, **sizes
    )
    iterator = iter(loader)
    try:
        found = list(iterator)
    finally:
        if workers:
            iterator._shutdown_workers()  # at once: a failed loader that waits for the collector stalls the next one
    return sorted(found) if iterable else [sample for batch in found for sample in batch]


def first_sample(dataset: Any) -> Any:
    """Let the parent read one sample."""
    import torch

    iterable = isinstance(dataset, torch.utils.data.IterableDataset)
    return plain(next(iter(dataset)) if iterable else dataset[0])


def harm_in_one_run(dataset: Any, expected: list[Any]) -> str:
    first_sample(dataset)
    try:
        return "" if read(dataset, WORKERS_UNDER_FORK, "fork") == expected else "samples"
    except Exception:  # noqa: BLE001 - whatever the worker raised is the harm
        return "error"


def provoke(make: Callable[[], Any], expected: list[Any]) -> str:
    """Read with forked workers until something is wrong; say what, or "" when the time is up."""
    end = time.monotonic() + SECONDS_TO_PROVOKE
    harm = ""
    while not harm and time.monotonic() < end:
        harm = harm_in_one_run(make(), expected)
    return harm


@pytest.mark.parametrize("case", cases())
def test_hazard_is_there_before(
    case: Case, sources: tuple[Path, Path], load: Callable[..., Any], tmp_path: Path
) -> None:
    pytest.importorskip(case.needs)
    kind, arguments = load(sources[0], case), case.build(tmp_path)
    dataset = kind(**arguments)
    expected = read(dataset)
    assert len(expected) > 1
    if not case.pickles:
        with pytest.raises((TypeError, pickle.PicklingError)):
            multiprocessing.reduction.ForkingPickler.dumps(dataset)
    del dataset
    if case.harm:
        assert provoke(lambda: kind(**arguments), expected) in {case.harm, "error"}


@pytest.mark.parametrize("method", ["fork", "spawn", pytest.param("forkserver", marks=pytest.mark.soak)])
@pytest.mark.parametrize("case", cases(mended=True))
def test_hazard_is_gone_after(
    case: Case, method: str, sources: tuple[Path, Path], load: Callable[..., Any], tmp_path: Path
) -> None:
    pytest.importorskip(case.needs)
    kind, arguments = load(sources[1], case), case.build(tmp_path)
    expected = read(kind(**arguments))
    dataset, workers = kind(**arguments), WORKERS_UNDER_FORK if method == "fork" else 1
    if method == "fork":  # the others get a pickle, in which there is no handle, whatever the parent did
        assert read(dataset, workers, method) == expected, "cold parent"
    assert first_sample(dataset) == expected[0]
    assert read(dataset, workers, method) == expected, "parent has read"
    assert read(dataset) == expected, "the parent reads on"
