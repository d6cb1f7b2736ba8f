"""What is done next: what the user has just edited first, everything else when nothing is waiting for that."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

T = TypeVar("T")
STACK = 64 * 2**20
"""Bytes of stack of the thread that lints: a thread has less than the program itself, on macOS 512 kB."""
BREATH = 0.2
"""Seconds since the answer to an edit after which other files are looked at, what is out of use is freed, and more of
a project is read: the next key is mostly pressed sooner."""
MOST_UNSWEPT = 3
"""So many edits, until that is freed though the user is typing."""
PAUSE = 1.5
"""Seconds without an edit after which what takes longer is done."""
ABSENCE = 15.0
"""Seconds without an edit after which the user is away."""


class Work(Protocol):
    """What is scheduled. None of it raises."""

    async def lint(self, uri: str) -> None:
        """Lint an open document and publish what is found."""

    async def confirm(self, uri: str) -> None:
        """Lint it in full, with fixes."""

    async def learn(self) -> bool:
        """Read a little more of large projects; whether there is more."""

    async def sweep(self) -> None:
        """Free what was put out of use since the last time."""

    def is_cluttered(self) -> bool:
        """Whether much is out of use."""

    async def sweep_all(self) -> None:
        """Free all that is out of use."""

    async def take_in_unparsed(self) -> None:
        """Let the other files see what was left half typed."""

    async def look(self) -> None:
        """Take in what has changed on the disk."""


class Schedule:
    """Runs one piece of work after another."""

    def __init__(self, work: Work) -> None:
        self._work = work
        before = threading.stack_size(STACK)
        self._thread = ThreadPoolExecutor(1, "lint")
        self._thread.submit(_nothing).result()
        threading.stack_size(before)
        self._edited: dict[str, None] = {}
        self._others: dict[str, None] = {}
        self._unconfirmed: dict[str, None] = {}
        self._is_learning = self._is_untidy = self._is_looking = self._is_half_typed = False
        self._last = self._answered = 0.0
        self._unswept = 0
        """How many edits were answered since what they put out of use was freed."""
        self._wake = asyncio.Event()
        self.delay = 0.0
        self._task: asyncio.Task[None] | None = None

    async def do(self, call: Callable[[], T]) -> T:
        """Call a function on the thread that owns the projects."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def start(self) -> None:
        """Begin."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def end(self) -> None:
        """End; what is being done is left to end by itself."""
        if self._task is not None:
            self._task.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def edited(self, uri: str) -> None:
        """A document was edited or opened: lint it soon, before all others."""
        self._edited.pop(uri, None)
        self._edited[uri] = None
        self._last = asyncio.get_running_loop().time()
        self._is_untidy = self._is_half_typed = True
        self._wake.set()

    def touched(self, uri: str) -> None:
        """Something that a document may rest on has changed."""
        self._others[uri] = None
        self._wake.set()

    def confirm(self, uri: str) -> None:
        """Lint a document in full when there is time."""
        self._unconfirmed[uri] = None

    def learn(self) -> None:
        """Go on reading a large project when there is time."""
        self._is_learning = True
        self._wake.set()

    def look(self) -> None:
        """Take in soon what has changed on the disk."""
        self._is_looking = True
        self._last = max(self._last, asyncio.get_running_loop().time())
        self._wake.set()

    def closed(self, uri: str) -> None:
        """A document is of no interest any more."""
        for waiting in (self._edited, self._others, self._unconfirmed):
            waiting.pop(uri, None)

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            if not await self._step():
                await self._rest()

    async def _step(self) -> bool:
        """Do one piece of work; False if nothing is to be done now."""
        if self._edited or self._is_looking:
            await self._settle()
        if self._is_looking:
            self._is_looking = False
            await self._work.look()
        elif self._edited:
            await self._answer(self._work.lint(self._edited.popitem()[0]))
        elif self._others and self._breathed() >= BREATH:
            await self._work.lint(self._others.popitem()[0])
            await self._sweep()
        elif self._unswept and self._breathed() >= BREATH:
            await self._sweep()
        elif self._is_learning and self._breathed() >= BREATH:
            self._is_learning = await self._work.learn()
        elif self._unconfirmed and self._quiet() >= PAUSE:
            await self._work.confirm(self._unconfirmed.popitem()[0])
            await self._sweep()
        elif self._is_half_typed and self._quiet() >= ABSENCE:
            self._is_half_typed = False
            await self._work.take_in_unparsed()
        elif self._is_untidy and self._quiet() >= self._patience:
            self._is_untidy = False
            await self._work.sweep_all()
        else:
            return False
        return True

    async def _answer(self, linting: Awaitable[None]) -> None:
        await linting
        self._unswept += 1
        self._answered = asyncio.get_running_loop().time()
        if self._unswept >= MOST_UNSWEPT:
            await self._sweep()

    async def _sweep(self) -> None:
        self._unswept = 0
        await self._work.sweep()

    async def _settle(self) -> None:
        """Wait until the user has not pressed a key for a moment."""
        loop = asyncio.get_running_loop()
        while (left := self._last + self.delay - loop.time()) > 0:
            await asyncio.sleep(left)

    def _quiet(self) -> float:
        """Seconds since the last edit."""
        return asyncio.get_running_loop().time() - self._last

    def _breathed(self) -> float:
        """Seconds since the last answer to an edit."""
        return asyncio.get_running_loop().time() - self._answered

    @property
    def _patience(self) -> float:
        """Seconds without an edit after which all that is out of use is freed."""
        return PAUSE if self._work.is_cluttered() else ABSENCE

    async def _rest(self) -> None:
        """Wait for more to do."""
        waits = [BREATH - self._breathed()] if self._unswept or self._others or self._is_learning else []
        waits += [PAUSE - self._quiet()] if self._unconfirmed else []
        waits += [self._patience - self._quiet()] if self._is_untidy else []
        waits += [ABSENCE - self._quiet()] if self._is_half_typed else []
        waiting = max(min(waits), 0.01) if waits else None
        try:
            await asyncio.wait_for(self._wake.wait(), waiting)
        except (TimeoutError, asyncio.TimeoutError):
            return


def _nothing() -> None:
    pass
