"""The fixes of findings: the file is parsed with LibCST, once, and each rule proposes its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forklint import skipped
from forklint.edits.text import without_blank_tail
from forklint.edits.tree import Tree, UnparsableError, parse
from forklint.model import Finding, Fix
from forklint.source import nesting

if TYPE_CHECKING:
    from forklint.project.module import Module
    from forklint.rules.base import Rule, Suspect

Found = tuple["Rule", "Suspect", Finding]
Fault = tuple[str, bool]
"""What is to be said of a file that cannot be fixed, and whether a rule is to blame."""


def with_fixes(found: Sequence[Found], module: Module, *, proposes: bool) -> tuple[list[Finding], list[Fault]]:
    """The findings with their fixes, or as they are if none can be made, and what is to be said of that.

    The file is parsed though ``proposes`` is off: with and without fixes, the same is said.
    """
    plain = [finding for _, _, finding in found]
    if nesting.too_deep(module.tree):
        return plain, [_unfixable(skipped.TOO_DEEP)]
    text = without_blank_tail(module.document.text)
    try:
        tree = parse(text)
    except UnparsableError as error:
        return plain, [_unfixable(f"LibCST cannot parse it: {error}")]
    except RecursionError:
        return plain, [_unfixable(skipped.TOO_DEEP)]
    if tree.code != text or len(tree.statements) != len(module.ordinals):
        return plain, [_unfixable("LibCST does not reproduce it exactly")]
    if not proposes:
        return plain, []
    proposed = [_proposed(rule, suspect, finding, module, tree) for rule, suspect, finding in found]
    faults = dict.fromkeys(fault for _, fault in proposed if fault is not None)
    return [finding for finding, _ in proposed], list(faults)


def _proposed(
    rule: Rule, suspect: Suspect, finding: Finding, module: Module, tree: Tree
) -> tuple[Finding, Fault | None]:
    """A finding with its fixes; without them where the rule fails, and with what is to be said of that."""
    try:
        return replace(finding, fixes=_fixes(rule, suspect, module, tree)), None
    except RecursionError:
        return finding, _unfixable(skipped.TOO_DEEP)
    except Exception as error:  # noqa: BLE001 - a fault in one fix is said and costs that fix alone
        what = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
        return finding, (f"the fix of {rule.code} on line {finding.span.row} failed: {what}; please report it", True)


def _unfixable(why: str) -> Fault:
    return f"cannot be fixed: {why}", False


def _fixes(rule: Rule, suspect: Suspect, module: Module, tree: Tree) -> tuple[Fix, ...]:
    return tuple(
        Fix(p.message, p.applicability, tree.edits_to(p.tree) if p.tree else (), module.rows(p.elsewhere))
        for p in rule.fixes(suspect, module, tree)
    )
