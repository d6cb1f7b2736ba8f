"""Folders that a file makes modules importable from: what it puts on ``sys.path``, and what its ``setup()`` installs.

They are read from its tree alone, without knowing where it lies, so that they can be kept by content;
``project.path_roots`` says which folders they mean for a file of a project.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product

from forklint.records import dataclass
from forklint.source.document import SHARED
from forklint.summaries.summary import PathRoot, Scope

FILE, CWD, SETUP = "file", "cwd", "setup"
"""What a path root is relative to: the folder of its file; the working directory; the folder of a ``setup.py``."""
SYS = ("sys", "_sys")
CHANGES = re.compile(rb"sys\.path\s*(?:\[|\+?=[^=]|\.\s*(?:insert|append|extend)\b)|addsitedir")
"""How ``sys.path`` is changed: files that only speak of it are many."""
SIGNS = frozenset(
    ["addsitedir", "site.addsitedir", "setup", "setuptools.setup", "skbuild.setup", "distutils.core.setup"]
    + [f"{name}.path{way}" for name in SYS for way in ("", ".insert", ".append", ".extend")]
)
"""What a file calls, or names, that has path roots, as summaries spell it."""
SETUP_FILE = "setup.py"
INSTALLERS = frozenset({"setuptools", "distutils", "skbuild"})
"""Whose ``setup()`` installs what lies beside it."""
INSTALLERS_WRITTEN = tuple(name.encode() for name in sorted(INSTALLERS))
ITSELF = "\0"
"""Stands for the name of the file in the path of ``__file__``."""
UNCHANGED = frozenset(
    {"abspath", "realpath", "normpath", "normcase", "fspath", "str", "resolve", "absolute", "as_posix"}
)
"""Functions and methods that give the path that they are given, as far as it matters here."""
PATHS = frozenset({"Path", "PurePath", "PosixPath", "PurePosixPath"})
FRAMES = frozenset({"getfile", "getsourcefile", "getabsfile"})
"""Functions of ``inspect`` that give the file when they are given the current frame."""
CONSTANTS = {"curdir": ".", "pardir": "..", "sep": "/"}
"""Those of ``os`` and ``os.path``."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp)
STORES = (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.For, ast.comprehension)
NOTED = (ast.Call, ast.Import, ast.ImportFrom, *STORES)
LEAVES = frozenset({ast.Name, ast.Constant}) | SHARED
SEQUENCES = (ast.List, ast.Tuple, ast.Set)
MOST_VALUES, MOST_BOUND, MOST_STEPS = 8, 32, 16
"""Values that one expression may have, bindings of one name, and operations and names one within another."""


def may_hold(data: bytes) -> bool:
    """Whether a text may have path roots: it is not worth a tree otherwise."""
    if b"sys.path" in data or b"addsitedir" in data:
        return CHANGES.search(data) is not None
    return b"setup(" in data and any(one in data for one in INSTALLERS_WRITTEN)


def may_add(scopes: Iterable[Scope]) -> bool:
    """The same, of a file that has been read."""
    return not all(SIGNS.isdisjoint(one.calls) and SIGNS.isdisjoint(one.dotted) for one in scopes)


def path_roots(tree: ast.Module) -> tuple[PathRoot, ...]:
    """The folders that a file makes modules importable from, wherever in it; what cannot be read is left out.

    Read are literals, ``__file__``, ``os.getcwd()`` and what ``os.path`` and ``pathlib`` make of these, through names
    that the file assigns, loops over literals, and parameters of functions that the file calls.
    """
    names = _Names(tree)
    added = [root for one in names.added() for value in names.values(one) for root in _root_of(value, CWD)]
    return tuple(dict.fromkeys((*added, *names.installed())))


Value = PathRoot | str
"""A path whose base is known, or a text: part of a path, or one that is relative to the working directory."""


