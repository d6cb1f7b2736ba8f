"""How deeply a text nests: LibCST's parser is native, recurses, and takes the process with it when it goes too far.

Measured with LibCST 1.9 on a stack of 8 MB: 1,600 brackets inside each other, or 20,000 times ``not``, end in a
segmentation fault; a sum of 4,000 or a chain of 2,000 calls takes more than six seconds. Some Pythons refuse such
texts, others parse them (3.10: a hundred thousand levels).
"""

from __future__ import annotations

import ast
import io
import tokenize

DEEPEST = 200
"""Levels of ``ast`` nodes that are still given to what recurses; code that people write stays below 60."""
MOST_BRACKETS = 60
MOST_ELIFS = 500
WORDS = frozenset(("not", "lambda", "if", "else", "and", "or", "await", "in", "is"))
BEGINNING = frozenset(("assert", "class", "def", "del", "global", "import", "pass", "raise", "return", "try", "while"))
"""Words that stand in no expression: a bracket above one that is still open was never closed."""


def too_deep(tree: ast.AST) -> bool:
    """Whether a parsed text has more than DEEPEST levels."""
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def may_be_too_deep(text: str) -> bool:
    """Whether a text that ``ast`` refuses may nest too deeply, judged by its tokens; stops where they end."""
    chains, elifs = [0], 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            word = token.string
            if token.type == tokenize.NEWLINE or word in BEGINNING:
                chains = [0]
            elif token.type == tokenize.OP or word in WORDS:
                chains = _after(word, chains)
                if sum(chains) > DEEPEST or len(chains) > MOST_BRACKETS:
                    return True
            elif word == "elif":
                elifs += 1
    except (tokenize.TokenError, SyntaxError) as error:
        return "nested" in str(error)
    return elifs > MOST_ELIFS


def _after(word: str, chains: list[int]) -> list[int]:
    """How many operators are chained in each open bracket once ``word`` is read; a comma begins anew."""
    if word in "([{":
        return [*chains[:-1], chains[-1] + 1, 0]
    if word in ")]}":
        return chains[:-1] or [0]
    return [*chains[:-1], 0 if word == "," else chains[-1] + 1]
