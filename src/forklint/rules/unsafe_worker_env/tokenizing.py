"""Programs that keep tokenizers parallel in forked children: where they say so, where they fork, what they tokenize."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.environment.settings import Setting, settings_in
from forklint.forking.kinds import made_kind
from forklint.forking.poisoned import wanted_by
from forklint.forking.sites import Site, sites_in
from forklint.forking.uses import Poisons, Use
from forklint.knowledge.poisons import poisons
from forklint.knowledge.tokenizers import VARIABLE
from forklint.project.guard import asks_for_name
from forklint.project.module import ClassFacts, FunctionFacts
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Kind
from forklint.records import dataclass
from forklint.runs.calls import callees
from forklint.runs.programs import budget_for
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression

if TYPE_CHECKING:
    from forklint.model import Cell
    from forklint.project.budget import Budget
    from forklint.project.index import Project
    from forklint.project.module import Module
    from forklint.project.scopes import Scope
    from forklint.runs.trace import Place

POISON = "tokenizers"
TOKENIZER = re.compile(rb"okenizer")
TOKENS = re.compile(r"(?i)tok|encode|processor|pipeline")
"""Code of the project without such a word tokenizes nothing, unless what it is given does."""
OFF = frozenset({"", "off", "false", "f", "no", "n", "0"})
"""Values that the library takes for false, whatever their case; it takes any other for true."""
MOST_MODULES = 300
"""How many files of a program are looked at."""
MOST_IMPORTS = 20 * MOST_MODULES
"""How many are found for that, each as often as another imports it."""


@dataclass(frozen=True)
class Kept:
    """A statement that keeps tokenizers parallel, in a program that forks."""

    setting: Setting
    made: tuple[Module, ast.Call]
    """Where a fast tokenizer is made."""
    site: tuple[Module, Site]
    """Where children are forked: those that tokenize, if any do."""
    cells: tuple[Cell, ...]
    task: FunctionFacts | None = None
    """The function of a child that tokenizes several texts at once."""
    use: Place | None = None
    """The call by which it does."""


def kept_parallel(project: Project, module: Module) -> Iterator[Kept]:
    """Give the statements of a module that switch the parallel tokenizers on for certain and that can do harm."""
    own = [one for one in settings_in(project, module) if one.name == VARIABLE]
    on = [one for one in own if _is_on(one) and not _is_in_branch(module, one.statement)]
    if not on:
        return
    program = list(islice(_program(project, module), MOST_MODULES))
    settings = [one for other in program for one in settings_in(project, other) if one.name == VARIABLE]
    made = next((found for other in program if (found := _made(project, other))), None)
    sites = [(other, site, cells) for other in program for site, cells in sites_in(project, other).values()]
    if made is None or not sites or not all(_is_on(one) for one in settings):
        return
    budget = budget_for(project, module)
    sites = [(other, site, cells) for other, site, cells in sites if _may_tokenize(project, other, site, budget)]
    if not sites:
        return
    tokenizing = next(_tokenizing(project, sites), None)
    (home, site, _), task, use = tokenizing or (sites[0], None, None)
    cells = tuple(dict.fromkeys(cell for _, _, cells in sites for cell in cells))
    for setting in on:
        yield Kept(setting, made, (home, site), cells, task, use.place if use is not None else None)


def _is_on(setting: Setting) -> bool:
    return setting.literal is not None and setting.literal.lower() not in OFF


def _is_in_branch(module: Module, statement: ast.stmt) -> bool:
    tests = [above.test for above in module.above(statement) if isinstance(above, ast.If)]
    return not all(asks_for_name(test) for test in tests)


def _program(project: Project, module: Module) -> Iterator[Module]:
    """The module, what it reaches, and the files that import it with what these reach."""
    budget, seen = project.budgets.of("following imports", MOST_IMPORTS), set[Path]()
    for path in _paths(project, module):
        if not budget.spend():
            return
        found = project.module(path) if path not in seen else None
        seen.add(path)
        if found is not None:
            yield found


def _paths(project: Project, module: Module) -> Iterator[Path]:
    yield from project.graph.reached(module.path)
    for other in project.mentioning(module.path.stem):
        if other is not module and project.graph.reaches(other.path, module.path):
            yield from project.graph.reached(other.path)


def _made(project: Project, module: Module) -> tuple[Module, ast.Call] | None:
    """The first call of a module that makes a fast tokenizer."""
    if not project.matches(module.path, TOKENIZER):
        return None
    for node in module.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            name = project.qualified(module, module.scope_at(node), node.func)
            row = poisons().made_by(name) if name else None
            if row is not None and row.poison == POISON and made_kind(node, name):
                return module, node
    return None


def _may_tokenize(project: Project, module: Module, site: Site, budget: Budget) -> bool:
    """Whether children of a fork may tokenize: some of their code is not known, or speaks of it."""
    scope, evaluator = module.scope_at(site.call), Evaluator(project)
    code: list[ClassFacts | FunctionFacts | None] = []
    for target in site.targets:
        if target.owner is not None:
            code.append(target.owner)
        elif target.function is not None:
            symbol = project.resolve(module, scope, target.function)
            function = Expression(module, scope, target.function)
            code += [one for (one, _), _ in callees(evaluator, function, symbol)] or [None]
    if site.is_loader and not any(target.owner is not None for target in site.targets):
        return True  # its dataset is not known
    return not code or any(part is None or _speaks(project, part, budget) for part in code)


def _speaks(project: Project, code: ClassFacts | FunctionFacts, budget: Budget) -> bool:
    """Whether a class or function, or the project's code that it calls, speaks of tokens or calls what it is given."""
    waiting, seen = [code], set[ast.AST]()
    while waiting:
        part = waiting.pop()
        if part.node in seen:
            continue
        seen.add(part.node)
        if not budget.spend() or TOKENS.search(_text(part)):
            return True
        if isinstance(part, ClassFacts):
            waiting += project.ancestry(part).classes
        for node in nodes_below(part.node):
            if isinstance(node, ast.Call):
                scope = part.module.scope_at(node)
                symbol = project.resolve(part.module, scope, node.func)
                if isinstance(symbol, (ClassFacts, FunctionFacts)):
                    waiting.append(symbol)
                elif isinstance(node.func, ast.Name) and _is_given(scope, node.func.id):
                    return True
    return False


