"""FKL301 proved on real libraries: what is confirmed, what is only witnessed, what is refuted."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from handle_projects import HEAD, write, write_dying
from needed import need_torch
from proven import Proof, environment, findings, forced, prove

from forklint.config import Settings
from forklint.verify import proving
from forklint.verify.experiments.base import Context
from forklint.verify.handle_harm import Cell, cell_of
from forklint.verify.runner import Runner
from forklint.verify.samples import truth
from forklint.verify.subjects import Factory
from forklint.verify.words import Experiment

need_torch()
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="both start methods exist on Linux alone")


PRELOADED = {"start_methods": ("fork", "forkserver")}
"""A dataset is pickled for a fork server as for spawn, and the server imports torch once for all workers."""


def found(name: str, folder: Path, **options: object) -> Proof:
    """Prove what forklint finds in a project."""
    write(name, folder)
    (finding,) = findings(folder)
    return prove(finding, folder, **options)


def in_spite(name: str, folder: Path, **options: object) -> Proof:
    """Force an experiment on a class in which forklint finds nothing."""
    qualname, attribute = write(name, folder)
    assert findings(folder) == []
    return prove(forced(folder, qualname, attribute), folder, **options)


def as_it_is(name: str, folder: Path) -> Proof:
    """Force an experiment under fork on a class as a factory gives it: then none follows with generated data."""
    qualname, attribute = write(name, folder)
    factories = (Factory(f"data:{qualname}"),)
    return prove(forced(folder, qualname, attribute), folder, factories=factories, start_methods=("fork",))


@pytest.mark.soak
def test_lmdb_with_its_lock(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    proof = found("lmdb", tmp_path, start_methods=("fork", "spawn", "forkserver"))
    assert proof.verdict("fork") == "confirmed"
    assert "MDB_READERS_FULL" in proof.evidence("fork") or "MDB_BAD_RSLOT" in proof.evidence("fork")
    assert "data.py:" in proof.evidence("fork")
    for method in ("spawn", "forkserver"):
        assert proof.verdict(method) == "confirmed"
        assert "cannot pickle 'Environment' object (dataset.env)" in proof.evidence(method)


SLOWLY = pytest.mark.soak


@pytest.mark.soak
@pytest.mark.parametrize(
    "name",
    ["kept-in-cache", pytest.param("kept-in-dictionary", marks=SLOWLY), pytest.param("kept-in-object", marks=SLOWLY)],
)
def test_an_environment_that_is_kept_for_the_whole_process(name: str, tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    factories = (Factory("data:Images"),)
    proof = found(name, tmp_path, factories=factories, start_methods=("fork",))
    assert proof.verdict("fork") == "confirmed"
    assert "MDB_READERS_FULL" in proof.evidence("fork") or "MDB_BAD_RSLOT" in proof.evidence("fork")
    assert "that did not open it" in proof.evidence("fork")


@pytest.mark.soak
def test_lmdb_without_a_lock(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    proof = found("lmdb-unlocked", tmp_path)
    assert proof.verdict("fork") == "not reproduced"
    assert "workers that did not open it" in proof.evidence("fork")
    assert proof.verdict("spawn") == "confirmed"
    assert proof.verdict() == "confirmed"


@pytest.mark.soak
def test_file_with_seek_and_read(tmp_path: Path) -> None:
    proof = found("file", tmp_path, workers=4)
    assert proof.verdict("fork") == "confirmed"
    assert "although every process exits with 0" in proof.evidence("fork")
    assert "moved the parent's file offset" in proof.evidence("fork")
    wrong = proof.cell("fork")["wrong"]
    assert wrong
    assert set(wrong) <= set(range(240))
    assert f"indices {wrong[0]}" in proof.evidence("fork")
    assert "(dataset.file)" in proof.evidence("spawn")
    assert {seen.ending.exit_code for seen in proof.observations} == {0}


@pytest.fixture
def busy(request: pytest.FixtureRequest) -> Iterator[int]:
    """So many processes that take all the time they get."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(request.param)]
    yield len(loops)
    for loop in loops:
        loop.kill()
        loop.wait()


