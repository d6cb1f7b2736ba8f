"""Begins a rule: ``make new-rule NAME=FKL302_rng_in_init`` writes its file and its first two fixtures."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

RULE = '''"""{code} {name}."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forklint.model import Severity
from forklint.project.module import Module
from forklint.project.spelling import argument
from forklint.rules.base import Rule, Suspect


class {title}(Rule):
    """One line that says what is found, with a full stop.

    ## What it does
    Which code it looks at.

    ## Why is this bad?
    What happens when workers start.

    ## Example
    ```python
    import library

    library.start(safe=False)
    ```

    ## Use instead
    ```python
    import library

    library.start(safe=True)
    ```

    ## Fix safety
    No fix is applied: why.

    ## How it is proved
    What a trial runs, and what it sees.

    ## References
    - [torch.utils.data](https://docs.pytorch.org/docs/stable/data.html)
    """

    code = "{code}"
    name = "{name}"
    severity = Severity.WARNING
    preview = True
    words = (b"library",)  # one of them stands in any file with a finding

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Calls of ``library.start`` whose ``safe`` is surely False, wherever that is written down."""
        from forklint.values.evaluator import Evaluator
        from forklint.values.model import Constant, Expression

        evaluator = Evaluator(self.project)
        for node in module.nodes:
            if not isinstance(node, ast.Call):
                continue
            scope = module.scope_at(node)
            option = argument(node, "safe", 0)
            if option is None or self.project.qualified(module, scope, node.func) != "library.start":
                continue
            found = evaluator.find(Expression(module, scope, option))
            if found.value == Constant(False):
                yield Suspect(node, "safe", "`safe` is False", self.settings.cells, found.links)
'''

BAD = """\
import library

SAFE = False
library.start(safe=SAFE)  # expect: {code}
"""
GOOD = """\
import library

SAFE = True
library.start(safe=SAFE)
"""


def main(word: str) -> None:
    """Write the files of a rule named like ``FKL302_rng_in_init``; ends with a message if they exist."""
    match = re.fullmatch(r"(FKL\d{3})_([a-z][a-z0-9_]*)", word)
    if match is None:
        sys.exit("name it like FKL302_rng_in_init: make new-rule NAME=FKL302_rng_in_init")
    code, name = match.groups()
    fixtures = ROOT / "tests" / "fixtures" / word
    texts = {
        ROOT / "src" / "forklint" / "rules" / f"{name}.py": RULE.format(
            code=code, name=name.replace("_", "-"), title="".join(part.title() for part in name.split("_"))
        ),
        fixtures / "bad_first.py": BAD.format(code=code),
        fixtures / "good_first.py": GOOD,
    }
    for path, text in texts.items():
        if path.exists():
            sys.exit(f"{path.relative_to(ROOT)} is there already")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
