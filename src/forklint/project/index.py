"""The project as a whole: what a name means across files, what a class inherits, who mentions what."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from forklint.config import Settings
from forklint.project.budget import Budget
from forklint.project.graph import ImportGraph
from forklint.project.guard import guard_of
from forklint.project.hierarchy import Hierarchy
from forklint.project.imported import ImportedFiles
from forklint.project.library import Library
from forklint.project.linearization import linearized
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.modules import ProjectModules
from forklint.project.neighbours import is_script
from forklint.project.path_roots import PathRoots
from forklint.project.scopes import FUNCTIONS, Binding, Function, Kind, Scope
from forklint.project.stars import Stars
from forklint.project.terms import TermIndex
from forklint.records import dataclass
from forklint.source.roots import Extent
from forklint.summaries.terms import WORD


@dataclass(frozen=True)
class External:
    """Something outside the project, by its qualified name: ``torch.utils.data.DataLoader``."""

    name: str


@dataclass(frozen=True)
class Package:
    """A namespace package of the project."""

    folder: Path


@dataclass(frozen=True)
class Value:
    """A name bound once to an expression that is itself no class, function or module."""

    module: Module
    scope: Scope
    binding: Binding


Symbol = External | Package | Module | ClassFacts | FunctionFacts | Value
MAX_HOPS = 24
"""How many aliases and re-exports are followed for one name."""
MOST_BASES = 200
"""How many bases of one class are followed, at any depth."""


@dataclass(frozen=True)
class Ancestry:
    """A class and what it inherits from, nearest first."""

    classes: tuple[ClassFacts, ...]
    """The class itself and its bases in the project, in the order in which methods are looked up."""
    external: tuple[str, ...]
    """Qualified names of the bases outside it."""
    complete: bool
    """False if some base could not be resolved at all."""


class Project(ProjectModules):
    """All modules of a project, and what their names and classes mean."""

    def __init__(self, extent: Extent | Path, settings: Settings, library: Library | None = None) -> None:
        """``library``: what is known of the files already."""
        super().__init__(extent, settings, library)
        self.path_roots = PathRoots(self)
        self.resolver.is_script = partial(is_script, self)
        self.imported_files = ImportedFiles(self)
        self.graph = ImportGraph(self)
        self.stars = Stars(self)
        self.terms = TermIndex(self, library)
        self.hierarchy = Hierarchy(self)

    # Names

    def imported(self, module: Module, binding: Binding) -> Symbol | None:
        """What an import binding names; None only if a project module lacks the name."""
        return self._import(module, binding, MAX_HOPS)

    def _import(self, module: Module, binding: Binding, hops: int) -> Symbol | None:
        target = self.find_module(module, binding.module, binding.level)
        if not binding.attribute:
            return target
        if isinstance(target, External):
            return External(f"{target.name}.{binding.attribute}")
        return self._member(target, binding.attribute, hops - 1) if target is not None else None

    def find_module(self, importer: Module, name: str, level: int = 0) -> Symbol | None:
        """Find the module or package that a dotted name means in a file; a name that is not ours is External."""
        path = self.resolver.find(importer.path, name, level)
        if path is not None:
            return self.module(path)
        folder = self.resolver.is_package(importer.path, name, level)
        if folder is not None:
            return Package(folder)
        if level and not name:  # ``from . import name`` in a folder without an ``__init__.py``
            return Package(Path(self.resolver.start(importer.path, level)))
        return None if level else External(name)

    def lookup(self, module: Module, scope: Scope, name: str) -> Symbol | None:
        """What a bare name means in a scope; None if that is not certain."""
        return self._lookup(module, scope, name, MAX_HOPS)

    def _lookup(self, module: Module, scope: Scope, name: str, hops: int) -> Symbol | None:
        if hops <= 0:
            return None
        found = scope.find(name)
        if found is None:
            return self._from_star(module, name, hops) if module.scope.stars else None
        home = found[0]
        # a name that is bound to itself means nothing
        return self.answer("what a name is", (home, name), lambda: self._bound(module, home, name, hops), None)

    def _bound(self, module: Module, home: Scope, name: str, hops: int) -> Symbol | None:
        bindings = home.bound(name)
        if all(binding.kind is Kind.IMPORT for binding in bindings):
            symbols = [self._import(module, binding, hops) for binding in bindings]
            if len(bindings) > 1 and _are_in_turn(module, bindings):
                return symbols[-1]
            return next((symbol for symbol in symbols if symbol is not None), None)
        return self._of_binding(module, home, bindings[0], hops) if len(bindings) == 1 else None

    def of_binding(self, module: Module, home: Scope, binding: Binding) -> Symbol | None:
        """What one binding of a name makes it, whatever others there are."""
        return self._of_binding(module, home, binding, MAX_HOPS)

    def _of_binding(self, module: Module, home: Scope, binding: Binding, hops: int) -> Symbol | None:
        if binding.kind is Kind.IMPORT:
            return self._import(module, binding, hops)
        if isinstance(binding.node, ast.ClassDef):
            return module.class_facts(binding.node)
        if isinstance(binding.node, FUNCTIONS):
            return FunctionFacts(module, binding.node)
        if binding.kind is not Kind.VALUE:
            return None
        if isinstance(binding.value, (ast.Name, ast.Attribute)):
            return self._resolve(module, home, binding.value, hops - 1)
        return Value(module, home, binding)

    def _from_star(self, module: Module, name: str, hops: int) -> Symbol | None:
        # stars in a circle add nothing
        return self.answer("what stars give", (module, name), lambda: self._find_in_stars(module, name, hops), None)

    def _find_in_stars(self, module: Module, name: str, hops: int) -> Symbol | None:
        for star in module.scope.stars:
            path = self.resolver.find(module.path, star.module, star.level)
            target = self.module(path) if path is not None and self.stars.may_give(path, name) else None
            if target is not None:
                found = self._member(target, name, hops - 1)
                if found is not None:
                    return found
        return self._from_outside(module, name)

    def _from_outside(self, module: Module, name: str) -> External | None:
        """What a star takes from outside the project, if there is one such star, and nothing else binds the name."""
        if hasattr(builtins, name):
            return None
        inside = [star for star in module.scope.stars if self._is_ours(module.path, star.module, star.level)]
        outside = {star.module for star in module.scope.stars if star not in inside}
        if len(outside) != 1 or any(self.find_module(module, one.module, one.level) is None for one in inside):
            return None
        return External(f"{outside.pop()}.{name}")

    def _is_ours(self, path: Path, name: str, level: int) -> bool:
        """Whether a file means a module or package of the project by a name, or would if it were there."""
        if level > 0 or self.resolver.find(path, name) is not None:
            return True
        return self.resolver.is_package(path, name) is not None

    def member(self, owner: Symbol, name: str) -> Symbol | None:
        """What ``owner.name`` means; None if that is not certain."""
        return self._member(owner, name, MAX_HOPS)

    def _member(self, owner: Symbol, name: str, hops: int) -> Symbol | None:
        if hops <= 0:
            return None
        if isinstance(owner, External):
            return External(f"{owner.name}.{name}")
        if isinstance(owner, Package):
            return self._submodule(owner.folder / "__init__.py", name)
        if isinstance(owner, Module):
            bindings = owner.scope.bound(name)
            imported = [one for one in bindings if guard_of(owner, one.node) is None] if len(bindings) > 1 else []
            if len(imported) == 1:  # what a script gives the name below its guard, no import of it sees
                return self._of_binding(owner, owner.scope, imported[0], hops)
            if bindings or owner.scope.stars:
                found = self._lookup(owner, owner.scope, name, hops)
                if found is not None or any(one.kind is not Kind.IMPORT for one in bindings):
                    return found
            return self._submodule(owner.path, name) if owner.path.name == "__init__.py" else None
        if isinstance(owner, ClassFacts):
            method = self.method(owner, name)
            return FunctionFacts(method[0].module, method[1]) if method else None
        return None

    def _submodule(self, package: Path, name: str) -> Symbol | None:
        path = self.resolver.find(package, name, level=1)
        if path is not None:
            return self.module(path)
        folder = self.resolver.is_package(package, name, level=1)
        return Package(folder) if folder else None

    def resolve(self, module: Module, scope: Scope, expression: ast.expr) -> Symbol | None:
        """What a name or dotted name means in a scope; None if that is not certain or it is neither."""
        return self._resolve(module, scope, expression, MAX_HOPS)

    def _resolve(self, module: Module, scope: Scope, expression: ast.expr, hops: int) -> Symbol | None:
        if isinstance(expression, ast.Name):
            return self._lookup(module, scope, expression.id, hops)
        if isinstance(expression, ast.Attribute):
            owner = self._resolve(module, scope, expression.value, hops)
            return self._member(owner, expression.attr, hops) if owner is not None else None
        return None

    def qualified(self, module: Module, scope: Scope, expression: ast.expr) -> str:
        """Qualified name of something outside the project; empty if it is not, or not certain."""
        symbol = self.resolve(module, scope, expression)
        return symbol.name if isinstance(symbol, External) else ""

    # Classes

    def bases(self, facts: ClassFacts) -> list[Symbol | None]:
        """What each base of a class is, in order; ``Generic[T]`` counts as ``Generic``."""
        scope = facts.scope.parent or facts.module.scope
        found: list[Symbol | None] = []
        for base in facts.node.bases:
            expression = base.value if isinstance(base, ast.Subscript) else base
            symbol = self.resolve(facts.module, scope, expression)
            if symbol is None and isinstance(expression, ast.Name) and scope.find(expression.id) is None:
                symbol = External(f"builtins.{expression.id}")
            found.append(symbol)
        return found

    def ancestry(self, facts: ClassFacts) -> Ancestry:
        """A class with all that it inherits from; of one whose bases depend on themselves, nothing is known."""
        return self.answer("ancestry", facts, lambda: self._find_ancestry(facts), Ancestry((), (), complete=False))

    def _find_ancestry(self, facts: ClassFacts) -> Ancestry:
        bases: dict[ClassFacts, list[ClassFacts]] = {}
        external: dict[str, None] = {}
        complete = self._climb(facts, bases, external, self.budgets.of("following bases", MOST_BASES))
        joined = any(len(one) > 1 for one in bases.values())  # otherwise they stand one behind the other
        classes = linearized(facts, bases) if joined else None
        return Ancestry(tuple(classes or bases), tuple(external), complete)

    def _climb(
        self, facts: ClassFacts, bases: dict[ClassFacts, list[ClassFacts]], external: dict[str, None], budget: Budget
    ) -> bool:
        if facts in bases:
            return True
        own: list[ClassFacts] = []
        bases[facts] = own
        complete = True
        for base in self.bases(facts):
            if not budget.spend():
                return False
            if isinstance(base, ClassFacts):
                own.append(base)
                complete &= self._climb(base, bases, external, budget)
            elif isinstance(base, External):
                external[base.name] = None
            else:
                complete = False
        return complete

    def method(self, facts: ClassFacts, name: str) -> tuple[ClassFacts, Function] | None:
        """Find a method in a class or its project bases, with the class that defines it."""
        for owner in self.ancestry(facts).classes:
            if name in owner.methods:
                return owner, owner.methods[name]
        return None

    def subclasses(self, facts: ClassFacts, word: str = "") -> Iterator[ClassFacts]:
        """Give the project's classes that inherit from a class, at any depth, in any file or in those with a word.

        With a word, what stands in the other files is not looked at, and may be an heir by its name.
        """
        names, seen, found = [facts.name], {facts.name}, set()
        files = frozenset(self.where(WORD, word)) if word else None
        while names:
            for path, name in self.hierarchy.with_base(names.pop()):
                is_heir = files is not None
                module = self.module(path) if files is None or path in files else None
                for other in module.classes_named(name) if module is not None else ():
                    if other not in found and facts in self.ancestry(other).classes[1:]:
                        found.add(other)
                        yield other
                        is_heir = True
                if is_heir and name not in seen:
                    seen.add(name)
                    names.append(name)


def _are_in_turn(module: Module, bindings: Sequence[Binding]) -> bool:
    """Whether statements bind a name one after the other, in no branch, so that the last one counts."""
    blocks = {module.parents.get(one.node) for one in bindings}
    return len(blocks) == 1 and isinstance(blocks.pop(), (ast.Module, *FUNCTIONS))
