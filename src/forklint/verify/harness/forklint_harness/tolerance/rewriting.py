"""Rewrites a module of the project so that a statement which fails for lack of the world does not end the run.

Each statement stands in a ``try`` of its own, and what it would have bound is bound to stand-ins where it fails;
calls, conditions and assertions go through the file's ``__forklint__`` (see ``runtime``). Lines keep their numbers.
"""

from __future__ import annotations

import ast
import copy
from typing import Any, Collection, Iterator, List, Optional, Sequence, Tuple

from forklint_harness.tolerance.calling import RUNTIME, Calls, spelt

PREAMBLE = "{} = __import__('forklint_harness.tolerance.runtime', fromlist=['of']).of({!r})"
LEAVING = frozenset({"exit", "quit", "_exit", "abort", "error", "print_help"})
PLAIN = (ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
GENERIC = frozenset({"Exception", "BaseException", "RuntimeError", "AssertionError", ""})
"""Handlers that catch whatever may happen, rather than what is expected to be missing."""
ALIASES = {"IOError": "OSError", "error": "OSError", "EnvironmentError": "OSError", "WindowsError": "OSError"}


class Rewriter:
    """Rewrites one module; ``statements`` is its table, by the numbers that the new code names."""

    def __init__(self, tree: ast.Module, path: str, skipped: Collection[str] = (), rows: Collection[int] = ()) -> None:
        """Take the module, dumps of statements that are not to run, and rows that the run must come to."""
        self._tree = tree
        self._path = path
        self._skipped = skipped
        self._rows = rows
        self._temporaries = 0
        self._is_class = False
        self._ends: List[Optional[int]] = []
        self.statements: List[ast.stmt] = []

    def module(self) -> ast.Module:
        """The new module."""
        body = list(self._tree.body)
        head = []
        while body and (_is_docstring(body[0]) or _is_future(body[0])):
            head.append(body.pop(0))
        begin = ast.parse(PREAMBLE.format(RUNTIME, self._path)).body
        new = ast.Module(body=[*head, *begin, *self._block(body)], type_ignores=[])
        return ast.fix_missing_locations(new)

    # Statements

    def _block(self, body: Sequence[ast.stmt]) -> List[ast.stmt]:
        new: List[ast.stmt] = []
        for number, statement in enumerate(body):
            if number == 0 and _is_docstring(statement):
                new.append(statement)
                continue
            following = body[number + 1 :]
            self._ends.append(max((_end(one) for one in following), default=None) if following else None)
            made = self._statement(statement)
            self._ends.pop()
            for one in made:
                ast.copy_location(one, statement)
            new += made
        return new

    def _statement(self, node: ast.stmt) -> List[ast.stmt]:
        if self._skipped and not isinstance(node, PLAIN) and ast.dump(node) in self._skipped:
            number = self._number(node)
            return [*self._bindings(number, node, "skipped", whole=True)] or [ast.Pass()]
        if isinstance(node, ast.ImportFrom) and not _is_future(node):
            parts = [ast.ImportFrom(module=node.module, names=[name], level=node.level) for name in node.names]
            return [one for part in parts for one in self._wrapped(ast.copy_location(part, node))]
        if isinstance(node, ast.Import):
            singles = [ast.copy_location(ast.Import(names=[name]), node) for name in node.names]
            return [one for single in singles for one in self._wrapped(single)]
        kind = type(node).__name__
        method: Any = getattr(self, "_on_" + kind, None)
        if method is not None:
            made: List[ast.stmt] = method(node)
            return made
        if isinstance(node, PLAIN) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return [node]
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Delete)):
            return self._wrapped(node)
        return [node]

    def _wrapped(self, node: ast.stmt, new: Optional[ast.stmt] = None, instead: Sequence[ast.stmt] = ()) -> List[Any]:
        """A statement in a ``try`` of its own; ``instead`` is done where it fails, beside binding what it binds."""
        number = self._number(node)
        bound = list(self._bindings(number, node, "value"))
        run: Any = new if new is not None else self._expressions(node)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and _count(node.targets[0]):
            run.value = self._ask("unpack", run.value, ast.Constant(_count(node.targets[0])))
        failed = ast.Expr(self._ask("failed", ast.Constant(number)))
        handler = ast.ExceptHandler(type=ast.Name("Exception", ast.Load()), name=None, body=[failed, *bound, *instead])
        ast.copy_location(handler, node)
        return [ast.Try(body=[run], handlers=[handler], orelse=[], finalbody=[])]

    def _on_FunctionDef(self, node: Any) -> List[ast.stmt]:  # noqa: N802
        made = copy.copy(node)
        was, self._is_class = self._is_class, False
        ends, self._ends = self._ends, []
        made.body = self._block(node.body)
        self._is_class, self._ends = was, ends
        made.decorator_list = [self._ask("decorator", self._expressions(one)) for one in node.decorator_list]
        return self._wrapped(node, made)

    _on_AsyncFunctionDef = _on_FunctionDef  # noqa: N815

    def _on_ClassDef(self, node: ast.ClassDef) -> List[ast.stmt]:  # noqa: N802
        made = copy.copy(node)
        was, self._is_class = self._is_class, True
        made.body = self._block(node.body)
        made.bases = [self._expressions(base) for base in node.bases]
        self._is_class = was
        made.decorator_list = [self._ask("decorator", self._expressions(one)) for one in node.decorator_list]
        return self._wrapped(node, made)

    def _on_If(self, node: ast.If) -> List[ast.stmt]:  # noqa: N802
        made = ast.If(test=self._expressions(node.test), body=self._block(node.body), orelse=self._block(node.orelse))
        mark = self._ask("mark")
        facts = [ast.Constant(self._leaves(node.body)), ast.Constant(self._leaves(node.orelse)), self._wanted(node)]
        made.test = self._ask("decide", mark, made.test, *facts, ast.Constant(self._number(node)))
        return self._hoisted(node, made, "test")

    def _on_While(self, node: ast.While) -> List[ast.stmt]:  # noqa: N802
        made = ast.While(self._expressions(node.test), self._block(node.body), self._block(node.orelse))
        if not isinstance(node.test, ast.Constant):
            facts = [ast.Constant(self._number(node)), ast.Constant(self._holds_row(node.body))]
            made.test = self._ask("goes_on", self._ask("mark"), made.test, *facts)
        return self._wrapped(node, ast.copy_location(made, node))

    def _on_For(self, node: Any) -> List[ast.stmt]:  # noqa: N802
        made = copy.copy(node)
        made.iter = self._expressions(node.iter)
        if self._holds_row(node.body):
            made.iter = self._ask("items", self._ask("mark"), made.iter, ast.Constant(self._number(node)))
        made.body, made.orelse = self._block(node.body), self._block(node.orelse)
        if _count(node.target):
            made.target, item = self._temporary()
            parts = self._ask("unpack", item, ast.Constant(_count(node.target)))
            first = ast.Assign(targets=[node.target], value=parts)
            made.body = [ast.copy_location(first, node), *made.body]
        *before, loop = self._hoisted(node, made, "iter")
        return [*before, *self._wrapped(node, loop)]

    _on_AsyncFor = _on_For  # noqa: N815

    def _on_With(self, node: Any) -> List[ast.stmt]:  # noqa: N802
        inner = self._block(node.body)
        for item in reversed(node.items):
            made = copy.copy(item)
            made.context_expr = self._expressions(item.context_expr)
            block = type(node)(items=[made], body=inner)
            ast.copy_location(block, node)
            *before, block = self._hoisted(node, block, "context_expr", made)
            inner = [*before, *self._wrapped(node, block)]
        return inner

    _on_AsyncWith = _on_With  # noqa: N815

    def _on_Try(self, node: Any) -> List[ast.stmt]:  # noqa: N802
        made = copy.copy(node)
        made.body = self._block(node.body)
        names = _handled(node)
        if names and not self._holds_row(node.body):
            names_in_code = ast.Tuple([ast.Constant(name) for name in names], ast.Load())
            item = ast.withitem(context_expr=self._ask("handled", names_in_code), optional_vars=None)
            made.body = [ast.copy_location(ast.With(items=[item], body=made.body), node)]
        made.handlers = [self._handler(one) for one in node.handlers]
        made.orelse, made.finalbody = self._block(node.orelse), self._block(node.finalbody)
        return [made]

    _on_TryStar = _on_Try  # noqa: N815

    def _handler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        made = copy.copy(node)
        if node.type is not None:
            made.type = self._ask("catchable", node.type)
        made.body = self._block(node.body)
        return made

    def _on_Return(self, node: ast.Return) -> List[ast.stmt]:  # noqa: N802
        if node.value is None or isinstance(node.value, ast.Constant):
            return [node]
        value = self._ask("value", ast.Constant(self._number(node)), ast.Constant("return"))
        return self._wrapped(node, instead=[ast.Return(value)])

    def _on_Raise(self, node: ast.Raise) -> List[ast.stmt]:  # noqa: N802
        if node.exc is None:
            return [node]
        return [ast.Raise(exc=self._ask("own", self._expressions(node.exc)), cause=node.cause)]

    def _on_Assert(self, node: ast.Assert) -> List[ast.stmt]:  # noqa: N802
        mark, number = self._ask("mark"), ast.Constant(self._number(node))
        return [ast.Assert(test=self._ask("asserted", mark, self._expressions(node.test), number), msg=node.msg)]

    def _on_Match(self, node: Any) -> List[ast.stmt]:  # noqa: N802
        made = copy.copy(node)
        made.subject = self._expressions(node.subject)
        made.cases = [copy.copy(case) for case in node.cases]
        for case in made.cases:
            case.body = self._block(case.body)
        return [made]

    def _hoisted(self, node: ast.stmt, made: Any, field: str, holder: Any = None) -> List[ast.stmt]:
        """A compound statement with the expression of its head evaluated before, where a failure can be caught."""
        holder = holder or made
        ast.copy_location(made, node)
        if self._is_class:
            return [made]
        stored, loaded = self._temporary()
        first = ast.Assign(targets=[stored], value=getattr(holder, field))
        setattr(holder, field, loaded)
        ast.copy_location(first, node)
        number = self._number(node)
        failed = ast.Expr(self._ask("failed", ast.Constant(number)))
        wanted = self._wanted(node) if isinstance(node, ast.If) else ast.Constant(None)
        instead = self._ask("head", ast.Constant(number), wanted)
        bind = ast.Assign(targets=[stored], value=instead)
        handler = ast.ExceptHandler(type=ast.Name("Exception", ast.Load()), name=None, body=[failed, bind])
        ast.copy_location(handler, node)
        attempt = ast.Try(body=[first], handlers=[handler], orelse=[], finalbody=[])
        return [ast.copy_location(attempt, node), made]

    def _temporary(self) -> Tuple[ast.Name, ast.Name]:
        """A new name, to be stored and to be loaded."""
        self._temporaries += 1
        name = "_forklint_{}".format(self._temporaries)
        return ast.Name(name, ast.Store()), ast.Name(name, ast.Load())

    # What is known of statements

    def _number(self, node: ast.stmt) -> int:
        self.statements.append(node)
        return len(self.statements) - 1

    def _bindings(self, number: int, node: ast.stmt, by: str, *, whole: bool = False) -> Iterator[ast.stmt]:
        """Statements that bind what a statement would have bound to stand-ins."""
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            yield ast.Expr(self._ask("star", ast.Constant(number), ast.Call(ast.Name("globals", ast.Load()), [], [])))
            return
        for target in _targets(node, whole=whole):
            if whole and isinstance(target, ast.Attribute) and not spelt(target).startswith("self."):
                continue  # what is not run leaves other objects as they are
            value = self._ask(by, ast.Constant(number), ast.Constant(spelt(target)))
            assigned = copy.copy(target)
            assigned.ctx = ast.Store()  # type: ignore[attr-defined]
            bound: ast.stmt = ast.copy_location(ast.Assign(targets=[assigned], value=value), node)
            if isinstance(target, ast.Attribute):  # an object may refuse what it is given
                anything = ast.ExceptHandler(type=ast.Name("Exception", ast.Load()), name=None, body=[ast.Pass()])
                bound = ast.Try(body=[bound], handlers=[anything], orelse=[], finalbody=[])
            yield ast.copy_location(bound, node)

    def _leaves(self, body: Sequence[ast.stmt]) -> bool:
        """Whether a block ends the run, or goes away from what the run must come to."""
        if not body:
            return False
        last = body[-1]
        if isinstance(last, (ast.Return, ast.Continue, ast.Break)):
            end = next((end for end in reversed(self._ends) if end is not None), None)
            return end is not None and any(_end(last) < row <= end for row in self._rows)
        return _ends_run(last)

    def _holds_row(self, body: Sequence[ast.stmt]) -> bool:
        return bool(body) and any(body[0].lineno <= row <= _end(body[-1]) for row in self._rows)

    def _wanted(self, node: ast.If) -> ast.Constant:
        """Which branch leads to what the run must come to; None if neither, or both, does."""
        inside, otherwise = self._holds_row(node.body), self._holds_row(node.orelse)
        return ast.Constant(None if inside == otherwise else inside)

    # Expressions

    def _ask(self, name: str, *arguments: ast.expr) -> ast.Call:
        function = ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load())
        return ast.Call(func=function, args=list(arguments), keywords=[])

    def _expressions(self, node: Any) -> Any:
        return Calls().visit(_copied(node))


