"""Functions that run as a worker begins, and what they seed the streams of random numbers with.

That is a ``worker_init_fn``, and the ``__iter__`` of an iterable dataset, which each worker calls once in an epoch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from forklint.datasets.whole import endless_or_unknown
from forklint.knowledge.random_streams import Seeder, seeded_generators, seeders, worker_words
from forklint.loading.certainty import has_none_by_default
from forklint.loading.loaders import loader_at, workers_of
from forklint.project import entries
from forklint.project.index import External, Project
from forklint.project.module import FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.scopes import FUNCTIONS, Scope, parameters
from forklint.project.spelling import is_name, last_name, text_of
from forklint.project.versions import asks_for_older
from forklint.records import dataclass
from forklint.rules.rng_in_init.endless import is_endless
from forklint.rules.rng_in_init.steadiness import Seed, Seeds, is_changing, worker_number
from forklint.rules.rng_in_init.undrawn import undrawn
from forklint.runs.calls import callee
from forklint.summaries.terms import WORD
from forklint.values.evaluator import Evaluator
from forklint.values.model import Expression
from forklint.values.numbers import Workers

Beginning = FunctionFacts | ast.Lambda
GIVEN_AS = "worker_init_fn"
GIVES = "def __iter__"
NONE: frozenset[str] = frozenset()
RUNNING = (ast.For, ast.If, ast.While, ast.With)
"""What stands at the top of a script."""
REFUSES = (3, 11)
"""The first Python whose ``random.seed`` takes no integer of NumPy."""


@dataclass(frozen=True)
class Loading:
    """One call of a loader that is given a function for its workers to begin with."""

    evaluates: bool
    """Whether it is called like a loader for evaluation, where the same numbers each time are wanted."""
    plain: bool
    """Whether all its options are seen, its workers end with the epoch, and another epoch may come."""
    undrawn: frozenset[str] = frozenset()
    """The streams that nothing in its workers draws from."""
    by_option: bool = False
    """Whether it has workers only if the user asks for some."""


Loadings = dict[FunctionFacts, list[Loading | None]]
"""By the function, what is given it; None for a loader that surely starts no workers."""


@dataclass(frozen=True)
class Seeding:
    """One call that seeds streams in a worker."""

    call: ast.Call
    seeder: Seeder
    seed: Seed
    direct: bool
    """Whether the call itself seeds, not a function of the project that it calls."""

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams that it seeds."""
        return self.seeder.streams