@dataclass(frozen=True)
class _Spelling:
    """An expression, and the scopes in which its names are looked up: the module and functions, outermost first."""

    node: ast.expr
    scopes: tuple[ast.AST, ...]

    def part(self, node: ast.expr) -> _Spelling:
        """A part of the expression."""
        return _Spelling(node, self.scopes)


class _Names:
    """What the names of a file may be, and what it does to ``sys.path``."""

    def __init__(self, tree: ast.Module) -> None:
        self._bound: dict[tuple[ast.AST, str], list[_Spelling]] = defaultdict(list)
        self._calls: dict[str, list[tuple[ast.Call, _Spelling]]] = defaultdict(list)
        """Calls by the last name of what is called."""
        self._stores: list[tuple[ast.expr, _Spelling]] = []
        """Assignments to what is no plain name."""
        self._modules: set[str] = set()
        """Top-level names of modules that are imported."""
        self._known: dict[ast.expr, list[Value]] = {}
        waiting: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(tree, (tree,))]
        while waiting:
            node, scopes = waiting.pop()
            if isinstance(node, NOTED):
                self._note(node, scopes)
            if isinstance(node, FUNCTIONS):
                scopes = (*scopes, node)
            waiting += [(child, scopes) for child in _children(node)]

    def _note(self, node: ast.AST, scopes: tuple[ast.AST, ...]) -> None:
        if isinstance(node, ast.Call):
            self._calls[_last_name(node.func)].append((node, _Spelling(node, scopes)))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, _Spelling(node.value, scopes))
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            self._bind(node.target, _Spelling(node.value, scopes))
        elif isinstance(node, ast.AugAssign):
            self._stores.append((node.target, _Spelling(node.value, scopes)))
        elif isinstance(node, (ast.For, ast.comprehension)):
            for item in _written(node.iter):
                self._bind(node.target, _Spelling(item, scopes))
        elif isinstance(node, ast.Import):
            self._modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            self._modules.add(node.module.partition(".")[0])

    def _bind(self, target: ast.expr, value: _Spelling) -> None:
        if isinstance(target, ast.Name):
            self._bound[value.scopes[-1], target.id].append(value)
        else:
            self._stores.append((target, value))

    # What is said of path roots

    def added(self) -> Iterator[_Spelling]:
        """Give what is added to ``sys.path``."""
        for name, position in (("insert", 1), ("append", 0), ("extend", 0)):
            for node, call in self._calls[name]:
                if _is_search_path(getattr(node.func, "value", None)) and len(node.args) > position:
                    value = call.part(node.args[position])
                    yield from _items(value) if name == "extend" else (value,)
        for node, call in self._calls["addsitedir"]:
            yield from map(call.part, node.args[:1])
        for target, value in self._stores:
            place = target.slice if isinstance(target, ast.Subscript) else None
            if _is_search_path(target.value if isinstance(target, ast.Subscript) else target):
                yield from _items(value) if place is None or isinstance(place, ast.Slice) else (value,)

    def installed(self) -> Iterator[PathRoot]:
        """Give what a call of ``setup`` makes importable: its folder, ``src`` in it, and where it says packages are."""
        if self._modules.isdisjoint(INSTALLERS):
            return
        for node, call in self._calls["setup"]:
            yield from (PathRoot(SETUP, "."), PathRoot(SETUP, "src"))
            for folder in _package_folders(node):
                for value in self.values(call.part(folder)):
                    yield from _root_of(value, SETUP)

    # What an expression may be

    def values(self, one: _Spelling, steps: int = MOST_STEPS) -> list[Value]:
        """The paths and texts that an expression may be, as far as they can be read."""
        if one.node not in self._known and steps:
            self._known[one.node] = []  # a name that is made of itself adds nothing
            self._known[one.node] = list(dict.fromkeys(islice(self._values(one, steps - 1), MOST_VALUES)))
        return self._known.get(one.node, [])

    def _values(self, one: _Spelling, steps: int) -> Iterable[Value]:
        node = one.node
        if isinstance(node, ast.Constant):
            return [node.value.replace("\\", "/")] if isinstance(node.value, str) else []
        if isinstance(node, ast.Name):
            return self._named(node.id, one.scopes, steps)
        if isinstance(node, ast.Call):
            return self._called(node, one, steps)
        if isinstance(node, ast.Attribute):
            if node.attr == "parent":
                return map(_above, self.values(one.part(node.value), steps))
            return [CONSTANTS[node.attr]] if node.attr in CONSTANTS else []
        if isinstance(node, ast.Subscript):
            return self._subscribed(node, one, steps)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Add)):
            joined = _join if isinstance(node.op, ast.Div) else _concatenate
            return self._combined(joined, [one.part(node.left), one.part(node.right)], steps)
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
            return self._combined(_concatenate, [one.part(part) for part in parts], steps)
        if isinstance(node, ast.IfExp):
            return [value for part in (node.body, node.orelse) for value in self.values(one.part(part), steps)]
        return self.values(one.part(node.value), steps) if isinstance(node, ast.NamedExpr) else []

    def _named(self, name: str, scopes: tuple[ast.AST, ...], steps: int) -> Iterator[Value]:
        if name == "__file__":
            yield PathRoot(FILE, ITSELF)
            return
        for depth in range(len(scopes), 0, -1):
            scope = scopes[depth - 1]
            known = self._bound.get((scope, name), [])[:MOST_BOUND]
            if isinstance(scope, FUNCTIONS) and name in (taken := [one.arg for one in scope.args.args]):
                known += islice(self._passed(scope.name, name, taken.index(name)), MOST_BOUND)
            if known:
                for one in known:
                    yield from self.values(one, steps)
                return

    def _passed(self, function: str, parameter: str, position: int) -> Iterator[_Spelling]:
        """Give what calls in the file pass for a parameter."""
        for node, call in self._calls[function]:
            yield from map(call.part, node.args[position : position + 1])
            yield from (call.part(keyword.value) for keyword in node.keywords if keyword.arg == parameter)

    def _called(self, node: ast.Call, one: _Spelling, steps: int) -> Iterable[Value]:
        name, arguments = _last_name(node.func), [one.part(argument) for argument in node.args]
        owner = [one.part(node.func.value)] if isinstance(node.func, ast.Attribute) else []
        if name in FRAMES and node.args and _is_here(node.args[0]):
            return [PathRoot(FILE, ITSELF)]
        if name in {"getcwd", "cwd"}:
            return [PathRoot(CWD, ".")]
        if name in UNCHANGED or name == "dirname":
            found = [value for part in (arguments or owner)[:1] for value in self.values(part, steps)]
            return map(_above, found) if name == "dirname" else found
        if name in PATHS:
            return self._combined(_join, arguments, steps) if arguments else ["."]
        if name == "joinpath":
            return self._combined(_join, [*owner, *arguments], steps)
        if name == "join" and not (owner and isinstance(owner[0].node, ast.Constant)):
            return self._combined(_join, arguments, steps)
        return []

    def _subscribed(self, node: ast.Subscript, one: _Spelling, steps: int) -> Iterable[Value]:
        """What ``path.parents[1]``, ``os.path.split(path)[0]``, ``sys.argv[0]`` and ``sys.path[0]`` may be."""
        number = node.slice.value if isinstance(node.slice, ast.Constant) else None
        name = _last_name(node.value.func if isinstance(node.value, ast.Call) else node.value)
        if name == "parents" and isinstance(node.value, ast.Attribute) and isinstance(number, int):
            found = self.values(one.part(node.value.value), steps)
            for _ in range(min(number, MOST_STEPS) + 1):
                found = list(map(_above, found))
            return found
        if number != 0:
            return []
        if name == "split" and isinstance(node.value, ast.Call):
            return [_above(value) for part in node.value.args[:1] for value in self.values(one.part(part), steps)]
        if name == "argv":
            return [PathRoot(FILE, ITSELF)]
        return [PathRoot(FILE, ".")] if _is_search_path(node.value) else []

    def _combined(self, combine: Combine, parts: list[_Spelling], steps: int) -> Iterator[Value]:
        """Give what becomes of parts that are put together, for the values that they may have."""
        choices = product(*(self.values(part, steps) for part in parts)) if parts else ()
        for first, *others in islice(choices, MOST_VALUES**2):
            value: Value | None = first
            for other in others:
                value = combine(value, other) if value is not None else None
            if value is not None:
                yield value


