"""Findings in an editor: python-lsp-server with flake8 on, and Neovim attached to it. Needs the network."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from doc_snippets import snippet

pytestmark = pytest.mark.soak
REPOSITORY = Path(__file__).resolve().parents[2]
NEEDED = ("python-lsp-server", "flake8", "setuptools>=77")
SECONDS = 60
"""How long an answer of a server or an editor is waited for."""

CLEAN = "import torch\n\nprint(torch.__version__)\n"
HAZARD = """\
import lmdb
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, root):
        self.root, self.name = root, "wörter 😀"
        self.env = lmdb.open(root, readonly=True)

    def __getitem__(self, index):
        return self.env.stat()
"""
MENDED = HAZARD.replace("self.env = lmdb.open(root, readonly=True)", "self.env = None")


def skip(reason: str) -> NoReturn:
    """Skip, and say so beyond pytest's own summary: a soak that tests nothing must not look like one that did."""
    warnings.warn(f"SKIPPED: {reason}", stacklevel=2)
    pytest.skip(reason)


def run(*command: str | Path, cwd: Path, timeout: float = 400) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False
    )


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment that holds forklint, flake8 and python-lsp-server."""
    folder = tmp_path_factory.mktemp("editors")
    assert run(sys.executable, "-m", "venv", "venv", cwd=folder).returncode == 0
    python = folder / "venv" / "bin" / "python"
    fetched = run(python, "-m", "pip", "install", "--quiet", *NEEDED, cwd=folder)
    if fetched.returncode:
        skip(f"python-lsp-server cannot be installed: {fetched.stderr.strip().splitlines()[-1]}")
    source = folder / "source"  # a build leaves files behind
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source)
    shutil.copytree(REPOSITORY / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    installed = run(python, "-m", "pip", "install", "--quiet", "--no-build-isolation", source, cwd=folder)
    assert installed.returncode == 0, installed.stderr
    return python.parent


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.forklint]\n")
    (tmp_path / "data.py").write_text(CLEAN)
    return tmp_path


def environment(tools: Path) -> dict[str, str]:
    """Variables with ``tools`` first on the path, and nothing of the Python that runs the tests."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return {**kept, "PATH": f"{tools}{os.pathsep}{kept['PATH']}"}


