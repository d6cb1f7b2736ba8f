"""A progress bar of the client, with a button that cancels."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from lsprotocol import types

if TYPE_CHECKING:
    from forklint.server.server import Server


class Progress:
    """A progress bar of the client, if it shows any, with a button that cancels a task."""

    def __init__(self, server: Server, token: str, title: str, task: asyncio.Future[Any]) -> None:
        self._server = server
        self._token = token
        self._title = title
        self._task = task
        self._is_shown = False

    async def __aenter__(self) -> None:
        if not self._server.can("window.work_done_progress"):
            return
        try:
            await self._server.work_done_progress.create_async(self._token)
        except Exception as error:  # noqa: BLE001 - whatever a client answers
            self._server.log(f"the client shows no progress: {error}")
            return
        self._is_shown = True
        begin = types.WorkDoneProgressBegin(self._title, cancellable=True, message="running trials")
        self._server.work_done_progress.begin(self._token, begin)
        loop, task = asyncio.get_running_loop(), self._task
        cancelled = self._server.work_done_progress.tokens[self._token]
        cancelled.add_done_callback(lambda one: loop.call_soon_threadsafe(task.cancel) if one.cancelled() else None)

    async def __aexit__(self, *_: object) -> None:
        if self._is_shown:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
            self._server.work_done_progress.tokens.pop(self._token, None)
