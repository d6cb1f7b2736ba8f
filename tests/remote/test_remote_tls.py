"""TLS with the commands of docs/other-machines.md: without a certificate of the authority nobody gets anywhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_snippets import snippet
from processes import Processes


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


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the commands of the page need openssl")
def test_only_who_has_a_certificate_of_the_authority_can_connect(processes: Processes, run, tmp_path: Path) -> None:
    ours, others = certificates(tmp_path / "ours"), certificates(tmp_path / "others")
    address = processes.scheduler(*tls(ours, "laptop"))
    assert address.startswith("tls://")
    processes.worker(address, "gpu", *tls(ours, "gpu"))
    project = tmp_path / "project"
    project.mkdir()
    (project / "names.py").write_text("import torch\n\ntorch.set_num_thread(1)\n")
    given = ("verify", "names.py", "--label", "linux", "-q", "--on")

    done = run(*given, address, *tls(ours, "mac"), cwd=project)
    assert "confirmed on gpu" in done.stdout, done.stdout + done.stderr

    for options in ((), tls(others, "mac")):
        refused = run(*given, address, *options, cwd=project)
        assert (refused.returncode, refused.stdout) == (2, ""), refused.stderr
    plain = run(*given, address.replace("tls:", "tcp:"), cwd=project)
    assert (plain.returncode, plain.stdout) == (2, "")
    assert "cannot connect" in plain.stderr

    processes.worker(address, "stranger", *tls(others, "gpu"), wait=False)
    processes.wait_for("stranger", "cannot connect to tls://")
    code = (
        "import asyncio, sys; from distributed.comm import connect\n"
        "try: asyncio.run(connect(sys.argv[1], timeout=5)); print('connected')\n"
        "except Exception as error: print('refused')\n"
    )
    for target in (address.replace("tls:", "tcp:"), worker_address(address, ours)):
        plain_target = target.replace("tls:", "tcp:")
        done = subprocess.run(
            [sys.executable, "-c", code, plain_target], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.stdout.strip() == "refused", done.stdout + done.stderr


def worker_address(address: str, folder: Path) -> str:
    """The address of the only worker, for somebody with a certificate."""
    code = (
        "import sys; from distributed import Client, Security\n"
        "tls = Security(tls_ca_file=sys.argv[2], tls_client_cert=sys.argv[3], tls_client_key=sys.argv[4])\n"
        "with Client(sys.argv[1], security=tls, set_as_default=False) as client:\n"
        "    print(*client.scheduler_info(-1)['workers'])"
    )
    files = [str(folder / name) for name in ("ca.pem", "mac.pem", "mac.key")]
    done = subprocess.run(
        [sys.executable, "-c", code, address, *files], capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout.split()[-1]