class Client:
    """As much of an editor as a language server needs: messages over its standard input and output."""

    def __init__(self, server: subprocess.Popen[bytes]) -> None:
        self._server = server
        self._received: queue.Queue[dict[str, Any]] = queue.Queue()
        self._next = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def notify(self, method: str, **parameters: Any) -> None:
        self._send({"method": method, "params": parameters})

    def request(self, method: str, **parameters: Any) -> Any:
        self._next += 1
        number = self._next
        self._send({"id": number, "method": method, "params": parameters})
        return self._until(lambda message: message.get("id") == number and "method" not in message)["result"]

    def diagnostics(self, uri: str, wanted: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """Wait for diagnostics of a document that are as ``wanted`` says; gives them."""

        def published(message: dict[str, Any]) -> bool:
            here = message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri
            return here and wanted(message["params"]["diagnostics"])

        return self._until(published)["params"]["diagnostics"]

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._server.stdin is not None
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._server.stdin.flush()

    def _listen(self) -> None:
        stream = self._server.stdout
        assert stream is not None
        while header := stream.readline():
            length = 0
            while header.strip():
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
                header = stream.readline()
            self._received.put(json.loads(stream.read(length)))

    def _until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        end = time.monotonic() + SECONDS
        seen = []
        while (left := end - time.monotonic()) > 0:
            try:
                message = self._received.get(timeout=left)
            except queue.Empty:
                break
            if wanted(message):
                return message
            seen.append(message)
        raise AssertionError(f"the server did not answer as hoped; it said {seen}")


@pytest.fixture
def client(tools: Path, project: Path) -> Iterator[Client]:
    server = subprocess.Popen(
        [tools / "pylsp"], cwd=project, env=environment(tools), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        client = Client(server)
        client.request("initialize", processId=os.getpid(), rootUri=project.as_uri(), capabilities={})
        client.notify("initialized")
        client.notify("workspace/didChangeConfiguration", settings=json.loads(snippet("editors.md", "pylsp-settings")))
        yield client
        client.request("shutdown")
        client.notify("exit")
        server.wait(SECONDS)
    finally:
        server.kill()


def forklint_of(diagnostics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in diagnostics if str(one["code"]).startswith("FKL")]


def test_a_language_server_publishes_what_is_in_the_unsaved_text(client: Client, project: Path) -> None:
    uri = (project / "data.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": HAZARD}
    client.notify("textDocument/didOpen", textDocument=document)
    (one,) = forklint_of(client.diagnostics(uri, lambda found: bool(forklint_of(found))))
    assert one["code"] == "FKL301"
    assert one["range"]["start"] == {"line": 7, "character": 8}
    assert one["range"]["end"]["line"] == 7
    assert "`self.env` holds an open LMDB environment" in one["message"]
    changed = {"uri": uri, "version": 2}
    client.notify("textDocument/didChange", textDocument=changed, contentChanges=[{"text": MENDED}])
    client.diagnostics(uri, lambda found: not forklint_of(found))
    changed = {"uri": uri, "version": 3}
    client.notify("textDocument/didChange", textDocument=changed, contentChanges=[{"text": HAZARD}])
    client.diagnostics(uri, lambda found: len(forklint_of(found)) == 1)
    assert (project / "data.py").read_text() == CLEAN


def test_what_the_server_says_follows_the_project(client: Client, project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.forklint]\nplatforms = ["darwin"]\n')
    (project / "src").mkdir()
    (project / "src" / "deep.py").write_text(CLEAN)
    uri = (project / "src" / "deep.py").as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": HAZARD}
    client.notify("textDocument/didOpen", textDocument=document)
    (one,) = forklint_of(client.diagnostics(uri, lambda found: bool(forklint_of(found))))
    assert "under spawn" in one["message"]
    assert "under fork" not in one["message"]


class Neovim:
    """The editor, from wherever it came."""

    def __init__(self, program: Path, variables: dict[str, str]) -> None:
        self.program = program
        self.variables = variables


def from_debian(folder: Path) -> Neovim:
    """Unpack Debian's neovim, and what it needs beyond what is installed, into a folder."""
    for tool in ("apt-get", "apt-cache", "dpkg-deb", "dpkg-query"):
        if shutil.which(tool) is None:
            skip(f"there is no nvim here, and no {tool} to fetch one with")
    closure = ("--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances")
    for attempt in range(2):
        listed = run("apt-cache", "depends", "--recurse", *closure, "neovim", cwd=folder).stdout
        names = sorted({line for line in listed.splitlines() if line and line[0].isalnum()})
        state = ("dpkg-query", "-W", "-f", "${db:Status-Status}")
        missing = [name for name in names if run(*state, name, cwd=folder).stdout != "installed"]
        fetched = run("apt-get", "download", *missing, cwd=folder)
        if "neovim" in missing and not fetched.returncode:
            break
        if attempt:
            skip(f"neovim cannot be fetched: {fetched.stderr.strip() or 'no package of that name'}")
        run("apt-get", "update", cwd=folder)
    for package in folder.glob("*.deb"):
        assert run("dpkg-deb", "-x", package, folder / "root", cwd=folder).returncode == 0
    usr = folder / "root" / "usr"
    libraries = os.pathsep.join(str(path) for path in [*(usr / "lib").glob("*-linux-*"), usr / "lib"])
    variables = {"LD_LIBRARY_PATH": libraries, "VIMRUNTIME": str(usr / "share" / "nvim" / "runtime")}
    return Neovim(usr / "bin" / "nvim", variables)


@pytest.fixture(scope="module")
def neovim(tmp_path_factory: pytest.TempPathFactory) -> Neovim:
    installed = shutil.which("nvim")
    return Neovim(Path(installed), {}) if installed else from_debian(tmp_path_factory.mktemp("neovim"))


BEFORE_0_8 = """
vim.lsp.start = vim.lsp.start or function(config)  -- which also sends the settings
  config.on_init = function(client)
    client.notify("workspace/didChangeConfiguration", { settings = config.settings })
  end
  vim.lsp.buf_attach_client(0, vim.lsp.start_client(config))
end
"""
SESSION = """
local function forklint()
  return vim.tbl_filter(function(one) return one.message:find("FKL") ~= nil end, vim.diagnostic.get(0))
end
local function wait(count)
  vim.wait(%(milliseconds)d, function() return #forklint() == count end, 50)
  io.stdout:write(vim.fn.json_encode(vim.tbl_map(function(one)
    return { row = one.lnum + 1, column = one.col + 1, message = one.message }
  end, forklint())) .. "\\n")
end
vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.fn.readfile("hazard.txt"))
wait(1)
vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.fn.readfile("mended.txt"))
wait(0)
vim.cmd("qa!")
"""


def test_neovim_shows_it(neovim: Neovim, tools: Path, project: Path) -> None:
    (project / "hazard.txt").write_text(HAZARD)
    (project / "mended.txt").write_text(MENDED)
    (project / "init.lua").write_text(BEFORE_0_8 + snippet("editors.md", "neovim"))
    (project / "session.lua").write_text(SESSION % {"milliseconds": SECONDS * 1000})
    home = {"HOME": str(project), "XDG_STATE_HOME": str(project), "XDG_CACHE_HOME": str(project), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [neovim.program, "--headless", "-n", "-u", "init.lua", "data.py", "-c", "luafile session.lua"],
        cwd=project,
        env={**environment(tools), **neovim.variables, **home},
        capture_output=True,
        text=True,
        timeout=3 * SECONDS,
        check=False,
    )
    shown = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert len(shown) == 2, done.stdout + done.stderr
    (one,) = shown[0]
    assert (one["row"], one["column"]) == (8, 9)
    assert "FKL301 `self.env` holds an open LMDB environment" in one["message"]
    assert shown[1] == []
    assert (project / "data.py").read_text() == CLEAN
