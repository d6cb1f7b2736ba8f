"""Lines of a notebook's cell that IPython reads and Python does not, and what stands for them while rules look.

A magic, a shell line, a question or an automatic call is masked by one statement that calls ``get_ipython()``, as
IPython itself rewrites it, on as many rows as it has. The statement carries a mark that no other has, so that the
line as written can be put back wherever the statement stands by then. IPython's own grammar is in
``IPython.core.inputtransformer2``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import field

from forklint.records import dataclass

PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "lprun", "snakeviz", "wandb", "debug"})
"""Cell magics whose body is Python that runs in the notebook's own process."""
SHELL_CELLS = frozenset({"bash", "sh", "script", "system", "sx", "!", "python", "python3", "cmd"})
"""Cell magics whose body is a program of its own."""
OTHER_CELLS = frozenset(
    {"sql", "md", "md-sandbox", "sh", "r", "scala", "fs", "python", "html", "javascript", "run", "js"}
)
"""Line magics that speak of the whole cell on platforms that know no cell magics."""
AUTOMATIC = frozenset({"pip", "conda", "mamba", "cd", "ls", "ll", "mkdir", "rm", "cp", "mv", "cat", "pwd", "env"})
"""Magics that IPython also takes without their percent sign, where a cell is a single line."""
AUTOMATIC_LINE = re.compile(r"(\w+)\b(?![ \t]*[=([]|\.)")
CELL_MAGIC = re.compile(r"(?:[ \t]*(?:\#[^\n]*)?\n)*%%(?P<name>[\w.!-]+)(?P<rest>[^\n]*)")
ASSIGNED = re.compile(r"(?P<target>[^=!%#'\"\n]+?)[ \t]*=[ \t]*(?P<kind>%(?=\w)|!(?!=))(?P<rest>.*)", re.DOTALL)
QUESTION = re.compile(r"[^#'\"]*[\w\])*?][ \t]*\?\??[ \t]*$")
SIGNS = "%!?/,;"
"""No statement of Python begins with one of these."""
EXPANDED = re.compile(r"(?<!\{)\{([^{}]+)\}(?!\})|\$\{?([A-Za-z_]\w*)")
PART = re.compile(r"\"\"\"|'''|\"|'|\#|[()\[\]{}]")
PLAIN = {quote: re.compile(rf"(?:\\.|[^\\{quote}])*(?P<end>{quote}|$)") for quote in "\"'"}


@dataclass(frozen=True)
class Mask:
    """A statement and the line, or lines, that it stands for; both begin without their indentation."""

    statement: str
    written: str


@dataclass
class Masked:
    """A cell as Python: its lines, and what was masked in them, by row from 0."""

    lines: list[str] = field(default_factory=list)
    masks: dict[int, Mask] = field(default_factory=dict)
    sealed: bool = False
    """Whether one statement stands for the whole cell, which holds nothing else before and after a fix."""

    @property
    def text(self) -> str:
        """The cell as one text, without an end to its last line."""
        return "\n".join(self.lines)


def cell_magic(source: str) -> str:
    """Name of the magic that speaks of a whole cell; empty if there is none."""
    match = CELL_MAGIC.match(source)
    return match["name"] if match else ""


