"""What the objects have in common that stand for stores while it is learnt what is in them."""

from __future__ import annotations

from typing import Any, TypeVar

Self = TypeVar("Self", bound="Asked")


class Asked:
    """Opened by ``with`` as handles are."""

    def __enter__(self: Self) -> Self:  # noqa: PYI019 - typing.Self needs Python 3.11
        return self

    def __exit__(self, *_error: object) -> None:
        return


class Obliging(Asked):
    """Takes methods of which nothing is known, and gives None."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_arguments, **_keywords: None
