"""Whoever follows trials hears of one at a time, however many threads run them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from forklint.verify.runner import told


def test_one_call_at_a_time() -> None:
    inside = threading.Lock()
    heard: list[str] = []

    def hear(what: Any) -> None:
        assert inside.acquire(blocking=False), "two calls at once"
        threading.Event().wait(0.002)
        heard.append(what)
        inside.release()

    run: Any = told(lambda trial: f"{trial} seen", hear, hear)
    with ThreadPoolExecutor(4) as threads:
        seen = list(threads.map(run, map(str, range(20))))
    assert seen == [f"{number} seen" for number in range(20)]
    assert sorted(heard) == sorted([*map(str, range(20)), *seen])
