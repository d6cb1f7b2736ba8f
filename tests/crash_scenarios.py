"""Makes the messages of crashes for real: each scenario in a process of its own, forked from one that has torch.

Run as a program (``python crash_scenarios.py``): prints a JSON object with the output and the ending of each.
"""

# ruff: noqa: BLE001, PTH123, SIM115 - files that nobody closes, and errors of any kind, are what is shown here
from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gzip
import io
import json
import mmap
import multiprocessing
import multiprocessing.shared_memory
import os
import pickle
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import traceback
import zipfile
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import h5py
import lmdb
import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset

SCENARIOS: dict[str, Callable[[], object]] = {}
"""By what each is called: the names of the rows that it makes, with ``/``."""
SECONDS = 20


def makes(*rows: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def note(function: Callable[[], object]) -> Callable[[], object]:
        SCENARIOS["/".join(rows)] = function
        return function

    return note


class Items(Dataset):
    def __init__(self, read=lambda index: index, length=4):
        self.read, self.length = read, length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.read(index)


def loaded(read: Callable[[int], object], **options: object) -> None:
    list(DataLoader(Items(read), **{"num_workers": 1, **options}))


def told(*actions: Callable[[], object]) -> None:
    """What each raises is printed, as at a program's end."""
    for action in actions:
        try:
            action()
        except Exception:
            traceback.print_exc()


def dies(signal_name: str) -> Callable[[], None]:
    def die() -> None:
        number = getattr(signal, signal_name)
        signal.signal(number, signal.SIG_DFL) if signal_name != "SIGKILL" else None
        os.kill(os.getpid(), number)

    return die


for row, name in {
    "killed": "SIGKILL",
    "floating-point-exception": "SIGFPE",
    "illegal-instruction": "SIGILL",
    "terminated": "SIGTERM",
    "interrupted": "SIGINT",
    "broken-pipe-signal": "SIGPIPE",
    "bad-system-call": "SIGSYS",
    "breakpoint-trap": "SIGTRAP",
}.items():
    makes(row)(dies(name))


@makes("no-crash")
def _():
    pass


@makes("segmentation-fault")
def _():
    ctypes.string_at(0)


@makes("bus-error")
def _():
    Path("mapped").write_bytes(b"x" * 8192)
    file = open("mapped", "r+b")
    mapped = mmap.mmap(file.fileno(), 8192)
    os.truncate("mapped", 0)
    mapped[5000]


@makes("aborted")
def _():
    os.abort()


def killed_by(name: str) -> Callable[[], None]:
    def run() -> None:
        def read(index: int) -> None:
            os.kill(os.getpid(), getattr(signal, name))
            time.sleep(SECONDS)

        loaded(read)

    return run


makes("worker-segmentation-fault", "workers-gone")(killed_by("SIGSEGV"))
makes("worker-bus-error", "workers-gone")(killed_by("SIGBUS"))
makes("worker-floating-point-exception")(killed_by("SIGFPE"))
makes("worker-killed")(killed_by("SIGKILL"))
makes("worker-aborted")(killed_by("SIGABRT"))
makes("worker-other-signal")(killed_by("SIGXCPU"))


@makes("worker-exit-code")
def _():
    loaded(lambda index: os._exit(3))


@makes("loader-timed-out")
def _():
    loaded(lambda index: time.sleep(3), timeout=0.2)


@makes("error-in-worker", "missing-attribute")
def _():
    loaded(lambda index: index.sape)


class Stream(IterableDataset):
    def __len__(self):
        return 2

    def __iter__(self):
        return iter(range(2))


@makes("samples-repeated")
def _():
    loader = DataLoader(Stream(), num_workers=2)
    assert len(loader) == 2
    list(loader)


@makes("too-many-workers")
def _():
    DataLoader(Items(), num_workers=999)


@makes("loader-options-without-workers")
def _():
    told(
        lambda: DataLoader(Items(), prefetch_factor=2),
        lambda: DataLoader(Items(), persistent_workers=True),
        lambda: DataLoader(Items(), multiprocessing_context="spawn"),
    )


@makes("loader-options-exclude-each-other")
def _():
    told(
        lambda: DataLoader(Items(), sampler=[0], shuffle=True),
        lambda: DataLoader(Items(), batch_sampler=[[0]], batch_size=2),
        lambda: DataLoader(Items(), batch_size=None, drop_last=True),
        lambda: DataLoader(Stream(), shuffle=True),
    )


@makes("loader-timeout-without-workers")
def _():
    list(DataLoader(Items(), timeout=3))


@makes("loader-out-of-descriptors")
def _():
    ours, theirs = socket.socketpair()
    with open(os.devnull) as file:
        descriptor = file.fileno()
        socket.send_fds(theirs, [b"x"], [descriptor])
        resource.setrlimit(resource.RLIMIT_NOFILE, (ours.fileno() + 1, 4096))
        from multiprocessing.reduction import recvfds

        told(lambda: recvfds(ours, 1))


@makes("too-many-open-files", "shared-memory-refused")
def _():
    resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))
    kept: list[object] = []
    told(
        lambda: [kept.append(torch.zeros(9).share_memory_()) for _ in range(99)],
        lambda: [kept.append(open(os.devnull)) for _ in range(99)],
    )


