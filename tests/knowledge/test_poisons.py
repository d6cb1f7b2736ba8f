"""poisons.toml: its rows name each other, say where they come from, and speak of the rules that exist."""

from __future__ import annotations

import dataclasses

from forklint import knowledge
from forklint.knowledge.poisons import DecoratorRow, FunctionRow, ObjectRow, Poison, poisons
from forklint.rules import registry

TABLE = knowledge.table("poisons.toml")


def test_each_row_names_a_poison_and_each_poison_is_named() -> None:
    rows = (*poisons().objects, *poisons().functions, *poisons().decorators)
    assert {row.poison for row in rows} == set(poisons().poisons)


def test_each_poison_has_a_source_and_a_rule() -> None:
    for poison in poisons().poisons.values():
        assert poison.source.startswith(("measured", "documented")), poison.name
        assert poison.rule in registry.codes()


def test_no_key_is_passed_over() -> None:
    for kind, name in (
        (Poison, "poison"),
        (ObjectRow, "object"),
        (FunctionRow, "function"),
        (DecoratorRow, "decorator"),
    ):
        known = {field.name for field in dataclasses.fields(kind)} | {"from"}
        for row in TABLE[name]:
            assert set(row) <= known, row


def test_objects_come_from_kinds_that_exist() -> None:
    names = {row.name for row in poisons().objects}
    assert {row.origin for row in poisons().objects if row.origin} <= names


def test_a_chain_of_methods_is_followed() -> None:
    table = poisons()
    frame = table.made_by("polars.scan_csv")
    assert frame is not None
    assert table.given_by(frame.name, "filter") == "a lazy polars frame"
    assert table.given_by(frame.name, "collect") == "a polars frame"
    assert table.given_by("a polars frame", "rows") == ""
