"""What a name holds: through assignments, imports, parameters, unpacking, and the changes of a mapping in place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.knowledge.loading import names as listed
from forklint.project import bindings as bindings_of
from forklint.project.bindings import is_shadowed
from forklint.project.index import External, Symbol
from forklint.project.index import Value as Bound
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import Binding, Kind, Scope
from forklint.project.spelling import in_bytes
from forklint.summaries.terms import WORD
from forklint.values import branches, command_line, items, parameters, stores
from forklint.values.model import (
    MOST_OPTIONS,
    NOTHING,
    Constant,
    Expression,
    Found,
    Frame,
    Instance,
    Made,
    Ref,
    Row,
    Setting,
    Stream,
    Table,
    agreed,
    perhaps,
    told,
)
from forklint.values.worlds import EVERYWHERE, NOWHERE, Conditions, Regions, Worlds

if TYPE_CHECKING:
    from forklint.project.index import Project
    from forklint.values.evaluator import Evaluator


MOST_FRAMES = 16
"""So many calls are looked at for the files that one has to do with."""
LISTS = frozenset({"builtins.list", "builtins.sorted", "builtins.set"})
"""What makes a list of anything."""

FOR_CHECKERS = "TYPE_CHECKING"
"""True for type checkers alone, wherever the name comes from: type checkers know it by its spelling, too."""


DEFINED = frozenset({Kind.IMPORT, Kind.CLASS, Kind.FUNCTION})


def defined(evaluator: Evaluator, source: Expression) -> Found | None:
    """What a bare name holds that a file imports or defines at its top level, or that is none of the file's.

    That is the same in every call of the function around it, and needs no question of its own. None for other names.
    """
    node = source.node
    assert isinstance(node, ast.Name)  # noqa: S101 - the evaluator says so
    if node.id == FOR_CHECKERS:
        return Found(Constant(value=False))
    found = source.scope.find(node.id)
    if found is not None and (found[0].parent is not None or not all(one.kind in DEFINED for one in found[1])):
        return None
    if is_shadowed(source.module, node):
        return None
    symbol = evaluator.project.lookup(source.module, source.scope, node.id)
    return of_symbol(evaluator, symbol, None) if not isinstance(symbol, Bound) else None


def find(evaluator: Evaluator, source: Expression) -> Found:
    """What a bare name holds."""
    node = source.node
    assert isinstance(node, ast.Name)  # noqa: S101 - the follower says so
    if is_shadowed(source.module, node):
        return _in_comprehension(evaluator, source, node)
    found = source.scope.find(node.id)
    if found is None:
        return of_symbol(evaluator, evaluator.project.lookup(source.module, source.scope, node.id), None)
    home, bindings = found
    if any(binding.kind in DEFINED for binding in bindings):
        return _defined_there(evaluator, source, bindings)
    made = [one for one in bindings if not isinstance(one.node, ast.AugAssign)]
    is_grown = len(made) < len(bindings)
    reaching = None if is_grown else bindings_of.reaching(source.module, source.scope, node)
    reached = made if reaching is None else reaching[1]
    if home is not source.scope:
        result = _one_of(evaluator, source, home, reached)
    else:
        result = _one_of(evaluator, source, home, branches.taken(evaluator, source, reached))
        if result.is_all and all(isinstance(one.value, Constant) for one in result.options):
            result = _unless_asked(evaluator, source, home, reached) or result
    return result if isinstance(result.value, (Row, Table)) or not is_grown else NOTHING


def unless_asked(evaluator: Evaluator, source: Expression) -> Found:
    """What a bare name holds unless an option of the program chooses another branch; NOTHING for any other name."""
    name = source.node if isinstance(source.node, ast.Name) else None
    reaching = bindings_of.reaching(source.module, source.scope, name) if name is not None else None
    if reaching is None or reaching[0] is not source.scope:
        return NOTHING
    return _unless_asked(evaluator, source, *reaching) or NOTHING


def _unless_asked(evaluator: Evaluator, source: Expression, home: Scope, reached: Sequence[Binding]) -> Found | None:
    usual = branches.taken(evaluator, source, reached, unless_asked=True)
    found = _one_of(evaluator, source, home, usual) if len(usual) < len(reached) else NOTHING
    return found.after(by_default=True) if found.known else None


def _one_of(evaluator: Evaluator, source: Expression, home: Scope, bindings: Sequence[Binding]) -> Found:
    """What a name holds that has one of some bindings."""
    return agreed(
        bound(evaluator, Bound(source.module, home, binding), source.frame, source).within(worlds)
        for binding, worlds in _placed(evaluator, source.module, bindings)
    )


def _defined_there(evaluator: Evaluator, source: Expression, bindings: Sequence[Binding]) -> Found:
    """What a name holds that is imported or defined, and perhaps replaced: ``model = model.Net()``."""
    node, module, project = source.node, source.module, evaluator.project
    assert isinstance(node, ast.Name)  # noqa: S101 - the evaluator says so
    is_replaced = not all(binding.kind in DEFINED for binding in bindings)
    reaching = bindings_of.reaching(module, source.scope, node) if is_replaced else None
    if reaching is None or len(reaching[1]) != 1:
        return of_symbol(evaluator, project.lookup(module, source.scope, node.id), source.frame)
    home, [binding] = reaching
    if binding.kind in DEFINED:
        return of_symbol(evaluator, project.of_binding(module, home, binding), source.frame)
    return bound(evaluator, Bound(module, home, binding), source.frame, source)


def _placed(evaluator: Evaluator, module: Module, bindings: Sequence[Binding]) -> list[tuple[Binding, Worlds]]:
    """Bindings, with the kinds of machine on which each counts: not on those for which a later branch replaces it."""
    if not 1 < len(bindings) <= MOST_OPTIONS:
        return [(one, EVERYWHERE) for one in bindings]
    regions, left, found = Regions(Conditions(evaluator.project, module)), EVERYWHERE, []
    for one in reversed(bindings):
        here = regions.branches(one.node)
        found.append((one, here & left))
        left -= here if here != EVERYWHERE else NOWHERE
    return found[::-1]


def _in_comprehension(evaluator: Evaluator, source: Expression, node: ast.Name) -> Found:
    """What the variable of a comprehension holds; nothing of a parameter of a lambda is known."""
    binder = bindings_of.binder_of(source.module, node)
    for one in getattr(binder, "generators", ()):
        found = items.drawn(evaluator, source.part(one.iter), one.target, node.id)
        if found.possible:
            return found
    return NOTHING


def of_symbol(evaluator: Evaluator, symbol: Symbol | None, frame: Frame | None) -> Found:
    """What a name holds of which the project knows what it is bound to."""
    if isinstance(symbol, Bound):
        return bound(evaluator, symbol, frame)
    if isinstance(symbol, (ClassFacts, FunctionFacts, Module)):
        return Found(Ref(symbol))
    if isinstance(symbol, External) and symbol.name.endswith(f".{FOR_CHECKERS}"):
        return Found(Constant(value=False))
    return NOTHING


def bound(evaluator: Evaluator, symbol: Bound, frame: Frame | None, read: Expression | None = None) -> Found:
    """What one binding of a name holds, where it is ``read``, or once its module has run."""
    module, home, binding = symbol.module, symbol.scope, symbol.binding
    inside = frame is not None and frame.function.node in _functions_around(home)
    frame = frame if inside else None
    if binding.kind is Kind.PARAMETER:
        function = FunctionFacts(module, home.node)  # type: ignore[arg-type]
        return _given(evaluator, symbol, parameters.find(evaluator, function, binding.name, frame), read)
    if binding.value is not None:
        place = Expression(module, home, binding.value, frame)
        found = told(evaluator.find(place), place, binding.name)
        if isinstance(found.value, Made) and found.value.name in LISTS:
            return _added_to(evaluator, symbol, found, read or place)
        return stores.brought_up_to_date(evaluator, place, binding, found, read) if _may_change(found) else found
    return _unpacked(evaluator, module, home, binding, frame)


def _is_wrapper(found: Found) -> bool:
    """Whether what is found has parts that are as it is itself: ``random_split`` gives several of one dataset."""
    return isinstance(found.value, Made) and found.value.name in listed("datasets", "wrappers")


def _given(evaluator: Evaluator, symbol: Bound, found: Found, read: Expression | None) -> Found:
    """What a parameter holds where it is read; what its function adds to a list is in it, whatever it is given."""
    if read is None or isinstance(found.value, Instance):
        return found
    if found.known:
        return stores.brought_up_to_date(evaluator, read, symbol.binding, found, read) if _may_change(found) else found
    return _added_to(evaluator, symbol, found, read)


def _added_to(evaluator: Evaluator, symbol: Bound, found: Found, read: Expression) -> Found:
    """What is found, and what the code adds to it if it is a list."""
    place = Expression(symbol.module, symbol.scope, read.node, read.frame if read.scope is symbol.scope else None)
    added = stores.brought_up_to_date(evaluator, place, symbol.binding, Found(Row((), complete=False)), read)
    return perhaps([found, added]) if isinstance(added.value, Row) and added.value.items else found


def _may_change(found: Found) -> bool:
    """Whether what is found can be changed in place."""
    if not found.known:
        return any(isinstance(one.value, Table) for one in found.options)
    return isinstance(found.value, (Table, Row, Setting, Instance, Made))


def _functions_around(scope: Scope) -> set[ast.AST]:
    found: set[ast.AST] = set()
    inner: Scope | None = scope
    while inner is not None:
        found.add(inner.node)
        inner = inner.parent
    return found


def _unpacked(evaluator: Evaluator, module: Module, home: Scope, binding: Binding, frame: Frame | None) -> Found:
    """What ``a, b = f()`` and ``with open(path) as file`` bind."""
    node = binding.node
    if isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == binding.name:
                found = evaluator.find(Expression(module, home, item.context_expr, frame))
                return items.yielded(evaluator, found.value) if isinstance(found.value, Stream) else found
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return items.drawn(evaluator, Expression(module, home, node.iter, frame), node.target, binding.name)
    if isinstance(node, ast.Global):
        inner = module.scope_at(node)
        set_there = inner.bound(binding.name) if inner is not home else ()
        return agreed(bound(evaluator, Bound(module, inner, one), None) for one in set_there)
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], (ast.Tuple, ast.List)):
        return NOTHING
    found = evaluator.find(Expression(module, home, node.value, frame))
    part = items.unpacked(evaluator, found, node.targets[0], binding.name)
    names = [getattr(target, "id", "") for target in node.targets[0].elts]
    if part.possible or binding.name not in names or any(isinstance(one, ast.Starred) for one in node.targets[0].elts):
        return part
    index = names.index(binding.name)
    if command_line.is_first_of_known(found, index):
        return found
    return found if _is_wrapper(found) else perhaps(one for one in found.options if _is_wrapper(one))


# Attributes set from elsewhere


def of_module(evaluator: Evaluator, symbol: Bound, name: str, frame: Frame | None) -> Found:
    """What an attribute of a module holds, unless code sets it: ``settings.workers = 0``."""
    home = symbol.module
    is_set = any(
        _is_in(evaluator.project, path, target, home) and not _is_off_by_default(evaluator, path, target)
        for path in _setters_near(evaluator.project, home, name)
        for target in _targets(evaluator.project, path, name)
    )
    return NOTHING if is_set else bound(evaluator, symbol, frame)


def of_member(evaluator: Evaluator, module: Module, name: str) -> Found:
    """What a module has under a name, submodules included."""
    symbol = evaluator.project.lookup(module, module.scope, name)
    return of_module(evaluator, symbol, name, None) if isinstance(symbol, Bound) else of_symbol(evaluator, symbol, None)


def of_any_member(evaluator: Evaluator, module: Module) -> Found:
    """What a module may have under a name that is not known: a class or function, of a package also an imported one."""
    kinds = DEFINED if module.path.name == "__init__.py" else DEFINED - {Kind.IMPORT}
    names = (name for name, each in module.scope.bindings.items() if kinds.intersection(one.kind for one in each))
    found = [of_member(evaluator, module, name) for name in names if not name.startswith("_")]
    is_code = lambda one: isinstance(one.value, Ref) and not isinstance(one.value.symbol, Module)  # noqa: E731 - it is short
    return perhaps(filter(is_code, found))


def _is_in(project: Project, path: Path, target: ast.AST, home: Module) -> bool:
    module = project.module(path) if isinstance(target, ast.Attribute) else None
    if module is None or not isinstance(target, ast.Attribute):
        return False
    return project.resolve(module, module.scope_at(target), target.value) is home


def is_set_elsewhere(
    evaluator: Evaluator, home: Module, name: str, owner: Found = NOTHING, frame: Frame | None = None
) -> bool:
    """Whether code that has to do with a module sets an attribute or key of that name on anything but ``self``.

    What was found to be stored in the ``owner`` does not count, nor what is set on something else, nor, in a call that
    is known, what another program sets.
    """
    known = owner.stored.places.union(*(one.stored.places for one in owner.options))
    project = evaluator.project
    return any(
        target not in known
        and not _is_off_by_default(evaluator, path, target)
        and not _is_of_another(evaluator, path, target, owner)
        for path in _setters_near(project, home, name)
        if frame is None or path in _modules(frame) or project.graph.is_imported(path)
        for target in _targets(project, path, name)
    )


def _modules(frame: Frame) -> set[Path]:
    """The files of a call's function and of what it is given, and of the calls in which that stands."""
    found: set[Path] = set()
    seen: list[Frame] = [frame]
    for one in seen:
        given = [each for each in (*one.given.positional, *one.given.keywords.values()) if isinstance(each, Expression)]
        found.update((one.function.module.path, *(each.module.path for each in given)))
        around = [one.within, *(each.frame for each in given)]
        seen += [each for each in around if each is not None and all(each is not known for known in seen)]
        if len(seen) > MOST_FRAMES:
            break
    return found


