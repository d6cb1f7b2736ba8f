"""Uses of names that the object, or the torch module, surely does not have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from forklint.knowledge.patches import patches
from forklint.knowledge.torch_api import ApiNames, gone_from
from forklint.members.attribute_stores import is_assigned_somewhere, is_nowhere
from forklint.members.guards import is_excused, is_hidden, is_method_excused
from forklint.members.version_tests import is_chosen_by_version
from forklint.project.guard import is_for_type_checkers
from forklint.project.index import Project
from forklint.project.module import ClassFacts, Module
from forklint.project.nodes import start_of
from forklint.project.scopes import FUNCTIONS, Kind, Scope
from forklint.project.spelling import dotted, first_parameter, is_name
from forklint.project.versions import asks_for_older
from forklint.rules.unknown_method.attributes import Attributes, missed_on_classes
from forklint.rules.unknown_method.callables import callables
from forklint.rules.unknown_method.constructions import may_be_object, moves, stores, takes
from forklint.rules.unknown_method.failing_imports import FailingImports
from forklint.rules.unknown_method.filled_objects import FilledObjects
from forklint.rules.unknown_method.givers import Givers
from forklint.rules.unknown_method.lacking import Lacking
from forklint.rules.unknown_method.nearest import Nearest, is_slip, nearest
from forklint.rules.unknown_method.owners import WRAPPERS, Owner, Owners, is_unaware
from forklint.rules.unknown_method.read_names import alike, may_be_inner
from forklint.rules.unknown_method.receivers import Calls
from forklint.rules.unknown_method.removed_members import is_lost
from forklint.rules.unknown_method.screening import Screening
from forklint.rules.unknown_method.supers import SUPER, lacking_above
from forklint.rules.unknown_method.suppliers import Suppliers
from forklint.rules.unknown_method.valued_objects import Valued, ValuedObjects
from forklint.summaries.terms import WORD

Made = dict[tuple[Scope, str], tuple[Owner, set[str]]]
"""By scope and variable, or class and ``self.x``: the class of the object, and the names called on it that it lacks."""
SELVES = ("self", "cls")
COMPUTED = re.compile("_|weight|bias|parametrizations")
"""So begin attributes that layers of torch give themselves under computed names: ``weight_ih_l0``."""


class Objects:
    """Finds such calls in the modules of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.attributes = Attributes(project)
        self.suppliers = Suppliers(project, self.attributes)
        self._owners = Owners(project, self.attributes)
        self._givers = Givers(project)
        self._filled = FilledObjects(project, self.attributes)
        self._valued = ValuedObjects(project, self.attributes, self._filled)
        self._made_elsewhere = Screening(project).made_elsewhere
        self._imports = FailingImports(project)

    def lacking(self, module: Module) -> Iterator[Lacking]:
        """Calls in a module, on ``self`` or on a variable, of methods that their object surely lacks."""
        seen: set[ast.AST] = set()
        for found in self._lacking(module):
            seen.add(found.node)
            yield found
        for found in self._valued_lacking(module):
            if found.node not in seen:
                yield found

    def _lacking(self, module: Module) -> Iterator[Lacking]:
        own = dict(self._on_self(module))
        made: Made = {**dict(self._on_variables(module)), **dict(self._on_attributes(module))}
        yield from self._on_super(module)
        wanted = set().union(*own.values(), *(names for _, names in made.values()))
        if not wanted or self._imports.fails(module):
            return
        for node in module.nodes:
            use = node.func if isinstance(node, ast.Call) else None
            if isinstance(node, ast.Call) and isinstance(use, ast.Attribute) and use.attr in wanted:
                found = self._judge_self(module, node, use, own) or self._judge_made(module, node, use, made)
                if found is not None:
                    yield found
        yield from self._reads(module, own, made)

    # Which names are worth a look: by the summary, without a walk over the tree

    def _calls(self, module: Module) -> Calls:
        return Calls(self.project.summary(module.path))

    def _on_self(self, module: Module) -> Iterator[tuple[ClassFacts, set[str]]]:
        calls = self._calls(module)
        for facts in module.classes:
            on = calls.on_variables(module.number(facts.node))
            called = {name for me in SELVES for name in on.get(me, ())}.union(calls.read(module.number(facts.node)))
            left = self.attributes.lacking(facts, called) if called else called
            if left:
                yield facts, left

    def _on_super(self, module: Module) -> Iterator[Lacking]:
        calls = self._calls(module)
        called = {facts: calls.on_variables(module.number(facts.node)).get(SUPER, set()) for facts in module.classes}
        if any(called.values()) and not self._imports.fails(module):
            for use, facts in lacking_above(self.project, self.attributes, module, called):
                found = Lacking(use, facts, Nearest(()), hidden=is_hidden(module, use), is_above=True)
                yield from self._dated(module, found)

    def _on_variables(self, module: Module) -> Iterator[tuple[tuple[Scope, str], tuple[Owner, set[str]]]]:
        calls = self._calls(module)
        for scope in module.all_scopes:
            if isinstance(scope.node, ast.ClassDef):
                continue
            once = {bindings[0]: moves(bindings) for bindings in scope.bindings.values()}
            made = {one.name: one for one, moved in once.items() if moved is not None and may_be_object(scope, one)}
            number = module.number(scope.node)
            on, read_on = (calls.on_variables(number), calls.read_on_variables(number)) if made else ({}, {})
            for name, binding in made.items():
                called, read = on.get(name, set()), read_on.get(name, set())
                owner = self._owners.of(module, scope, binding) if called or read else None
                left = self._lacks(owner, called, read) if owner is not None else set()
                if binding.kind is Kind.PARAMETER:
                    left = self.suppliers.supplied_by_nobody(owner, left)
                elif binding.kind is not Kind.VALUE:
                    left = missed_on_classes(left)
                if owner is None or not left or is_for_type_checkers(module, binding.node):
                    continue
                if isinstance(owner, ClassFacts) and any(
                    self.project.method(owner, one) for one in once[binding] or ()
                ):
                    continue
                yield (scope, name), (owner, left)

    def _on_attributes(self, module: Module) -> Iterator[tuple[tuple[Scope, str], tuple[Owner, set[str]]]]:
        """By class and ``self.attribute``: the object that this surely is, and the names that it lacks."""
        calls = self._calls(module)
        made = calls.made()
        for facts in module.classes if made else ():
            number = module.number(facts.node)
            on, read_on = calls.on_kept(number), calls.read_on_kept(number)
            used = made & (on.keys() | read_on.keys())
            kept = stores(facts) if used else {}
            for attribute in sorted(used):
                owner, is_told = self._owners.kept_in(module, kept.get(attribute, []))
                called, read = on.get(attribute, set()), read_on.get(attribute, set())
                left = self._lacks(owner, called, read) if owner is not None else set()
                left = self.suppliers.supplied_by_nobody(owner, left) if is_told else left
                if owner is not None and left and not self._is_stored_elsewhere(facts, attribute):
                    yield (facts.scope, f"self.{attribute}"), (owner, left)

    def _is_stored_elsewhere(self, facts: ClassFacts, attribute: str) -> bool:
        """Whether a class above or below this one, or code outside, may put something else into an attribute."""
        kin = (*self.project.ancestry(facts).classes[1:], *self.project.subclasses(facts))
        if any(self.attributes.may_bind(one, attribute) for one in kin):
            return True
        return is_assigned_somewhere(self.project, attribute, [facts.module])

    def _lacks(self, owner: Owner, called: set[str], read: set[str]) -> set[str]:
        """What an object lacks of what is called on it or read."""
        if isinstance(owner, ClassFacts):
            return self.attributes.lacking(owner, called | read)
        return (called | read) - owner.every

    def _valued_lacking(self, module: Module) -> Iterator[Lacking]:
        """Uses of objects that only the evaluator knows."""
        wanted = self._made_elsewhere.may_lack(module.path)
        if not wanted or self._imports.fails(module):
            return
        names = {name for _, name in wanted}
        read: set[tuple[ast.AST, str, str]] = set()
        for node in sorted(_read_names(module, names), key=start_of):
            receiver, above = dotted(node.value), module.parents[node]
            place = (module.scope_at(node).node, receiver, node.attr)
            if (receiver, node.attr) not in wanted or place in read:
                continue
            valued = self._valued.lacking(module, node)
            if valued is None or is_for_type_checkers(module, node) or self._may_be_changed(module, node):
                continue
            call = above if isinstance(above, ast.Call) and above.func is node else None
            found = self._judge_valued(module, node, call, valued)
            if found is not None:
                read |= {place} if call is None else set()
                yield found

    def _may_be_changed(self, module: Module, use: ast.Attribute) -> bool:
        """Whether what a name is used on may get other attributes, or another value, elsewhere."""
        value = use.value
        while isinstance(value, ast.Attribute) and not is_name(value.value, "self"):
            holders = self._valued.classes(module, value.value)
            if not holders or any(self._is_stored_elsewhere(one, value.attr) for one in holders):
                return True
            value = value.value
        name = dotted(value)
        if name.startswith("self."):
            facts = self._class_around(module, use, "self")
            return facts is None or self._is_stored_elsewhere(facts, name.partition(".")[2])
        found = module.scope_at(use).find(name)
        if found is None or self._filled.is_given_away(module, found[0], name):
            return True
        return self._filled.is_filled(module, found[0], found[1][0])

    def _judge_valued(
        self, module: Module, use: ast.Attribute, call: ast.Call | None, valued: Valued
    ) -> Lacking | None:
        owner = valued.owner
        if call is not None:
            found = self._confirmed(module, call, owner)
            if found is not None and valued.perhaps:
                return replace(found, perhaps=True) if is_unaware(module, use) else None
            return found
        if not isinstance(owner, ClassFacts):
            is_plain = not valued.perhaps and COMPUTED.match(use.attr) is None
            of_torch = self._of_torch(module, use, owner) if is_plain else None
            return replace(of_torch, is_call=False) if of_torch is not None else None
        if not self._is_sure(module, use, owner):
            return None
        near = alike(self.project, self.attributes, use.attr, owner, getattr(module.scope_at(use).node, "name", ""))
        lacking = Lacking(use, owner, near, hidden=is_hidden(module, use), is_call=False)
        return None if may_be_inner(self.project, owner, use.attr) else next(self._dated(module, lacking), None)

    # Whether a call that looks wrong is wrong

    def _judge_self(
        self, module: Module, call: ast.Call, use: ast.Attribute, own: dict[ClassFacts, set[str]]
    ) -> Lacking | None:
        facts = self._lacking_self(module, use, own)
        return self._confirmed(module, call, facts) if facts is not None else None

    def _lacking_self(self, module: Module, use: ast.Attribute, own: dict[ClassFacts, set[str]]) -> ClassFacts | None:
        """The class of the object that surely lacks what is read on ``self`` or ``cls``."""
        me = dotted(use.value)
        facts = self._class_around(module, use, me)
        if facts is None or use.attr not in own.get(facts, ()):
            return None
        if me == "cls" and hasattr(type, use.attr):
            return None
        method = _method_around(module, use, facts)
        is_sure = self._is_sure(module, use, facts) and not self.suppliers.may_give_self(facts, use.attr, method)
        return facts if is_sure and not is_for_type_checkers(module, use) else None

    def _reads(self, module: Module, own: dict[ClassFacts, set[str]], made: Made) -> Iterator[Lacking]:
        """Names that are read but not called, each once in a function for what they are read on."""
        names = set().union(*own.values(), *(left for _, left in made.values()))
        seen: set[tuple[ast.AST, str, str]] = set()
        found = (node for node in module.nodes if isinstance(node, ast.Attribute) and node.attr in names)
        for node in sorted(found, key=start_of):
            above = module.parents[node]
            is_call = isinstance(above, ast.Call) and above.func is node
            place = (module.scope_at(node).node, dotted(node.value), node.attr)
            if is_call or not isinstance(node.ctx, ast.Load) or place in seen:
                continue
            facts = self._lacking_read(module, node, own, made)
            if facts is not None and not may_be_inner(self.project, facts, node.attr):
                seen.add(place)
                near = alike(self.project, self.attributes, node.attr, facts, getattr(place[0], "name", ""))
                found_here = Lacking(node, facts, near, hidden=is_hidden(module, node), is_call=False)
                yield from self._dated(module, found_here)
            elif facts is None and not is_for_type_checkers(module, node):
                owner = self._owner_at(module, node, made)
                is_plain = isinstance(owner, ApiNames) and COMPUTED.match(node.attr) is None
                of_torch = self._of_torch(module, node, owner) if is_plain and isinstance(owner, ApiNames) else None
                if of_torch is not None:
                    seen.add(place)
                    yield replace(of_torch, is_call=False)

    def _lacking_read(
        self, module: Module, node: ast.Attribute, own: dict[ClassFacts, set[str]], made: Made
    ) -> ClassFacts | None:
        """The class of the project that surely lacks a name that is read and not called."""
        if is_name(node.value, "self"):
            facts = self._lacking_self(module, node, own)
            return facts if facts is not None and not self.suppliers.may_be_mixed_in(facts) else None
        owner = self._owner_at(module, node, made)
        if not isinstance(owner, ClassFacts) or is_for_type_checkers(module, node):
            return None
        return owner if self._is_sure(module, node, owner) else None

    def _class_around(self, module: Module, use: ast.Attribute, me: str) -> ClassFacts | None:
        """The class of whose method ``me`` is the first parameter, at the place of a use."""
        for above in module.above(use):
            if isinstance(above, FUNCTIONS) and me in module.scope_of[above].bindings:
                scope = module.scope_of[above]
                home = scope.parent.node if scope.parent else None
                by_class = any(getattr(d, "id", "") == "classmethod" for d in above.decorator_list)
                fits = me == first_parameter(above) and len(scope.bindings[me]) == 1 and by_class == (me == "cls")
                return module.class_facts(home) if isinstance(home, ast.ClassDef) and fits else None
            if isinstance(above, ast.Lambda) and any(argument.arg == me for argument in above.args.args):
                return None
        return None

    def _judge_made(self, module: Module, call: ast.Call, use: ast.Attribute, made: Made) -> Lacking | None:
        owner = self._owner_at(module, use, made)
        return self._confirmed(module, call, owner) if owner is not None else None

    def _owner_at(self, module: Module, use: ast.Attribute, made: Made) -> Owner | None:
        """The class of the object that a name is used on and that may lack it."""
        name = dotted(use.value)
        facts = self._class_around(module, use, "self") if name.startswith("self.") else None
        found = module.scope_at(use).find(name)
        scope = facts.scope if facts is not None else found[0] if found is not None else module.scope
        owner, left = made.get((scope, name), (None, set[str]()))
        if owner is None or use.attr not in left or self._filled.is_given_away(module, scope, name):
            return None
        binding = found[1][0] if found is not None else None
        if binding is not None and self._filled.is_filled(module, scope, binding):
            return None
        return None if isinstance(owner, ClassFacts) and self._valued.may_have(module, use) else owner

    def _confirmed(self, module: Module, call: ast.Call, owner: Owner) -> Lacking | None:
        """The finding, unless the call is guarded, the class patched, or the name assigned to something."""
        use = call.func
        if not isinstance(use, ast.Attribute) or is_for_type_checkers(module, use):
            return None
        if not isinstance(owner, ClassFacts):
            return self._of_torch(module, use, owner)
        if not self._is_sure(module, use, owner):
            return None
        found = Lacking(use, owner, self._meant(call, use.attr, owner), hidden=is_hidden(module, use))
        return next(self._dated(module, found), None)

    def _dated(self, module: Module, lacking: Lacking) -> Iterator[Lacking]:
        """Give the same, with the version of torch since which a base lacks what it once had.

        Nothing, if the project is for such a version, or the place is reached only under one.
        """
        owner, name = lacking.owner, lacking.name
        bases = self.project.ancestry(owner).external if isinstance(owner, ClassFacts) else (owner.path,)
        if any(is_lost(base, name) for base in bases):
            return  # that is told of as such
        gone = next((found for base in bases if (found := gone_from(base, name)) is not None), None)
        if gone is None:
            yield lacking
            return
        is_older = asks_for_older(self.project, module.path, gone.since)
        if not is_older and not is_chosen_by_version(self.project, module, lacking.node):
            yield replace(lacking, near=Nearest(()), gone=gone)

    def _of_torch(self, module: Module, use: ast.Attribute, owner: ApiNames) -> Lacking | None:
        if use.attr in patches().given:
            return None
        wrapped = owner.path in WRAPPERS and self._is_of_a_class(use.attr)
        near = Nearest(()) if wrapped else nearest(use.attr, owner.offered)
        is_gone = gone_from(owner.path, use.attr) is not None
        is_strange = owner.path not in WRAPPERS and is_nowhere(self.project, use.attr)
        if not (wrapped or near.misspelt or is_gone or is_strange) or is_excused(module, use, dotted(use.value)):
            return None
        if is_assigned_somewhere(self.project, use.attr, [module]) or is_chosen_by_version(self.project, module, use):
            return None
        return next(self._dated(module, Lacking(use, owner, near, wrapped)), None)

    def _is_sure(self, module: Module, use: ast.Attribute, owner: ClassFacts) -> bool:
        """Whether nothing around the use, and nothing outside the class, makes up for a name that it lacks."""
        classes = self.project.ancestry(owner).classes
        if is_method_excused(module, use) or any(is_for_type_checkers(one.module, one.node) for one in classes):
            return False
        if self._valued.is_never_come_to(module, use):
            return False
        if self._givers.may_give(owner, use.attr, [module, *(one.module for one in classes)]):
            return False
        return not any(self.attributes.is_patched(one) for one in classes)

    def _meant(self, call: ast.Call, name: str, owner: ClassFacts) -> Nearest:
        """The methods that a call may have meant; none is offered alone that could not take its arguments."""
        has = self.attributes.has(owner)
        if has is None:
            return Nearest(())
        own = callables(self.project, owner)
        slips = {other for other in own | has.outside if is_slip(name, other)}
        near = nearest(name, callables(self.project, owner, attributes=False) | (slips & own or slips))
        found = self.project.method(owner, near.outstanding)
        if found is not None and not near.misspelt and not takes(found[1], call):
            return Nearest(near.names)
        return near

    def _is_of_a_class(self, name: str) -> bool:
        """Whether a class of the project has a method of a name, or keeps something under it."""
        return self.project.answer("is a member of a class", name, lambda: self._find_class(name), compared=True)

    def _find_class(self, name: str) -> bool:
        found = (self.project.summary(path) for path in self.project.where(WORD, name))
        for summary in (one for one in found if one is not None):
            for number in summary.classes:
                kept = (summary.scopes[at].stores for at in summary.below(number))
                if name in summary.methods(number) or any(f"self.{name}" in stores for stores in kept):
                    return True
        return False


def _read_names(module: Module, names: set[str]) -> list[ast.Attribute]:
    """The places where attributes of some names are read."""
    found = (node for node in module.nodes if isinstance(node, ast.Attribute) and node.attr in names)
    return [node for node in found if isinstance(node.ctx, ast.Load)]


def _method_around(module: Module, use: ast.Attribute, facts: ClassFacts) -> str:
    """The name of the method of a class in which a use stands."""
    methods = (above for above in module.above(use) if isinstance(above, FUNCTIONS))
    return next((one.name for one in methods if module.parents[one] is facts.node), "")
