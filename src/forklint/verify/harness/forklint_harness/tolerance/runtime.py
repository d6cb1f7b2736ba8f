"""What rewritten code asks while it runs: may this failure be passed over, which branch is taken, what is made up."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
import types
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from forklint_harness.frames import is_library
from forklint_harness.tolerance import arguments, lacking, lacks, tainted
from forklint_harness.tolerance.refusals import RefusedError
from forklint_harness.tolerance.stand_ins import LENGTH, EndlessError, StandIn, StandInMeta, begin_anew, is_stand_in
from forklint_harness.tolerance.statements import bound_by, head_end, imported_by, names_in, unbound_in

REAL = ("torch.utils.data", "torch.multiprocessing", "multiprocessing", "concurrent", "threading")
"""Modules whose callables get what they are given, made up or not: what they do is what a claim is about."""
LOADS: Dict[str, Sequence[str]] = {}
"""By the name of a package that may be missing, what it imports."""
TENSORS = frozenset({"tensor", "as_tensor", "asarray", "from_numpy", "FloatTensor", "LongTensor", "Tensor"})
ASKING_FOR_GPU = frozenset({"is_available", "device_count"})
"""What of ``torch.cuda`` an assertion calls that there is a GPU."""
FILES = ("posix", "nt", "io", "_io", "os")
_files: Dict[str, Runtime] = {}
_handlers: List[Tuple[Any, Tuple[str, ...]]] = []


class Runtime:
    """The table of one file's statements, and what is decided for them."""

    def __init__(self, path: str, statements: Sequence[ast.stmt], claimed: Iterable[Sequence[int]] = ()) -> None:
        """Take the file, its statements by number, and the rows (first, last) of what the claim is about."""
        self.path = path
        self._statements = statements
        self._claimed = [tuple(rows) for rows in claimed]
        self._lost: Dict[str, str] = {}
        self._rounds: Dict[int, int] = {}

    # Failures

    def failed(self, number: int) -> None:
        """Return if the statement failed for lack of the world; else raise its error on."""
        error: Any = sys.exc_info()[1]
        node = self._statements[number]
        frame = sys._getframe(1)
        if isinstance(error, EndlessError) and not isinstance(node, (ast.While, ast.For)):
            raise  # noqa: PLE0704
        if isinstance(error, ImportError):
            self._lost.update((name, "{}".format(error.name)) for name in imported_by(node))
        if getattr(error, "_forklint_refused", False) or self._is_claimed(node) or _is_handled(error):
            raise  # noqa: PLE0704
        if isinstance(error, EndlessError):
            begin_anew()
        lack = lacking.lack_of(error, frame, names_in(node)) or self._by_lost_name(error)
        if lack is None:
            _mark(error, "_forklint_refused")
            raise  # noqa: PLE0704
        kind, what = lack
        if kind == "package":
            _load_for(what)
        if not isinstance(error, RefusedError):  # that was told of when it was refused
            lacks.record(kind, what, "{}: {}".format(type(error).__name__, error), self._place(node))
        self._lost.update((name, what) for name in bound_by(node))

    def _by_lost_name(self, error: BaseException) -> Optional[lacking.Lack]:
        name = getattr(error, "name", None) or str(error).partition("'")[2].partition("'")[0]
        if isinstance(error, NameError) and name in self._lost:
            return "statement", self._lost[name]
        return None

    def _is_claimed(self, node: ast.stmt) -> bool:
        first, last = node.lineno, head_end(node)
        return any(first <= rows[1] and rows[0] <= last for rows in self._claimed)

    def _place(self, node: ast.stmt) -> str:
        return "{}:{}".format(self.path, node.lineno)

    def value(self, number: int, name: str) -> Any:
        """A stand-in for what a statement that failed would have bound."""
        node = self._statements[number]
        if isinstance(node, ast.Import):
            alias = node.names[0]
            return StandIn(alias.name if alias.asname else alias.name.partition(".")[0])
        if isinstance(node, ast.ImportFrom):
            return StandIn("{}.{}".format(node.module or "", node.names[0].name))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return StandIn(node.name)
        return StandIn(name)

    def head(self, number: int, wanted: Optional[bool]) -> Any:  # noqa: FBT001
        """The same for the head of a compound statement; of a condition the branch that is wanted, or neither."""
        node = self._statements[number]
        return bool(wanted) if isinstance(node, ast.If) else StandIn("line {}".format(node.lineno))

    def skipped(self, _number: int, name: str) -> Any:
        """A stand-in for what a statement binds that does not lead to the finding."""
        return StandIn(name)

    def star(self, number: int, names: Dict[str, Any]) -> None:
        """Bind what ``from missing import *`` would have bound, as far as the file reads it."""
        module = getattr(self._statements[number], "module", None) or ""
        for name in unbound_in(self._statements):
            if name not in names and name not in vars(sys.modules["builtins"]):
                names[name] = StandIn("{}.{}".format(module, name))

    # Conditions

    def mark(self) -> int:
        """The state before a condition is evaluated."""
        return lacks.touched()

    def decide(self, mark: int, test: Any, leaves: bool, otherwise: bool, wanted: Any, number: int) -> Any:  # noqa: FBT001, PLR0913, PLR0917
        """The branch to take: that of the condition, or one that goes on where the condition is made up."""
        if not is_stand_in(test) and lacks.touched() == mark:
            test = self._without_usage(test, leaves, number)
            return self._with_option(test, wanted, number)
        chosen = wanted
        if chosen is None:
            chosen = False if leaves else True if otherwise else bool(test)
        if not is_stand_in(test) and bool(test) != chosen:
            lacks.record("statement", "condition", "taken as {}".format(chosen), self._place(self._statements[number]))
        if not chosen:
            self._lose(self._statements[number])
        return chosen

    def _lose(self, node: Any) -> None:
        """Note what a branch that is not taken would have bound: in a chain of options no other may bind it."""
        names = [name for part in getattr(node, "body", ()) for name in bound_by(part)]
        self._lost.update((name, "a branch that binds {!r}".format(name)) for name in names if name not in self._lost)

    def _without_usage(self, test: Any, leaves: bool, number: int) -> Any:  # noqa: FBT001
        """The condition, or no where it would end the program since it was given too few arguments."""
        node: Any = self._statements[number]
        if not leaves or not test or not any(getattr(one, "attr", "") == "argv" for one in ast.walk(node.test)):
            return test
        lacks.record("argument", "sys.argv", place=self._place(node))
        return False

    def _with_option(self, test: Any, wanted: Any, number: int) -> Any:
        """The condition, or the branch that is wanted where nothing but options of the command line decides."""
        node: Any = self._statements[number]
        if (wanted is None and test) or bool(test) == wanted:
            return test
        names = [one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)]
        frame = sys._getframe(2)
        given = [frame.f_locals.get(name, frame.f_globals.get(name)) for name in names]
        if not given or not all(type(value).__name__ == "Namespace" for value in given):
            return test
        if wanted is None:
            self._lose(node)
            return test
        options = [one.attr for one in ast.walk(node.test) if isinstance(one, ast.Attribute)]
        lacks.record("argument", ", ".join("--" + option for option in options), place=self._place(node))
        self._import_with(node, frame.f_globals, taken=bool(wanted))
        return wanted

    def _import_with(self, node: Any, names: Dict[str, Any], *, taken: bool) -> None:
        """Import what the file imports at other places under the same condition, which was not taken there."""
        test = ast.dump(node.test)
        for one in self._statements:
            if not isinstance(one, ast.If) or ast.dump(one.test) != test:
                continue
            for part in one.body if taken else one.orelse:
                if not isinstance(part, (ast.Import, ast.ImportFrom)):
                    continue
                try:
                    exec(compile(ast.Module([part], []), self.path, "exec"), names)  # noqa: S102 - the file's own import
                except ImportError as error:
                    lacks.record("package", error.name or str(error), place=self._place(part))
                    for alias in part.names:
                        names.setdefault(alias.asname or alias.name.partition(".")[0], StandIn(alias.name))

    def asserted(self, mark: int, test: Any, number: int) -> Any:
        """Whether an assertion holds, or is about something missing."""
        node: Any = self._statements[number]
        if not test and lacks.touched() != mark:
            lacks.record("statement", "assertion", "skipped", self._place(node))
            return True
        if not test and any(_asks_for_gpu(one) for one in ast.walk(node.test)):
            lacks.record("accelerator", "a GPU", "asserted", self._place(node))
            return True
        return test

    def items(self, mark: int, values: Any, number: int) -> Any:
        """What a loop goes over; one stand-in where it must be entered and how often is made up to be never."""
        if (is_stand_in(values) or lacks.touched() != mark) and _is_empty(values):
            node = self._statements[number]
            lacks.record("statement", "loop", "entered once", self._place(node))
            return [StandIn("line {}".format(node.lineno))]
        return values

    def goes_on(self, mark: int, test: Any, number: int, wanted: bool) -> Any:  # noqa: FBT001
        """Whether a loop goes on: where its condition is made up a few times, at least once if it must be entered."""
        if not is_stand_in(test) and lacks.touched() == mark:
            return test
        rounds = self._rounds[number] = self._rounds.get(number, 0) + 1
        return bool(test) and rounds % (LENGTH + 1) != 0 if rounds > 1 or not wanted else True

    # Errors of the program's own

    def own(self, error: Any) -> Any:
        """The error that the program raises of itself, marked."""
        if isinstance(error, type) and issubclass(error, BaseException):
            error = error()
        _mark(error, "_forklint_own")
        return error

    def handled(self, names: Tuple[str, ...]) -> _Handled:
        """Around the body of a ``try`` whose handlers expect these errors."""
        return _Handled(sys._getframe(1), names)

    def catchable(self, kinds: Any) -> Any:
        """What of a handler's classes is an exception."""
        every = kinds if isinstance(kinds, tuple) else (kinds,)
        return tuple(kind for kind in every if isinstance(kind, type) and issubclass(kind, BaseException))

    def decorator(self, function: Any) -> Any:
        """A decorator; one that is missing gives back what it decorates, and what that is called without is made up."""
        return arguments.filling if isinstance(function, StandIn) else function

    # Values

    def prepare(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """The call, ready to be made by the frame that asks; what comes of made-up arguments is made up."""
        if arguments and isinstance(arguments[0], StandIn) and _makes_tensor(function):
            return functools.partial(StandIn, "torch.{}()".format(function.__name__))
        if not tainted.holds_tainted(arguments) and not (keywords and tainted.holds_tainted(keywords.values())):
            return functools.partial(function, *arguments, **keywords)
        if isinstance(function, (StandIn, StandInMeta)) or _takes_anything(function):
            return functools.partial(function, *arguments, **keywords)
        return functools.partial(self._call, function, arguments, keywords)

    def _call(self, function: Any, given: Sequence[Any], keywords: Dict[str, Any]) -> Any:
        if getattr(function, "__module__", "") in FILES:  # they would take a number for an open file
            given = [str(one) if isinstance(one, StandIn) else one for one in given]
        try:
            found = function(*given, **keywords)
        except Exception as error:
            if lacking.lack_of(error, sys._getframe(), ("given",)) is None:
                raise
            name = getattr(function, "__qualname__", type(function).__name__)
            lacks.record("statement", "{}()".format(name), "{}: {}".format(type(error).__name__, error))
            return StandIn("{}()".format(name))
        owner = getattr(function, "__self__", None)
        if found is owner or any(found is one for one in given):
            return found
        return tainted.taint(found)

    def unpack(self, values: Any, count: int) -> Any:
        """What is taken apart; of a stand-in as many parts as there are targets."""
        return [values[number] for number in range(count)] if isinstance(values, StandIn) else values

    def looked(self, value: Any, answer: Any) -> Any:
        """The answer to what a value is; of a stand-in it is made up."""
        if is_stand_in(value):
            lacks.touch()
        return answer

    def item(self, values: Any, key: Any) -> Any:
        """An element; where a key that is made up chooses from a table, the first that it might have been."""
        if is_stand_in(key) and type(values) is dict and values and key not in values:
            lacks.record("argument", "a key of {}".format(", ".join(map(repr, list(values)[:3]))))
            return next(iter(values.values()))
        return values[key]

    def joined(self, *parts: Any) -> str:
        """The text of an f-string; made up if one of its values is."""
        shown = [part if isinstance(part, str) else _formatted(*part) for part in parts]
        text = "".join(shown)
        is_made_up = any(isinstance(part, tuple) and is_stand_in(part[0]) for part in parts)
        return tainted.MadeUpStr(text) if is_made_up else text

    def percent(self, text: str, values: Any) -> str:
        """A text formatted by ``%``; made up if one of its values is."""
        made = text % values if not isinstance(values, StandIn) else _filled(text, values)
        every = values if isinstance(values, tuple) else (values,)
        return tainted.MadeUpStr(made) if any(map(is_stand_in, every)) else made


def register(path: str, statements: Sequence[ast.stmt], claimed: Iterable[Sequence[int]]) -> None:
    """Keep the table of a file until its code asks for it."""
    _files[path] = Runtime(path, statements, claimed)


def of(path: str) -> Runtime:
    """The runtime of a file."""
    return _files[path]


class _Handled:
    def __init__(self, frame: Any, names: Tuple[str, ...]) -> None:
        self._entry = (frame, names)

    def __enter__(self) -> None:
        _handlers.append(self._entry)

    def __exit__(self, *_error: object) -> None:
        _handlers[:] = [one for one in _handlers if one is not self._entry]


def _is_handled(error: BaseException) -> bool:
    """Whether something around the statement expects this error, so that the program goes on in its own way."""
    if not _handlers:
        return False
    kinds = {kind.__name__ for kind in type(error).__mro__}
    active = set()
    frame: Any = sys._getframe(2)
    while frame is not None:
        active.add(id(frame))
        frame = frame.f_back
    return any(id(one) in active and kinds.intersection(names) for one, names in _handlers)


def _is_empty(values: Any) -> bool:
    try:
        return len(values) == 0
    except TypeError:  # an iterator
        return False


def _asks_for_gpu(node: ast.AST) -> bool:
    """Whether an expression is ``torch.cuda.is_available``, or one of its kin."""
    owner = getattr(node, "value", None)
    return getattr(node, "attr", "") in ASKING_FOR_GPU and "cuda" in (
        getattr(owner, "attr", ""),
        getattr(owner, "id", ""),
    )


def _makes_tensor(function: Any) -> bool:
    """Whether a call makes a tensor of numbers, which a stand-in has none of."""
    torch = sys.modules.get("torch")
    name = getattr(function, "__name__", "")
    return torch is not None and name in TENSORS and getattr(torch, name, None) is function


def _takes_anything(function: Any) -> bool:
    """Whether a callable is to have its arguments as they are: the project's, and what claims are about."""
    if isinstance(function, functools.partial):
        function = function.func
    module = getattr(function, "__module__", None) or ""
    if any(module == real or module.startswith(real + ".") for real in REAL) or module.startswith("forklint_harness"):
        return True
    owner = getattr(function, "__self__", None)
    if isinstance(function, types.BuiltinMethodType) and isinstance(owner, (list, dict, set)):
        return True
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    if code is not None:
        return not is_library(code.co_filename)
    kind = function if isinstance(function, type) else type(function)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return bool(file) and not is_library(str(file))


def _load_for(package: str) -> None:
    """Import what a missing package would have imported."""
    for name in LOADS.get(package.partition(".")[0], ()):
        try:
            importlib.import_module(name)
        except ImportError:  # noqa: PERF203
            continue


def _mark(error: Any, name: str) -> None:
    try:
        setattr(error, name, True)
    except Exception:  # an error that takes no attributes is looked at again where it comes by
        return


def _formatted(value: Any, conversion: int, shape: str) -> str:
    if conversion != -1:
        shown: Dict[int, Any] = {115: str, 114: repr, 97: ascii}
        value = shown[conversion](value)
    return format(value, shape)


def _filled(text: str, value: StandIn) -> str:
    try:
        return text % value
    except TypeError:  # it takes more values than one
        return str(value)
