"""Whether the handle that a class keeps in an attribute can be opened on first use instead, and what that touches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from forklint.datasets.workers import attributes_read
from forklint.handles.carried import PICKLING, Carried
from forklint.project.bindings import block_of
from forklint.project.constructors import constructor_in
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import Function, statements
from forklint.project.spelling import all_arguments, first_parameter, takes_class
from forklint.records import dataclass
from forklint.rules.handle_in_init import reopening
from forklint.rules.handle_in_init.opening import NotLazyError, Opening, Splitter, assigned, is_list_of

PLAIN_BASES = ("torch.utils.data.", "torchvision.", "abc.", "typing.", "builtins.object", "collections.abc.")
"""Bases outside the project that are known to have no ``__getstate__``."""
WRITING = frozenset("wax+")
OPAQUE = frozenset({"__slots__", "__getattr__", "__getattribute__", "__setattr__"})


SEEKING = frozenset({"seek", "setpos", "rewind", "set", "pread", "preadv"})
"""Calls by which a reader says where to read, whatever was read before."""


@dataclass(frozen=True)
class Plan:
    """The statements of one class that a lazy handle touches. Its text is made in ``edits.lazy_handle``."""

    owner: ClassFacts
    carried: Carried
    attribute: str
    openings: tuple[Opening, ...]
    """``self.a = open(...)``"""
    resets: tuple[ast.stmt, ...]
    """``self.a = None``"""
    closings: tuple[ast.stmt, ...]
    """``self.a.close()``"""
    declarations: tuple[ast.stmt, ...]
    """What the class body says of the attribute: it would hide the property or be hidden by it."""
    anchor: Function
    """The method behind which the property goes."""
    close_after: Function | None
    """The constructor, if it reads the handle: it closes what it opened."""
    getstate: Function | None
    """The class's own ``__getstate__``."""
    forgets: tuple[ast.stmt, ...]
    """Statements of ``__getstate__`` that take the old attribute out of the state."""
    inherits_getstate: bool
    safe: bool

    @property
    def boxed(self) -> bool:
        """Whether the attribute holds a list of handles."""
        return isinstance(assigned(self.openings[0].statement)[1], ast.ListComp)

    @property
    def imports(self) -> tuple[str, ...]:
        """Imports that the property needs inside."""
        return self.openings[0].imports

    @property
    def stem(self) -> str:
        """The attribute without its leading underscores: new names are made of it."""
        return self.attribute.lstrip("_")


def plan(project: Project, carried: Carried, module: Module) -> Plan:
    """Work out how to open a handle lazily; raises NotLazyError."""
    return _Planner(project, carried, module).plan()