Combine = Callable[[Value, Value], Value | None]


def _join(left: Value, right: Value) -> Value | None:
    if isinstance(right, PathRoot) or right.startswith("/"):
        return right
    return PathRoot(left.base, f"{left.path}/{right}") if isinstance(left, PathRoot) else posixpath.join(left, right)


def _concatenate(left: Value, right: Value) -> Value | None:
    if isinstance(right, PathRoot):
        return right if left == "" else None
    if isinstance(left, str):
        return left + right
    is_path = not right or right.startswith("/") or left.path.endswith("/")
    return PathRoot(left.base, left.path + right) if is_path else None


def _above(value: Value) -> Value:
    """The folder above, or that of a file."""
    if isinstance(value, str):
        return posixpath.dirname(value) or "."
    return PathRoot(value.base, posixpath.normpath(f"{value.path}/.."))


def _root_of(value: Value, base: str) -> Iterator[PathRoot]:
    """Give the path root that a value stands for; a text counts from ``base``, and means nothing if it is absolute."""
    if isinstance(value, str):
        value = PathRoot(base, value or ".")
        if value.path.startswith(("/", "~")) or ":" in value.path or ITSELF in value.path:
            return
    path = posixpath.normpath(value.path)
    if ITSELF not in path:
        yield PathRoot(value.base, path)


