"""Tables of pandas: CSV, Parquet, pickled frames and HDFStore; columns come from what is asked for."""

from __future__ import annotations

import importlib
import io
import os
from typing import Any, Dict, List

from forklint_harness.stores.hooks import Answer, opener
from forklint_harness.stores.marked import text
from forklint_harness.stores.names import guess
from forklint_harness.stores.node import COUNT, Node
from forklint_harness.stores.unknown import recent

COLUMNS = 3
"""Columns of a table that is asked for by position alone."""


class Row(Dict[str, Any]):
    """A row of csv.DictReader that has every column that it is asked for."""

    def __init__(self, node: Node, number: int) -> None:
        super().__init__({name: cell_of(name, part, number) for name, part in node.each.items()})
        self._node, self._number = node, number

    def __missing__(self, name: str) -> Any:
        self[name] = text(self._node.each.part(str(name), "column"), self._number)
        return self[name]


def rows_of(node: Node, separator: str) -> List[Row]:
    """Rows of a file that csv.DictReader reads."""
    node.facts["format"] = "table"
    node.facts["separator"] = separator
    return [Row(node, number) for number in range(node.facts.get("length", COUNT))]


def columns_of(node: Node) -> List[Any]:
    """Names and nodes of the columns, in the order in which they were asked for."""
    found = list(node.each.items())
    others = range(node.facts.get("columns", COLUMNS) - len(found))
    return found + [("column_{}".format(one), node.each.part("!position{}".format(one), "column")) for one in others]


def cell_of(name: str, part: Node, number: int) -> Any:
    """One cell: a text where its name speaks for one, else a number."""
    known = part.facts.get("holds") or part.kind
    if known in ("int", "float"):
        return number
    found = guess(str(name)) or ("", None)
    plain = str(name).lower()
    if found[0] in ("path", "paths", "text") or any(one in plain for one in ("name", "text", "image", "path", "file")):
        return "item_{}{}".format(number, part.facts.get("ending", ""))
    if part.facts.get("format") == "text":
        return "item_{}".format(number)
    return number % 2 if any(one in plain for one in ("label", "class", "target")) else number


def frame_of(node: Node) -> Any:
    """The table."""
    pandas: Any = importlib.import_module("pandas")

    count = node.facts.get("length", COUNT)
    told = {name: [cell_of(name, part, number) for number in range(count)] for name, part in columns_of(node)}
    return pandas.DataFrame(told)


def _asked(form: str) -> Any:
    def asked(node: Node, arguments: List[Any], keywords: Dict[str, Any]) -> Any:
        pandas: Any = importlib.import_module("pandas")

        node.facts["format"] = form
        node.facts["is_frame"] = True
        if form == "table":
            separator = keywords.get("sep", keywords.get("delimiter"))
            node.facts["separator"] = separator if separator and len(separator) == 1 else ","
            node.facts["headless"] = "header" in keywords and keywords["header"] is None
        recent.append(node)
        if form != "table":
            return frame_of(node)
        keywords = {key: value for key, value in keywords.items() if key != "filepath_or_buffer"}
        return pandas.read_csv(io.StringIO(text_of_table(node)), *arguments[1:], **keywords)

    return asked


def text_of_table(node: Node) -> str:
    """The table as separated values."""
    separator, columns = str(node.facts.get("separator", ",")), columns_of(node)
    head = [] if node.facts.get("headless") else [separator.join(str(name) for name, _ in columns)]
    rows = [
        separator.join(str(cell_of(name, part, number)) for name, part in columns)
        for number in range(node.facts.get("length", COUNT))
    ]
    return "\n".join([*head, *rows]) + "\n"


def make_table(path: str, node: Node) -> None:
    """Make a file of separated values."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with io.open(path, "w", encoding="utf-8") as file:
        file.write(text_of_table(node))


def make_frame(path: str, node: Node) -> None:
    """Make a file of the kind that pandas writes itself."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    frame, form = frame_of(node), node.facts.get("format")
    if form == "parquet":
        frame.to_parquet(path)
    elif form == "frame-pickle":
        frame.to_pickle(path)
    elif form == "feather":
        frame.to_feather(path)
    else:
        frame.to_json(path)


class AskedStore:
    """An HDFStore that has every table that it is asked for."""

    def __init__(self, node: Node, _arguments: List[Any], _keywords: Dict[str, Any]) -> None:
        self._node = node

    def __getitem__(self, key: str) -> Any:
        part = self._node.part(str(key), "table")
        part.facts["is_frame"] = True
        recent.append(part)
        return frame_of(part)

    get = __getitem__

    def select(self, key: str, *_arguments: Any, start: Any = None, stop: Any = None, **_keywords: Any) -> Any:
        """Select rows of a table."""
        return self[key].iloc[start:stop]

    def keys(self) -> List[str]:
        """Names of tables."""
        return ["/" + str(key) for key, _ in self._node.items()]

    def close(self) -> None:
        """Close, as stores do."""


def make_store(path: str, node: Node) -> None:
    """Make an HDFStore and close it."""
    pandas: Any = importlib.import_module("pandas")

    os.makedirs(os.path.dirname(path), exist_ok=True)
    with pandas.HDFStore(path, "w") as store:
        for key, part in node.items():
            store.put(str(key), frame_of(part), format="table")


HOOKS: Dict[str, Answer] = {
    "pandas.read_csv": opener("table", _asked("table")),
    "pandas.read_table": opener("table", _asked("table")),
    "pandas.read_parquet": opener("frame", _asked("parquet")),
    "pandas.read_pickle": opener("frame", _asked("frame-pickle")),
    "pandas.read_feather": opener("frame", _asked("feather")),
    "pandas.read_json": opener("frame", _asked("frame-json")),
    "pandas.HDFStore": opener("hdfstore", AskedStore),
}
MAKERS = {"table": make_table, "frame": make_frame, "hdfstore": make_store}
