"""What a file defines, read from its bytes: on text as people write it, and as they do not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from forklint.source import headings

FIXTURES = Path(__file__).parent / "fixtures"

BASES = {
    "plain": (b"class A(Dataset): pass\n", {b"Dataset"}),
    "none": (b"class A:\n    pass\n", set()),
    "dotted": (b"class A(data.Dataset, metaclass=M):\n", {b"data", b"Dataset", b"metaclass", b"M"}),
    "over lines": (b"class A(\n    First,  # the (first)\n    Second,\n):\n    pass\n", {b"First", b"Second"}),
    "generic": (b"class A(Generic[T], Base[Callable[[int], str]]):\n", {b"Generic", b"Base"}),
    "type parameters": (b"class A[T: (int, str)](Base[T]):\n    pass\n", {b"Base"}),
    "called": (b"class A(mixed(One, two(three(Four)))):\n    pass\n", {b"One", b"Four"}),
    "continued": (b"class \\\n  A \\\n  (Base):\n    pass\n", {b"Base"}),
    "tabs and carriage returns": (b"if x:\r\n\tclass\tA(Base):\r\n\t\tpass\r\n", {b"Base"}),
    "a byte order mark": (b"\xef\xbb\xbfclass A(Base):\n    pass\n", {b"Base"}),
    "letters outside ASCII": ("class A(Größe):\n    pass\n".encode(), {"Größe".encode()}),
}


def found(text: bytes) -> dict[bytes, headings.Head]:
    return {one.name: one for one in headings.classes(headings.normal(text))}


@pytest.mark.parametrize(("text", "bases"), BASES.values(), ids=BASES)
def test_bases(text: bytes, bases: set[bytes]) -> None:
    assert bases <= found(text)[b"A"].bases


def test_normal_text_keeps_its_places() -> None:
    text = b"a = 1 + \\\r\n  2\r\nclass\tB(\fC):\n  \\\n  pass\r"
    assert len(headings.normal(text)) == len(text)
    assert headings.normal(text).index(b"B") == text.index(b"B")


def test_prose_is_no_class() -> None:
    assert not found(b'"""\nclass labels are read first\n    class of 1984\n"""\nsubclass A(B): ...\n')


METHODS = b'''
class Faces(Base):
    """Use it so:

class Example(Base):
    def __len__(self): ...
    """

    def __getitem__(self, index):
        def collate(batch): ...

    class Inner:
        async def __iter__(self): ...

def __next__(): ...
class Roads(Base):
    def __len__(self): ...
'''
WANTED = (b"__getitem__", b"__len__", b"__iter__", b"__next__", b"collate")


def test_methods_belong_to_their_classes_though_a_docstring_looks_like_one() -> None:
    text = headings.normal(METHODS)
    methods = headings.methods(text, headings.classes(text), WANTED)
    assert {b"__getitem__", b"__iter__"} <= methods[b"Faces"]
    assert b"__next__" not in methods[b"Faces"]
    assert methods[b"Inner"] == {b"__iter__"}
    assert methods[b"Roads"] == {b"__len__"}


def test_functions_are_those_that_are_no_methods() -> None:
    text = b"def one():\n    def inner(): ...\nclass A:\n    def method(self): ...\nasync def two(): ...\n"
    assert [one.name for one in headings.functions(text)] == [b"one", b"inner", b"two"]


OTHER = {
    "import": b"from torch.utils.data import Dataset as D\n",
    "import over lines": b"from torch.utils.data import (\n    DataLoader,\n    Dataset as D,\n)\n",
    "assignment": b"D = torch.utils.data.Dataset  # for short\n",
    "annotated": b"if x:\n    D: type = Dataset\n",
    "behind another": b"import torch; D = torch.utils.data.Dataset; x = 1\n",
    "at the end": b"x = 1\nD = Dataset\n",
    "without a line end": b"x = 1\nD = Dataset",
    "the first of two": b"D = C = Dataset\n",
    "the last of two": b"self.kind = C = D = Dataset\n",
}


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_other_names(text: bytes) -> None:
    text = headings.normal(text)
    assert b"Dataset" in headings.renamed(text)
    assert (b"Dataset", b"D") in set(headings.new_names(text, (b"Dataset",)))


def test_a_call_gives_no_other_name() -> None:
    text = b"D = Dataset(path)\nd = Dataset.open\nself.x = Dataset\n"
    assert not set(headings.new_names(text, (b"Dataset",)))


def test_prose_gives_no_other_name() -> None:
    text = b"# takes a Dataset as a list\nfrom data import Dataset as D  # as a rule\n"
    assert set(headings.new_names(text, (b"Dataset",))) == {(b"Dataset", b"D")}


CALLS = {
    "plain": b"store = Store(path)",
    "of a module": b"store = stores.Store(path)",
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
}


def calls_store(text: bytes) -> bool:
    text = headings.normal(text)
    is_called = b"Store" in headings.called(text)
    assert any(True for _ in headings.calls(text, b"Store")) is is_called
    assert headings.by_ending({b"Store"}, headings.call_endings(text)) or not is_called
    return is_called


@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS)
def test_calls(text: bytes) -> None:
    assert calls_store(text)
    place = next(headings.calls(headings.normal(text), b"Store"))
    assert text[place : place + 5] == b"Store"


@pytest.mark.parametrize("text", NO_CALLS.values(), ids=NO_CALLS)
def test_what_is_no_call(text: bytes) -> None:
    assert not calls_store(text)


def test_whatever_the_fixtures_call_is_found() -> None:
    """As ``ast`` sees it: the names that are called, those whose methods are, and all words."""
    asked = 0
    for path in sorted(FIXTURES.glob("*/bad_*.py")):
        data = path.read_bytes()
        try:
            nodes = list(ast.walk(ast.parse(data)))
        except SyntaxError:
            continue
        text = headings.normal(data)
        known, owners, words = headings.called(text), headings.owners(text), headings.words(text)
        calls = [node.func for node in nodes if isinstance(node, ast.Call)]
        names = {one.id for one in calls if isinstance(one, ast.Name)}
        methods = [one for one in calls if isinstance(one, ast.Attribute)]
        names |= {one.attr for one in methods}
        holders = {one.value.id for one in methods if isinstance(one.value, ast.Name)}
        asked += len(names)
        assert {name.encode() for name in names} <= known, path
        assert {name.encode() for name in holders} <= owners, path
        assert {node.id.encode() for node in nodes if isinstance(node, ast.Name)} <= words, path
        wanted = {name.encode() for name in names}
        by_ending = headings.by_ending(wanted, headings.call_endings(text))
        assert {name for some in by_ending.values() for name in some} == wanted, path
        assert all(any(True for _ in headings.calls(text, name)) for name in wanted), path
    assert asked > 1000