def _text(part: ClassFacts | FunctionFacts) -> str:
    return "\n".join(part.module.document.lines[part.node.lineno - 1 : part.node.end_lineno])


def _is_given(scope: Scope, name: str) -> bool:
    """Whether a name is a parameter."""
    found = scope.find(name)
    return found is not None and any(binding.kind is Kind.PARAMETER for binding in found[1])


Found = tuple[tuple["Module", Site, tuple["Cell", ...]], "FunctionFacts", "Use"]


def _tokenizing(project: Project, sites: list[tuple[Module, Site, tuple[Cell, ...]]]) -> Iterator[Found]:
    """The forks whose children tokenize several texts at once, each with the function and the call."""
    topic = Poisons(project)
    for home, site, cells in sites:
        here = Expression(home, home.scope_at(site.call), site.call)
        for target in site.targets:
            for wanted in wanted_by(topic, here, target):
                if wanted.within.poison == POISON and _are_several(wanted.within.place):
                    yield (home, site, cells), wanted.target, wanted.within


def _are_several(place: Place) -> bool:
    """Whether a tokenizer is given more than one text for certain: one starts no threads."""
    call = place.node
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Attribute) and "batch" in call.func.attr:
        return True
    text = call.args[0] if call.args else None
    if isinstance(text, ast.Name):
        found = place.module.scope_at(call).find(text.id)
        bindings = found[1] if found else []
        if len(bindings) == 1 and bindings[0].kind is Kind.VALUE:
            text = bindings[0].value
        elif bindings and bindings[0].kind is Kind.OTHER:
            return _is_unpacked(bindings[0].node)
    if isinstance(text, ast.Subscript):  # `examples["text"]` of `map(..., batched=True)`
        return isinstance(text.value, ast.Name) and text.value.id in {"batch", "examples", "samples"}
    is_list = isinstance(text, ast.Call) and getattr(text.func, "id", "") in {"list", "sorted"}
    return is_list or isinstance(text, (ast.List, ast.ListComp, ast.GeneratorExp))


def _is_unpacked(statement: ast.AST) -> bool:
    """Whether a statement is ``texts, labels = zip(*batch)``."""
    value = getattr(statement, "value", None)
    is_zip = isinstance(value, ast.Call) and getattr(value.func, "id", "") == "zip"
    return is_zip and not isinstance(statement, FUNCTIONS)
