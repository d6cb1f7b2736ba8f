"""What the server offers a client, request by request."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types

from forklint.server import actions
from forklint.server.actions import FIX_ALL, KINDS, VERIFY, Actions
from forklint.server.diagnostics import Result
from forklint.server.hover import hover
from forklint.server.schedule import Schedule
from forklint.server.server import Server
from forklint.server.settings import ClientSettings
from forklint.source.document import Document, UnreadableError, decode

ACTIONS = types.CodeActionOptions(code_action_kinds=list(KINDS), resolve_provider=True)


def make() -> Server:
    """A server with all that it offers."""
    server = Server()
    _add_lifetime(server)
    _add_changes(server)
    _add_questions(server)
    return server


def _add_lifetime(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        options = params.initialization_options if isinstance(params.initialization_options, dict) else {}
        ls.settings = ClientSettings(is_trusted=options.get("trusted") is not False)
        ls.texts.encoding = ls.workspace.position_encoding or types.PositionEncodingKind.Utf16
        ls.first_settings = options.get("settings", options)
        ls.schedule = Schedule(ls)
        ls.schedule.start()

    @server.feature(types.INITIALIZED)
    async def initialized(ls: Server, _: types.InitializedParams) -> None:
        await ls.pull_settings(ls.first_settings)
        await ls.watch()

    @server.feature(types.SHUTDOWN)
    def shutdown(ls: Server, _: None) -> None:
        if ls.schedule is not None:
            ls.schedule.end()


def _add_changes(server: Server) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(ls: Server, params: types.DidChangeConfigurationParams) -> None:
        await ls.pull_settings(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
        ls.changes.add(params.changes)
        ls.look_at_disk()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        ls.changes.add([types.FileEvent(params.text_document.uri, types.FileChangeType.Changed)])
        ls.look_at_disk()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_workspace_folders(ls: Server, _: types.DidChangeWorkspaceFoldersParams) -> None:
        ls.changes.is_set_anew = True
        ls.look_at_disk()


def _add_questions(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, ACTIONS)
    async def code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        result = await ls.current(params.text_document.uri)
        return await _actions(ls, result, params) if result is not None else None

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(ls: Server, action: types.CodeAction) -> types.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        result = await ls.current(str(data.get("uri")))
        if action.kind == FIX_ALL and result is not None and action.edit is None:
            action.edit = await _fix_all(ls, result)
        return action

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def on_hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        result = await ls.current(uri)
        return hover(result, uri, params.position, ls.texts.encoding) if result is not None else None

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lens(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens] | None:
        document = ls.texts.find(params.text_document.uri)
        result = ls.results.get(document.uri) if document is not None else None
        if result is None or not ls.settings.code_lens or not ls.settings.is_trusted:
            return None
        return [
            types.CodeLens(where, actions.verify_command(result.snapshot, finding))
            for finding, uri, where in result.ranges(ls.texts.encoding)
            if uri == params.text_document.uri and actions.can_be_verified(finding)
        ]

    @server.command(VERIFY)
    async def verify(ls: Server, place: Any) -> dict[str, str] | None:
        verified = await ls.verify(place if isinstance(place, dict) else {})
        return {"verdict": verified.verdict, "evidence": verified.evidence} if verified is not None else None


async def _actions(ls: Server, result: Result, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The actions that a client asks for."""
    found: list[types.CodeAction] = []
    of = Actions(result, ls.texts.encoding, versioned=ls.can("workspace.workspace_edit.document_changes"))
    only = params.context.only
    if actions.is_asked_for(types.CodeActionKind.QuickFix, only):
        document = _document(result)
        found += of.at(params.text_document.uri, params.range, document, can_verify=ls.settings.is_trusted)
    if actions.is_asked_for(FIX_ALL, only) and any(actions.is_safe(one) for one in result.report.findings):
        action = types.CodeAction("forklint: fix all (safe fixes)", FIX_ALL, data={"uri": result.snapshot.uri})
        if not ls.can("text_document.code_action.resolve_support"):
            action.edit = await _fix_all(ls, result)
        found.append(action)
    return found


async def _fix_all(ls: Server, result: Result) -> types.WorkspaceEdit | None:
    """The edit that applies all safe fixes."""
    snapshot, document = result.snapshot, _document(result)
    after = await ls.guarded(partial(ls.analysis.fixed, snapshot.path, snapshot.data))
    if after is None or document is None:
        return None
    of = Actions(result, ls.texts.encoding, versioned=ls.can("workspace.workspace_edit.document_changes"))
    return of.fixed(document, after)


def _document(result: Result) -> Document | None:
    """The text of a result; None if it is none."""
    try:
        return decode(Path(result.snapshot.path), result.snapshot.data)
    except UnreadableError:
        return None
