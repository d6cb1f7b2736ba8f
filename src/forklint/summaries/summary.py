"""What one file says by itself, as plain data: exact, from its tree, without positions.

Positions are left out so that a comment or a blank line changes nothing here. A place is named by the scope it stands
in, whose number counts definitions in source order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

MODULE, CLASS, FUNCTION = "module", "class", "function"
"""Kinds of scope."""
STAR = "*"
"""The attribute of an import that takes all that a module has."""


PARTIAL = "partial"
"""The last name of what binds arguments to a function and calls it later: what it is given is called as well."""


def last_name(spelling: str) -> str:
    """The last name of a spelling: ``Net`` of ``models.Net``; empty where it ends in a call or an index."""
    name = spelling.rpartition(".")[2]
    return name if name.isidentifier() else ""


class Import(NamedTuple):
    """One name that an import statement binds, anywhere in a file."""

    alias: str
    """The name that it binds: ``np`` for ``import numpy as np``; ``*`` for a star."""
    module: str
    """The dotted module, without leading dots: ``torch.utils`` for ``import torch.utils``, whatever that binds."""
    attribute: str = ""
    """For ``from module import attribute``."""
    level: int = 0
    """How many leading dots."""
    scope: int = 0
    """The scope it stands in."""
    is_renamed: bool = False
    """Whether it says ``as``."""

    @property
    def bound(self) -> str:
        """The module that the alias stands for, if it is one: ``torch`` for ``import torch.utils``."""
        return self.module if self.attribute or self.is_renamed else self.module.partition(".")[0]


class PathRoot(NamedTuple):
    """A folder that a file makes modules importable from, as it spells it (see ``summaries.path_roots``)."""

    base: str
    """What it is relative to: ``file``, the folder of the file; ``cwd``, the working directory; ``setup``, the folder
    of a ``setup.py``."""
    path: str
    """Relative to the base, with forward slashes; ``.`` for the base itself, ``..`` for the folder above it."""


class Given(NamedTuple):
    """A value that a name or an attribute is given, both as they are spelt.

    A spelling keeps names and calls: ``Net(4).to(device)`` is ``Net().to()``, ``self.data[0].close`` is
    ``self.data[].close``. What begins with something else than a name begins with ``?``. ``partial(Net, 4)`` is
    ``partial(Net)``. Of a condition, and of ``a or b``, each part is a value of its own.
    """

    target: str
    value: str


class Scope(NamedTuple):
    """A module, class or function body, without the definitions in it. Lambdas and comprehensions belong to it."""

    kind: str
    name: str
    parent: int
    """The number of the scope around it; -1 for the module."""
    bases: tuple[str, ...] = ()
    """Of a class: its bases as they are spelt, ``Generic`` for ``Generic[T]``; ``?`` for what is no dotted name."""
    keywords: tuple[str, ...] = ()
    """Of a class: the keywords beside its bases, such as ``metaclass``."""
    decorators: tuple[str, ...] = ()
    """As they are spelt."""
    parameters: tuple[str, ...] = ()
    """Of a function: all, in order, with the stars before their names."""
    binds: frozenset[str] = frozenset()
    """Names it binds in any way: by assignment, import, definition, loop, ``with``, ``except``, ``del``, ``global``.

    Of a class: what becomes its attribute, so neither names declared ``global`` nor parameters of lambdas.
    """
    bare: frozenset[str] = frozenset()
    """Names it reads, decorators, defaults and annotations of its definitions included."""
    attributes: frozenset[str] = frozenset()
    """Names behind a dot, read or stored."""
    calls: frozenset[str] = frozenset()
    """What it calls, as spelt."""
    stores: frozenset[str] = frozenset()
    """Attributes it stores to, as spelt: ``self.data``, ``C.train.workers``."""
    given: tuple[Given, ...] = ()
    """The values that it gives to names and attributes, where they begin with a name, each once."""
    passed: frozenset[str] = frozenset()
    """Keywords of its calls."""
    strings: frozenset[str] = frozenset()
    """Its string constants that are dotted names or keys: letters, digits, ``_``, ``.``, ``-``, at most 80."""
    gives: bool = False
    """Of a function: whether it returns or yields a value."""
    retained: frozenset[str] = frozenset()
    """Those of its calls whose value may outlive them: it is neither dropped, nor entered by ``with``, nor only
    asked for an attribute. An attribute of a value that is itself not called counts as well: ``connect().cursor``."""
    dotted: frozenset[str] = frozenset()
    """Dotted names it reads or stores to other than by calling them, but for ``self.x``: ``torch.float32``."""
    runs: bool = False
    """Whether it has what may run other code: a call, a loop or comprehension, ``with``."""
    own: frozenset[str] = frozenset()
    """Attributes that it reads on ``self``, those that it calls included."""
    looks: bool = False
    """Of a function: whether it imports modules whose names are texts, and calls nothing in them."""
    typed: tuple[Given, ...] = ()
    """Of a function: its parameters that are annotated with a class, each with the class as it is spelt."""


class Statement(NamedTuple):
    """A statement of the top level that is neither an import nor a definition; what stands in it belongs to it.

    The main guard and its ``else`` are statements apart.
    """

    binds: frozenset[str]
    bare: frozenset[str]
    attributes: frozenset[str]
    is_guard: bool
    """Whether it is ``if __name__ == "__main__":``, with the names of its test and its body."""
    runs: bool
    """As in ``Scope``."""


class Summary:
    """One file."""

    def __init__(
        self,
        imports: tuple[Import, ...],
        exports: frozenset[str] | None,
        scopes: tuple[Scope, ...],
        statements: tuple[Statement, ...],
        path_roots: tuple[PathRoot, ...] = (),
    ) -> None:
        self.imports = imports
        self.exports = exports
        """The names in ``__all__`` where it is surely written out, else None."""
        self.scopes = scopes
        """In source order; the first is the module's."""
        self.statements = statements
        self.path_roots = path_roots
        """The folders that it makes modules importable from."""

    @property
    def top(self) -> Scope:
        """The module's own scope."""
        return self.scopes[0]

    @cached_property
    def classes(self) -> tuple[int, ...]:
        """The numbers of the scopes that are classes."""
        return tuple(number for number, scope in enumerate(self.scopes) if scope.kind == CLASS)

    @cached_property
    def functions(self) -> tuple[int, ...]:
        """The numbers of the scopes that are functions or methods."""
        return tuple(number for number, scope in enumerate(self.scopes) if scope.kind == FUNCTION)

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The scopes directly below each scope that has any."""
        found: dict[int, list[int]] = {}
        for number, scope in enumerate(self.scopes):
            found.setdefault(scope.parent, []).append(number)
        return found

    def below(self, number: int) -> Iterator[int]:
        """Give a scope and all scopes in it, in source order."""
        yield number
        for child in self.children.get(number, ()):
            yield from self.below(child)

    def outermost(self, number: int) -> int:
        """The definition of the top level in which a scope stands; 0 for the top level itself."""
        while self.scopes[number].parent > 0:
            number = self.scopes[number].parent
        return number

    def scopes_of(self, number: int) -> list[Scope]:
        """The scopes of a definition, itself and those in it; of the top level itself alone."""
        return [self.scopes[one] for one in self.below(number)] if number else [self.top]

    def methods(self, number: int) -> dict[str, int]:
        """The functions of a class's body by name, the last of each name."""
        below = self.children.get(number, ())
        return {self.scopes[child].name: child for child in below if self.scopes[child].kind == FUNCTION}

    def qualname(self, number: int) -> str:
        """The dotted path of definitions from the module to a scope; empty for the module."""
        scope = self.scopes[number]
        above = self.qualname(scope.parent) if scope.parent > 0 else ""
        return f"{above}.{scope.name}" if above else scope.name

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """For each scope its dotted path, with a number for the second of a path; empty for the module."""
        found: list[str] = [""]
        counts: dict[str, int] = {}
        for scope in self.scopes[1:]:
            above = found[scope.parent]
            path = f"{above}.{scope.name}" if above else scope.name
            counts[path] = counts.get(path, 0) + 1
            found.append(path if counts[path] == 1 else f"{path}#{counts[path]}")
        return tuple(found)

    @cached_property
    def by_key(self) -> dict[str, int]:
        """The scopes by their keys."""
        return {key: number for number, key in enumerate(self.keys)}

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """The scopes of classes and functions by their names, in source order."""
        found: dict[str, list[int]] = {}
        for number, scope in enumerate(self.scopes):
            if number:
                found.setdefault(scope.name, []).append(number)
        return found

    @cached_property
    def reads(self) -> frozenset[str]:
        """The names that are read anywhere, alone or behind a dot; those only stored to behind a dot as well."""
        return frozenset().union(*(scope.bare | scope.attributes for scope in self.scopes))

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that are bound anywhere."""
        return frozenset().union(*(scope.binds for scope in self.scopes))

    @cached_property
    def by_attribute(self) -> dict[str, list[int]]:
        """The scopes that store an attribute of a name, or hold a text that ends in it."""
        found: dict[str, list[int]] = {}
        for number, scope in enumerate(self.scopes):
            for name in {text.rpartition(".")[2] for text in (*scope.stores, *scope.strings)}:
                found.setdefault(name, []).append(number)
        return found

    @cached_property
    def spelt_calls(self) -> frozenset[str]:
        """What is called anywhere, as spelt."""
        return frozenset().union(*(scope.calls for scope in self.scopes))

    @cached_property
    def called(self) -> frozenset[str]:
        """The last names of what is called anywhere; where partials are made, all names that are read."""
        found = frozenset(map(last_name, self.spelt_calls))
        return found | self.reads if PARTIAL in found else found

    @cached_property
    def by_target(self) -> dict[str, list[tuple[int, str]]]:
        """The values that each name or attribute is given, each with the scope in which it is."""
        found: dict[str, list[tuple[int, str]]] = {}
        for number, scope in enumerate(self.scopes):
            for given in scope.given:
                found.setdefault(given.target, []).append((number, given.value))
        return found

    @cached_property
    def by_alias(self) -> dict[str, list[Import]]:
        """The imports by the names that they bind, stars under ``*``."""
        found: dict[str, list[Import]] = {}
        for one in self.imports:
            found.setdefault(one.alias, []).append(one)
        return found

    @property
    def stars(self) -> list[Import]:
        """The imports of all that a module has."""
        return self.by_alias.get(STAR, [])
