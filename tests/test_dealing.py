"""Files are dealt to processes: each once, neighbours together, under fork and spawn."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from forklint.dealing import Deck


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Forty files of unlike sizes, and one that is not there."""
    paths = [tmp_path / f"f{number:02}.py" for number in range(40)]
    for number, path in enumerate(paths):
        path.write_text("#" * (number * 7 % 300))
    return [*paths, tmp_path / "missing.py"]


def test_one_process_gets_every_file_in_order(files: list[Path]) -> None:
    deck = Deck(files, 1, multiprocessing.get_context("spawn"))
    seat = deck.seat()
    assert [path for _ in range(len(deck)) for path in deck.take(seat)[1]] == files


def test_each_process_keeps_to_its_own_share_and_then_helps_from_the_back(files: list[Path]) -> None:
    deck = Deck(files, 2, multiprocessing.get_context("spawn"))
    first, second = deck.seat(), deck.seat()
    own = [deck.take(first)[1] for _ in range(len(deck) // 2)]
    taken = [path for run in own for path in run]
    assert taken == files[: len(taken)]
    place, helped = deck.take(first)
    assert place == (second, len(deck) // 2 - 1)
    assert helped[-1] == files[-1]
    assert deck.take(second)[1][0] == files[len(taken)]


@pytest.mark.parametrize("processes", [1, 2, 3, 7, 50])
def test_every_file_is_dealt_once_and_places_keep_the_order(files: list[Path], processes: int) -> None:
    deck = Deck(files, processes, multiprocessing.get_context("spawn"))
    seats = [deck.seat() for _ in range(processes)]
    runs = sorted(deck.take(seats[number * 5 % processes]) for number in range(len(deck)))
    assert [path for _, run in runs for path in run] == files


def test_shares_are_of_about_equal_size(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.py" for number in range(100)]
    for number, path in enumerate(paths):
        path.write_text("#" * (9_000 if number < 10 else 1_000))
    deck = Deck(paths, 2, multiprocessing.get_context("spawn"))
    runs = [deck.take(0)[1] for _ in range(len(deck) // 2)]
    assert 80_000 <= sum(path.stat().st_size for run in runs for path in run) <= 100_000


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_real_processes_share_one_deck(files: list[Path], method: str) -> None:
    context = multiprocessing.get_context(method)
    deck = Deck(files, 2, context)
    with ProcessPoolExecutor(2, mp_context=context, initializer=_sit, initargs=(deck,)) as pool:
        done = [pool.submit(_take) for _ in range(len(deck))]
        runs = sorted(one.result() for one in done)
    assert [path for _, run in runs for path in run] == files


_seats: list[tuple[Deck, int]] = []


def _sit(deck: Deck) -> None:
    _seats.append((deck, deck.seat()))


def _take() -> tuple[tuple[int, int], Sequence[Path]]:
    deck, seat = _seats[-1]
    return deck.take(seat)
