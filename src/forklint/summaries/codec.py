"""Summaries as bytes, and back; what comes back is checked, since anybody may have written the file."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from sys import intern
from typing import Any, NoReturn

from forklint.summaries.summary import CLASS, FUNCTION, MODULE, Given, Import, PathRoot, Scope, Statement, Summary

LEVEL = 1
"""Of compression: a sixth of the size, for a tenth of the time that the walk takes."""
LARGEST = 256_000_000
"""Bytes of the largest summary that is unpacked."""
TO_JSON = json.JSONEncoder(separators=(",", ":"), check_circular=False)
"""A summary is a tree: nobody needs to look for circles in it."""
FROM_JSON = json.JSONDecoder()
NOT_READ = b"-"
"""What stands for the summary of a file that cannot be read or parsed."""


class MalformedError(Exception):
    """Bytes that are no summary."""


def encode(summary: Summary | None) -> bytes:
    """Write a summary; None for a file that has none."""
    if summary is None:
        return NOT_READ
    row = [
        summary.imports,
        sorted(summary.exports) if summary.exports is not None else None,
        [[_plain(field) for field in scope] for scope in summary.scopes],
        [[_plain(field) for field in statement] for statement in summary.statements],
        summary.path_roots,
    ]
    return zlib.compress(TO_JSON.encode(row).encode(errors="surrogatepass"), LEVEL)


class StoredSummary:
    """A summary as ``encode`` wrote it. The import graph wants nothing but the imports, so the rest is read late."""

    def __init__(self, data: bytes) -> None:
        """Read the imports; raises MalformedError for what ``encode`` did not write."""
        self._data = data
        self.imports: tuple[Import, ...] = ()
        if data != NOT_READ:
            try:
                self.imports = _imports(FROM_JSON.raw_decode(self._text(), 1)[0])
            except (ValueError, TypeError, IndexError, RecursionError, zlib.error):
                raise MalformedError from None

    def summary(self) -> Summary | None:
        """All of it, None for a file without one; raises MalformedError for what ``encode`` did not write."""
        if self._data == NOT_READ:
            return None
        try:
            imports, exports, scopes, statements, path_roots = _list(FROM_JSON.decode(self._text()))
            return Summary(
                _imports(imports),
                frozenset(_texts(exports)) if exports is not None else None,
                _nested([_row(Scope, one) for one in _list(scopes)]),
                tuple(_row(Statement, one) for one in _list(statements)),
                tuple(_row(PathRoot, one) for one in _list(path_roots)),
            )
        except (ValueError, TypeError, RecursionError, zlib.error):
            raise MalformedError from None

    def _text(self) -> str:
        return zlib.decompressobj().decompress(self._data, LARGEST).decode(errors="surrogatepass")


def _imports(values: object) -> tuple[Import, ...]:
    return tuple(_row(Import, one) for one in _list(values))


def _plain(field: object) -> object:
    return sorted(field) if isinstance(field, frozenset) else field


def _row(kind: Any, values: object) -> Any:
    """A row of a kind, each field of the type that it is declared with."""
    items = _list(values)
    readers = _readers(kind)
    if len(items) != len(readers):
        _refuse()
    return kind(*[read(value) for read, value in zip(readers, items, strict=True)])


@cache
def _readers(kind: type) -> tuple[Callable[[object], object], ...]:
    """What reads each field of a kind of row."""
    return tuple(READERS[hint.__forward_arg__] for hint in kind.__annotations__.values())


_text = intern  # files name the same things again and again; what is no text raises TypeError


def _number(value: object) -> object:
    return value if value.__class__ is int else _refuse()


def _truth(value: object) -> object:
    return value if value.__class__ is bool else _refuse()


def _names(value: object) -> object:
    return frozenset(_texts(value)) if value else EMPTY


def _all_given(value: object) -> object:
    return tuple([Given(*_pair(one)) for one in _list(value)])


READERS: dict[str, Callable[[object], object]] = {
    "str": _text,  # type: ignore[dict-item]
    "int": _number,
    "bool": _truth,
    "frozenset[str]": _names,
    "tuple[str, ...]": lambda value: tuple(_texts(value)),
    "tuple[Given, ...]": _all_given,
}
EMPTY: frozenset[str] = frozenset()


def _pair(value: object) -> list[str]:
    texts = _texts(value)
    return texts if len(texts) == 2 else _refuse()


def _texts(value: object) -> list[str]:
    return [_text(one) for one in _list(value)]


def _list(value: object) -> list[Any]:
    return value if value.__class__ is list else _refuse()


def _nested(scopes: Iterable[Scope]) -> tuple[Scope, ...]:
    """The scopes, if each stands in an earlier one and the first is a module's."""
    found = tuple(scopes)
    if not found or found[0].kind != MODULE:
        _refuse()
    for number, scope in enumerate(found[1:], 1):
        if scope.kind not in {CLASS, FUNCTION} or not 0 <= scope.parent < number:
            _refuse()
    return found


def _refuse() -> NoReturn:
    raise MalformedError
