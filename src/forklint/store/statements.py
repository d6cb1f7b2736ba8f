"""What is said to SQLite about one table."""

from __future__ import annotations

import zlib

LARGEST_VALUE = 64_000_000
"""Bytes of a value; a larger one is neither stored nor read."""


class Statements:
    """The statements about the table ``name``, which is a word of ours."""

    def __init__(self, name: str) -> None:
        if not name.isidentifier():
            raise ValueError(name)
        quoted = f'"{name}"'
        value = f"CASE WHEN typeof(value) = 'blob' AND length(value) <= {LARGEST_VALUE} THEN value END"
        self.start = zlib.crc32(name.encode())
        self.make = (
            f"CREATE TABLE {quoted} (key BLOB PRIMARY KEY NOT NULL, day INTEGER NOT NULL, "
            "sum INTEGER NOT NULL, value BLOB NOT NULL)"
        )
        self.schema = {("table", name, name, self.make), ("index", f"sqlite_autoindex_{name}_1", name, None)}
        self.all = f"SELECT key, day, sum, {value} FROM {quoted}"  # noqa: S608 - a word of ours, see above
        self.ages = f"SELECT day, rowid, key, length(value) FROM {quoted}"  # noqa: S608
        self.put = f"INSERT OR REPLACE INTO {quoted} (key, day, sum, value) VALUES (?, ?, ?, ?)"  # noqa: S608
        self.use = f"UPDATE {quoted} SET day = ? WHERE key = ?"  # noqa: S608
        self.delete = f"DELETE FROM {quoted} WHERE key = ?"  # noqa: S608
        self.clear = f"DELETE FROM {quoted}"  # noqa: S608

    def some(self, number: int) -> str:
        """What asks for so many keys."""
        return f"{self.all} WHERE key IN ({', '.join('?' * number)})"
