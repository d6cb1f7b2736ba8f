"""A client of the language server: a process, spoken to over its pipes, whose messages are checked by lsprotocol."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forked_server import ForkedServer
from lsprotocol import converters, types

CONVERTER = converters.get_converter()
CAPABILITIES = {
    "workspace": {
        "workspaceEdit": {"documentChanges": True},
        "codeLens": {"refreshSupport": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "workspaceFolders": True,
    },
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
        "codeAction": {"resolveSupport": {"properties": ["edit"]}},
    },
    "notebookDocument": {"synchronization": {}},
    "window": {"workDoneProgress": True},
}
Json = dict[str, Any]
PATIENCE = 120.0


class Client:
    """Speaks to one server."""

    def __init__(
        self, root: Path, *, capabilities: Json | None = None, env: dict[str, str] | None = None, fresh: bool = False
    ) -> None:
        """Start a server in a folder; with variables ``env`` or if ``fresh`` it has an interpreter of its own."""
        self.root = root
        self.answers: Json = {"workspace/configuration": [None]}
        """What to answer to requests of the server, by method; nothing else is answered with anything but null."""
        self.seen: list[Json] = []
        """All notifications and requests of the server."""
        self.stderr: list[str] = []
        self._inbox: queue.Queue[Json | None] = queue.Queue()
        self._responses: dict[int, Json] = {}
        self._next = 0
        self._versions: dict[str, int] = {}
        self.diagnostics: dict[str, types.PublishDiagnosticsParams] = {}
        environment = {**os.environ, "FORKLINT_NO_CACHE": "", **(env or {})}
        self.process = started(root, environment) if fresh or env else ForkedServer(root, environment)
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()
        self.capabilities = capabilities or CAPABILITIES

    def _read(self) -> None:
        assert self.process.stdout is not None
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                name, _, value = line.partition(b":")
                assert name in {b"Content-Length", b"Content-Type"}, f"not of the protocol: {line!r}"
                length = int(value) if name == b"Content-Length" else length
            body = self.process.stdout.read(length)
            if not body:
                self._inbox.put(None)
                return
            self._inbox.put(json.loads(body))

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr.append(line.decode())

    def write(self, message: Json) -> None:
        self.write_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def write_bytes(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def notify(self, method: str, params: Any = None) -> None:
        self.write({"method": method, "params": params})

    def send(self, method: str, params: Any = None) -> int:
        self._next += 1
        self.write({"id": self._next, "method": method, "params": params})
        return self._next

    def request(self, method: str, params: Any = None) -> Any:
        """Ask, and wait for the answer; an error raises."""
        number = self.send(method, params)
        self.wait(lambda: number in self._responses, f"no answer to {method}")
        response = self._responses.pop(number)
        if "error" in response:
            raise RuntimeError(response["error"]["message"])
        types_of = types.METHOD_TO_TYPES.get(method)
        if types_of is not None and types_of[1] is not None:
            CONVERTER.structure(response, types_of[1])
        return response["result"]

    def wait(self, is_done: Callable[[], Any], what: str, seconds: float = PATIENCE) -> None:
        """Take messages until something is so."""
        end = time.monotonic() + seconds
        while not is_done():
            try:
                message = self._inbox.get(timeout=max(end - time.monotonic(), 0.01))
            except queue.Empty:
                raise TimeoutError(f"{what}; stderr: {''.join(self.stderr)}") from None
            if message is None:
                raise EOFError(f"the server has ended: {''.join(self.stderr)}")
            self._take(message)

    def settle(self, seconds: float = 0.5) -> None:
        """Take what comes in for a while."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                message = self._inbox.get(timeout=left)
            except queue.Empty:
                return
            if message is not None:
                self._take(message)

    def _take(self, message: Json) -> None:
        if "method" not in message:
            self._responses[message["id"]] = message
            return
        self.seen.append(message)
        parsed = CONVERTER.structure(message, types.METHOD_TO_TYPES[message["method"]][0])
        if "id" in message:
            self.write({"id": message["id"], "result": self.answers.get(message["method"])})
        elif message["method"] == types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS:
            self.diagnostics[parsed.params.uri] = parsed.params

    def start(self, **options: Any) -> Json:
        """Say hello; gives what the server can."""
        folders = [{"uri": self.root.as_uri(), "name": self.root.name}]
        params = {"processId": None, "rootUri": self.root.as_uri(), "workspaceFolders": folders}
        result = self.request("initialize", {**params, "capabilities": self.capabilities, **options})
        self.notify("initialized", {})
        return result["capabilities"]

    # Documents

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def open(self, name: str, text: str | None = None) -> str:
        """Open a file, by default as it is on the disk; gives its URI."""
        uri = self.uri(name)
        source = (self.root / name).read_bytes().decode() if text is None else text
        self._versions[uri] = 1
        language = {".py": "python", ".ipynb": "json"}.get(Path(name).suffix, Path(name).suffix[1:])
        item = {"uri": uri, "languageId": language, "version": 1, "text": source}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri: str, *changes: Json) -> None:
        self._versions[uri] += 1
        document = {"uri": uri, "version": self._versions[uri]}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def replace(self, uri: str, text: str) -> None:
        self.change(uri, {"text": text})

    def close(self, uri: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def found(self, uri: str) -> list[types.Diagnostic]:
        """The diagnostics of a document, once those of its current version are there."""
        version = self._versions[uri]
        self.wait(lambda: uri in self.diagnostics and self.diagnostics[uri].version == version, f"nothing about {uri}")
        return list(self.diagnostics[uri].diagnostics)

    def codes(self, uri: str) -> list[str]:
        return [str(one.code) for one in self.found(uri)]

    def until(self, uri: str, codes: list[str]) -> None:
        """Wait until the diagnostics of a document are these."""

        def now() -> list[str]:
            return [str(one.code) for one in self.diagnostics[uri].diagnostics] if uri in self.diagnostics else []

        self.wait(lambda: uri in self.diagnostics and now() == codes, f"{uri} never has {codes}")

    def actions(self, uri: str, where: Json, only: list[str] | None = None) -> list[Json]:
        context: Json = {"diagnostics": [], **({"only": only} if only else {})}
        params = {"textDocument": {"uri": uri}, "range": where, "context": context}
        return self.request("textDocument/codeAction", params) or []

    def messages(self, method: str = "window/showMessage") -> list[str]:
        return [one["params"]["message"] for one in self.seen if one["method"] == method]

    def stop(self) -> int:
        """Say goodbye; gives the exit code."""
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(20)


def started(root: Path, variables: dict[str, str]) -> subprocess.Popen[bytes]:
    """A server as users have it."""
    command, pipe = [sys.executable, "-m", "forklint", "server"], subprocess.PIPE
    return subprocess.Popen(command, cwd=root, env=variables, stdin=pipe, stdout=pipe, stderr=pipe)


@contextmanager
def serving(root: Path, **options: Any) -> Iterator[Client]:
    """A client whose server ends with it, in good order and without a word on standard error."""
    start = options.pop("start", {})
    client = Client(root, **options)
    try:
        if start is not None:
            client.start(**start)
        yield client
        if client.process.poll() is None:
            status = client.stop()
            assert status == 0, f"it ended with {status}; {client.stderr}"
        assert client.stderr == []
    finally:
        client.process.kill()
        client.process.wait()


def point(line: int, character: int) -> Json:
    return {"line": line, "character": character}


def span(line: int, start: int, end: int) -> Json:
    return {"start": point(line, start), "end": point(line, end)}


def applied(text: str, edits: list[Json]) -> str:
    """A text of characters in the BMP with edits of the protocol applied."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(place: Json) -> int:
        return min(starts[place["line"]] + place["character"], len(text))

    for edit in sorted(edits, key=lambda one: offset(one["range"]["start"]), reverse=True):
        text = text[: offset(edit["range"]["start"])] + edit["newText"] + text[offset(edit["range"]["end"]) :]
    return text
