"""What a file defines, calls and renames, as its summary tells: on text as people write it, and as they do not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.project.index import Project
from forklint.source import document
from forklint.summaries.reading import summarise
from forklint.summaries.summary import Summary
from forklint.summaries.terms import BASE, CALL, CLASS, RENAMED, terms, words

FIXTURES = Path(__file__).parent / "fixtures"


def summary_of(text: bytes) -> Summary:
    return summarise(document.parse(document.decode(Path("file.py"), text)))


BASES = {
    "plain": (b"class A(Dataset): pass\n", {"Dataset"}),
    "none": (b"class A:\n    pass\n", set()),
    "dotted": (b"class A(data.Dataset, metaclass=M): pass\n", {"data", "Dataset"}),
    "over lines": (b"class A(\n    First,  # the (first)\n    Second,\n):\n    pass\n", {"First", "Second"}),
    "generic": (b"class A(Generic[T], Base[Callable[[int], str]]): pass\n", {"Generic", "Base"}),
    "continued": (b"class \\\n  A \\\n  (Base):\n    pass\n", {"Base"}),
    "tabs and carriage returns": (b"if x:\r\n\tclass\tA(Base):\r\n\t\tpass\r\n", {"Base"}),
    "a byte order mark": (b"\xef\xbb\xbfclass A(Base):\n    pass\n", {"Base"}),
    "letters outside ASCII": ("class A(Größe):\n    pass\n".encode(), {"Größe"}),
    "within a string": (b'"""\nclass A(Base): pass\n"""\nclass A(Real): pass\n', {"Real"}),
}


@pytest.mark.parametrize(("text", "bases"), BASES.values(), ids=BASES)
def test_bases(text: bytes, bases: set[str]) -> None:
    found = terms(summary_of(text))
    assert (found[CLASS], found[BASE]) == ({"A"}, bases)


METHODS = b'''
class Faces(Base):
    """Use it so:

class Example(Base):
    def __len__(self): ...
    """

    if True:
        def __getitem__(self, index):
            def collate(batch): ...

    class Inner:
        async def __iter__(self): ...

def __next__(): ...
'''


def test_methods_belong_to_their_classes_though_a_docstring_looks_like_one() -> None:
    summary = summary_of(METHODS)
    methods = {summary.scopes[number].name: set(summary.methods(number)) for number in summary.classes}
    assert methods == {"Faces": {"__getitem__"}, "Inner": {"__iter__"}}


OTHER = {
    "import": b"from torch.utils.data import Dataset as D\n",
    "import over lines": b"from torch.utils.data import (\n    DataLoader,\n    Dataset as D,\n)\n",
    "assignment": b"D = torch.utils.data.Dataset  # for short\n",
    "annotated": b"if x:\n    D: type = Dataset\n",
    "behind another": b"import torch; D = torch.utils.data.Dataset; x = 1\n",
    "the first of two": b"D = C = Dataset\n",
    "the last of two": b"self.kind = C = D = Dataset\n",
    "one of two": b"D = Dataset if x else Other\n",
    "a partial": b"D = functools.partial(data.Dataset, 4)\n",
}


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_other_names(text: bytes, tmp_path: Path) -> None:
    assert "Dataset" in terms(summary_of(text))[RENAMED]
    (tmp_path / "file.py").write_bytes(text)
    assert "D" in Project(tmp_path, Settings()).hierarchy.names_for("Dataset")


NO_OTHER = {
    "a call": b"D = Dataset(path)\n",
    "an attribute": b"D = Dataset.open\n",
    "prose": b"# takes a Dataset as D\n",
}


@pytest.mark.parametrize("text", NO_OTHER.values(), ids=NO_OTHER)
def test_what_gives_no_other_name(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "file.py").write_bytes(text)
    assert Project(tmp_path, Settings()).hierarchy.names_for("Dataset") == {"Dataset"}


CALLS = {
    "plain": b"store = Store(path)",
    "of a module": b"store = stores.Store(path)",
    "of what a call returns": b"store = stores().Store(path)",
    "blanks": b"store = Store (path)",
    "continued": b"store = Store \\\n    (path)",
    "within parentheses": b"store = (Store)(path)",
    "on the next line": b"store = (Store\n    (path))",
    "a decorator": b"@Store(path)\ndef read(): ...",
    "the whole text": b"Store()",
}
NO_CALLS = {
    "a class": b"class Store(Base): ...",
    "a function": b"def Store(): ...",
    "a longer name": b"MyStore(path)\nStores(path)",
    "what is called on it": b"Store.open(path)",
    "a name alone": b"kinds = [Store, (path)]",
    "a string": b"kinds = 'Store(path)'",
}


@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS)
def test_calls(text: bytes) -> None:
    assert "Store" in terms(summary_of(text))[CALL]


@pytest.mark.parametrize("text", NO_CALLS.values(), ids=NO_CALLS)
def test_what_is_no_call(text: bytes) -> None:
    assert "Store" not in terms(summary_of(text))[CALL]


RETAINED = {
    "bound": (b"x = make()", {"make"}),
    "an argument": (b"use(make())", {"make"}),
    "returned": (b"def f():\n    return make()", {"make"}),
    "in a list": (b"x = [make() for _ in y]", {"make"}),
    "an item": (b"x = make()[0]", {"make"}),
    "awaited": (b"async def f():\n    x = await make()", {"make"}),
    "a method": (b"x = make().get()", {"make().get"}),
    "an attribute": (b"x = make().get", {"make().get"}),
    "dropped": (b"make()", set()),
    "a method that is dropped": (b"make().get()", set()),
    "entered": (b"with make() as x, make(): pass", set()),
}


@pytest.mark.parametrize(("text", "retained"), RETAINED.values(), ids=RETAINED)
def test_the_calls_whose_values_may_outlive_them(text: bytes, retained: set[str]) -> None:
    found = {call for scope in summary_of(text).scopes for call in scope.retained}
    assert found - {"use"} == retained


def test_whatever_the_fixtures_call_is_found() -> None:
    asked = 0
    for path in sorted(FIXTURES.glob("*/bad_*.py")):
        data = path.read_bytes()
        try:
            nodes = list(ast.walk(ast.parse(data)))
        except SyntaxError:
            continue
        called = [node.func for node in nodes if isinstance(node, ast.Call)]
        names = {one.id for one in called if isinstance(one, ast.Name)}
        names |= {one.attr for one in called if isinstance(one, ast.Attribute)}
        asked += len(names)
        assert names == terms(summary_of(data))[CALL] - {""}, path
        assert {node.id for node in nodes if isinstance(node, ast.Name)} <= words(data), path
    assert asked > 1000