class Masker:
    """Masks lines; each mask of one masker has a mark of its own."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._count = 0

    def mask(self, source: str) -> Masked:
        r"""Mask what is no Python in a cell (lines end in ``\n``)."""
        lines, done = source.split("\n"), Masked()
        place = _Place()
        while len(done.lines) < len(lines):
            row = len(done.lines)
            taken = self._at(lines, row) if place.begins else None
            if taken is None:
                place.advance(lines[row])
                done.lines.append(lines[row])
                continue
            indent = lines[row][: len(lines[row]) - len(lines[row].lstrip())]
            done.lines += (indent + taken.statement).split("\n")
            done.masks[row] = taken
        return done

    def sealed(self, source: str) -> Masked:
        """Mask a whole cell by one line: a program of its own."""
        statement = self._call("run_cell_magic", cell_magic(source), source[CELL_MAGIC.match(source).end() :])  # type: ignore[union-attr]  # asked before
        return Masked([statement], {0: Mask(statement, source)}, sealed=True)

    def automatic(self, source: str) -> Masked | None:
        """Mask a cell that is a magic without its percent sign; None for any other."""
        word = AUTOMATIC_LINE.match(source)
        if word is None or word[1] not in AUTOMATIC or "\n" in source.rstrip("\n"):
            return None
        mask = self._magic(source.rstrip("\n"), "%")
        return Masked([mask.statement], {0: Mask(mask.statement, source)}, sealed=True)

    def _at(self, lines: list[str], row: int) -> Mask | None:
        text = lines[row].lstrip()
        if text[:1] and text[0] in "%!":
            return self._magic(_continued(lines, row).lstrip())
        if (text[:1] and text[0] in SIGNS) or QUESTION.match(text):
            return self._masked(text, self._call("run_line_magic", "pinfo", text))
        match = ASSIGNED.match(_continued(lines, row).lstrip()) if "=" in text else None
        if match and _is_target(match["target"]):
            method = "getoutput" if match["kind"] == "!" else "run_line_magic"
            call = self._call(method, *([match["rest"]] if match["kind"] == "!" else match["rest"].split(" ", 1)))
            return self._masked(match[0], f"{match['target']} = {call}")
        return None

    def _magic(self, written: str, sign: str = "") -> Mask:
        if written[0] == "!":
            return self._masked(written, self._call("system", written.lstrip("!").strip()))
        name, _, rest = (sign + written).lstrip("%").partition(" ")
        rest = rest.strip()
        if name in {"env", "set_env"} and EXPANDED.search(rest):
            return self._masked(written, self._call("run_line_magic", name, rest, values=list(_expanded(rest))))
        bound = "".join(f"{target} = " for target in _bound(rest)) if name == "time" else ""
        return self._masked(written, bound + self._call("run_line_magic", name, rest))

    def _call(self, method: str, *words: str, values: list[str] | None = None) -> str:
        self._count += 1
        arguments = [*map(ascii, words), *(values or ()), f"mark='{self._mark}{self._count}'"]
        return f"get_ipython().{method}({', '.join(arguments)})"

    @staticmethod
    def _masked(written: str, statement: str) -> Mask:
        return Mask(statement[:-1] + "\n" * written.count("\n") + ")", written)


def _continued(lines: list[str], row: int) -> str:
    """A line with those that it is continued on by a backslash."""
    last = row
    while lines[last].endswith("\\") and last + 1 < len(lines):
        last += 1
    return "\n".join(lines[row : last + 1])


def _is_target(text: str) -> bool:
    try:
        return isinstance(ast.parse(f"{text.strip()} = 0").body[0], ast.Assign)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _bound(code: str) -> list[str]:
    """Names that a statement on one line binds; none if it is not one."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    imported = [
        (alias.asname or alias.name.partition(".")[0])
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
        if alias.name != "*"
    ]
    return list(dict.fromkeys([*stored, *imported]))


def _expanded(text: str) -> Iterator[str]:
    """Give the expressions that IPython puts into the text of a line magic; one it cannot read as a call of ours."""
    for match in EXPANDED.finditer(text):
        code = match[1] or match[2]
        try:
            yield ast.unparse(ast.parse(code.strip(), mode="eval"))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            yield "get_ipython()"


@dataclass
class _Place:
    """Where a line begins: inside a text or a bracket, behind a backslash, or where a statement may begin."""

    quote: str = ""
    depth: int = 0
    continued: bool = False

    @property
    def begins(self) -> bool:
        return not (self.quote or self.depth or self.continued)

    def advance(self, line: str) -> None:
        """Read one line."""
        place = 0
        self.continued = False
        while place < len(line) or self.quote:
            if self.quote:
                end = self._end_of_text(line, place)
                if end is None:
                    return
                place = end
                continue
            part = PART.search(line, place)
            if part is None or part[0] == "#":
                break
            place = part.end()
            if part[0] in "([{":
                self.depth += 1
            elif part[0] in ")]}":
                self.depth = max(0, self.depth - 1)
            else:
                self.quote = part[0]
        else:
            part = None
        self.continued = part is None and line.endswith("\\")

    def _end_of_text(self, line: str, place: int) -> int | None:
        """Where a text that is open ends in a line; None if it goes on in the next one."""
        if len(self.quote) == 3:
            pattern = re.compile(rf"(?:\\.|[^\\])*?{self.quote}", re.DOTALL)
            match = pattern.match(line, place)
            if match is None:
                return None
            self.quote = ""
            return match.end()
        match = PLAIN[self.quote].match(line, place)
        if match is None:  # a backslash at the end: it goes on
            return None
        self.quote = ""  # closed, or broken off by the end of the line
        return match.end()