def _copied(node: Any) -> Any:
    """A copy of a tree, several times as fast as ``copy.deepcopy``: a large project has hundreds of files."""
    kind: Any = type(node)
    new = kind.__new__(kind)
    for name, value in vars(node).items():
        if isinstance(value, ast.AST):
            new.__dict__[name] = _copied(value)
        elif isinstance(value, list):
            new.__dict__[name] = [_copied(one) if isinstance(one, ast.AST) else one for one in value]
        else:
            new.__dict__[name] = value
    return new


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _ends_run(last: ast.stmt) -> bool:
    if isinstance(last, ast.Raise):
        return True
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        function = last.value.func
        return getattr(function, "attr", getattr(function, "id", "")) in LEAVING
    return isinstance(last, ast.Assert) and isinstance(last.test, ast.Constant) and not last.test.value


def _handled(node: Any) -> List[str]:
    """Names of the errors after which the program goes on in its own way."""
    imports = any(isinstance(one, (ast.Import, ast.ImportFrom)) for one in node.body)
    names = []
    for handler in node.handlers:
        types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        spelt = [getattr(one, "attr", getattr(one, "id", "")) for one in types]
        if any(_ends_run(statement) for statement in handler.body):
            continue
        names += [ALIASES.get(name, name) for name in spelt if name not in GENERIC]
        if _ends_run(node.body[-1]):
            names += ["Exception"]
        if imports and any(name in GENERIC for name in spelt):
            names.append("ImportError")
    return names


