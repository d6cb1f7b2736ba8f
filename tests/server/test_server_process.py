"""The server as a process: odd input, what it writes where, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lsp_client import Client, serving, span

WITHOUT = """\
import sys
sys.modules["pygls"] = None
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pygls", "lsprotocol"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
del sys.modules["pygls"]
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "pygls" else real(name, *rest)
sys.argv = ["forklint", "server"]
from forklint.cli import main
main()
"""


def test_without_pygls_one_line_says_what_to_install(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT]
    done = subprocess.run(command, cwd=tmp_path, input="", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: the server needs pygls: pip install 'forklint[server]'\n"


def test_it_ends_with_its_client(project: Path) -> None:
    with serving(project, fresh=True) as client:
        client.open("data.py")
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.process.wait(20) == 1, "nobody said goodbye"


def test_exit_without_shutdown(project: Path) -> None:
    with serving(project, fresh=True) as client:
        client.notify("exit")
        assert client.process.wait(20) == 1


ODD = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b'{"jsonrpc": "2.0"}',
    b'{"jsonrpc": "1.0", "method": "x"}',
    b'{"jsonrpc": "2.0", "method": 7, "params": null}',
    b'{"jsonrpc": "2.0", "id": 77, "result": {}}',
    b'{"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "?"}}',
]
ODD_NOTIFICATIONS = [
    ("textDocument/didOpen", None),
    ("textDocument/didOpen", {"textDocument": {"uri": 3}}),
    ("textDocument/didOpen", {"textDocument": {"uri": "git:/data.py", "languageId": "", "version": 1, "text": ""}}),
    ("textDocument/didOpen", {"textDocument": {"uri": "file:///a%00b.py", "languageId": "", "version": 1, "text": ""}}),
    (
        "textDocument/didOpen",
        {"textDocument": {"uri": "file:///", "languageId": "", "version": 1, "text": "import os"}},
    ),
    ("textDocument/didOpen", {"textDocument": {"uri": "untitled:1", "languageId": "", "version": 1, "text": ""}}),
    ("textDocument/didChange", {"textDocument": {"uri": "file:///none.py", "version": 2}, "contentChanges": []}),
    ("textDocument/didClose", {"textDocument": {"uri": "file:///none.py"}}),
    ("textDocument/didSave", {"textDocument": {"uri": "file:///none.py"}}),
    ("notebookDocument/didClose", {"notebookDocument": {"uri": "file:///none.ipynb"}, "cellTextDocuments": []}),
    ("workspace/didChangeWatchedFiles", {"changes": [{"uri": "nothing", "type": 9}]}),
    ("workspace/didChangeConfiguration", {"settings": [1, 2]}),
    ("window/workDoneProgress/cancel", {"token": "none"}),
    ("$/cancelRequest", {"id": 12345}),
    ("$/unknown", {}),
]
ODD_REQUESTS = [
    ("textDocument/hover", {}),
    ("textDocument/hover", {"textDocument": {"uri": "file:///none.py"}, "position": {"line": -1, "character": -1}}),
    ("textDocument/codeAction", {"textDocument": {"uri": "x"}, "range": span(0, 0, 0), "context": {"diagnostics": []}}),
    ("codeAction/resolve", {"title": "?", "kind": "source.fixAll.forklint"}),
    ("workspace/executeCommand", {"command": "forklint.verify", "arguments": [7]}),
    ("workspace/executeCommand", {"command": "forklint.verify"}),
    ("workspace/executeCommand", {"command": "no.such"}),
    ("workspace/symbol", {"query": ""}),
    ("no/such", {}),
]


def test_odd_input_is_survived(project: Path) -> None:
    """No traceback anywhere, every request answered, and the next file linted as ever."""
    with serving(project, fresh=True) as client:
        for body in ODD:
            client.write_bytes(body)
        for method, params in ODD_NOTIFICATIONS:
            client.notify(method, params)
        for method, params in ODD_REQUESTS:
            number = client.send(method, params)
            client.wait(lambda number=number: number in client._responses, f"no answer to {method} {params}")
        uri = client.open("data.py")
        assert client.codes(uri) == ["FKL301"]
        for where in (span(6, 90, 99), span(600, 0, 0)):
            client.change(uri, {"range": where, "text": "\n# more"})
            assert client.codes(uri) == ["FKL301"]
        assert "Traceback" not in json.dumps(client.seen)


@pytest.mark.parametrize("text", ["\0", "# coding: nonsense\n", "(" * 20_000, "x = 1\n" * 3 + "\ud800", "'" * 9999])
def test_odd_texts_are_survived(project: Path, text: str) -> None:
    with serving(project) as client:
        uri = client.open("odd.py", text)
        client.found(uri)
        assert client.codes(client.open("data.py")) == ["FKL301"]
        assert not client.messages()


def test_nothing_but_the_protocol_is_printed(project: Path) -> None:
    """Not even by a library that prints while a file is linted, or by a process that is started."""
    (project / "sitecustomize.py").write_text("print('from a library')\n")
    client = Client(project, env={"PYTHONPATH": f"{project}:{Path(__file__).parents[2] / 'src'}"})
    client.process.kill()
    client.process.wait()
    probe = (
        "import os, sys\n"
        "from forklint.server.serving import _own_streams\n"
        "reader, writer = _own_streams()\n"
        "print('from Python', flush=True); os.system('echo from a child')\n"
        "assert sys.stdin.read() == ''\n"
        "writer.write(b'protocol'); writer.flush()\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], input=b"data", capture_output=True, check=True)
    assert done.stdout == b"protocol"
    assert b"from Python" in done.stderr
    assert b"from a child" in done.stderr


def test_help_and_capabilities(project: Path, forklint) -> None:
    assert "language server" in forklint("server", "--help", cwd=project).stdout
    with serving(project, start=None, fresh=True) as client:
        can = client.start()
        assert can["textDocumentSync"]["change"] == 2
        assert can["notebookDocumentSync"]["notebookSelector"]
        assert set(can["codeActionProvider"]["codeActionKinds"]) == {"quickfix", "source.fixAll.forklint"}
        assert can["executeCommandProvider"]["commands"] == ["forklint.verify"]
        assert can["positionEncoding"] == "utf-16"
