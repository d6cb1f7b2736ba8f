"""JSON read with places: the same values as the standard library, and each value where it says it stands."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from forklint.source.json_positions import JsonError, Node, parse

TEXTS = [
    "0",
    ' "text" ',
    "[]",
    "{ }",
    '[1, -2.5e3, true, false, null, NaN, "a\\u0022b\\ud83d\\ude00"]',
    '{"a": [1, {"b": []}],\r\n\t"c" : {"d": "\\n"} }\n',
    '{"a": 1, "a": 2, "b": {"c": 1, "c": [1]}}',
    '"\\ud800"',
]


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for item in node.items:
        yield from nodes(item)
    for member in node.members:
        yield member.key
        yield from nodes(member.value)


@pytest.mark.parametrize("text", TEXTS)
def test_values_are_those_of_the_standard_library(text: str) -> None:
    root = parse(text)
    assert repr(root.value) == repr(json.loads(text))
    for node in nodes(root):
        assert repr(node.value) == repr(json.loads(text[node.start : node.end]))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "[1,]",
        "[1 2]",
        '{"a"}',
        '{"a": }',
        '{"a": 1,}',
        "{a: 1}",
        '"a',
        '"\n"',
        "1 2",
        "[" * 5000,
        "\ufeff1",
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(JsonError) as error:
        parse(text)
    assert error.value.row >= 1
    assert error.value.column >= 1


def test_closed_values_are_read_and_not_looked_into() -> None:
    root = parse('{"outputs": [[1], {"a": 2}], "source": ["x"]}', closed=("outputs",))
    outputs, source = root.get("outputs"), root.get("source")
    assert outputs is not None
    assert source is not None
    assert (outputs.value, outputs.items) == ([[1], {"a": 2}], ())
    assert [item.value for item in source.items] == ["x"]


def test_closed_values_that_nest_without_end_are_refused() -> None:
    with pytest.raises(JsonError, match="nested too deeply"):
        parse('{"outputs": ' + "[" * 100_000 + "]" * 100_000 + "}", closed=("outputs",))


def test_doubles_are_given_and_the_last_one_counts() -> None:
    root = parse('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}')
    assert [member.key.value for member in root.doubles()] == ["c", "a"]
    assert root.get("a") == Node(3, 37, 38)


def test_large_closed_values_are_fast() -> None:
    text = '{"outputs": [' + ", ".join(["1.25"] * 3_000_000) + '], "source": []}'
    start = time.perf_counter()
    parse(text, closed=("outputs",))
    assert time.perf_counter() - start < 5
