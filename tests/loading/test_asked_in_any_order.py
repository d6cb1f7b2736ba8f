"""What an expression holds is the same whatever was asked before, and however much that took."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from loading_cases import COMMAND_LINE, FILES, FUNCTIONS, OBJECTS, WORKERS
from test_loading import FILE, HEAD

from forklint.config import Settings
from forklint.project.index import Project
from forklint.project.module import linked
from forklint.values.cost import MAX_DEPTH
from forklint.values.evaluator import Evaluator
from forklint.values.model import Constant, Expression, Found, Instance

CASES = {**WORKERS, **COMMAND_LINE, **OBJECTS, **FUNCTIONS, **FILES}


def written(folder: Path, text: str) -> Project:
    """A project of a script and the files after ``--- name``."""
    script, *rest = FILE.split(text)
    for name, content in (("script.py", script), *zip(rest[::2], rest[1::2], strict=True)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return Project(folder, Settings())


def expressions(project: Project) -> list[Expression]:
    """Every expression of the project that is read."""
    return [
        Expression(module, module.scope_at(node), node)
        for module in project.modules(project.files)
        for node in module.nodes
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
    ]


def told(found: Found) -> tuple[object, ...]:
    value = found.value
    kept: object = type(value).__name__
    if isinstance(value, Constant):
        kept = repr(value.value) if isinstance(value.value, (str, int, float)) else type(value.value).__name__
    elif isinstance(value, Instance):
        kept = value.facts.name, value.made is not None and (value.made.open, sorted(value.made.keywords))
    return kept, found.by_default, tuple((linked(link).row, link.message) for link in found.links)


@pytest.mark.parametrize("part", range(8))
def test_each_expression_holds_the_same_in_any_order(part: int, tmp_path: Path) -> None:
    for number, (text, _) in enumerate(list(CASES.values())[part::8]):
        folder = tmp_path / str(number)
        warm = written(folder, HEAD + text)
        asked = expressions(warm)
        chance = random.Random(number)
        cold = {}
        for n in chance.sample(range(len(asked)), min(len(asked), 12)):
            fresh = Project(folder, Settings())
            cold[n] = told(Evaluator(fresh).find(expressions(fresh)[n]))
        evaluator = Evaluator(warm)
        for n in chance.sample(range(len(asked)), len(asked)):
            found = told(evaluator.find(asked[n]))
            assert cold.get(n, found) == found, (text, ast.unparse(asked[n].node))


CHAINS = {
    "names": "a0 = 4\n" + "".join(f"a{n + 1} = a{n}\n" for n in range(2 * MAX_DEPTH)),
    "functions": "def a0(): return 4\n" + "".join(f"def a{n + 1}(): return a{n}()\n" for n in range(MAX_DEPTH)),
    "sums": "a0 = 1\n" + "".join(f"a{n + 1} = a{n} + a{n}\n" for n in range(MAX_DEPTH // 2)),
    "a function that calls itself": "def a0(n): return 4 if n else a0(n - 1)\na1 = a0(3)\na2 = a1\n",
    "a circle": "a0 = a3\n" + "".join(f"a{n + 1} = a{n}\n" for n in range(6)) + "a3 = a2 or 4\n",
}


@pytest.mark.parametrize("name", CHAINS)
def test_what_takes_too_much_is_unknown_whoever_asks(name: str, tmp_path: Path) -> None:
    project = written(tmp_path, CHAINS[name])
    asked = expressions(project)
    forwards = [told(Evaluator(project).find(one)) for one in asked]
    for seed in range(3):
        again = Project(tmp_path, Settings())
        others, evaluator = expressions(again), Evaluator(again)
        found = {n: told(evaluator.find(others[n])) for n in random.Random(seed).sample(range(len(asked)), len(asked))}
        assert [found[n] for n in range(len(asked))] == forwards
    backwards = Project(tmp_path, Settings())
    others = expressions(backwards)
    assert [told(Evaluator(backwards).find(one)) for one in reversed(others)][::-1] == forwards
    if name in {"names", "sums"}:
        assert forwards[0] == ("4", False, ()) or forwards[0] == ("1", False, ())
        assert any(kept == "Unknown" for kept, *_ in forwards)
        assert any(kept in {"4", "2"} for kept, *_ in forwards[1:])
