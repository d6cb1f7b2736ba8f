"""The project as a whole: what a name means across files, what a class inherits, who mentions what."""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.config import Settings
from forklint.project.families import Families
from forklint.project.files import ProjectFiles
from forklint.project.graph import ImportGraph
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.scopes import FUNCTIONS, Binding, Function, Kind, Scope
from forklint.project.stars import Stars
from forklint.records import dataclass
from forklint.source import document
from forklint.source.discovery import MOST_FILES
from forklint.source.roots import Extent

if TYPE_CHECKING:
    from forklint.source.outline import Outline


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
UNPARSABLE = (SyntaxError, RecursionError, MemoryError, ValueError)
"""What ``ast`` raises for a text that it refuses."""
TREE = 40
"""A tree takes about so many times the memory of its source."""
MOST_LOADED = 96_000_000
"""Bytes of source whose trees are kept at a time. Fewer, and files that import each other in circles are parsed again
and again."""
MAX_HOPS = 24
"""How many aliases and re-exports are followed for one name."""


@dataclass(frozen=True)
class Ancestry:
    """A class and what it inherits from, nearest first."""

    classes: tuple[ClassFacts, ...]
    """The class itself and its bases in the project, in the order in which methods are looked up."""
    external: tuple[str, ...]
    """Qualified names of the bases outside it."""
    complete: bool
    """False if some base could not be resolved at all."""


