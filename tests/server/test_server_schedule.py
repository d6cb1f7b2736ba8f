"""When the server frees what is out of use."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import pytest

from forklint.server import memory, schedule
from forklint.server.memory import Collector
from forklint.server.schedule import Schedule


class Work:
    """Work that takes no time, and is counted."""

    def __init__(self, *, is_cluttered: bool) -> None:
        self._is_cluttered = is_cluttered
        self.linted: list[str] = []
        self.tidied = asyncio.Event()
        self.swept = asyncio.Event()

    async def lint(self, uri: str) -> None:
        self.linted.append(uri)

    async def confirm(self, uri: str) -> None: ...

    async def learn(self) -> bool:
        return False

    async def sweep(self) -> None:
        self.tidied.set()

    async def look(self) -> None: ...

    async def take_in_unparsed(self) -> None: ...

    def is_cluttered(self) -> bool:
        return self._is_cluttered

    async def sweep_all(self) -> None:
        self._is_cluttered = False
        self.swept.set()


@pytest.mark.parametrize("is_cluttered", [True, False])
def test_all_is_freed_in_a_pause_if_much_is_out_of_use(monkeypatch: pytest.MonkeyPatch, is_cluttered: bool) -> None:
    monkeypatch.setattr(schedule, "PAUSE", 0.01)
    monkeypatch.setattr(schedule, "ABSENCE", 1000)

    async def run() -> bool:
        work = Work(is_cluttered=is_cluttered)
        ours = Schedule(work)
        ours.start()
        ours.edited("a")
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
            await asyncio.wait_for(work.swept.wait(), 30 if is_cluttered else 0.5)
        ours.end()
        assert work.linted == ["a"]
        return work.swept.is_set()

    assert asyncio.run(run()) == is_cluttered


def _is_swept(work: Work, keys: int, patience: float = 30) -> bool:
    """Whether, within some seconds, what the answers to some keys have put out of use is freed."""

    async def run() -> bool:
        ours = Schedule(work)
        ours.start()
        for key in range(keys):
            ours.edited(str(key))
        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
            await asyncio.wait_for(work.tidied.wait(), patience)
        ours.end()
        return work.tidied.is_set()

    return asyncio.run(run())


def test_a_key_press_does_not_wait_until_what_the_last_one_left_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "BREATH", 1000)
    monkeypatch.setattr(schedule, "MOST_UNSWEPT", 4)
    work = Work(is_cluttered=False)
    assert not _is_swept(work, 3, patience=0.5)
    assert len(work.linted) == 3


def test_it_is_freed_once_no_key_was_pressed_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "BREATH", 0.01)
    assert _is_swept(Work(is_cluttered=False), 1)


def test_it_is_freed_while_the_user_types_after_some_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "BREATH", 1000)
    monkeypatch.setattr(schedule, "MOST_UNSWEPT", 4)
    assert _is_swept(Work(is_cluttered=False), 4)


def test_much_is_out_of_use_once_it_was_set_aside_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "TOO_LONG", -1.0)
    monkeypatch.setattr(memory, "FEW", 0)
    monkeypatch.setattr(memory, "MANY_SET_ASIDE", 1)
    monkeypatch.setattr(memory.gc, "freeze", lambda: None)
    monkeypatch.setattr(memory.gc, "disable", lambda: None)
    collector = Collector()
    collector.sweep()
    assert not collector.is_cluttered
    collector.sweep()
    assert collector.is_cluttered
    collector.sweep_all()
    assert not collector.is_cluttered


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets how many blocks of memory are in use."""
    monkeypatch.setattr(memory.gc, "freeze", lambda: None)
    monkeypatch.setattr(memory.gc, "disable", lambda: None)
    monkeypatch.setattr(memory, "TOO_LONG", 1000.0)

    def use(number: int) -> None:
        monkeypatch.setattr(memory.sys, "getallocatedblocks", lambda: number)

    use(1_000_000)
    return use


def test_much_is_out_of_use_once_much_more_memory_is_in_use(blocks: Callable[[int], None]) -> None:
    collector = Collector()
    blocks(1_000_000 + memory.MANY_NEW + 1)
    collector.sweep()
    assert collector.is_cluttered
    collector.sweep_all()  # nothing of it could be freed: it is in use
    assert not collector.is_cluttered


def test_memory_that_was_given_back_counts_when_it_is_used_again(blocks: Callable[[int], None]) -> None:
    collector = Collector()
    blocks(1_000_000 - memory.MANY_NEW)
    collector.sweep()
    blocks(1_000_001)
    assert collector.is_cluttered


def test_all_is_freed_while_the_user_types_once_very_much_is_new(blocks: Callable[[int], None]) -> None:
    collector = Collector()
    blocks(1_000_000 + memory.MOST_NEW + 1)
    assert collector.is_cluttered
    collector.sweep()
    assert not collector.is_cluttered
