"""The methods that run as an object is made, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

AFTER_FIELDS = ("__post_init__", "__attrs_post_init__")
"""What the constructors call that dataclasses and attrs write for the fields of a class."""
CONSTRUCTORS = ("__init__", *AFTER_FIELDS)

M = TypeVar("M")


def constructor_in(methods: Mapping[str, M]) -> M | None:
    """The one of a class, by the names of its methods; None if it has none of its own."""
    return next((methods[name] for name in CONSTRUCTORS if name in methods), None)