@dataclass(frozen=True)
class WorkerSeeds:
    """What one function seeds as a worker begins."""

    module: Module
    function: Beginning
    seedings: tuple[Seeding, ...]
    """Those that do harm, in source order; never empty."""
    repeats: bool
    """Whether the workers of each epoch are new ones, as far as the loaders show, and begin again."""
    by_option: bool = False
    """Whether there are workers only if the user asks for some."""
    refused: bool = False
    """Whether the seeds are integers of NumPy that what they are given to refuses."""

    @property
    def place(self) -> ast.AST:
        """The first of these calls: the statement that it is, or the call itself in a lambda."""
        call = self.seedings[0].call
        return call if isinstance(self.function, ast.Lambda) else self.module.statement_of(call)

    @property
    def too_large(self) -> bool:
        """Whether a seed is too large for what it is given to."""
        return self.seedings[0].seed.large and not self.refused

    @property
    def by_worker(self) -> bool:
        """Whether workers at least differ from each other."""
        return all(one.seed.by_worker for one in self.seedings)

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams that are seeded so."""
        return tuple(dict.fromkeys(stream for one in self.seedings for stream in one.seeder.streams))


def worker_seeds(project: Project, module: Module) -> Iterator[WorkerSeeds]:
    """Give the functions of a module that seed every worker, or every epoch, alike."""
    if "seed" not in module.screened.text:
        return
    for function in module.functions:
        if _seeds_something(function.node):
            given = given_to(project, function)
            by_name = not given and _is_named_so(function) and _may_be_given(project, function)
            loadings = [one for one in given if one is not None]
            if by_name or any(not one.evaluates for one in loadings):
                yield from _judged(project, module, function, loadings)
    for function, loaded in endless_or_unknown(project, module) if GIVES in module.screened.text else ():
        begun = Loading(evaluates=False, plain=True, by_option=loaded.by_option)
        yield from _judged(project, module, function, [begun])
    for node in module.nodes if GIVEN_AS in module.screened.text else ():
        if isinstance(node, ast.keyword) and node.arg == GIVEN_AS and isinstance(node.value, ast.Lambda):
            call = module.parents[node]
            loading = _loading(project, module, call) if isinstance(call, ast.Call) else None
            if loading is not None and not loading.evaluates:
                yield from _judged(project, module, node.value, [loading])


def _may_be_given(project: Project, function: FunctionFacts) -> bool:
    """Whether a function may be given to a loader: a script, which nobody imports, has to name it."""
    module = function.module
    is_named = project.graph.is_imported(module.path) or any(module.reads(function.node.name))
    return is_named or not any(isinstance(one, RUNNING) for one in module.tree.body)


def _judged(project: Project, module: Module, function: Beginning, loadings: list[Loading]) -> Iterator[WorkerSeeds]:
    taken = [one.undrawn for one in loadings if not one.evaluates]
    harmless = frozenset[str]().union(*taken).intersection(*taken)
    by_option = bool(loadings) and all(one.by_option for one in loadings if not one.evaluates)
    given = list(_seedings(project, module, function))
    refused = tuple(one for one in given if one.seed.numpy and one.seeder.plain)
    is_refused = project.settings.target_python[1] >= REFUSES and not asks_for_older(
        project, module.path, REFUSES, "python"
    )
    if refused and is_refused:
        yield WorkerSeeds(module, function, refused, repeats=True, by_option=by_option, refused=True)
        given = [one for one in given if one not in refused]
    given = [one for one in given if not one.seed.fresh]
    found = [one for one in given if one.seed.large or not harmless.issuperset(one.streams)]
    large = [one for one in found if one.seed.large and one.seeder.most]
    if large:
        yield WorkerSeeds(module, function, tuple(large), repeats=True, by_option=by_option)
        return
    is_plain = bool(loadings) and all(one.plain for one in loadings if not one.evaluates)
    alike = [one for one in found if not one.seed.large and (is_plain or not one.seed.by_worker)]
    if alike:
        yield WorkerSeeds(module, function, tuple(alike), is_plain or not loadings, by_option)


def _seedings(project: Project, module: Module, function: Beginning) -> Iterator[Seeding]:
    if isinstance(function, ast.Lambda):
        arguments = function.args.args
        number, scope, facts = arguments[0].arg if arguments else "", module.scope_at(function), None
    else:
        number, scope, facts = worker_number(function), function.scope, function
    seeds = Seeds(project, facts, number)
    rows = seeders() if facts is None or not GIVES.endswith(facts.node.name) else seeders() | seeded_generators()
    for node in nodes_below(function if isinstance(function, ast.Lambda) else function.node):
        if not isinstance(node, ast.Call) or not (node.args or node.keywords):
            continue
        value = node.args[0] if node.args else node.keywords[0].value
        symbol = project.resolve(module, scope, node.func)
        seeder = rows.get(symbol.name) if isinstance(symbol, External) else None
        direct = seeder is not None
        if seeder is None and isinstance(symbol, FunctionFacts) and symbol != function:
            seeder = _passed_on(project, symbol)
        seed = seeds.of(Expression(module, scope, value)) if seeder is not None else None
        if seeder is not None and seed is not None:
            yield Seeding(node, seeder, seed, direct)


def _passed_on(project: Project, function: FunctionFacts) -> Seeder | None:
    """The seeder that a function of the project is, if it seeds with its first argument as it is."""
    given = parameters(function.node)
    streams: list[str] = []
    for node in nodes_below(function.node):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name) and given:
            row = seeders().get(project.qualified(function.module, function.scope, node.func))
            if row is not None and node.args[0].id == given[0].arg:
                streams += row.streams
    most, plain = "numpy" in streams, "python" in streams
    return Seeder(call=(), streams=tuple(dict.fromkeys(streams)), most=most, plain=plain) if streams else None


def _seeds_something(node: ast.AST) -> bool:
    names = (last_name(one.func) for one in nodes_below(node) if isinstance(one, ast.Call))
    return any("seed" in name or "determin" in name for name in names)


def _is_named_so(function: FunctionFacts) -> bool:
    words = worker_words()
    return function.node.name in words.functions and worker_number(function) in words.numbers


def given_to(project: Project, function: FunctionFacts) -> list[Loading | None]:
    """The loaders that are given a function as ``worker_init_fn``, or a ``partial`` of it; None without workers."""
    wanted = str(function.module.path)
    paths = project.where(WORD, GIVEN_AS)
    modules = [project.module(path) for path in paths if wanted in _files_given(project, path)]
    return [one for module in modules if module is not None for one in _given_in(project, module).get(function, ())]


def _files_given(project: Project, path: Path) -> frozenset[str]:
    """The files that define what one file gives to loaders as ``worker_init_fn``."""

    def find() -> frozenset[str]:
        module = project.module(path)
        return frozenset(str(one.module.path) for one in _given_in(project, module)) if module is not None else NONE

    return project.answer("files of worker_init_fn", path, find, compared=True)


def _given_in(project: Project, module: Module) -> Loadings:
    """What a module gives to loaders as ``worker_init_fn``."""
    return project.answer("functions given as worker_init_fn", module, lambda: _find_given_in(project, module))


def _find_given_in(project: Project, module: Module) -> Loadings:
    found: Loadings = {}
    for node in module.nodes:
        if isinstance(node, ast.keyword) and node.arg == GIVEN_AS:
            _note_loading(project, module, node, found)
        elif isinstance(node, ast.Assign) and last_name(node.targets[0]) == GIVEN_AS:
            _note_stored(project, module, node, found)
        elif isinstance(node, (ast.Assign, ast.Dict)):
            _note_entry(project, module, node, found)
    return found


def _note_loading(project: Project, module: Module, given: ast.keyword, found: Loadings) -> None:
    call = module.parents[given]
    if isinstance(call, ast.Call):
        function = _function_of(project, module, module.scope_at(call), given.value)
        if function is not None:
            found.setdefault(function, []).append(_loading(project, module, call))


def _note_stored(project: Project, module: Module, node: ast.Assign, found: Loadings) -> None:
    """A loader that is given its function as an attribute; its options are not looked for."""
    if isinstance(node.targets[0], ast.Attribute):
        function = _function_of(project, module, module.scope_at(node), node.value)
        words = set(last_name(node.targets[0].value).lower().split("_"))
        if function is not None:
            loading = Loading(bool(words & worker_words().evaluation), plain=False)
            found.setdefault(function, []).append(loading)


def _note_entry(project: Project, module: Module, node: ast.Assign | ast.Dict, found: Loadings) -> None:
    """An entry of a mapping of options: ``options["worker_init_fn"] = seed_worker``, or one that is written out."""
    if isinstance(node, ast.Dict):
        home, value = module.parents.get(node), dict(entries.of_dict(node)).get(GIVEN_AS)
        targets = home.targets if isinstance(home, ast.Assign) else []
    else:
        keyed = node.targets[0] if isinstance(node.targets[0], ast.Subscript) else None
        value = node.value if keyed is not None and text_of(keyed.slice) == GIVEN_AS else None
        targets = [keyed.value] if keyed is not None else []
    function = _function_of(project, module, module.scope_at(node), value) if value is not None else None
    if function is not None:
        takers = _taking(module, {ast.unparse(one) for one in targets})
        unseen = Loading(evaluates=False, plain=False)
        found.setdefault(function, []).extend([_loading(project, module, one) for one in takers] or [unseen])


def _taking(module: Module, names: set[str]) -> list[ast.Call]:
    """The calls of a module that are given a mapping of one of some names as ``**options``."""
    calls = (node for node in module.nodes if isinstance(node, ast.Call))
    spread = ((call, [one.value for one in call.keywords if one.arg is None]) for call in calls)
    return [call for call, given in spread if any(ast.unparse(one) in names for one in given)]


def _function_of(project: Project, module: Module, scope: Scope, value: ast.expr) -> FunctionFacts | None:
    symbol = project.resolve(module, scope, value)
    found = callee(Evaluator(project), Expression(module, scope, value), symbol)
    return found[0] if found is not None else None


def _loading(project: Project, module: Module, call: ast.Call) -> Loading | None:
    """What a loader's call says; None if it surely starts no workers."""
    workers = workers_of(project, module, module.scope_at(call), call)
    if workers is Workers.NONE:
        return None
    names = {keyword.arg for keyword in call.keywords}
    keeps = next((keyword.value for keyword in call.keywords if keyword.arg == "persistent_workers"), None)
    ends = keeps is None or (isinstance(keeps, ast.Constant) and keeps.value is False)
    changes = any(keyword.arg == GIVEN_AS and is_changing(module, keyword.value) for keyword in call.keywords)
    loader = loader_at(project, Expression(module, module.scope_at(call), call))
    given = loader.datasets if loader is not None else ()
    goes_on = any(is_endless(project, dataset) for dataset in given)
    goes_on = goes_on or _is_read_once(module, call)
    plain = workers is not None and ends and None not in names and not changes and not goes_on
    by_option = loader is not None and has_none_by_default(loader)
    return Loading(_evaluates(module, call), plain, undrawn(project, module) if given else NONE, by_option)


