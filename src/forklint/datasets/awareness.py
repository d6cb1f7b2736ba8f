"""Whether code that gives samples may know which worker runs it, judged by its words."""

from __future__ import annotations

import ast
import re

from forklint.knowledge.streams import stream_words
from forklint.project.index import Project
from forklint.project.module import ClassFacts, FunctionFacts, Module
from forklint.project.nodes import nodes_below
from forklint.project.spelling import last_name

ASKING = ("worker_info", "get_worker_info")
PART = "shard"
FILES = re.compile(r"\bshards?(?:_(?:paths?|files?|names?|dirs?|urls?|list|pattern|root))?\b(?!\s*\()")
"""What files are called that a corpus is stored in, in lower case; ``shard(...)`` and ``num_shards`` are more."""


def code_lines(facts: ClassFacts | FunctionFacts) -> list[str]:
    """The lines of some code in lower case, docstrings and comments included: a word there is reason to be silent."""
    return [line.lower() for line in facts.module.document.lines[facts.node.lineno - 1 : facts.node.end_lineno]]


def is_aware(project: Project, facts: ClassFacts | FunctionFacts) -> bool:
    """Whether some code, or a function that it calls or is decorated with, speaks of workers or of shares."""
    if _speaks_of_workers(facts):
        return True
    return any(map(_speaks_of_workers, _called(project, facts)))


def asks_for_workers(project: Project, facts: ClassFacts) -> bool:
    """Whether a rank of a class may count workers too: its module, or a function that it calls, asks about them."""
    asking = _asking(project)
    if facts.module in asking:
        return True
    called = {last_name(node.func) for node in ast.walk(facts.node) if isinstance(node, ast.Call)}
    return any(function.node.name in called for module in asking for function in module.functions)


def _speaks_of_workers(facts: ClassFacts | FunctionFacts) -> bool:
    words = stream_words().aware
    for line in code_lines(facts):
        text = FILES.sub("", line) if PART in line else line
        if any(word in text for word in words):
            return True
    return False


def _asking(project: Project) -> list[Module]:
    return [module for name in ASKING for module in project.mentioning(name)]


def _called(project: Project, facts: ClassFacts | FunctionFacts) -> list[FunctionFacts]:
    """The functions of files that ask about workers whose names some code calls, or has as decorators."""
    asking = dict.fromkeys(_asking(project))
    if not asking:
        return []
    marks = [one for node in nodes_below(facts.node) for one in getattr(node, "decorator_list", ())]
    called = [node.func for node in nodes_below(facts.node) if isinstance(node, ast.Call)]
    names = {last_name(node) for node in (*called, *marks)}
    return [one for module in asking for one in module.functions if one.node.name in names]
