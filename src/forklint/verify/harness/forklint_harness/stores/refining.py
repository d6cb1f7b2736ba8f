"""What an error says of the values that led to it: what was no number, too short, of the wrong shape."""

from __future__ import annotations

import ast
import linecache
import re
from typing import Any, Callable, Iterator, List, Optional

from forklint_harness.frames import is_library
from forklint_harness.stores.choices import choices_in
from forklint_harness.stores.marked import told_of
from forklint_harness.stores.node import COUNT, Node
from forklint_harness.stores.unknown import Unknown, recent
from forklint_harness.stores.world import World

MOST_COLUMNS = 12
NO_SAMPLE = "the dataset gives no sample"
MOST_HINTS = 4
MOST_LENGTH = 4096
ROWS = 8
"""Of a statement that failed."""
MOST_TRIES = 9
NUMBER = re.compile(
    r"(?:invalid literal for (int)\(\) with base \d+|could not convert string to (float)): (.+)$", re.DOTALL
)
UNPACKED = re.compile(r"(?:too many|not enough) values to unpack \(expected (?:at least )?(\d+)")
RESHAPED = re.compile(r"cannot reshape array of size (\d+) into shape \(([^)]*)\)")
BEYOND = re.compile(r"index (\d+) is out of bounds for axis 0 with size (\d+)")
MISSING = re.compile(r"object has no attribute '(\w+)'")
WANTED = (
    ("text", re.compile(r"expected str|must be str|a string|expected string|string argument|str, ", re.IGNORECASE)),
    ("bytes", re.compile(r"bytes-like|must be bytes|expected bytes", re.IGNORECASE)),
    ("int", re.compile(r"integer|must be int|expected int", re.IGNORECASE)),
    ("float", re.compile(r"real number|must be float", re.IGNORECASE)),
)  # fmt: skip


def refine(world: World, error: BaseException) -> bool:
    """Change what the error speaks of; whether there was something."""
    return any(rule(world, error, str(error)) for rule in RULES)


def _last(wanted: Callable[[Node], Any]) -> Optional[Node]:
    return next((node for node in reversed(recent) if wanted(node)), None)


def _number(_world: World, error: BaseException, text: str) -> bool:
    found = NUMBER.search(text) if isinstance(error, ValueError) else None
    if found is None:
        return False
    try:
        value: Any = ast.literal_eval(found.group(3))
    except (ValueError, SyntaxError):
        return False
    told = told_of(value)
    if told is None or "holds" in told[0].facts:
        return False
    told[0].facts["holds"] = found.group(1) or found.group(2)
    return True


def _unpacked(_world: World, error: BaseException, text: str) -> bool:
    found = UNPACKED.search(text) if isinstance(error, ValueError) else None
    if found is None:
        return False
    wanted = int(found.group(1))
    node = _last(lambda one: "columns" in one.facts or one.kind == "list")
    if node is None:
        return False
    name = "columns" if "columns" in node.facts else "length"
    if node.facts.get(name) == wanted:
        return False
    node.facts[name] = wanted
    return True


def _out_of_range(_world: World, error: BaseException, text: str) -> bool:
    if not isinstance(error, IndexError):
        return False
    found = BEYOND.search(text)
    if found is not None:
        index, size = int(found.group(1)), int(found.group(2))
        array = _last(lambda one: one.kind == "array" and one.facts.get("length", COUNT) == size)
        if array is not None and index < MOST_LENGTH:
            array.facts["length"] = max(2 * size, index + 1)
            return True
    node = _last(lambda one: "columns" in one.facts or one.facts.get("is_frame"))
    if node is None or node.facts.get("columns", 3) >= MOST_COLUMNS:
        return False
    node.facts["columns"] = node.facts.get("columns", 3 if node.facts.get("is_frame") else 1) + 1
    return True