def _is_read_once(module: Module, call: ast.Call) -> bool:
    """Whether a loader is bound to a name for one loop alone, in a script or in a function that it calls once."""
    above = module.parents[call]
    if not isinstance(above, ast.Assign) or not isinstance(above.targets[0], ast.Name):
        return False
    scope = module.scope_at(call)
    name = above.targets[0].id
    named = (node for node in nodes_below(scope.node) if isinstance(node, ast.Name) and node.id == name)
    uses = [node for node in named if isinstance(node.ctx, ast.Load)]
    loop = next((one for one in module.above(uses[0]) if isinstance(one, ast.For)), None) if len(uses) == 1 else None
    if loop is None or uses[0] not in nodes_below(loop.iter) or _in_loop(module, loop):
        return False
    if isinstance(scope.node, ast.Module):
        return True
    function = getattr(scope.node, "name", "")
    calls = [node for node in module.nodes if isinstance(node, ast.Call) and is_name(node.func, function)]
    return len(calls) == 1 and module.scope_at(calls[0]) is module.scope and not _in_loop(module, calls[0])


def _in_loop(module: Module, node: ast.AST) -> bool:
    """Whether a loop stands around a node, within the function that it is in."""
    for above in module.above(node):
        if isinstance(above, FUNCTIONS):
            return False
        if isinstance(above, (ast.For, ast.While)):
            return True
    return False


def _evaluates(module: Module, call: ast.Call) -> bool:
    """Whether the loader, or the function that makes it, is called after evaluation."""
    names: list[str] = []
    for above in module.above(call):
        if isinstance(above, ast.Assign) and not names:
            names += [last_name(target) for target in above.targets]
        if isinstance(above, FUNCTIONS):
            names.append(above.name)
            break
    words = {part for name in names for part in name.lower().split("_")}
    return bool(words & worker_words().evaluation)