@pytest.mark.parametrize("busy", [0, 4], indirect=True)
@pytest.mark.parametrize("name", ["file", "global", "local"])
@pytest.mark.soak
def test_file_is_confirmed_again_and_again(name: str, busy: int, tmp_path: Path) -> None:
    """On a machine with nothing else to do, and beside busy loops; however the program comes by the file."""
    write(name, tmp_path)
    (finding,) = findings(tmp_path)
    verdicts = [prove(finding, tmp_path, start_methods=("fork",), workers=4).verdict() for _ in range(20)]
    assert verdicts.count("confirmed") >= 19, (busy, verdicts)


@pytest.mark.soak
def test_the_reads_of_a_race_are_counted_and_not_only_the_seconds(tmp_path: Path) -> None:
    """A machine that is busy, here a dataset that is slow, gets what a quiet one reads in the time of the budget."""
    write("sqlite", tmp_path)
    text = (tmp_path / "data.py").read_text()
    (tmp_path / "data.py").write_text(
        text.replace("        return self.conn", "        time.sleep(0.004)\n        return self.conn")
    )
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, provoking=0.9)
    assert proof.verdict("fork") == "not reproduced"
    assert "workers that did not open it" in proof.evidence("fork")
    assert proof.verdict("spawn") == "confirmed"
    (treatment,) = [seen for seen in proof.observations if not seen.trial.is_control][:1]
    passes = treatment.of("pass")
    assert sum(one["samples"] for one in passes) >= 900
    assert sum(one["seconds"] for one in passes) > 0.9


@pytest.mark.soak
def test_zip(tmp_path: Path) -> None:
    proof = found("zip", tmp_path, start_methods=("fork",))
    assert proof.verdict() == "confirmed"
    assert "BadZipFile" in proof.judgement.evidence or "samples differ" in proof.judgement.evidence


@pytest.mark.soak
def test_tar(tmp_path: Path) -> None:
    assert found("tar", tmp_path, start_methods=("fork",), provoking=2.0).verdict() == "confirmed"


def test_witnessed_under_fork_and_refused_by_pickle(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    proof = found("hdf5", tmp_path, start_methods=("fork", "spawn"))
    assert proof.verdict("fork") == "not reproduced"
    assert "workers that did not open it" in proof.evidence("fork")
    assert proof.verdict("spawn") == "confirmed"
    assert (
        "; under fork no harm was observed: it fails where workers are spawned (macOS, Win" in proof.judgement.evidence
    )


@pytest.mark.soak
def test_memmap_is_refuted(tmp_path: Path) -> None:
    methods = "fork", "forkserver"
    pytest.importorskip("numpy")
    proof = in_spite("memmap", tmp_path, start_methods=methods)
    assert proof.verdict() == "refuted"
    assert "numpy.memmap" in proof.judgement.evidence


def test_closed_handle_is_refuted(tmp_path: Path) -> None:
    assert in_spite("closed", tmp_path, start_methods=("fork",)).verdict() == "refuted"


@SLOWLY
def test_closed_file_that_is_kept_cannot_be_pickled(tmp_path: Path) -> None:
    proof = in_spite("closed-and-kept", tmp_path)
    assert proof.verdict("fork") == "refuted"
    assert proof.evidence("fork") == "it is closed when workers start"
    assert proof.verdict("spawn") == "confirmed"
    assert "(dataset.file, closed)" in proof.evidence("spawn")


@pytest.mark.soak
def test_lazy_handle_is_refuted(tmp_path: Path) -> None:
    proof = in_spite("lazy", tmp_path, **PRELOADED)
    assert proof.verdict() == "refuted"


HEALTHY = ["augmented", "generator", "counter", "cache", "stream-lazy"]


@pytest.mark.soak
@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_code_is_never_confirmed(name: str, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    assert in_spite(name, tmp_path, start_methods=("fork",)).verdict() == "refuted"


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.soak
def test_healthy_code_is_never_confirmed_again_and_again(name: str, tmp_path: Path) -> None:
    qualname, attribute = write(name, tmp_path)
    finding = forced(tmp_path, qualname, attribute)
    verdicts = [prove(finding, tmp_path).verdict() for _ in range(20)]
    assert "confirmed" not in verdicts, verdicts


@pytest.mark.soak
def test_samples_that_depend_on_history_do_not_judge_a_handle(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    proof = as_it_is("file-and-generator", tmp_path)
    assert proof.verdict() == "inconclusive"
    assert "depend on previous reads" in proof.judgement.evidence
    assert proof.judgement.advice


@pytest.mark.soak
def test_counter_that_repeats_in_each_control_is_told_by_the_parts(tmp_path: Path) -> None:
    proof = as_it_is("file-and-first", tmp_path)
    assert any(seen.trial.spec["mode"] == "part" for seen in proof.observations)
    assert proof.verdict() != "confirmed"


@pytest.mark.soak
@pytest.mark.parametrize("name", ["worker-number", "worker-share"])
def test_samples_that_depend_on_the_worker_do_not_judge_a_handle(name: str, tmp_path: Path) -> None:
    """Nor where one of the workers gives what the control gave, and the others do not."""
    proof = as_it_is(name, tmp_path)
    assert proof.verdict() == "inconclusive"
    assert "or on the worker" in proof.judgement.evidence


@pytest.mark.soak
def test_global_handle(tmp_path: Path) -> None:
    proof = found("global", tmp_path, start_methods=("fork",), provoking=1.0)
    assert proof.verdict() in {"confirmed", "not reproduced"}
    assert "workers that did not open it" in proof.judgement.evidence


@pytest.mark.soak
def test_stream_that_shares_a_file(tmp_path: Path) -> None:
    proof = found("stream", tmp_path, start_methods=("fork",))
    assert proof.verdict() == "confirmed"
    assert "samples of the stream" in proof.judgement.evidence


BUCKETS = """
class Sentences(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")

    def __getitem__(self, index):
        self.file.seek(index * 400)
        return torch.frombuffer(bytearray(self.file.read(400)), dtype=torch.uint8)[: 8 + index % 5]

class Buckets(torch.utils.data.Sampler):
    def __iter__(self):
        for rest in range(5):
            yield list(range(rest, 240, 5))

if __name__ == "__main__":
    for batch in torch.utils.data.DataLoader(Sentences(), batch_sampler=Buckets(), num_workers=2):
        assert batch.shape[0] == 48
"""


@pytest.mark.soak
def test_batches_that_only_the_programs_sampler_makes_rightly(tmp_path: Path) -> None:
    """A trial's batches mix the lengths of the buckets: what a collate_fn says of that is no harm."""
    write("file", tmp_path)
    (tmp_path / "data.py").write_text(HEAD + BUCKETS)
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, entry=("data.py",), start_methods=("fork",))
    assert proof.verdict() == "confirmed", proof.judgement
    assert "samples differ" in proof.judgement.evidence
    assert "stack" not in proof.judgement.evidence
    (tmp_path / "data.py").write_text((HEAD + BUCKETS).replace("open(path, ", "None; open(path, "))
    healthy = prove(finding, tmp_path, entry=("data.py",), start_methods=("fork",))
    assert healthy.verdict() != "confirmed"


SPECTRA = """
class Spectra(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")

    def __len__(self):
        return 8

    def __getitem__(self, index):
        data = torch.frombuffer(bytearray(os.pread(self.file.fileno(), 400, index * 400)), dtype=torch.uint8)
        wave = data.float().repeat(1000).add(torch.arange(400000) / 7).sin()
        return torch.stft(wave, 512, window=torch.ones(512), return_complex=True).abs().sum()
"""


@pytest.mark.soak
def test_sums_that_depend_on_the_number_of_threads_are_no_harm(tmp_path: Path) -> None:
    """A worker of a DataLoader has one thread; so has the control."""
    write("file", tmp_path)
    (tmp_path / "data.py").write_text(HEAD + SPECTRA)
    proof = prove(forced(tmp_path, "Spectra", "file"), tmp_path, start_methods=("fork",), workers=2)
    assert proof.verdict() == "not reproduced", proof.judgement
    parts = [seen for seen in proof.observations if seen.trial.spec.get("mode") == "part"]
    assert not parts, "no sample differs, so that no further control is called for"


ONCE = """
class Records(Base):
    def __init__(self, path="records.bin"):
        self.path = path
        self.file = open(path, "rb")
        self.owner = os.getpid()

    def __getitem__(self, index):
        return os.pread(self.file.fileno(), 400, index * 400)

def reopen(worker):
    dataset = torch.utils.data.get_worker_info().dataset
    if not dataset.file.closed and dataset.owner != os.getpid():
        raise RuntimeError(f"{dataset.path} is already open")

if __name__ == "__main__":
    for batch in torch.utils.data.DataLoader(Records(), num_workers=2, worker_init_fn=reopen, collate_fn=list):
        print(batch)
"""


SENT = """
SCALE = {}

class Scaled(Base):
    def __init__(self, path="records.bin"):
        self.path = path
        self.file = open(path, "rb")
        SCALE["by"] = 2

    def __getstate__(self):
        return {**self.__dict__, "file": None}

    def __getitem__(self, index):
        if self.file is None:
            {opening}
        return os.pread(self.file.fileno(), 400, index * 400) * (SCALE.get("by", 1) if index % 2 else 1)
"""


@pytest.mark.soak
def test_a_dataset_that_is_sent_without_its_handle(tmp_path: Path) -> None:
    """What differs then is not laid to the handle, unless the line that fails names it."""
    write("file", tmp_path)
    (tmp_path / "data.py").write_text(HEAD + SENT.replace("{opening}", 'self.file = open(self.path, "rb")'))
    options = {"factories": (Factory("data:Scaled"),), "start_methods": ("forkserver",), "seconds": 120}
    proof = prove(forced(tmp_path, "Scaled", "file"), tmp_path, **options)
    assert proof.verdict() == "inconclusive"
    assert "is dropped or reopened when it is pickled, but: 120 of 240 samples differ" in proof.judgement.evidence
    assert "the script sets in a module or class at run time" in proof.judgement.advice
    (tmp_path / "data.py").write_text(HEAD + SENT.replace("{opening}", "pass"))
    proof = prove(forced(tmp_path, "Scaled", "file"), tmp_path, **options)
    assert proof.verdict() == "confirmed"
    assert "'NoneType' object has no attribute 'fileno'" in proof.judgement.evidence


@pytest.mark.soak
def test_what_a_worker_init_fn_raises_is_told_by_its_own_words(tmp_path: Path) -> None:
    write("file", tmp_path)
    (tmp_path / "data.py").write_text(HEAD + ONCE)
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, entry=("data.py",), start_methods=("fork",))
    assert "RuntimeError: records.bin is already open" in proof.judgement.evidence
    assert "Caught" not in proof.judgement.evidence


@pytest.mark.soak
def test_slow_dataset_is_read_for_fewer_samples(tmp_path: Path) -> None:
    proof = found("slow", tmp_path, start_methods=("fork",), seconds=9)
    assert proof.verdict() in {"confirmed", "not reproduced"}
    assert 8 <= proof.judgement.details["samples"] < 100


DEATHS = {
    "was killed by SIGSEGV": "os.kill(os.getpid(), signal.SIGSEGV)",
    "was killed by SIGBUS": "os.kill(os.getpid(), signal.SIGBUS)",
    "was killed by SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "was killed by SIGABRT": "os.abort()",
    "ended with exit code 7": "os._exit(7)",
}


@pytest.fixture(scope="module")
def dying(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Cell]:
    """A worker that dies as it is told; the control, in which nobody does, is run once for all."""
    folder = tmp_path_factory.mktemp("dying")
    write_dying("exec(os.environ['DEATH'])", folder)
    (finding,) = findings(folder)
    context = Context(folder, Settings(), environment(), start_methods=("fork",), provoking=0.4)
    (planned,) = proving.plan([finding], lambda _: context)
    assert isinstance(planned.outcome, Experiment)
    control, treatment = planned.outcome.trials
    with Runner(Path(sys.executable)) as runner:
        controls = [runner.run(control)]

    def die(code: str) -> Cell:
        subject = replace(treatment.subject, environment={"DEATH": code})
        with Runner(Path(sys.executable)) as runner:
            return cell_of(runner.run(replace(treatment, subject=subject)), controls, truth(controls))

    return die


QUICK_DEATHS = ("was killed by SIGSEGV",)
"""A death with stacks; of other signals and exits, test_handle_cells.py reads the records."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.soak] * (name not in QUICK_DEATHS)) for name in DEATHS]
)
def test_death_of_a_worker_is_named(name: str, dying: Callable[[str], Cell]) -> None:
    cell = dying(DEATHS[name])
    assert cell.verdict.value == "confirmed"
    assert f"a worker {name}" in cell.evidence
    signal_name = name.split()[-1]
    has_stack = hasattr(signal, signal_name) and signal_name != "SIGKILL"
    assert ("in __getitem__" in cell.stack) == has_stack


HANGING = """
class Scaled(Base):
    def __init__(self, path="records.bin"):
        self.file = open(path, "rb")
        torch.set_num_threads(2)
        torch.ones(1000, 1000).mul(2).sum()

    def __getitem__(self, index):
        self.file.seek(index * 400)
        data = self.file.read(400)
        torch.set_num_threads(2)  # a loader's worker has one thread until it asks for more
        torch.ones(1000, 1000).mul(2).sum()
        return data
"""


@pytest.mark.soak
def test_a_parallel_operation_before_and_after_the_fork_hangs(tmp_path: Path) -> None:
    write("file", tmp_path)
    (tmp_path / "data.py").write_text(HEAD + HANGING)
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, start_methods=("fork",), seconds=15, workers=2)
    assert proof.verdict() == "confirmed"
    row = (tmp_path / "data.py").read_text().splitlines().index("        return data")
    assert (
        f"hangs: still running after 15 s, 2 workers stuck at data.py:{row}, in __getitem__" in proof.judgement.evidence
    )
    assert "also look for threads that the parent started" in proof.judgement.advice
    assert f"line {row} in __getitem__" in proof.cell("fork")["stack"]
    assert proof.observations[-1].ending.stopped_for == "time"


@pytest.mark.soak
def test_worker_that_hangs(tmp_path: Path) -> None:
    write_dying("time.sleep(600)", tmp_path)
    (finding,) = findings(tmp_path)
    proof = prove(finding, tmp_path, start_methods=("fork",), seconds=20)
    assert proof.verdict() == "confirmed"
    assert "hangs: still running after 20 s" in proof.judgement.evidence
    assert "in __getitem__" in proof.cell("fork")["stack"]


@pytest.mark.soak
@pytest.mark.parametrize("name", ["lmdb", "lmdb-unlocked"])
def test_after_the_fix_there_is_nothing(name: str, tmp_path: Path, forklint) -> None:
    pytest.importorskip("lmdb")
    write(name, tmp_path)
    (finding,) = findings(tmp_path)
    done = forklint("data.py", "--isolated", "--select", "FKL301", "--fix", "--unsafe-fixes", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert prove(finding, tmp_path, **PRELOADED).verdict() == "refuted"
