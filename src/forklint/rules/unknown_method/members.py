"""What attributes a class has, as far as its own source tells.

From one `ast.ClassDef` comes one `ClassMembers`: the names that its instances
have because of this class alone (its bases are asked one by one), and, where
the source cannot tell the whole set, the reason why. A class with such a reason
is *open*: nobody may say that it lacks a name.
"""

from __future__ import annotations

import ast

from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Function, expressions, statements
from forklint.project.spelling import dotted, first_parameter
from forklint.records import dataclass
from forklint.rules.unknown_method.spellings import TELLING, spellings

#: Methods of torch.nn.Module whose first argument becomes the name of an attribute.
REGISTERING = frozenset({"register_buffer", "register_parameter", "register_module", "add_module"})

#: What unpickling or a checkpoint puts back is what `__init__` had put there.
RESTORING = frozenset({"__setstate__", "__getstate__", "__copy__", "__deepcopy__", "load_state_dict"})

#: Methods that can answer for a name that no line declares.
INVENTING = frozenset({"__getattr__", "__getattribute__"})

#: It makes an object, under whatever name, before any method sees it.
MAKING = "__new__"

#: Functions that write to the attributes of whoever calls them, without being told of whom.
REACHING_BACK = frozenset({"locals", "exec", "store_attr", "currentframe", "_getframe"})

#: Ways to look into `self.__dict__` that add nothing to it.
READING = frozenset({"copy", "items", "keys", "values", "get", "pop"})


@dataclass(frozen=True)
class ClassMembers:
    """The names that one class body gives; `open_because` is "" when that is all of them."""

    names: frozenset[str]
    open_because: str = ""
    #: The functions, as written, that a method hands its bare instance to.
    gives_self_to: frozenset[str] = frozenset()
    #: How names begin and end that are put together: `("layer", "")` for `setattr(self, f"layer{i}", ...)`.
    affixes: frozenset[tuple[str, str]] = frozenset()

    def may_spell(self, name: str) -> bool:
        """Whether one of the names that are put together may be `name`."""
        return any(name.startswith(first) and name.endswith(last) for first, last in self.affixes)


def members_of(node: ast.ClassDef) -> ClassMembers:
    """The members that the body of `node` declares, through `self` in its methods included."""
    collector = _Collector(node.name)
    for statement in statements(node.body):
        collector.statement(statement)
    return ClassMembers(
        frozenset(collector.names),
        collector.open_because,
        frozenset(collector.gives_self_to),
        frozenset(collector.affixes),
    )


