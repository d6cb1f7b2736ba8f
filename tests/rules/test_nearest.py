"""Names that are offered for one that does not exist."""

from __future__ import annotations

import random

import pytest

from forklint.rules.unknown_method import nearest
from forklint.rules.unknown_method.nearest import ALIKE, LISTED, likeness

NAMES = sorted(
    f"{verb}{noun}{end}"
    for verb in ("set_", "get", "load_", "_read", "torch_", "Batch", "")
    for noun in ("num_threads", "rows", "Norm2d", "state_dict", "dict_state", "x", "Image")
    for end in ("", "_", "s", "_of_file", "2")
)


def slip(name: str, dice: random.Random) -> str:
    place, kind = dice.randrange(len(name)), dice.randrange(3)
    return (name[:place], name[:place] + "r_" + name[place:], name[:place] + name[place + 1 :])[kind]


@pytest.mark.parametrize("seed", range(4))
def test_the_best_are_those_of_all_names(seed: int) -> None:
    dice = random.Random(seed)
    for wanted in (slip(dice.choice(NAMES), dice) for _ in range(40)):
        public = [
            name for name in NAMES if wanted.startswith("_") or not name.startswith("_") or name.lstrip("_") == wanted
        ]
        ranked = sorted(public, key=lambda name: (-likeness(wanted, name), name))
        expected = [name for name in ranked[:LISTED] if likeness(wanted, name) >= ALIKE]
        assert list(nearest.nearest(wanted, NAMES).names) == expected, wanted


def test_few_names_are_compared_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(nearest, "_letters", lambda _, name: seen.append(name) or 1.0)
    nearest.nearest("set_num_thread", NAMES)
    assert 0 < len(set(seen)) < len(NAMES) / 4
