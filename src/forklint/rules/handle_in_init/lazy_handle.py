"""The fix of FKL301: a handle that is opened on first use, once in each process."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from forklint.edits import cst
from forklint.edits.proposal import Proposal
from forklint.edits.tree import Tree, small_statement
from forklint.handles.carried import Carried
from forklint.model import Applicability
from forklint.project.index import Project
from forklint.project.module import Module
from forklint.rules.handle_in_init.laziness import Plan, plan
from forklint.rules.handle_in_init.opening import NotLazyError

PROPERTY = """
_{stem}_handle = _{stem}_pid = {source_default}None

@property
def {attribute}(self):
    \"\"\"The {kind}, opened on first use in each process.\"\"\"
    if {guard}self._{stem}_pid != os.getpid():
        {imports}
        {disown}
        self._{stem}_handle = {opening}
        self._{stem}_pid = os.getpid()
    return self._{stem}_handle
"""
CLOSE = """
def _close_{stem}(self):
    {closing}
    self._{stem}_handle = self._{stem}_pid = None
"""
CLOSE_ONE = """if self._{stem}_handle is not None:
        self._{stem}_handle.{close}()"""
CLOSE_ALL = """for handle in self._{stem}_handle or ():
        handle.{close}()"""
GETSTATE = """
def __getstate__(self):
    return {{**{state}, {dropped}}}