def _targets(node: ast.stmt, *, whole: bool) -> Iterator[ast.expr]:
    """What a statement binds: names, and attributes of names."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            name = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])
            yield ast.Name(name, ast.Store())
        return
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield ast.Name(node.name, ast.Store())
        return
    seen = set()
    for one in _own_nodes(node, whole=whole):
        if isinstance(getattr(one, "ctx", None), ast.Store) and spelt(one) and spelt(one) not in seen:
            seen.add(spelt(one))
            yield one  # type: ignore[misc]
        elif whole and isinstance(one, (*FUNCTIONS, ast.ClassDef)) and one is not node:
            yield ast.Name(one.name, ast.Store())
        elif whole and isinstance(one, (ast.Import, ast.ImportFrom)):
            yield from (target for target in _targets(one, whole=False) if spelt(target) != "*")


def _own_nodes(node: ast.AST, *, whole: bool) -> Iterator[ast.AST]:
    """The nodes of a statement outside of functions and classes; with ``whole`` those of its blocks, too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and not whole:
            continue
        yield child
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef, ast.Lambda, ast.comprehension)):
            yield from _own_nodes(child, whole=whole)


def _count(target: ast.AST) -> int:
    """How many values a target takes apart; 0 if it takes them as they come."""
    plain = isinstance(target, (ast.Tuple, ast.List)) and not any(isinstance(one, ast.Starred) for one in target.elts)
    return len(target.elts) if plain else 0  # type: ignore[attr-defined]


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno
