"""The server: which requests and notifications it takes, and what it does with them."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer

from forklint import __version__
from forklint.config import ConfigError
from forklint.model import FileReport, Finding
from forklint.server import settings, verifying, watching
from forklint.server.analysis import Analysis
from forklint.server.diagnostics import Place, Renderer, Result, Verified, moved
from forklint.server.progress import Progress
from forklint.server.protocol import Protocol
from forklint.server.schedule import Schedule
from forklint.server.settings import ClientSettings
from forklint.server.texts import Document, Snapshot, Text, Texts
from forklint.server.watching import Changes
from forklint.source.document import UnreadableError, decode
from forklint.source.kinds import Kind, kind_of
from forklint.source.roots import find_extent
from forklint.store.stamps import content_of

SECTION = "forklint"
NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithNotebook(notebook="jupyter-notebook")], save=False
)
Json = dict[str, Any]
logger = logging.getLogger(__name__)


class Server(LanguageServer):
    """One client's server."""

    def __init__(self) -> None:
        super().__init__("forklint", __version__, notebook_document_sync=NOTEBOOKS, protocol_cls=Protocol)
        self.texts = Texts()
        self.analysis = Analysis()
        self.schedule: Schedule | None = None
        self.settings = ClientSettings()
        self.results: dict[str, Result] = {}
        self.verdicts: dict[tuple[str, str], tuple[bytes, Verified]] = {}
        """By document and fingerprint: the content that was run, and what was said of it."""
        self.changes = Changes()
        self.first_settings: Any = None
        """What the client sent when it said hello."""
        self._sound: dict[str, Result] = {}
        """Of each document, the last result without a syntax error."""
        self._published: dict[str, set[str]] = {}
        self._told: set[str] = set()

    # What pygls tells

    def report_server_error(self, error: Exception, source: object) -> None:
        """Say in one line of the log what a client sent that cannot be understood."""
        self.log(f"{type(error).__name__}: {error}", types.MessageType.Warning)

    def log(self, message: str, kind: types.MessageType = types.MessageType.Log) -> None:
        """Put a line into the client's log."""
        line = " ".join(message.split())
        self.window_log_message(types.LogMessageParams(kind, f"forklint: {line}"))

    def tell(self, message: str, kind: types.MessageType = types.MessageType.Error) -> None:
        """Show the user a message; the same one is shown once, until something else is right again."""
        if message not in self._told:
            self._told.add(message)
            self.window_show_message(types.ShowMessageParams(kind, f"forklint: {message}"))

    @property
    def is_shut_down(self) -> bool:
        """Whether the client has said goodbye."""
        return bool(self.protocol._shutdown)  # noqa: SLF001 - pygls swallows its own exit code

    def can(self, capability: str) -> bool:
        """Whether the client has a capability."""
        return bool(get_capability(self.client_capabilities, capability))

    # Documents

    def was_edited(self, document: Document | None) -> None:
        """Lint a document that was opened or edited."""
        if document is not None and self.schedule is not None and kind_of(document.path) is not Kind.FOREIGN:
            self.schedule.edited(document.uri)

    def was_closed(self, uri: str) -> None:
        """Forget a document."""
        document = self.texts.close(uri)
        if document is None or self.schedule is None:
            return
        self.schedule.closed(uri)
        self.results.pop(uri, None)
        self._sound.pop(uri, None)
        for one in self._published.pop(uri, set()):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(one, []))
        if not any(other.path == document.path for other in self.texts):
            self.changes.closed.add(document.path)
            self.look_at_disk()

    def touch_all(self) -> None:
        """Lint all open documents again; those on which nothing has changed cost next to nothing."""
        for document in self.texts:
            if self.schedule is not None:
                self.schedule.touched(document.uri)

    def look_at_disk(self) -> None:
        """Take in soon what has changed there."""
        if self.schedule is not None:
            self.schedule.look()

    async def guarded(self, call: Callable[[], Any]) -> Any:
        """Call a function on the thread of the projects; what goes wrong is told in one line, and gives None."""
        assert self.schedule is not None  # noqa: S101 - made when the client says hello
        try:
            return await self.schedule.do(call)
        except ConfigError as error:
            self.tell(str(error))
        except Exception as error:  # noqa: BLE001 - the server goes on
            self.log(
                f"internal error in forklint ({type(error).__name__}: {error}); please report it",
                types.MessageType.Error,
            )
        return None

    # Work (see ``schedule``)

    async def lint(self, uri: str) -> None:
        """Lint an open document and publish what is found, unless it is another one by then."""
        document = self.texts.find(uri)
        if document is None:
            return
        snapshot = document.snapshot()

        def work() -> Any:
            self.analysis.see(snapshot.path, snapshot.data)
            return self.analysis.lint(snapshot.path), self.analysis.is_learning

        found = await self.guarded(work)
        if found is None or found[0] is None:
            self._publish(Result(snapshot, FileReport(str(snapshot.path))), is_final=False)
            return
        report, is_learning = found
        before = self.results.get(uri)
        result = Result(snapshot, report)
        if result.is_unconfirmed and before is None:
            self.results[uri] = result
            await self.full(result)
        else:
            if result.is_unconfirmed and _is_newer(before):
                result = replace(result, report=replace(report, findings=()))
            self._publish(result, is_final=not (report.findings or result.is_unconfirmed))
        if is_learning and self.schedule is not None:
            self.schedule.learn()
        known = before.snapshot.data if before is not None else content_of(str(snapshot.path))
        if known != snapshot.data:
            for other in self.texts:
                if other.uri != uri and self.schedule is not None:
                    self.schedule.touched(other.uri)

    async def confirm(self, uri: str) -> None:
        """Lint a document in full."""
        result = self.results.get(uri)
        if result is not None and not result.has_fixes:
            await self.full(result)

    async def full(self, result: Result) -> Result:
        """A result with fixes, published if it is still of the current version."""
        if result.has_fixes or not (result.report.findings or result.is_unconfirmed):
            return result
        snapshot = result.snapshot
        report = await self.guarded(partial(self.analysis.with_fixes, snapshot.path, snapshot.data))
        if report is None:
            return result
        new = Result(snapshot, report, has_fixes=True)
        if self.results.get(snapshot.uri) is result:
            self.results[snapshot.uri] = new
            if result.is_unconfirmed or _said(report.findings) != _said(result.report.findings):
                self._publish(new, is_final=True)
        return new

    async def learn(self) -> bool:
        """Read a little more of large projects."""
        more, done = await self.guarded(self.analysis.learn) or (False, [])
        for folder in done:
            self.log(f"{folder} has been read")
        if done:
            self.touch_all()
        return bool(more)

    async def sweep(self) -> None:
        """Free what the last piece of work has put out of use."""
        await self.guarded(self.analysis.sweep)

    def is_cluttered(self) -> bool:
        """Whether much is out of use."""
        return self.analysis.is_cluttered

    async def sweep_all(self) -> None:
        """Free all that is out of use."""
        await self.guarded(self.analysis.sweep_all)

    async def take_in_unparsed(self) -> None:
        """Let the other files see what was left half typed."""
        if await self.guarded(self.analysis.take_in_unparsed):
            self.touch_all()

    async def look(self) -> None:
        """Take in what has changed on the disk."""
        changes, self.changes = self.changes, Changes()
        await self.guarded(partial(self.analysis.take_in, changes))
        self.touch_all()

    # Results

    def _publish(self, result: Result, *, is_final: bool) -> None:
        snapshot = result.snapshot
        document = self.texts.find(snapshot.uri)
        if document is None or document.version != snapshot.version:
            return
        older = self.results.get(snapshot.uri)
        self.results[snapshot.uri] = result
        by_uri = self._by_uri(result)
        before = self._published.get(snapshot.uri, set())
        self._published[snapshot.uri] = set(by_uri)
        for uri in (*by_uri, *(before - by_uri.keys())):
            version = snapshot.version if snapshot.notebook is None else None
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, by_uri.get(uri, []), version))
        for note in result.report.notes:
            if note.failure:
                self.log(f"{note.path}: {note.message}", types.MessageType.Warning)
        if not is_final and self.schedule is not None:
            self.schedule.confirm(snapshot.uri)
        is_new = _said(older.report.findings if older else ()) != _said(result.report.findings)
        if is_new and self.settings.code_lens and self.can("workspace.code_lens.refresh_support"):
            self.workspace_code_lens_refresh(None)

    def _by_uri(self, result: Result) -> dict[str, list[types.Diagnostic]]:
        """The diagnostics of a document; while a line is half typed, with those from before it was."""
        by_uri = self.renderer().by_uri(result)
        uri = result.snapshot.uri
        if not result.is_broken and not result.is_unconfirmed:
            self._sound[uri] = result
        elif uri in self._sound:
            sound = self._sound[uri]
            before, after = (one.snapshot.place(None)[1] for one in (sound, result))
            by_uri[uri] += moved(self.renderer().by_uri(sound)[uri], before, after)
        return by_uri

    def renderer(self) -> Renderer:
        """What makes diagnostics for this client."""
        has_related = self.can("text_document.publish_diagnostics.related_information")
        return Renderer(self.texts.encoding, self._place_of, self.verdict_of, has_related)

    def _place_of(self, path: Path, cell: int | None) -> Place | None:
        document = self.texts.at(path)
        if document is not None:
            try:
                return document.snapshot().place(cell)
            except LookupError:
                return None
        if cell is not None:
            return None
        try:
            return path.as_uri(), Text("", 0, decode(path, content_of(str(path))).text).lines
        except (UnreadableError, ValueError):
            return None

    def verdict_of(self, snapshot: Snapshot, finding: Finding) -> Verified | None:
        """What was said of a finding when it was verified, as long as the file is as it was."""
        data, verified = self.verdicts.get((snapshot.uri, finding.fingerprint), (b"", None))
        return verified if data == snapshot.data else None

    def show_again(self, uri: str) -> None:
        """Publish the diagnostics of a document once more."""
        result = self.results.get(uri)
        if result is not None:
            self._publish(result, is_final=True)

    async def current(self, uri: str) -> Result | None:
        """The result of a document, or of that of a cell, as it is now, with fixes; None if it is not open."""
        document = self.texts.find(uri)
        if document is None:
            return None
        result = self.results.get(document.uri)
        if result is None or result.snapshot.version != document.version:
            await self.lint(document.uri)
            result = self.results.get(document.uri)
        return await self.full(result) if result is not None else None

    # Settings

    async def configure(self, data: Any) -> None:
        """Take in settings of the client."""
        read, problems = settings.read(data, is_trusted=self.settings.is_trusted)
        for problem in problems:
            self.tell(f"{problem}; it is ignored")
        self.settings = read
        self._told.intersection_update(f"{problem}; it is ignored" for problem in problems)
        if self.schedule is not None:
            self.schedule.delay = read.delay
        await self.guarded(partial(self.analysis.configure, read))
        self.touch_all()

    async def pull_settings(self, pushed: Any) -> None:
        """Ask the client for its settings if it can be asked; else those that it pushed count."""
        data = pushed
        if self.can("workspace.configuration"):
            asked = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
            try:
                answer = await self.workspace_configuration_async(asked)
                data = answer[0] if answer else None
            except Exception as error:  # noqa: BLE001 - whatever a client answers
                self.log(f"the client does not say its settings: {error}")
        await self.configure(section(data))

    async def watch(self) -> None:
        """Ask the client to say what changes on the disk."""
        if self.can("workspace.did_change_watched_files.dynamic_registration"):
            try:
                await self.client_register_capability_async(types.RegistrationParams([watching.REGISTRATION]))
            except Exception as error:  # noqa: BLE001 - whatever a client answers
                self.log(f"the client does not watch files: {error}")

    # Verifying

    async def verify(self, place: Json) -> Verified | None:
        """Verify a finding, with progress, and show the verdict."""
        document = self.texts.find(str(place.get("uri")))
        if document is None:
            self.tell("the file with this finding is not open", types.MessageType.Warning)
            return None
        snapshot = document.snapshot()
        if not self.settings.is_trusted:
            self.tell("verifying runs code of the workspace, which is not trusted", types.MessageType.Warning)
            return None
        if content_of(str(snapshot.path)) != snapshot.data:
            self._told.clear()
            self.tell("save the file first: forklint verify runs what is on the disk", types.MessageType.Warning)
            return None
        target = verifying.Target(snapshot.path, int(place["line"]), str(place["code"]), str(place["fingerprint"]))
        token = str(uuid.uuid4())
        task = asyncio.ensure_future(
            verifying.verify(
                target, self.settings.interpreter, self.settings.configuration, find_extent(snapshot.path).root
            )
        )
        async with Progress(self, token, f"forklint verify {target.code}", task):
            try:
                verified = await task
            except verifying.VerifyError as error:
                self._told.clear()
                self.tell(f"{target.code} cannot be verified: {error}", types.MessageType.Warning)
                return None
            except asyncio.CancelledError:
                self.log("forklint verify was cancelled")
                return None
        self.verdicts[document.uri, target.fingerprint] = snapshot.data, verified
        self.show_again(document.uri)
        message = f"forklint: {target.code} in line {target.line} is {verified.verdict}: {verified.evidence}"
        self.window_show_message(types.ShowMessageParams(types.MessageType.Info, message))
        return verified


def section(data: Any) -> Any:
    """The settings of forklint in what a client sent, which may have others around them."""
    inner = data.get(SECTION) if isinstance(data, dict) else None
    return inner if isinstance(inner, dict) else data


def _is_newer(result: Result | None) -> bool:
    """Whether a text was of a newer syntax when it was last linted, as it probably still is."""
    return result is not None and bool(result.report.notes) and not result.report.findings


def _said(findings: Sequence[Finding]) -> list[tuple[object, ...]]:
    """What of findings is shown without being asked for."""
    return [(one.code, one.span, one.notebook_cell, one.message, one.severity) for one in findings]