"""
DISOWN = {
    "close": "self._close_{stem}()  # one that came from another process",
    "drop": "",
    "detach": "self._{stem}_inherited = self._{stem}_handle  # another process's: neither used nor closed here",
}


def proposals(project: Project, carried: Carried, module: Module, tree: Tree) -> Iterator[Proposal]:
    """Give the ways to mend a handle that is kept from ``__init__``."""
    what = f"open `self.{carried.attributes[0]}` on first use, in the process that uses it"
    try:
        found = plan(project, carried, module)
    except NotLazyError as reason:
        yield Proposal(f"{what} (no automatic fix: {reason})", Applicability.DISPLAY)
        return
    applicability = Applicability.SAFE if found.safe else Applicability.UNSAFE
    closing = (found.close_after,) if found.close_after is not None else ()
    yield Proposal(what, applicability, _Rewriting(found, module, tree).tree(), elsewhere=closing)


class _Rewriting:
    """Makes the text of a plan."""

    def __init__(self, found: Plan, module: Module, tree: Tree) -> None:
        self._plan = found
        self._module = module
        self._tree = tree
        row = found.carried.opened.row
        self._in_child = row.in_child if row.close or row.in_child != "close" else "drop"

    def tree(self) -> Tree:
        found = self._plan
        changes: dict[cst.CSTNode, cst.CSTNode] = {}
        for opening in found.openings:
            changes[self._node(opening.statement)] = small_statement(f"self._{found.stem}_source = {opening.source}")
        none = f"self._{found.stem}_source = self._{found.stem}_handle = self._{found.stem}_pid = None"
        changes |= {self._node(statement): small_statement(none) for statement in found.resets}
        if self._closes:
            close = f"self._close_{found.stem}()"
            changes |= {self._node(statement): small_statement(close) for statement in found.closings}
        if found.getstate is not None:
            for statement in found.getstate.body:
                self._wrap_returns(statement, changes)
        removed = {self._tree.line_of(self._node(s)) for s in (*found.declarations, *found.forgets)}
        return self._rewrite(changes, removed)

    @property
    def _closes(self) -> bool:
        return bool(self._plan.carried.opened.row.close)

    @property
    def _calls_close(self) -> bool:
        """Whether anything that is written calls the method that closes."""
        return bool(self._in_child == "close" or self._plan.closings or self._plan.close_after)

    def _node(self, statement: ast.stmt) -> cst.CSTNode:
        return self._tree.statements[self._module.ordinals[statement]]

    def _wrap_returns(self, statement: ast.stmt, changes: dict[cst.CSTNode, cst.CSTNode]) -> None:
        for node in ast.walk(statement):
            if isinstance(node, ast.Return) and node.value is not None:
                old = self._node(node)
                state = self._tree.module.code_for_node(old.value)  # type: ignore[attr-defined]
                display = isinstance(node.value, ast.Dict) and state.endswith("}") and len(node.value.keys) > 0
                inside = state[1:-1].rstrip().rstrip(",") if display else f"**{state}"
                changes[old] = small_statement(f"return {{{inside}, {self._dropped}}}")

    @property
    def _dropped(self) -> str:
        names = [f"_{self._plan.stem}_handle", f"_{self._plan.stem}_pid"]
        names += [f"_{self._plan.stem}_inherited"] if self._in_child == "detach" else []
        return ", ".join(f'"{name}": None' for name in names)

    def _methods(self) -> list[cst.CSTNode]:
        found = self._plan
        values = {
            "stem": found.stem,
            "attribute": found.attribute,
            "kind": f"list of {found.carried.opened.row.kind}s" if found.boxed else found.carried.opened.row.kind,
            "closing": (CLOSE_ALL if found.boxed else CLOSE_ONE).format(
                stem=found.stem, close=found.carried.opened.row.close
            ),
            "source_default": f"_{found.stem}_source = " if found.resets else "",
            "guard": f"self._{found.stem}_source is not None and " if found.resets else "",
            "imports": "\n        ".join(found.imports),
            "opening": found.openings[0].call,
            "disown": DISOWN[self._in_child].format(stem=found.stem),
            "dropped": self._dropped,
            "state": "super().__getstate__()" if found.inherits_getstate else "self.__dict__",
        }
        text = PROPERTY.format(**values)
        text += CLOSE.format(**values) if self._closes and self._calls_close else ""
        text += GETSTATE.format(**values) if found.getstate is None else ""
        text = re.sub(r"^ +\n", "", text, flags=re.MULTILINE)
        blank = cst.EmptyLine(indent=False)
        style = self._tree.module
        text = re.sub(r"^(?:    )+", lambda m: style.default_indent * (len(m[0]) // 4), text, flags=re.MULTILINE)
        body = cst.parse_module(text.replace("\n", style.default_newline), style.config_for_parsing).body
        return [line.with_changes(leading_lines=[blank]) for line in body]

    def _rewrite(self, changes: dict[cst.CSTNode, cst.CSTNode], removed: set[cst.CSTNode]) -> Tree:
        import libcst

        anchor, methods = self._node(self._plan.anchor), self._methods()
        closing = self._node(self._plan.close_after) if self._plan.close_after and self._closes else None
        line = cst.SimpleStatementLine([small_statement(f"self._close_{self._plan.stem}()")])  # type: ignore[list-item]

        involved = {*changes, *removed, anchor, *([closing] if closing is not None else [])}
        path = self._tree.above(involved)

        class Rewriter(libcst.CSTTransformer):
            def on_visit(self, node: cst.CSTNode) -> bool:
                return node in path

            def on_leave(self, original_node, updated_node):  # type: ignore[no-untyped-def]
                if original_node in removed:
                    return libcst.RemoveFromParent()
                if original_node in changes:
                    return changes[original_node]
                if original_node is closing and isinstance(updated_node.body, libcst.IndentedBlock):
                    body = updated_node.body.with_changes(body=[*updated_node.body.body, line])
                    updated_node = updated_node.with_changes(body=body)
                if original_node is anchor:
                    return libcst.FlattenSentinel([updated_node, *methods])
                return updated_node

        changed = self._tree.module.visit(Rewriter())
        return Tree(_with_import_of_os(changed, self._module, self._first_of_cell()))

    def _first_of_cell(self) -> int | None:
        """Where in the module's body the class's cell begins, behind a magic of the whole cell; None in a script.

        The import goes there: who runs that cell alone again, as one does after a change, must not miss it.
        """
        notebook = self._module.document.notebook
        if notebook is None:
            return None
        from forklint.source.magics import cell_magic

        part = notebook.part_at(self._plan.anchor.lineno)
        own = [line for line in self._module.tree.body if notebook.part_at(line.lineno) is part]
        first = self._tree.line_of(self._node(own[1] if cell_magic(part.source) else own[0]))
        return next(index for index, line in enumerate(self._tree.module.body) if line is first)


def _with_import_of_os(tree: cst.Module, module: Module, first_of_cell: int | None) -> cst.Module:
    """Add ``import os`` among the first imports of the module or cell, in alphabetical order where they are."""
    bindings = module.scope.bound("os")
    if bindings and all(b.module.split(".")[0] == "os" and not b.attribute and not b.level for b in bindings):
        return tree
    body = list(tree.body)
    imports = (index for index, line in enumerate(body) if _is_import(line) and index >= (first_of_cell or 0))
    place = next(imports, None)
    new = cst.parse_statement("import os")
    definition = next((i for i, line in enumerate(body) if i >= (first_of_cell or 0) and _is_definition(line)), 0)
    if first_of_cell is not None and (place is None or place > definition):
        following = body[first_of_cell]
        blank = [cst.EmptyLine(indent=False)] * (2 if _is_definition(following) else 1)
        comments = [line for line in following.leading_lines if line.comment is not None]
        body[first_of_cell] = following.with_changes(leading_lines=[*blank, *comments])
        return tree.with_changes(body=[*body[:first_of_cell], new, *body[first_of_cell:]])
    if place is None:
        place = 1 if tree.get_docstring() is not None else 0
        return tree.with_changes(body=[*body[:place], new, *body[place:]])
    first = place
    while _sorts_before_os(body[place]) and not (place > first and _starts_block(body[place])):
        place += 1
    if place == first:
        new = new.with_changes(leading_lines=body[place].leading_lines)
        body[place] = body[place].with_changes(leading_lines=[])
    return tree.with_changes(body=[*body[:place], new, *body[place:]])


def _is_definition(line: cst.CSTNode) -> bool:
    return isinstance(line, (cst.ClassDef, cst.FunctionDef))


def _sorts_before_os(line: cst.CSTNode) -> bool:
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    if not isinstance(first, cst.Import) or not _is_import(line):
        return False
    name: cst.BaseExpression = first.names[0].name
    while isinstance(name, cst.Attribute):
        name = name.value
    return isinstance(name, cst.Name) and name.value < "os"


def _starts_block(line: cst.CSTNode) -> bool:
    """Whether a blank line or a comment stands above a line."""
    return bool(getattr(line, "leading_lines", ()))


def _is_import(line: cst.CSTNode) -> bool:
    """Whether a line is an import that others may precede (``__future__`` may not be preceded)."""
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    if isinstance(first, cst.ImportFrom):
        return getattr(first.module, "value", "") != "__future__"
    return isinstance(first, cst.Import)