def _written(sequence: ast.expr) -> list[ast.expr]:
    """The items of a list that is written out, or of ``"configs data models".split()``; none of any other."""
    if isinstance(sequence, SEQUENCES):
        return sequence.elts
    func = sequence.func if isinstance(sequence, ast.Call) and not sequence.args else None
    text = func.value if isinstance(func, ast.Attribute) and func.attr == "split" else None
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return []
    return [ast.copy_location(ast.Constant(word), text) for word in text.value.split()]


def _items(sequence: _Spelling) -> Iterator[_Spelling]:
    """Give the expressions in a list that is written out, or in a sum of such."""
    node = sequence.node
    if isinstance(node, SEQUENCES):
        yield from map(sequence.part, node.elts)
    elif isinstance(node, COMPREHENSIONS):
        yield sequence.part(node.elt)
    elif isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            yield from _items(sequence.part(side))


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Give the nodes right below one, the last first, but for names and constants, in which nothing is."""
    for part in reversed(node.__dict__.values()):
        for child in reversed(part) if type(part) is list else (part,):
            if isinstance(child, ast.AST) and type(child) not in LEAVES:
                yield child


def _package_folders(setup: ast.Call) -> Iterator[ast.expr]:
    """Give the folder of all packages in ``package_dir={"": "lib"}``."""
    for keyword in setup.keywords:
        if keyword.arg == "package_dir" and isinstance(keyword.value, ast.Dict):
            for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "":
                    yield value


def _is_search_path(node: ast.expr | None) -> bool:
    """Whether an expression is ``sys.path``."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "path"
        and isinstance(node.value, ast.Name)
        and node.value.id in SYS
    )


def _is_here(node: ast.expr) -> bool:
    """Whether an expression is one by which ``inspect`` finds the file: ``currentframe()``, or a lambda."""
    return isinstance(node, ast.Lambda) or (isinstance(node, ast.Call) and _last_name(node.func) == "currentframe")


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