class _Planner:
    def __init__(self, project: Project, carried: Carried, module: Module) -> None:
        self._project = project
        self._carried = carried
        self._module = module
        self._attribute = carried.kept[0].attribute
        owner = self._enclosing_class(carried.kept[0].statement)
        if owner is None or len(carried.attributes) != 1 or self._attribute.startswith("__"):
            raise NotLazyError("several attributes hold it")
        self._owner = owner

    def plan(self) -> Plan:
        self._check_call()
        self._check_class()
        openings, resets = self._assignments()
        getstate = self._owner.methods.get("__getstate__")
        forgets = tuple(self._forgets(getstate)) if getstate else ()
        self._check_strings(forgets)
        anchor = constructor_in(self._owner.methods)
        self._check_position(anchor)
        if reopening.handed_on(self._path, self._attribute, self._carried.opened.row):
            raise NotLazyError("the constructor stores an object that uses it")
        split = self._split(openings)
        return Plan(
            owner=self._owner,
            carried=self._carried,
            attribute=self._attribute,
            openings=split,
            resets=tuple(resets),
            closings=tuple(self._closings()),
            declarations=tuple(self._declarations()),
            anchor=anchor or self._method_of(openings[0]),
            close_after=anchor if anchor is not None and self._reads_in(anchor) else None,
            getstate=getstate,
            forgets=forgets,
            inherits_getstate=any("__getstate__" in base.methods for base in self._bases),
            safe=len(openings) == 1
            and not resets
            and self._only_through_self()
            and self._knows_bases()
            and self._may_reopen(split[0]),
        )

    @cached_property
    def _path(self) -> list[FunctionFacts]:
        return reopening.constructing(self._project, self._owner, self._carried.dataset)

    def _may_reopen(self, opening: Opening) -> bool:
        """Whether a handle that is opened afresh is as good as the one that the constructor had."""
        return (
            reopening.only_read(self._path, self._owner, self._attribute, self._carried.opened.row)
            and reopening.stands_free(opening.statement, self._path, self._owner)
            and reopening.keeps_paths(self._project, self._path)
            and reopening.keeps_meaning(self._project, self._module, opening.call)
        )

    @cached_property
    def _bases(self) -> tuple[ClassFacts, ...]:
        return self._project.ancestry(self._owner).classes[1:]

    @property
    def _external(self) -> tuple[str, ...]:
        return self._project.ancestry(self._owner).external

    def _knows_bases(self) -> bool:
        """Whether no base outside the project can have a ``__getstate__`` that the new one would hide."""
        complete = self._project.ancestry(self._owner).complete
        return complete and all(name.startswith(PLAIN_BASES) for name in self._external)

    def _enclosing_class(self, statement: ast.stmt) -> ClassFacts | None:
        above: ast.AST = statement
        while not isinstance(above, (ast.ClassDef, ast.Module)):
            above = self._module.parents[above]
        return self._module.class_facts(above) if isinstance(above, ast.ClassDef) else None

    def _method_of(self, node: ast.AST) -> Function:
        return next(m for m in self._owner.methods.values() if any(below is node for below in nodes_below(m)))

    # What forbids it

    def _check_call(self) -> None:
        call = self._carried.opened.node
        if self._carried.opened.module is not self._module:
            raise NotLazyError("it is opened in another module")
        if self._carried.opened.row.write_modes and writes(call):
            raise NotLazyError("it is open for writing, and each process would reopen it")
        for argument in all_arguments(call):
            for node in nodes_below(argument):
                if isinstance(node, (ast.Lambda, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)):
                    raise NotLazyError("its arguments cannot be stored for later")
                if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "fileno":
                    raise NotLazyError("it uses another open file")
                if isinstance(node, ast.Constant) and node.value == ":memory:":
                    raise NotLazyError("it lives in memory and cannot be opened twice")

    def _check_class(self) -> None:
        names = {name for owner in (self._owner, *self._bases) for name in owner.methods}
        if names & OPAQUE or "__slots__" in self._owner.scope.bindings:
            raise NotLazyError("the class customizes attribute access")
        if names & {"__reduce__", "__reduce_ex__"} or any("DataPipe" in base for base in self._external):
            raise NotLazyError("the class defines __reduce__")
        subclasses = list(self._project.subclasses(self._owner))
        if any(name in sub.methods for sub in subclasses for name in PICKLING):
            raise NotLazyError("a subclass customizes pickling")
        if self._attribute in names:
            raise NotLazyError("a method has the same name as the attribute")
        methods = [one for one in self._owner.methods.values() if not takes_class(one)]
        if any(first_parameter(one) not in {"", "self"} for one in methods):
            raise NotLazyError("a method calls its object something else than `self`")
        stem = self._attribute.lstrip("_")
        taken = {f"_{stem}_source", f"_{stem}_handle", f"_{stem}_pid", f"_close_{stem}"}
        words = {n.attr for n in nodes_below(self._owner.node) if isinstance(n, ast.Attribute)} | names
        if words & taken:
            raise NotLazyError("a name that the fix needs is already used")
        for other in (*subclasses, *self._bases):
            if any(self._is_attribute(node, ast.Store) for node in nodes_below(other.node)):
                raise NotLazyError("another class of the family assigns the attribute")

    def _check_position(self, constructor: Function | None) -> None:
        """Refuse a stream that the constructor reads from and that is read on from there."""
        if not self._carried.opened.row.position or constructor is None or not self._reads_in(constructor):
            return
        others = (method for method in self._owner.methods.values() if method is not constructor)
        calls = (node for method in others for node in nodes_below(method) if isinstance(node, ast.Call))
        if not any(getattr(call.func, "attr", "") in SEEKING for call in calls):
            raise NotLazyError("reads continue where the constructor stopped")

    def _check_strings(self, forgets: tuple[ast.stmt, ...]) -> None:
        allowed = {id(node) for statement in forgets for node in nodes_below(statement)}
        for node in nodes_below(self._owner.node):
            if isinstance(node, ast.Constant) and node.value == self._attribute and id(node) not in allowed:
                raise NotLazyError("the attribute is also accessed by its name as a string")

    # What it touches

    def _is_attribute(self, node: ast.AST, context: type[ast.expr_context]) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == self._attribute and isinstance(node.ctx, context)

    def _own_statements(self) -> Iterator[ast.stmt]:
        for method in self._owner.methods.values():
            yield from statements(method.body)

    def _assignments(self) -> tuple[list[ast.stmt], list[ast.stmt]]:
        openings: list[ast.stmt] = []
        resets: list[ast.stmt] = []
        targets = set()
        for statement in self._own_statements():
            target, value = assigned(statement)
            if target is None or not self._is_attribute(target, ast.Store):
                continue
            targets.add(target)
            if isinstance(value, ast.Constant) and value.value is None:
                resets.append(statement)
            elif value is not None and self._opens(statement, value):
                openings.append(statement)
            else:
                raise NotLazyError("other values are assigned to the attribute, too")
        for node in nodes_below(self._owner.node):
            if (self._is_attribute(node, ast.Store) and node not in targets) or self._is_attribute(node, ast.Del):
                raise NotLazyError("the attribute is assigned in a way that a property does not allow")
        if not openings:
            raise NotLazyError("it is not assigned in the statement that opens it")
        return openings, resets

    def _split(self, statements_: list[ast.stmt]) -> tuple[Opening, ...]:
        stem = self._attribute.lstrip("_")
        openings = tuple(
            Splitter(self._module, self._method_of(statement), f"self._{stem}_source").split(statement)
            for statement in statements_
        )
        if len({(opening.call, opening.imports) for opening in openings}) > 1:
            raise NotLazyError("it is opened in different ways")
        return openings

    def _opens(self, statement: ast.stmt, value: ast.expr) -> bool:
        """Whether a value is the opener's call, a list of such calls, or the same call again behind a guard."""
        opener = self._carried.opened.node
        if value is opener or is_list_of(value, opener):
            return True
        same = isinstance(value, ast.Call) and ast.dump(value.func) == ast.dump(opener.func)
        above = self._module.parents[statement]
        return (
            same and isinstance(above, ast.If) and any(self._is_attribute(n, ast.Load) for n in nodes_below(above.test))
        )

    def _closings(self) -> Iterator[ast.stmt]:
        close = self._carried.opened.row.close
        for statement in self._own_statements():
            call = statement.value if isinstance(statement, ast.Expr) else None
            method = call.func if isinstance(call, ast.Call) and not call.args else None
            if (
                isinstance(method, ast.Attribute)
                and method.attr == close
                and self._is_attribute(method.value, ast.Load)
            ):
                yield statement

    def _declarations(self) -> Iterator[ast.stmt]:
        dataclass_like = any("dataclass" in ast.dump(d) for d in self._owner.node.decorator_list)
        for statement in self._owner.node.body:
            target, value = assigned(statement, bare=True)
            if not isinstance(target, ast.Name) or target.id != self._attribute:
                continue
            late = isinstance(value, ast.Call) and any(
                k.arg == "init" and isinstance(k.value, ast.Constant) and k.value.value is False for k in value.keywords
            )
            empty = value is None or (isinstance(value, ast.Constant) and value.value is None)
            if not late and (dataclass_like or not empty):
                raise NotLazyError("the class body gives the attribute a value")
            self._check_alone(statement)
            yield statement

    def _check_alone(self, statement: ast.stmt) -> None:
        """Refuse to take out a statement that shares its line."""
        beside = (other for other in block_of(self._module, statement) if other is not statement)
        if any(other.lineno == statement.lineno for other in beside):
            raise NotLazyError("a statement that must be removed shares a line with another one")

    def _forgets(self, getstate: Function) -> Iterator[ast.stmt]:
        for statement in statements(getstate.body):
            names = {n.value for n in nodes_below(statement) if isinstance(n, ast.Constant)}
            if self._attribute not in names:
                continue
            target, value = assigned(statement)
            drops = isinstance(statement, ast.Delete) and len(statement.targets) == 1
            clears = isinstance(target, ast.Subscript) and isinstance(value, ast.Constant) and value.value is None
            call = statement.value if isinstance(statement, ast.Expr) else None
            pops = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "pop"
            if drops or clears or pops:
                self._check_alone(statement)
                yield statement

    def _reads_in(self, method: Function) -> bool:
        """Whether a method reads the attribute, itself or through the object's other methods."""
        waiting, seen = [method], set()
        while waiting:
            function = waiting.pop()
            if function in seen:
                continue
            seen.add(function)
            names = set(attributes_read(function))
            if self._attribute in names:
                return True
            if any(isinstance(node, ast.Name) and node.id == "len" for node in nodes_below(function)):
                names.add("__len__")
            for name in names:
                found = self._project.method(self._owner, name) or self._project.method(self._carried.dataset, name)
                if found is not None:
                    waiting.append(found[1])
        return False

    def _only_through_self(self) -> bool:
        inside = {id(node) for node in nodes_below(self._owner.node)}
        return not any(
            isinstance(node, ast.Attribute) and node.attr == self._attribute and id(node) not in inside
            for module in self._project.mentioning(self._owner.name)
            for node in module.nodes
        )


def writes(call: ast.Call) -> bool:
    """Whether a call of an opener names a mode for writing."""
    modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] + call.args[:2]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return any(len(text) <= 4 and set(text) & WRITING and set(text) <= WRITING | set("rbtU:gz|") for text in texts)