@makes("shared-memory-refused")
def _():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    torch.multiprocessing.set_sharing_strategy("file_system")
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
    torch.zeros(100_000).share_memory_()


@makes("not-a-child")
def _():
    batches = iter(DataLoader(Items(), num_workers=1))
    next(batches)
    child = os.fork()
    if child == 0:
        del batches
        sys.stderr.flush()
        os._exit(0)
    os.waitpid(child, 0)


def run_script(text: str) -> None:
    Path("script.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "script.py"], timeout=SECONDS, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    os.write(1, done.stdout)  # with what its tracker of resources has printed after its end


@makes("bootstrapping")
def _():
    run_script("import multiprocessing\nmultiprocessing.get_context('spawn').Process(target=print).start()\n")


@makes("start-method-set-twice", "unknown-start-method")
def _():
    told(
        lambda: [multiprocessing.set_start_method("fork") for _ in range(2)],
        lambda: multiprocessing.get_context("frok"),
    )


@makes("daemons-have-no-children")
def _():
    def read(index):
        multiprocessing.Process(target=print).start()

    loaded(read)


@makes("process-pool-broken")
def _():
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        pool.submit(os._exit, 1).result()


@makes("leaked-semaphores", "leaked-shared-memory")
def _():
    run_script(
        "import multiprocessing, os\n"
        "from multiprocessing.shared_memory import SharedMemory\n"
        "lock = multiprocessing.get_context('spawn').Lock()\n"
        "memory = SharedMemory(create=True, size=100)\n"
        "os._exit(0)\n"
    )


def pickled(thing: object) -> Callable[[], object]:
    return lambda: multiprocessing.reduction.ForkingPickler.dumps(thing)


@makes("local-object-not-picklable", "lambda-not-picklable")
def _():
    def collate(batch):
        return batch

    named = eval("lambda batch: batch")  # at the top level of a script a lambda has no function around it
    told(pickled(collate), pickled(named))


@makes("file-not-picklable")
def _():
    told(pickled(open(__file__, "rb")), pickled(mmap.mmap(-1, 10)), pickled(socket.socket()))


@makes("lmdb-not-picklable")
def _():
    told(pickled(lmdb.open("words")))


@makes("h5py-not-picklable")
def _():
    told(pickled(h5py.File("a.h5", "w")))


@makes("connection-not-picklable")
def _():
    told(pickled(sqlite3.connect("a.db")))


@makes("object-not-picklable")
def _():
    told(pickled(threading.Lock()), pickled(item for item in ()), pickled(os))


@makes("name-missing-in-worker", "nothing-to-unpickle")
def _():
    told(
        lambda: pickle.loads(b"c__main__\nWords\n."),
        lambda: pickle.loads(b""),
        lambda: pickle.loads(b"\x80\x04\x95\xff\x00\x00\x00\x00\x00\x00\x00"),
    )


@makes("windows-pickle-pipe")
def _():
    reader, writer = multiprocessing.Pipe(duplex=False)
    reader.close()
    writer.send("the process that reads it has ended")


@makes("interop-threads")
def _():
    torch.set_num_interop_threads(1)
    torch.set_num_interop_threads(2)


@makes("lmdb-reader-slots")
def _():
    environment = lmdb.open("words", max_readers=1)
    kept = environment.begin()
    thread = threading.Thread(target=environment.begin)
    thread.start()
    thread.join()
    assert kept


@makes("lmdb-opened-twice", "lmdb-closed")
def _():
    environment = lmdb.open("words")
    told(lambda: lmdb.open("words"), environment.close, environment.begin)


@makes("hdf5-misread", "hdf5-truncated", "hdf5-locked")
def _():
    with h5py.File("a.h5", "w") as file:
        file.create_dataset("x", data=np.random.rand(1000, 100), chunks=(10, 100), compression="gzip")
    data = Path("a.h5").read_bytes()
    Path("a.h5").write_bytes(data[:5000] + os.urandom(len(data) - 8000) + data[-3000:])
    told(lambda: h5py.File("a.h5")["x"][:])
    Path("b.h5").write_bytes(data[:5000])
    told(lambda: h5py.File("b.h5"))
    writer = h5py.File("c.h5", "w")
    run_script("import h5py; h5py.File('c.h5', 'a')")
    assert writer


@makes("zip-misread")
def _():
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("a", "a" * 100)
    data = Path("a.zip").read_bytes()
    Path("a.zip").write_bytes(data.replace(b"a" * 100, b"b" * 100))
    told(lambda: zipfile.ZipFile("a.zip").read("a"))


@makes("inflate-failed")
def _():
    told(lambda: zlib.decompress(b"\0" * 10), lambda: gzip.decompress(b"\0" * 10))


@makes("tar-misread")
def _():
    told(lambda: tarfile.open(fileobj=io.BytesIO(b"x" * 2000)))


@makes("image-misread")
def _():
    told(lambda: Image.open(io.BytesIO(b"x" * 100)))
    written = io.BytesIO()
    Image.new("RGB", (64, 64)).save(written, "JPEG")
    told(lambda: Image.open(io.BytesIO(written.getvalue()[:400])).load())


@makes("pickle-misread")
def _():
    told(lambda: pickle.loads(b"\xe8\x00"))


@makes("sqlite-misread", "sqlite-locked")
def _():
    Path("a.db").write_bytes(b"no database at all" * 100)
    told(lambda: sqlite3.connect("a.db").execute("select * from a"))
    first, second = (sqlite3.connect("b.db", timeout=0, isolation_level=None) for _ in range(2))
    first.execute("begin exclusive")
    told(lambda: second.execute("begin exclusive"))


@makes("sqlite-thread")
def _():
    connection = sqlite3.connect("a.db")
    thread = threading.Thread(target=connection.execute, args=["select 1"])
    thread.start()
    thread.join()


@makes("closed-file")
def _():
    file = open(__file__, "rb")
    file.close()
    told(file.read, lambda: os.read(99, 1))


@makes("attention-mask-dtype", "attention-masks-differ")
def _():
    query = torch.zeros(1, 1, 2, 4)
    attend = torch.nn.functional.scaled_dot_product_attention
    layer = torch.nn.MultiheadAttention(4, 1)
    told(
        lambda: attend(query, query, query, attn_mask=torch.ones(2, 2, dtype=torch.long)),
        lambda: layer(query[0], query[0], query[0], key_padding_mask=torch.zeros(2, 1, dtype=torch.long)),
        lambda: layer(
            query[0],
            query[0],
            query[0],
            key_padding_mask=torch.zeros(2, 1, dtype=torch.bool),
            attn_mask=torch.zeros(1, 1),
        ),
    )


@makes("typed-storage")
def _():
    torch.ByteTensor(torch.ByteStorage.from_buffer(b"abc"))


@makes("dataset-method-missing")
def _():
    class Misspelt(Dataset):
        def __get_item__(self, index):
            return index

    told(lambda: Misspelt()[0], lambda: len(Misspelt()))


@makes("unknown-loader-option")
def _():
    DataLoader(Items(), num_worker=2)


@makes("loader-waits", "forked-process")
def _():
    def read(index):
        faulthandler.dump_traceback()
        time.sleep(SECONDS)

    stacks_of(lambda: loaded(read))


@makes("worker-waits-for-lock", "waiting-for-process")
def _():
    held = threading.Condition()
    threading.Thread(target=lambda: (held.acquire(), time.sleep(SECONDS)), daemon=True).start()
    time.sleep(0.05)

    def wait():
        faulthandler.dump_traceback_later(0.1, exit=True)
        with held:
            pass

    child = multiprocessing.get_context("fork").Process(target=wait)
    child.start()
    faulthandler.dump_traceback_later(0.05)
    child.join()


@makes("joining-workers")
def _():
    def run():
        process = multiprocessing.get_context("fork").Process(target=time.sleep, args=[SECONDS])
        process.start()
        multiprocessing.util._exit_function()

    stacks_of(run)


def stacks_of(hanging: Callable[[], object]) -> None:
    """The stacks after a moment, as faulthandler writes them; then all is over."""
    faulthandler.dump_traceback_later(0.8, exit=True)
    hanging()


@makes("heap-broken", "aborted")
def _():
    library = ctypes.CDLL(None)
    library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    library.free(library.malloc(4000) + 8)


def run(scenario: Callable[[], object], folder: str) -> tuple[str, int]:
    """What a scenario prints, and how its process ended, as subprocess has it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        os.setsid()
        for descriptor in (1, 2):
            os.dup2(writer, descriptor)
        os.close(writer)
        os.chdir(folder)
        signal.alarm(SECONDS)
        try:
            scenario()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # workers that nobody ends
    with os.fdopen(reader, "rb") as output:
        return output.read().decode(errors="replace"), os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    done = {}
    for key, scenario in SCENARIOS.items():
        with tempfile.TemporaryDirectory() as folder:
            done[key] = run(scenario, folder)
    print(json.dumps(done))
