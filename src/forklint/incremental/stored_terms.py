"""The terms of a project in a store: which files have each, by number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from forklint.incremental import rows, tables
from forklint.incremental.stored_library import WHOLE
from forklint.store.database import Transaction


def write_terms(change: Transaction, files: Sequence[str], terms: Mapping[tuple[str, str], Sequence[int]]) -> None:
    """Write the terms of all files anew; ``terms`` has the numbers of files among ``files``, in ascending order."""
    change.clear(tables.TERMS)
    change.put(tables.META, "ids", rows.pack(list(files)))
    change.put_many(tables.TERMS, {f"{kind}:{name}": rows.pack(list(found)) for (kind, name), found in terms.items()})
    change.put(tables.TERMS, WHOLE, b"1")


def update_terms(change: Transaction, changes: Iterable[tuple[str, str, bool]], files: Sequence[str]) -> None:
    """Bring terms up to date: the files that have got or lost one; ``files`` are all that there are, in their order.

    New files get numbers behind all others, so that rows are in the order of numbers, not of the walk.
    """
    by_key: dict[str, list[tuple[str, bool]]] = {}
    for key, path, is_there in changes:
        by_key.setdefault(key, []).append((path, is_there))
    if not by_key or change.read(tables.TERMS, WHOLE) is None:
        return
    ids = rows.texts(change.read(tables.META, "ids") or b"[]")
    numbers = {path: number for number, path in enumerate(ids)}
    for path in files:
        if path not in numbers:
            numbers[path] = len(ids)
            ids.append(path)
    change.put(tables.META, "ids", rows.pack(ids))
    known = change.read_many(tables.TERMS, by_key)
    new: dict[str, bytes] = {}
    for key, some in by_key.items():
        found = set(rows.numbers(known[key])) if key in known else set()
        for path, is_there in some:
            (found.add if is_there else found.discard)(numbers.get(path, -1))
        new[key] = rows.pack(sorted(found - {-1}))
    change.put_many(tables.TERMS, new)