def _is_off_by_default(evaluator: Evaluator, path: Path, target: ast.expr) -> bool:
    """Whether only an option of the program leads to a place: ``if args.debug: args.workers = 0``."""
    module = evaluator.project.module(path)
    if module is None:
        return False
    return branches.is_off_by_default(evaluator, Expression(module, module.scope_at(target), target))


def _is_of_another(evaluator: Evaluator, path: Path, target: ast.AST, owner: Found) -> bool:
    """Whether a target is a part of another module, dictionary, or library's object than the owner."""
    if not evaluator.sorts_out or not isinstance(target, (ast.Attribute, ast.Subscript)):
        return False
    module = evaluator.project.module(path)
    if module is None or not (owner.known or owner.is_all):
        return False
    values = [one.value for one in owner.possible]
    if not all(isinstance(one, (Made, Ref, Instance)) for one in values):
        return False
    other = evaluator.plain.find(Expression(module, module.scope_at(target), target.value)).value
    return isinstance(other, (Made, Ref, Table)) and other not in values


def _setters_near(project: Project, home: Module, name: str) -> tuple[Path, ...]:
    """The files that set a name and have to do with another."""

    def find() -> tuple[Path, ...]:
        reaches, here = project.graph.reaches, home.path
        return tuple(one for one in setters(project, name) if one == here or reaches(one, here) or reaches(here, one))

    return project.answer("setters near", (home.path, name), find, compared=True)


