"""TLS with the commands of docs/other-machines.md: without a certificate of the authority nobody gets anywhere."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from doc_snippets import snippet
from processes import Processes, workers_of


def certificates(folder: Path) -> Path:
    """Files made by the commands of the page, with smaller keys to save time."""
    folder.mkdir()
    script = snippet("other-machines.md", "tls")
    subprocess.run(
        ["bash", "-e", "-c", script.replace("rsa:3072", "rsa:2048")], cwd=folder, check=True, capture_output=True
    )
    return folder


def tls(folder: Path, name: str) -> tuple[str, ...]:
    files = {"--tls-ca-file": "ca.pem", "--tls-cert": f"{name}.pem", "--tls-key": f"{name}.key"}
    return tuple(word for option, file in files.items() for word in (option, str(folder / file)))


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("openssl") is None, reason="the commands of the page need openssl")
def test_only_who_has_a_certificate_of_the_authority_can_connect(processes: Processes, verify, tmp_path: Path) -> None:
    from distributed.comm import connect
    from distributed.security import Security

    ours, others = certificates(tmp_path / "ours"), certificates(tmp_path / "others")
    address = processes.scheduler(*tls(ours, "laptop"))
    assert address.startswith("tls://")
    processes.worker(address, "gpu", *tls(ours, "gpu"))
    processes.worker(address, "stranger", *tls(others, "gpu"), wait=False)
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(2 * "import multiprocessing; multiprocessing.set_start_method('spawn')\n")
    plain = address.replace("tls:", "tcp:")

    def verified(options: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        return verify("train.py", "--label", "linux", "-q", "--on", *options, cwd=project)

    with ThreadPoolExecutor() as threads:  # those that are refused try for ten seconds
        tried = [(address, *tls(ours, "mac")), (address,), (address, *tls(others, "mac")), (plain,)]
        let_in, *refused = threads.map(verified, tried)
    assert "confirmed on gpu" in let_in.stdout, let_in.stdout + let_in.stderr
    assert [(done.returncode, done.stdout) for done in refused] == [(2, "")] * 3
    without_files, of_strangers, unencrypted = (done.stderr for done in refused)
    assert "needs --tls-ca-file" in without_files
    assert "cannot connect" in of_strangers
    assert "cannot connect" in unencrypted
    processes.wait_for("stranger", "cannot connect to tls://")

    files = {"tls_ca_file": "ca.pem", "tls_client_cert": "mac.pem", "tls_client_key": "mac.key"}
    (worker,) = workers_of(address, Security(**{name: str(ours / file) for name, file in files.items()}))
    for target in (plain, worker.replace("tls:", "tcp:")):
        with pytest.raises(OSError, match=r"Timed out|reset by peer"):
            asyncio.run(connect(target, timeout=2))
