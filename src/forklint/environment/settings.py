"""Where a module sets variables of its process's environment, however that is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.environment.setters import may_set
from forklint.project.index import External, Project
from forklint.project.module import Module
from forklint.project.scopes import Kind, Scope
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.values.evaluator import Evaluator
from forklint.values.model import Constant, Expression

ENVIRON = "os.environ"


@dataclass(frozen=True)
class Setting:
    """One variable that a statement sets."""

    statement: ast.stmt
    name: str
    value: ast.expr | None
    """What it is set to, as written; None if that is not an expression of its own."""

    @property
    def literal(self) -> str | None:
        """The text that it is set to, if that is written out."""
        value = self.value.value if isinstance(self.value, ast.Constant) else None
        return value if isinstance(value, str) else None

    @property
    def is_default(self) -> bool:
        """Whether it is ``os.environ.setdefault``, which leaves a variable that is set as it is."""
        call = getattr(self.statement, "value", None)
        return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "setdefault"


def settings_in(project: Project, module: Module) -> list[Setting]:
    """Every variable that a module sets by a name that is written in it, in source order."""
    if not may_set(module.screened.code):
        return []
    return project.answer("settings of the environment", module, lambda: _find_settings(project, module))


def _find_settings(project: Project, module: Module) -> list[Setting]:
    finder = _Finder(project, module)
    return [setting for statement in module.ordinals for setting in finder.settings(statement)]


def is_environ(project: Project, module: Module, scope: Scope, expression: ast.expr) -> bool:
    """Whether an expression is ``os.environ``, under whatever name."""
    return _may_be_environ(scope, expression) and project.qualified(module, scope, expression) == ENVIRON


def _may_be_environ(scope: Scope, expression: ast.expr | None) -> bool:
    """Whether it is worth asking: most objects with an ``update`` method are told apart by their binding alone."""
    if isinstance(expression, ast.Attribute):
        return expression.attr == "environ"
    if not isinstance(expression, ast.Name):
        return False
    found = scope.find(expression.id)
    for binding in found[1] if found else ():
        is_import = binding.kind is Kind.IMPORT and "env" in binding.attribute.lower()
        if is_import or isinstance(binding.value, ast.Name) or _may_be_environ(scope, binding.value):
            return True
    return False


def is_kernel(expression: ast.expr) -> bool:
    """Whether an expression is ``get_ipython()``, through which a notebook's magics are called."""
    return isinstance(expression, ast.Call) and getattr(expression.func, "id", "") == "get_ipython"


def magic_variable(call: ast.Call) -> tuple[str, str] | None:
    """The variable that a call of ``%env NAME=value`` sets, and to what; None if it is none."""
    words = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    line = " ".join(word for word in words if isinstance(word, str))
    magic, _, rest = line.removeprefix("%").partition(" ")
    name, equals, value = rest.partition("=") if "=" in rest else rest.partition(" ")
    is_setting = magic in {"env", "set_env"} and bool(equals) and name.strip().isidentifier()
    return (name.strip(), value.strip()) if is_setting else None


class _Finder:
    def __init__(self, project: Project, module: Module) -> None:
        self._project = project
        self._module = module
        self._evaluator = Evaluator(project)

    def settings(self, statement: ast.stmt) -> Iterator[Setting]:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                yield from self._target(statement, target, statement.value)
            yield from self._call(statement, statement.value)
        elif isinstance(statement, ast.AugAssign):
            if isinstance(statement.op, ast.BitOr) and self._is_environ(statement, statement.target):
                yield from self._mapping(statement, statement.value)
            else:
                yield from self._target(statement, statement.target, None)
        elif isinstance(statement, ast.Expr):
            yield from self._call(statement, statement.value)

    def _target(self, statement: ast.stmt, target: ast.expr, value: ast.expr | None) -> Iterator[Setting]:
        if isinstance(target, ast.Subscript) and self._is_environ(statement, target.value):
            yield from self._named(statement, target.slice, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            for index, element in enumerate(target.elts):
                yield from self._target(statement, element, parts[index] if len(parts) == len(target.elts) else None)

    def _call(self, statement: ast.stmt, call: ast.expr) -> Iterator[Setting]:
        if not isinstance(call, ast.Call):
            return
        if isinstance(call.func, ast.Attribute) and self._is_environ(statement, call.func.value):
            if call.func.attr == "setdefault" and len(call.args) == 2:
                yield from self._named(statement, call.args[0], call.args[1])
            elif call.func.attr == "update":
                for argument in call.args:
                    yield from self._mapping(statement, argument)
                yield from self._keywords(statement, call)
        name = last_name(call.func)
        if name == "putenv" and len(call.args) == 2 and self._qualified(statement, call.func) == "os.putenv":
            yield from self._named(statement, call.args[0], call.args[1])
        elif name in {"run_line_magic", "magic", "line_magic"}:
            yield from self._magic(statement, call)

    def _magic(self, statement: ast.stmt, call: ast.Call) -> Iterator[Setting]:
        """``%env NAME=value`` of a notebook, as it stands in a script made from it."""
        found = magic_variable(call)
        if found is not None:
            name, value = found
            expanded = any(not isinstance(argument, ast.Constant) for argument in call.args)
            yield Setting(statement, name, None if expanded else ast.Constant(value))

    def _mapping(self, statement: ast.stmt, mapping: ast.expr) -> Iterator[Setting]:
        table = self._evaluator.table(Expression(self._module, self._scope(statement), mapping))
        for name, source in table.entries.items() if table is not None else ():
            is_here = isinstance(source, Expression) and source.module is self._module
            yield Setting(statement, name, source.node if is_here else None)  # type: ignore[union-attr,arg-type]

    @staticmethod
    def _keywords(statement: ast.stmt, call: ast.Call) -> Iterator[Setting]:
        for keyword in call.keywords:
            if keyword.arg is not None:
                yield Setting(statement, keyword.arg, keyword.value)

    def _named(self, statement: ast.stmt, key: ast.expr, value: ast.expr | None) -> Iterator[Setting]:
        for name in self._names(statement, key):
            yield Setting(statement, name, value)

    def _names(self, statement: ast.stmt, key: ast.expr) -> list[str]:
        """The variables that a key may name: a literal, a constant, or each item of a loop over literals."""
        found = self._evaluator.find(Expression(self._module, self._scope(statement), key).by_anyone()).possible
        texts = [one.value.value for one in found if isinstance(one.value, Constant)]
        return [text for text in texts if isinstance(text, str)]

    def _is_environ(self, statement: ast.stmt, expression: ast.expr) -> bool:
        return is_environ(self._project, self._module, self._scope(statement), expression)

    def _qualified(self, statement: ast.stmt, expression: ast.expr) -> str:
        symbol = self._project.resolve(self._module, self._scope(statement), expression)
        return symbol.name if isinstance(symbol, External) else ""

    def _scope(self, statement: ast.stmt) -> Scope:
        return self._module.scope_at(statement)
