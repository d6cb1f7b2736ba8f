"""SQLite databases: tables and columns come from the statements that ask for them."""

from __future__ import annotations

import os
import re
import sqlite3
from typing import Any, Dict, List

from forklint_harness.stores.asked import Asked
from forklint_harness.stores.content import bytes_for
from forklint_harness.stores.hooks import opener
from forklint_harness.stores.marked import mark, text
from forklint_harness.stores.node import COUNT, Node
from forklint_harness.stores.unknown import recent

MISSING_TABLE = re.compile(r"no such table: (?:\w+\.)?(\w+)")
MISSING_COLUMN = re.compile(r"no such column: (?:\w+\.)?(\w+)")
BYTES = ("blob", "data", "bytes", "image", "img", "feature", "payload", "value", "vector", "embedding", "content")
TEXTS = ("name", "text", "path", "label", "caption", "title", "file", "word", "split")
MOST = 40
"""Tables and columns that one statement may call for."""
_connect = sqlite3.connect


class AskedConnection(Asked):
    """A database in memory, to which is added what a statement misses."""

    def __init__(self, node: Node, _arguments: List[Any], _keywords: Dict[str, Any]) -> None:
        self.__dict__.update(_node=node, _rows=None)
        self.__dict__["_real"] = _connect(":memory:")
        fill(self._real, node, is_learning=True)

    def execute(self, statement: str, *arguments: Any) -> Any:
        """Execute a statement; again, with what it missed."""
        for _ in range(MOST):
            try:
                return self._real.execute(statement, *arguments)
            except sqlite3.OperationalError as error:  # noqa: PERF203 - each miss is one more thing learnt
                if not self._add(str(error), statement):
                    raise
        return self._real.execute(statement, *arguments)

    def _add(self, said: str, statement: str) -> bool:
        table, column = MISSING_TABLE.search(said), MISSING_COLUMN.search(said)
        if table:
            self._node.part(table.group(1), "table")
        elif column:
            named = re.search(r"\b(?:from|join)\s+[\"'`\[]?(\w+)", statement, re.IGNORECASE)
            if named is None or column.group(1) in self._node.part(named.group(1)).parts:
                return False
            self._node.part(named.group(1), "table").part(column.group(1), column.group(1))
        else:
            return False
        recent.append(self._node)
        self.__dict__["_real"] = _connect(":memory:")
        self._real.row_factory = self._rows
        fill(self._real, self._node, is_learning=True)
        return True

    def cursor(self, *_arguments: Any) -> Any:
        """Give a cursor."""
        return AskedCursor(self)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__["_rows"] = value if name == "row_factory" else self._rows
        setattr(self._real, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._real, name)


class AskedCursor:
    """A cursor of such a database."""

    def __init__(self, connection: AskedConnection) -> None:
        self._connection = connection
        self._found: Any = None

    def execute(self, statement: str, *arguments: Any) -> AskedCursor:
        """Execute a statement."""
        self._found = self._connection.execute(statement, *arguments)
        return self

    def __iter__(self) -> Any:
        return iter(self._found or ())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found if self._found is not None else self._connection._real.cursor(), name)


def fill(connection: Any, database: Node, *, is_learning: bool) -> None:
    """Make the tables with so many rows each."""
    for name, table in list(database.items()):
        columns = [(str(key), part) for key, part in table.items()] or [("id", Node("id"))]
        if not any(key.lower() in ("id", "idx", "index", "rowid", "key") for key, _ in columns):
            columns.insert(0, ("forklint_row", Node("id")))
        told = ", ".join('"{}"'.format(key) for key, _ in columns)
        connection.execute('CREATE TABLE "{}" ({})'.format(name, told))
        rows = [
            tuple(_cell(key, part, number, is_learning=is_learning) for key, part in columns) for number in range(COUNT)
        ]
        places = ", ".join("?" for _ in columns)
        connection.executemany('INSERT INTO "{}" VALUES ({})'.format(name, places), rows)  # noqa: S608 - names from code
    connection.commit()


def _cell(name: str, part: Node, number: int, *, is_learning: bool) -> Any:
    plain = name.lower()
    if part.facts.get("holds") == "int" or (not part.facts and not any(one in plain for one in BYTES + TEXTS)):
        return number
    if any(one in plain for one in TEXTS) and not part.facts.get("format"):
        return str(text(part, number)) if is_learning else bytes_for(part, number).decode()
    return bytes(mark(part, number)) if is_learning else bytes_for(part, number)


def make(path: str, node: Node) -> None:
    """Make a database and close it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    connection = _connect(path)
    fill(connection, node, is_learning=False)
    connection.close()


HOOKS = {"sqlite3.connect": opener("sqlite", AskedConnection)}
MAKERS = {"sqlite": make}