class Project(ProjectFiles):
    """All modules of a project, parsed when first asked for."""

    def __init__(self, extent: Extent | Path, settings: Settings) -> None:
        super().__init__(extent, settings)
        self.graph = ImportGraph(self)
        self.families = Families(self)
        self.stars = Stars(self)
        self._modules: dict[Path, Module | None] = {}
        self._outlines: dict[Path, Outline | None] = {}
        self._ancestries: dict[ClassFacts, Ancestry] = {}
        self._loaded = 0

    # Files

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that may say something of the project: those that were walked, and what they import from outside.

        Imports lead out of a project only where nothing marks it.
        """
        return (*self.walked, *self._followed)

    @cached_property
    def _followed(self) -> tuple[Path, ...]:
        return tuple(self.followed(self.walked)) if self.is_left else ()

    def followed(self, paths: Iterable[Path]) -> list[Path]:
        """The files that some files reach by imports, without these themselves; not more than MOST_FILES."""
        waiting = list(paths)
        count, seen = len(waiting), set(waiting)
        for path in waiting:
            new = [target for target in self.graph.imports(path) if target not in seen]
            new = new[: count + MOST_FILES - len(waiting)]
            seen.update(new)
            waiting += new
        return waiting[count:]

    # Modules

    def replace(self, path: Path, data: bytes) -> None:
        """From now on see ``data`` as the content of ``path``; what was concluded so far is forgotten."""
        super().replace(path, data)
        self._modules.pop(path, None)
        self._outlines.pop(path, None)
        self._ancestries.clear()
        self.graph.forget(path)
        self.__dict__.pop("_followed", None)

    def forget_imports(self) -> None:
        """Forget what imports were found to mean."""
        super().forget_imports()
        self.graph.forget_all()

    def trim(self) -> None:
        """Forget all trees, and what was concluded from them, once they are many; they come back when asked for."""
        if self._loaded > MOST_LOADED:
            self.weight -= TREE * self._loaded
            self._loaded = 0
            self._modules.clear()
            self._ancestries.clear()
            self.forget()
            gc.collect()

    def is_loaded(self, path: Path) -> bool:
        """Whether the tree of a file is at hand."""
        return self._modules.get(path) is not None

    def outline(self, path: Path) -> Outline | None:
        """The outline of a project file; None if it cannot be read that way."""
        if path not in self._outlines:
            from forklint.source import outline  # noqa: PLC0415 - few rules ask

            try:
                doc = document.decode(path, self.data(path))
            except document.UnreadableError:
                self._outlines[path] = None
            else:
                is_plain = doc.encoding == "utf-8" or doc.data.isascii()
                self._outlines[path] = outline.read(doc.text, doc.code) if is_plain else None
        return self._outlines[path]

    def surely_parses(self, path: Path) -> bool:
        """Whether ``load`` would surely take a file; False where that is not known without parsing."""
        return self._outlines.get(path) is not None or document.surely_parses(path, self.data(path))

    def load(self, path: Path) -> Module:
        """The module of a project file.

        Raises UnreadableError if it is not text, and what UNPARSABLE names if ``ast`` refuses it.
        """
        known = self._modules.get(path)
        if known is None:
            doc = document.decode(path, self.data(path))
            known = self._modules[path] = Module(path, doc, document.parse(doc), doc.notebook is not None)
            self._loaded += len(doc.data)
            self.weight += TREE * len(doc.data)
        return known

    def module(self, path: Path) -> Module | None:
        """The module of a project file; None if it cannot be read, parsed or followed."""
        try:
            known = self.load(path) if self._modules.get(path, ...) is not None else None
            _ = known and known.scope  # fails here if it nests too deeply, rather than in the story of another file
        except (document.UnreadableError, *UNPARSABLE):
            known = self._modules[path] = None
        return known

    def mentioning(self, word: str, test: Callable[[bytes], object] = bool) -> Iterator[Module]:
        """Give the project's modules whose text holds a word, the cheap way to find users of a name.

        Those whose text does not pass ``test`` are not parsed.
        """
        memory = self.memory("files that mention")
        if word not in memory:
            texts, wanted = self.texts(), word.encode()
            memory[word] = [path for path, data in texts if wanted in data]
        for path in memory[word]:
            module = self.module(path) if test(self.data(path)) else None
            if module is not None:
                yield module

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
        home, bindings = found
        memory = self.memory("lookup")
        key = (home, name)
        if key not in memory:
            memory[key] = None  # a name that is bound to itself means nothing
            memory[key] = self._bound(module, home, bindings, hops)
        symbol: Symbol | None = memory[key]
        return symbol

    def _bound(self, module: Module, home: Scope, bindings: list[Binding], hops: int) -> Symbol | None:
        if all(binding.kind is Kind.IMPORT for binding in bindings):
            symbols = [self._import(module, binding, hops) for binding in bindings]
            return next((symbol for symbol in symbols if symbol is not None), None)
        if len(bindings) != 1:
            return None
        binding = bindings[0]
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
        memory = self.memory("star")
        key = (module, name)
        if key not in memory:
            memory[key] = None  # stars in a circle add nothing
            memory[key] = self._find_in_stars(module, name, hops)
        symbol: Symbol | None = memory[key]
        return symbol

    def _find_in_stars(self, module: Module, name: str, hops: int) -> Symbol | None:
        for star in module.scope.stars:
            path = self.resolver.find(module.path, star.module, star.level)
            target = self.module(path) if path is not None and self.stars.may_give(path, name) else None
            if target is not None:
                found = self._member(target, name, hops - 1)
                if found is not None:
                    return found
        return None

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
            if name in owner.scope.bindings or owner.scope.stars:
                found = self._lookup(owner, owner.scope, name, hops)
                if found is not None or name in owner.scope.bindings:
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
        """A class with all that it inherits from."""
        known = self._ancestries.get(facts)
        if known is None:
            classes: dict[ClassFacts, None] = {}
            external: dict[str, None] = {}
            complete = self._climb(facts, classes, external)
            known = self._ancestries[facts] = Ancestry(tuple(classes), tuple(external), complete)
        return known

    def _climb(self, facts: ClassFacts, classes: dict[ClassFacts, None], external: dict[str, None]) -> bool:
        if facts in classes:
            return True
        classes[facts] = None
        complete = True
        for base in self.bases(facts):
            if isinstance(base, ClassFacts):
                complete &= self._climb(base, classes, external)
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

    def subclasses(self, facts: ClassFacts) -> Iterator[ClassFacts]:
        """Give the project's classes that inherit from a class, at any depth, in any file."""
        names, seen, found = [facts.name], {facts.name}, set()
        while names:
            for path, name in self.families.with_base(names.pop()):
                module = self.module(path)
                for other in module.classes if module is not None else ():
                    if other.name == name and other not in found and facts in self.ancestry(other).classes[1:]:
                        found.add(other)
                        yield other
                        if name not in seen:
                            seen.add(name)
                            names.append(name)