def _reshaped(_world: World, error: BaseException, text: str) -> bool:
    found = RESHAPED.search(text) if isinstance(error, ValueError) else None
    if found is None:
        return False
    size = int(found.group(1))
    sides = [int(side) for side in re.findall(r"-?\d+", found.group(2))]
    wanted = 1
    for side in sides:
        wanted *= max(1, side)
    node = _last(lambda one: one.facts.get("format") in ("raw", "binary") or one.kind == "array")
    if node is None or not size:
        return False
    if node.kind == "array":
        node.facts["shape"] = tuple(4 if side < 0 else side for side in sides)
        return True
    bytes_each = max(1, node.facts.get("size", 64) // size)
    node.facts["size"] = wanted * bytes_each * (4 if -1 in sides else 1)
    return True


def _column(_world: World, error: BaseException, text: str) -> bool:
    """A table without a column: a KeyError, or an attribute that it lacks."""
    node = _last(lambda one: one.facts.get("is_frame"))
    if node is None:
        return False
    names = []
    if isinstance(error, KeyError):
        names = re.findall(r"'([^'\[\]]+)'", text) or ([text] if text.isidentifier() else [])
    elif isinstance(error, AttributeError) and re.search(r"'(DataFrame|Series|Pandas)'", text):
        names = MISSING.findall(text)
    elif isinstance(error, ValueError) and "Usecols do not match" in text:
        names = re.findall(r"'([^']+)'", text)
    new = [name for name in names if name not in node.each.parts]
    for name in new:
        node.each.part(name, name)
    return bool(new)


def _descriptor(_world: World, _error: BaseException, text: str) -> bool:
    if "fileno" not in text:
        return False
    node = _last(lambda one: one.kind == "plain" and not one.facts.get("real"))
    if node is None:
        return False
    node.facts["real"] = True
    node.facts.setdefault("format", "binary")
    return True


def _looked_for(world: World, error: BaseException, _text: str) -> bool:
    """A path that was said not to be there, just before the project gave up."""
    if not world.checked or not _raised_by_project(error):
        return False
    path, what = world.checked[-1]
    node = world.node(path)
    node.kind = "folder" if what == "isdir" else "plain" if what == "isfile" else ""
    return True


def _truth(world: World, error: BaseException, _text: str) -> bool:
    if not isinstance(error, (AssertionError, ValueError, SystemExit, NotImplementedError)):
        return False
    asked = [one for one in world.dataset.walk() if one.facts.get("asked") and not one.facts.get("truth")]
    if not asked or not _raised_by_project(error):
        return False
    asked[-1].facts["truth"] = True
    return True


def _kind(_world: World, error: BaseException, text: str) -> bool:
    """A function of C that wants another type than an unknown."""
    if not isinstance(error, (TypeError, AttributeError, ValueError)):
        return False
    kind = next((kind for kind, pattern in WANTED if pattern.search(text)), "")
    for value in _values_at(error):
        node = value._forklint[0] if isinstance(value, Unknown) else None
        if kind and node is not None and not node.kind:
            node.kind = kind
            return True
    return False


def _whole_array(_world: World, error: BaseException, text: str) -> bool:
    """A file of NumPy's that is one array, and no archive."""
    node = _last(lambda one: one.kind == "plain" and one.facts.get("format") != "npz" and not one.inner.kind)
    if not isinstance(error, TypeError) or "AskedArchive" not in text or node is None:
        return False
    node.facts["format"] = "npy"
    node.inner.kind = "array"
    node.inner.facts["many"] = True
    return True


def _values_at(error: BaseException) -> Iterator[Any]:
    """What the project's own frames held, the innermost first."""
    for frame in reversed(_frames(error)):
        for value in list(frame.f_locals.values()):
            yield value
            for inner in list(getattr(value, "__dict__", {}).values()) if not isinstance(value, type) else ():
                yield inner


def _frames(error: BaseException) -> List[Any]:
    trace, frames = error.__traceback__, []
    while trace is not None:
        if not is_library(trace.tb_frame.f_code.co_filename):
            frames.append(trace.tb_frame)
        trace = trace.tb_next
    return frames


def _raised_by_project(error: BaseException) -> bool:
    """Whether the project itself raised it: the innermost frame is its own."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is None or not is_library(trace.tb_frame.f_code.co_filename) or isinstance(error, SystemExit)


def _choice(world: World, error: BaseException, _text: str) -> bool:
    """A text that is none of those with which the function compares it."""
    if not isinstance(error, (AssertionError, ValueError, KeyError, RuntimeError, SystemExit, NameError)):
        return False
    for frame in reversed(_frames(error)):
        for name, choices in choices_in(frame.f_code).items():
            for node in world.walk():
                is_open = node.facts.get("made_up") or node.kind == "text" or node.facts.get("format") == "text"
                tried = node.facts.get("choice", -1) + 1
                if node.name == name.lstrip("_") and is_open and tried < len(choices):
                    ordered = sorted(choices, key=lambda one: "train" not in one.lower())
                    node.facts["choice"] = tried
                    node.value = ordered[tried]
                    if node.facts.get("format") != "text":
                        node.kind = "text"
                    return True
    return False


def _member(_world: World, error: BaseException, text: str) -> bool:
    """A list in which a text was looked for: its elements are such texts."""
    found = re.match(r"(b?'\d+') is not in list$", text) if isinstance(error, ValueError) else None
    node = _last(lambda one: one.kind == "list") if found else None
    if found is None or node is None or node.each.facts.get("digits"):
        return False
    node.each.kind = "bytes" if found.group(1).startswith("b") else "text"
    node.each.value = None
    node.each.facts["digits"] = True
    return True


def _hint(world: World, error: BaseException, _text: str) -> bool:
    """A value from a file of settings that is not the one that is meant: there may be another of that name."""
    if not isinstance(error, (TypeError, AttributeError, KeyError, ValueError, AssertionError)):
        return False
    for frame in reversed(_frames(error)):
        line = _line(error, frame)
        words = re.findall(r"[A-Za-z_]\w*", linecache.getline(frame.f_code.co_filename, line))
        for node in world.dataset.walk():
            if node.name in words and node.facts.get("hint", MOST_HINTS) < MOST_HINTS:
                node.facts["hint"] += 1
                node.kind, node.value = "", None
                node.parts.clear()
                return True
    return False


def _empty(world: World, _error: BaseException, text: str) -> bool:
    """No sample: lengths that were made up may be too small for what is cut out of them."""
    if text != NO_SAMPLE:
        return False
    small = [one for one in world.walk() if one.kind == "array" and not one.facts.get("large")]
    small = [one for one in small if any(word in one.name.lower() for word in ("len", "count", "num"))]
    for node in small:
        node.facts["large"] = True
    return bool(small)


def _given(world: World, error: BaseException, text: str) -> bool:
    """An argument that was left at None, and that the code does not go without."""
    if not isinstance(error, (TypeError, AttributeError, ValueError, AssertionError)):
        return False
    if "NoneType" not in text:
        return _raised_by_project(error) and _named_in(world, text)
    for frame in reversed(_frames(error)):
        held = dict(frame.f_locals)
        held.update(getattr(held.get("self"), "__dict__", {}))
        line = _line(error, frame)
        rows = linecache.getlines(frame.f_code.co_filename)[line - 1 : line + ROWS]
        words = re.findall(r"[A-Za-z_]\w*", "".join(rows))
        for name in words:
            owner = _taking(world.dataset, name) if name in held and held[name] is None else None
            if owner is not None:
                owner.part(name, name).facts["wanted"] = True
                return True
    return False


def _named_in(world: World, text: str) -> bool:
    """An argument that the project's own message asks for."""
    for name in reversed(re.findall(r"[A-Za-z_]\w*", text)):
        owner = _taking(world.dataset, name)
        if owner is not None:
            owner.part(name, name).facts["wanted"] = True
            return True
    return False


def _taking(owner: Node, name: str) -> Optional[Node]:
    """The class below, or itself, that takes an argument of this name and was not given it."""
    classes = [one for one in owner.walk() if one.kind == "class"]
    return next((one for one in classes if name in one.facts.get("takes", ()) and name not in one.parts), None)


def _shape(_world: World, error: BaseException, _text: str) -> bool:
    """An array of another shape."""
    if isinstance(error, (SystemExit, KeyboardInterrupt, MemoryError)):
        return False
    arrays = [one for one in list(dict.fromkeys(reversed(recent)))[:6] if one.kind == "array"]
    left = [one for one in arrays if "shape" not in one.facts and one.facts.get("tried", 0) < MOST_TRIES]
    if not left:
        return False
    node = min(left, key=lambda one: int(one.facts.get("tried", 0)))
    node.facts["tried"] = node.facts.get("tried", 0) + 1
    return True


RULES = (
    _number, _unpacked, _descriptor, _column, _out_of_range, _reshaped, _member, _empty, _hint, _choice, _given,
    _looked_for, _truth, _whole_array, _kind, _shape,
)  # fmt: skip


def place_of(error: BaseException) -> str:
    """``file:line`` of the project's innermost frame, or of the innermost of all."""
    frames = _frames(error)
    if frames:
        return "{}:{}".format(frames[-1].f_code.co_filename, _line(error, frames[-1]))
    return ""


def _line(error: BaseException, frame: Any) -> int:
    trace, line = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame is frame:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
