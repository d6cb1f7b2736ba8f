"""Which arguments of a loader it surely refuses, as ``loader_options.toml`` has it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from forklint.knowledge.loader_options import Refusal, refusals
from forklint.loading import constants
from forklint.loading.given import Given
from forklint.loading.loader_calls import LoaderCall, loader_calls
from forklint.machines import programs
from forklint.members.attribute_stores import is_assigned_somewhere
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.project.nodes import nodes_below
from forklint.project.spelling import last_name
from forklint.records import dataclass
from forklint.values.model import UNKNOWN, Value
from forklint.values.worlds import CUDA, EVERYWHERE, Worlds, platforms_of

FORGIVING = frozenset({"ValueError", "AssertionError", "Exception", "BaseException"})
RAISING = ("raises", "assertRaises", "assertRaisesRegex", "suppress")
"""Callables that take an error for granted; their last names."""
VERSION = re.compile(r"(?i)version|torch_?\d")
"""Words in the test of a branch for some versions of torch: it may take what others refuse."""
EXPECTED = ("xfail", "expectedFailure")


@dataclass(frozen=True)
class Conflict:
    """An option that a loader refuses beside what else it is given."""

    loader: LoaderCall
    refusal: Refusal
    option: Given
    beside: Given | None
    """None where the other is not given at all, and its default is refused."""
    refused: frozenset[str] = frozenset()
    """The names of all options that this call is refused for."""
    worlds: Worlds = EVERYWHERE
    """The kinds of machine on which it is."""
    by_default: bool = False
    """Whether it is there unless somebody asks for workers."""
    in_branch: bool = False
    """Whether it is there in one of several branches, such as that of distributed training."""

    @property
    def where(self) -> str:
        """In words, the machines on which it is, or that it is so by default; empty for all."""
        if self.by_default:
            return "by default"
        if self.worlds == EVERYWHERE:
            return ""
        if self.worlds == EVERYWHERE - CUDA:
            return "where CUDA is not used"
        return f"on {' and '.join(platforms_of(self.worlds))}"


class Conflicts:
    """Looks at the loaders of one module."""

    def __init__(self, project: Project, module: Module) -> None:
        self.project = project
        self.module = module

    def find(self) -> Iterator[Conflict]:
        """Give what surely raises; for each option of a call the first reason."""
        for loader in loader_calls(self.project, self.module):
            told: dict[str, Refusal] = {}
            for refusal in refusals():
                if self._is_refused(loader, refusal) and not self._is_open(loader, refusal):
                    told.setdefault(refusal.option, refusal)
            for name, refusal in told.items():
                yield Conflict(loader, refusal, loader.given[name], loader.given.get(refusal.beside), frozenset(told))

    def _is_refused(self, loader: LoaderCall, refusal: Refusal) -> bool:
        option = loader.given.get(refusal.option)
        value = constants.surely(self.project, option.place) if option is not None else UNKNOWN
        if not constants.is_of_kind(self.project, value, refusal.kind) or is_taken(self.project, value, refusal):
            return False
        beside = loader.given.get(refusal.beside)
        if beside is None:
            return refusal.beside_kind == "zero" and loader.is_closed
        if refusal.beside_kind == "not none":
            return constants.is_surely_something(self.project, beside.place)
        return constants.is_of_kind(self.project, constants.surely(self.project, beside.place), refusal.beside_kind)

    def _is_open(self, loader: LoaderCall, refusal: Refusal) -> bool:
        """Whether the error is expected there, a branch avoids it, or workers may be set before it can come."""
        if is_expected(self.module, loader.call):
            return True
        deciding = (loader.given[refusal.option], loader.given.get(refusal.beside))
        names = {last_name(one.value) for one in deciding if one is not None} - {""}
        if names and asks_for(loader.place.scope.node, names):  # a constant at the top that branches look at
            return True
        if loader.row.prefix:
            return is_assigned_somewhere(self.project, f"{loader.row.prefix}{refusal.beside}", ())
        return refusal.when == "iterated" and _sets(self.module, refusal.beside)


def is_taken(project: Project, value: Value, refusal: Refusal) -> bool:
    """Whether each torch that the project meets takes a value which later ones refuse."""
    meets_older_alone = refusal.before is not None and project.settings.meets_only_torch_below(refusal.since)
    return meets_older_alone and constants.constant_of(value) == refusal.before


def pinned_for_mps(project: Project, module: Module) -> Iterator[Conflict]:
    """Give the loaders that pin memory in a program whose only accelerator is MPS, which pins none."""
    for loader in loader_calls(project, module):
        given = loader.given.get("pin_memory")
        if given is None or constants.constant(project, given.place) is not True:
            continue
        if programs.mps_only(project, module) is not None:
            yield Conflict(loader, PINNED, given, None)


PINNED = Refusal("pin_memory", "true", "", "", "", "iterated", "has no effect with MPS", "False", plain=True)
"""[D] torch 2.13 says so in a warning for each iterator, and goes on without pinning (pytorch/pytorch#86060)."""


def asks_for(root: ast.AST, names: set[str]) -> bool:
    """Whether a test in the code looks at one of some names: what is done may then depend on it."""
    tests = (node.test for node in nodes_below(root) if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)))
    return any(
        isinstance(part, (ast.Name, ast.Attribute)) and last_name(part) in names
        for test in tests
        for part in nodes_below(test)
    )


def _sets(module: Module, name: str) -> bool:
    """Whether a module sets an attribute of this name on something other than ``self``."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.ctx, ast.Store)
        and not (isinstance(node.value, ast.Name) and node.value.id == "self")
        for node in module.nodes
    )


def is_expected(module: Module, node: ast.AST, errors: frozenset[str] = FORGIVING) -> bool:
    """Whether code around a node is ready for the error: it catches it, asks for it in a test, or is for a version."""
    below = node
    for above in module.above(node):
        if isinstance(above, ast.Try) and below in above.body and any(_forgives(one, errors) for one in above.handlers):
            return True
        if isinstance(above, (ast.With, ast.AsyncWith)) and any(_asks(item.context_expr) for item in above.items):
            return True
        if isinstance(above, ast.Call) and _asks(above):
            return True
        if isinstance(above, ast.If) and below is not above.test and VERSION.search(ast.unparse(above.test)):
            return True
        decorators = getattr(above, "decorator_list", ())
        if any(word in ast.unparse(decorator) for decorator in decorators for word in EXPECTED):
            return True
        below = above
    return False


def _forgives(handler: ast.ExceptHandler, errors: frozenset[str]) -> bool:
    if handler.type is None:
        return True
    return any(last_name(part) in errors for part in nodes_below(handler.type))


def _asks(call: ast.expr) -> bool:
    if not isinstance(call, ast.Call):
        return False
    return last_name(call.func) in RAISING
