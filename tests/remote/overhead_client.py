"""Runs the same trial here and on a worker, in turn: ``ADDRESS FOLDER COUNT``. Prints the seconds of each as JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from forklint.remote.dask_settings import prepare
from forklint.verify.runner import Runner
from forklint.verify.words import Factors, Subject, Trial

if __name__ == "__main__":
    address, folder, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    prepare()
    import hashlib

    from forklint.remote.cluster import Cluster
    from forklint.remote.remote_runner import RemoteRunner, Retries
    from forklint.remote.security import Tls
    from forklint.remote.slices import Slice, SlicedFile

    script = folder / "empty.py"
    script.write_text("pass\n")
    subject = Subject("entry", (str(script),), folder)
    trial = Trial("empty", subject, "first_batch", {"batches": 1}, Factors(), folders=(folder,))
    data = script.read_bytes()
    one = SlicedFile(script, "empty.py", hashlib.sha256(data).hexdigest(), len(data))
    files = Slice({str(folder): (one,)})
    with Cluster(address, Tls()) as cluster, Runner(Path(sys.executable)) as here:
        there = RemoteRunner(cluster, cluster.machines()[0], files, Retries())
        seconds: dict[str, list[float]] = {"here": [], "there": []}
        for _ in range(count + 1):
            for name, runner in (("here", here), ("there", there)):
                began = time.monotonic()
                seen = runner.run(trial)
                assert seen.ending.exit_code == 0, seen
                seconds[name].append(time.monotonic() - began - seen.wall_seconds)
    print(json.dumps({name: some[1:] for name, some in seconds.items()}))
