"""The least change for what pickle refuses: the one object that the claim is about is sent by what it is made of.

All else is pickled as it would be, so that another part which cannot be sent still cannot; what the function itself
keeps from around it (its closure) is left out where pickle refuses it. A function or a class is
known by its name and file, anything else, such as a lock, by being that object.
"""

from __future__ import annotations

import importlib
import marshal
import os
import sys
import types
from typing import Any, Dict, List, Mapping, Optional, Tuple

from forklint_harness.pickling import error_of

OWNER = "forklint: the class that holds this function"
MODULE = "forklint: a module of this name"
LEFT_OUT = ("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "_abc_impl")


def begin(claimed: Mapping[str, Any], objects: Tuple[Any, ...] = ()) -> None:
    """Send by value what has the claimed ``name`` in ``file``, and these objects; in this process."""
    from multiprocessing import reduction

    kept = {id(one): one for one in objects}

    def reducer_override(_pickler: Any, value: Any) -> Any:
        if isinstance(value, types.FunctionType) and _is_meant(value, value.__code__.co_filename, claimed):
            return _function, _parts(value, None)
        if isinstance(value, type) and _is_meant(value, _file_of(value), claimed):
            return _class, _class_parts(value)
        if id(value) in kept:
            return _anew, (type(value).__module__, type(value).__qualname__)
        return NotImplemented

    pickler: Any = reduction.ForkingPickler
    pickler.reducer_override = reducer_override


def _is_meant(value: Any, file: str, claimed: Mapping[str, Any]) -> bool:
    return bool(value.__name__ == claimed["name"] and os.path.realpath(file) == os.path.realpath(claimed["file"]))


def _file_of(kind: type) -> str:
    for part in vars(kind).values():
        if isinstance(part, types.FunctionType):
            return part.__code__.co_filename
    return str(getattr(sys.modules.get(kind.__module__), "__file__", ""))


def _parts(function: types.FunctionType, owner: Optional[type]) -> Tuple[Any, ...]:
    cells: List[Any] = []
    for cell in function.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:  # a cell that nothing was put into
            value = None
        if owner is not None and value is owner:
            value = OWNER
        elif isinstance(value, types.ModuleType):
            value = (MODULE, value.__name__)
        elif owner is None and error_of(value) is not None:
            value = None  # what the function keeps is part of it; what is sent beside it is not
        cells.append(value)
    return (
        marshal.dumps(function.__code__),
        _module_of(function.__module__),
        function.__name__,
        function.__qualname__,
        function.__defaults__,
        function.__kwdefaults__,
        cells,
        _read_by(function),
    )


def _read_by(function: types.FunctionType) -> Dict[str, Any]:
    """Modules and plain values that a function reads of its module: a child may not come by what binds them."""
    read: Dict[str, Any] = {}
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, types.ModuleType):
            read[name] = (value.__name__,)
        elif isinstance(value, (int, float, str)):
            read[name] = value
    return read


def _module_of(name: Optional[str]) -> Tuple[str, str]:
    module = sys.modules.get(name or "__main__")
    return name or "__main__", str(getattr(module, "__file__", "") or "")


def _function(  # noqa: PLR0913, PLR0917 - a function has so many parts
    code: bytes,
    module: Tuple[str, str],
    name: str,
    qualname: str,
    defaults: Any,
    keyword_defaults: Any,
    cells: List[Any],
    read: Dict[str, Any],
) -> types.FunctionType:
    closure = tuple(types.CellType(_unpacked(value)) for value in cells)
    names = _globals_of(module)
    for key, value in read.items():
        if key not in names:
            names[key] = importlib.import_module(value[0]) if isinstance(value, tuple) else value
    made = types.FunctionType(marshal.loads(code), names, name, defaults, closure)  # noqa: S302 - own code
    made.__qualname__, made.__kwdefaults__ = qualname, keyword_defaults
    return made


def _unpacked(value: Any) -> Any:
    is_module = isinstance(value, tuple) and len(value) == 2 and value[0] == MODULE
    return importlib.import_module(value[1]) if is_module else value


def _globals_of(module: Tuple[str, str]) -> Dict[str, Any]:
    """The names among which a function runs: those of its module, which a child has under another name."""
    name = module[0]
    if name == "__main__":
        name = "__mp_main__" if "__mp_main__" in sys.modules else name
    return vars(importlib.import_module(name))


def _class_parts(kind: type) -> Tuple[Any, ...]:
    own = {name: part for name, part in vars(kind).items() if name not in LEFT_OUT}
    functions = {name: _parts(part, kind) for name, part in own.items() if isinstance(part, types.FunctionType)}
    others = {name: part for name, part in own.items() if name not in functions and _is_plain(part)}
    return kind.__name__, kind.__qualname__, kind.__module__, kind.__bases__, functions, others


def _is_plain(part: Any) -> bool:
    return isinstance(part, (int, float, str, bytes, tuple, list, dict, type(None), frozenset))


def _class(  # noqa: PLR0913, PLR0917 - a class has so many parts
    name: str, qualname: str, module: str, bases: Tuple[type, ...], functions: Dict[str, Any], others: Dict[str, Any]
) -> type:
    made: Any = type(bases[0])(name, bases, dict(others, __module__=module, __qualname__=qualname))
    for key, parts in functions.items():
        function = _function(*parts)
        for cell in function.__closure__ or ():
            if cell.cell_contents is OWNER or cell.cell_contents == OWNER:
                cell.cell_contents = made
        setattr(made, key, function)
    return made  # type: ignore[no-any-return]


def _anew(module: str, name: str) -> Any:
    """Another object of the same kind, such as a lock: it has no state that could be sent."""
    makers = {"lock": "threading.Lock", "RLock": "threading.RLock"}
    home, _, plain = makers.get(name, "{}.{}".format(module, name)).rpartition(".")
    return getattr(importlib.import_module(home), plain)()
