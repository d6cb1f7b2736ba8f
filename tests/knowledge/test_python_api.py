"""The table of Python's own classes has every name that they have in the Python at hand, and what others have."""

from __future__ import annotations

import importlib

import pytest

from forklint.knowledge import table
from forklint.knowledge.torch_api import class_names

CLASSES = table("python_api.json")["classes"]


@pytest.mark.parametrize("path", CLASSES)
def test_no_name_of_a_class_is_called_missing(path: str) -> None:
    module, _, name = path.rpartition(".")
    found = class_names(path)
    assert found is not None
    names = {one for one in dir(getattr(importlib.import_module(module), name)) if not one.startswith("__")}
    assert names <= found.every


@pytest.mark.parametrize("name", ["assertStartsWith", "enterContext", "failUnless"])
def test_names_of_other_pythons_are_known(name: str) -> None:
    found = class_names("unittest.TestCase")
    assert found is not None
    assert name in found.every
    assert "assertStarts" not in found.every
