"""What was known of an object's attributes where a handle was opened, so that a question asked twice is one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from forklint.project.nodes import nodes_below
from forklint.project.spelling import is_name
from forklint.records import dataclass

QUIET = (ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.expr_context, ast.cmpop)
"""What a question is made of whose answer changes only with the attributes in it."""
TURNED = {ast.IsNot: ast.Is, ast.NotEq: ast.Eq}


@dataclass(frozen=True)
class Claim:
    """The answer to a question about attributes of the object: ``self.path is None``, ``self.opened``."""

    question: str
    attributes: frozenset[str]
    truth: bool

    @property
    def denial(self) -> Claim:
        """The other answer."""
        return Claim(self.question, self.attributes, not self.truth)


Claims = frozenset[Claim]
NO_CLAIMS: Claims = frozenset()


def claims_of(test: ast.expr, me: str, *, truth: bool) -> Iterator[Claim]:
    """What is known where a test came out like this; ``me`` is the object's name."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from claims_of(test.operand, me, truth=not truth)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is truth:
            for part in test.values:
                yield from claims_of(part, me, truth=truth)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield from _compared(test, test.ops[0], test.comparators[0], me, truth=truth)
    else:
        yield from _asked(test, me, truth=truth)


def claims_of_store(attribute: str, value: ast.expr) -> Iterator[Claim]:
    """What is known of an attribute once a constant is stored to it."""
    if isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, bool)):
        about = frozenset({attribute})
        yield Claim(f"self.{attribute}", about, bool(value.value))
        yield Claim(f"self.{attribute} is None", about, value.value is None)


def denies(claims: Iterable[Claim], held: Claims) -> bool:
    """Whether some claims say the opposite of what was known when a handle was opened."""
    return any(claim.denial in held for claim in claims)


def _compared(test: ast.Compare, operator: ast.cmpop, other: ast.expr, me: str, *, truth: bool) -> Iterator[Claim]:
    if isinstance(other, ast.Constant) and isinstance(other.value, bool):
        same = isinstance(operator, (ast.Is, ast.Eq))
        yield from claims_of(test.left, me, truth=truth is (same is other.value))
        return
    turned = TURNED.get(type(operator))
    plain = ast.Compare(test.left, [turned()], [other]) if turned is not None else test
    yield from _asked(plain, me, truth=truth is (turned is None))


def _asked(test: ast.expr, me: str, *, truth: bool) -> Iterator[Claim]:
    parts = list(nodes_below(test))
    chains = [part for part in parts if isinstance(part, ast.Attribute)]
    names = [part for part in parts if isinstance(part, ast.Name)]
    is_plain = all(isinstance(part, QUIET) for part in parts) and all(is_name(name, me) for name in names)
    if chains and me == "self" and is_plain and len(names) == len(chains):
        yield Claim(ast.unparse(test), frozenset(part.attr for part in chains), truth)
