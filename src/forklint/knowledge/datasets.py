"""Typed reader of datasets.toml: classes of datasets, and what workers call on them."""

from __future__ import annotations

from functools import cache

from forklint import knowledge


def bases() -> frozenset[str]:
    """The known classes of datasets, by qualified name."""
    return _names("base")


def packages() -> frozenset[str]:
    """Packages whose classes are datasets if their names end in "Dataset"."""
    return _names("package")


def homes() -> frozenset[str]:
    """Modules whose classes are all datasets."""
    return _names("home")


def is_base(name: str) -> bool:
    """Whether a class from outside the project, by its qualified name, makes its subclasses datasets."""
    home, _, last = name.rpartition(".")
    if name in bases() or (name.partition(".")[0] in packages() and last.endswith("Dataset")):
        return True
    return home in homes() and last[:1].isupper()


@cache
def entries() -> tuple[str, ...]:
    """The methods that a worker calls on a dataset."""
    return tuple(knowledge.table("datasets.toml")["entry"])


@cache
def loading_words() -> tuple[bytes, ...]:
    """What stands in a project that loads with workers."""
    return tuple(word.encode() for word in knowledge.table("datasets.toml")["loads"])


@cache
def _names(key: str) -> frozenset[str]:
    return frozenset(knowledge.table("datasets.toml")[key])