def setters(project: Project, name: str) -> tuple[Path, ...]:
    """The files that set an attribute or key of that name on anything but ``self``."""

    def find() -> tuple[Path, ...]:
        paths = project.where(WORD, name) if name.isidentifier() else project.containing(in_bytes(name))
        return tuple(path for path in paths if _targets(project, path, name))

    return project.answer("files that set a name", name, find, compared=True)


def _targets(project: Project, path: Path, name: str) -> tuple[ast.expr, ...]:
    """Where a file does; its text must look like it, so that few are parsed."""

    def find() -> tuple[ast.expr, ...]:
        module = project.module(path) if project.matches(path, _setting(name), (in_bytes(name),)) else None
        return tuple(_find_targets(module, name)) if module is not None else ()

    return project.answer("where a name is set", (path, name), find, compared=True)


@cache
def _setting(name: str) -> re.Pattern[bytes]:
    word = re.escape(in_bytes(name))
    stored = rb"(?:\.%s|[\"']%s[\"']\s*\])\s*(?::[^=\n]*|,[^\n]*)?[-+*/|&^@]{0,2}=(?!=)" % (word, word)
    return re.compile(stored + rb"|setattr\([^\n]*" + word)


def _find_targets(module: Module, name: str) -> Iterator[ast.expr]:
    for node in module.uses(name):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            if not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}):
                yield node
        elif isinstance(node, (ast.Subscript, ast.Call)):
            yield node