class _Collector:
    """Walks one class body and remembers what it declares."""

    def __init__(self, class_name: str) -> None:
        self.class_name = class_name
        self.names: set[str] = set()
        self.gives_self_to: set[str] = set()
        self.affixes: set[tuple[str, str]] = set()
        self._function: Function | None = None
        self.open_because = ""

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, FUNCTIONS):
            self.names.add(node.name)
            if node.name in INVENTING:
                self.open_because = f"it defines {node.name}"
            self._method(node)
            if node.name == MAKING:
                self._made(node)
        elif isinstance(node, ast.ClassDef):
            self.names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._imported(node)
        else:
            self._assigned(node)

    def _made(self, function: Function) -> None:
        """What `__new__` gives the object that it makes, whatever it calls it."""
        self._function = function
        for node in nodes_below(function):
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                self.names.add(node.attr)
                if node.attr == "__class__":
                    self.open_because = "its __new__ changes a __class__"
            if isinstance(node, ast.Attribute) and node.attr == "__dict__":
                self.open_because = "its __new__ writes to __dict__"
            elif isinstance(node, ast.Call) and dotted(node.func) == "setattr":
                self._named(node.args[1:2], "calls setattr with a computed name")
            elif isinstance(node, ast.Call) and dotted(node.func) == "type" and len(node.args) > 1:
                self.open_because = "its __new__ makes a class"

    def _imported(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.open_because = "its body imports *"
            self.names.add(alias.asname or alias.name.partition(".")[0])

    def _assigned(self, node: ast.stmt) -> None:
        for part in (part for one in expressions(node) for part in nodes_below(one)):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self.names.add(part.id)
                if part.id == "__slots__":
                    self._slots(node)
                elif part.id in INVENTING:
                    self.open_because = f"it gives itself {part.id}"
            elif isinstance(part, ast.Call) and dotted(part.func) in {"locals", "vars", "exec"}:
                self.open_because = f"its body calls {dotted(part.func)}()"

    def _slots(self, node: ast.stmt) -> None:
        self.names.update(
            part.value for part in nodes_below(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
        )

    def _method(self, function: Function) -> None:
        instance = first_parameter(function)
        self._function = function
        if not instance:
            return
        restores = function.name in RESTORING
        harmless: set[int] = set()
        for node in nodes_below(function):
            if isinstance(node, ast.Attribute):
                self._attribute(node, instance, harmless, restores=restores)
            elif isinstance(node, ast.Subscript):
                self._subscript(node, instance, harmless)
            elif isinstance(node, ast.Compare):
                harmless.update(id(part) for part in node.comparators)
            elif isinstance(node, ast.keyword) and node.arg is None:
                harmless.add(id(node.value))
            elif isinstance(node, ast.Call):
                self._call(node, instance, function.name)

    def _attribute(self, node: ast.Attribute, instance: str, harmless: set[int], *, restores: bool) -> None:
        if node.attr in READING:
            harmless.add(id(node.value))
        if not (isinstance(node.value, ast.Name) and node.value.id in {instance, self.class_name}):
            return
        if node.attr == "__dict__" and not restores and id(node) not in harmless:
            self.open_because = "it writes to __dict__"
        elif not isinstance(node.ctx, ast.Load):
            self.names.add(node.attr)
            if node.attr == "__class__":
                self.open_because = "it changes its __class__"

    def _subscript(self, node: ast.Subscript, instance: str, harmless: set[int]) -> None:
        if dotted(node.value) != f"{instance}.__dict__":
            return
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            harmless.add(id(node.value))
            self.names.add(node.slice.value)
        elif isinstance(node.ctx, ast.Load):
            harmless.add(id(node.value))

    def _call(self, node: ast.Call, instance: str, method: str) -> None:
        name, restores = dotted(node.func), method in RESTORING
        last = node.func.attr if isinstance(node.func, ast.Attribute) else name
        if name == "setattr" and node.args:
            self._setter(node, instance, restores=restores)
        elif last == "__setattr__" and method != "__setattr__":
            on_self = bool(node.args) and self._is_self(node.args[0], instance)
            self._named(node.args[1:2] if on_self else node.args[:1], "sets computed attributes")
        elif last in REGISTERING:
            given = node.args[:1] or [k.value for k in node.keywords if k.arg == "name"]
            self._named(given, f"calls {last} with a computed name")
        elif last in REACHING_BACK or (name == "vars" and self._is_of_self(node, instance) and not restores):
            self.open_because = f"it calls {name}()"
        elif name and any(isinstance(a, ast.Name) and a.id == instance for a in node.args):
            self.gives_self_to |= {name} if not name.startswith(f"{instance}.") else set()

    def _setter(self, node: ast.Call, instance: str, *, restores: bool) -> None:
        if self._is_self(node.args[0], instance) and not restores:
            self._named(node.args[1:2], "calls setattr with a computed name")

    def _is_of_self(self, call: ast.Call, instance: str) -> bool:
        """Whether a call is given the instance or its class alone; what is not written out may be either."""
        return any(isinstance(one, ast.Starred) or self._is_self(one, instance) for one in call.args)

    def _is_self(self, node: ast.expr, instance: str) -> bool:
        """Whether `node` is the instance or its class, however it is written."""
        if isinstance(node, ast.Call) and dotted(node.func) == "type":
            return True
        return dotted(node) in {instance, self.class_name, f"{instance}.__class__"}

    def _named(self, given: list[ast.expr], otherwise: str) -> None:
        spelt = spellings(given[0], self._function) if given else [("", "")]
        for first, last in spelt:
            if last is None:
                self.names.add(first)
            elif len(first) + len(last) >= TELLING:
                self.affixes.add((first, last))
            else:
                self.open_because = f"it {otherwise}"
