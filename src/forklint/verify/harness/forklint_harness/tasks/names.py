"""For FKL501: whether the imported class, or an object of it, has the name; run as a program."""

from __future__ import annotations

import importlib
import json
import os
import sys
from inspect import signature
from traceback import extract_tb
from types import ModuleType
from typing import Any, Dict

from forklint_harness import journal
from forklint_harness.frames import raised_at
from forklint_harness.tolerance.stand_ins import StandInMeta, is_stand_in, missing_bases, name_of


def install(order: Dict[str, Any]) -> None:
    """Set no hooks: this task is the program itself."""


def run(spec: Dict[str, Any]) -> None:
    """Import the class, look, and write down what there is; the error of an import is written down too."""
    name = spec["name"]
    try:
        owner = owner_of(spec)
    except BaseException as error:  # SystemExit of a script that wants arguments included
        if spec.get("is_module") and getattr(error, "name", "") == _full(spec):
            text = "{}: {}".format(type(error).__name__, error)
            looked = {"found": False, "on": "module", "error": text, "stand_in": "", "missing": []}
            journal.record("looked", right=False, defined=_is_imported_if_there(spec), **looked)
            return
        journal.record("not-imported", error=f"{type(error).__name__}: {error}", place=raised_at(error.__traceback__))
        return
    made_up = made_up_in(owner)
    right = bool(spec.get("right")) and has(owner, spec["right"])
    if spec.get("raises"):
        looked = _called(owner, name)
    elif spec.get("is_setter"):
        looked = _assigned(owner, name)
    elif spec.get("is_module"):
        looked = _imported(owner, name)
    else:
        looked = _looked(owner, name, made_up["missing"])
    if "defined" not in looked:
        looked["defined"] = _is_found_if_defined(owner, name)
    journal.record("looked", right=right, **looked, **made_up)


def _imported(owner: Any, name: str) -> Dict[str, Any]:
    """Whether a package has a module of that name, whatever else it may have under it."""
    full = "{}.{}".format(owner.__name__, name)
    try:
        importlib.import_module(full)
    except ImportError as error:
        if error.name is not None and not (full + ".").startswith(error.name + "."):  # it is there, and lacks something
            return {"found": True, "on": "module", "error": ""}
        return {"found": False, "on": "module", "error": "{}: {}".format(type(error).__name__, error)}
    return {"found": True, "on": "module", "error": ""}


def _full(spec: Dict[str, Any]) -> str:
    """The whole name of a module that a package is to have."""
    return "{}.{}".format(spec.get("module"), spec["name"])


def _is_imported_if_there(spec: Dict[str, Any]) -> bool:
    """Whether a package that imports a module of its own, which is not there, can be imported with an empty one."""
    there: Any = ModuleType(_full(spec))
    there.__all__, there.__getattr__ = [], lambda _name: None
    sys.modules[there.__name__] = there
    try:
        owner_of(spec)
    except BaseException:
        return False
    return True


def _called(owner: Any, name: str) -> Dict[str, Any]:
    """Whether a function does anything but raise an error of its own, whatever it is given."""
    function = getattr(owner, name, None)
    if function is None:
        return {"found": False, "on": "module", "error": _error(owner, name)}
    needed = [one for one in signature(function).parameters.values() if one.default is one.empty]
    try:
        function(*(None for one in needed if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)))
    except RuntimeError as error:
        own = extract_tb(error.__traceback__)[-1].name == function.__name__
        return {"found": not own, "on": "module", "error": "RuntimeError: {}".format(str(error).split("\n")[0])}
    except Exception as error:  # it does something with what it is given
        return {"found": True, "on": "module", "error": "{}: {}".format(type(error).__name__, error)}
    return {"found": True, "on": "module", "error": ""}


def _assigned(owner: Any, name: str) -> Dict[str, Any]:
    """Whether the name can be assigned on an object of a class; ``defined``: if it were a plain attribute, it could."""
    text = _refused(owner, name)
    plain = _refused(type(owner.__name__, (owner,), {name: None}), name)
    return {"found": not text, "on": "object", "error": text, "defined": not plain}


def _refused(owner: type, name: str) -> str:
    """What assigning the name on an object raises; empty if it raises nothing."""
    try:
        object.__setattr__(_bare(owner), name, None)
    except AttributeError as error:
        return "AttributeError: {} ({})".format(error, name)
    return ""


def _looked(owner: Any, name: str, missing: Any) -> Dict[str, Any]:
    """Whether the name is there, on what, and what it raises otherwise."""
    if not isinstance(owner, type):
        text = _error(owner, name)
        return {"found": not text, "on": "module", "error": text}
    if has(owner, name):
        return {"found": True, "on": "class", "error": ""}
    if missing:  # an object would take any name for one of the missing base's
        text = "AttributeError: neither {} nor a base that is here has {!r}".format(owner.__name__, name)
    else:
        text = _error(_bare(owner), name)
    return {"found": False, "on": "object", "error": text, "supplier": _supplier(owner)}


def _is_found_if_defined(owner: Any, name: str) -> bool:
    """Whether the same look-up finds the name where it is defined: the least change for a name that has no fix."""
    try:
        bare = _bare(owner) if isinstance(owner, type) else ModuleType(owner.__name__)
        object.__setattr__(bare, name, None)
        return not _error(bare, name)
    except Exception:  # slots, or a class that has no objects here
        pass
    try:
        return not _error(_bare(type(owner.__name__, (owner,), {name: None})), name)
    except Exception:
        return False


def has(owner: Any, name: str) -> bool:
    """Whether a module or class has a name, apart from what a stand-in among its bases would answer."""
    if not isinstance(owner, type) or not missing_bases(owner):
        return hasattr(owner, name)
    return any(
        name in vars(base) for base in owner.__mro__ if not isinstance(base, StandInMeta) or not is_missing(base)
    )


def made_up_in(owner: Any) -> Dict[str, Any]:
    """What of a class is a stand-in: itself, or those of its bases that are missing."""
    if is_stand_in(owner) or (isinstance(owner, type) and is_missing(owner)):
        return {"stand_in": name_of(owner) if is_stand_in(owner) else owner.__name__, "missing": []}
    return {"stand_in": "", "missing": missing_bases(owner) if isinstance(owner, type) else []}


def is_missing(kind: type) -> bool:
    """Whether a class stands in for one that is missing, and is not derived from one."""
    return isinstance(kind, StandInMeta) and ("_forklint_name" in vars(kind))


def _bare(owner: type) -> Any:
    """An object that no ``__init__`` has set up; the class itself where Python makes none.

    What ``__init__`` sets was read by the rule; this shows what the class supplies.
    """
    try:
        return object.__new__(owner)
    except TypeError:
        pass
    try:
        concrete: Any = type(owner.__name__, (owner,), {})
        concrete.__abstractmethods__ = frozenset()
        return object.__new__(concrete)
    except Exception:  # a class of C, or one that wants no subclass
        return owner


def owner_of(spec: Dict[str, Any]) -> Any:
    """The class or module that the finding speaks of."""
    if "torch" in spec:
        return _torch(spec["torch"])
    for folder in reversed(spec["search"]):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    found: Any = importlib.import_module(spec["module"])
    for part in filter(None, spec["qualname"].split(".")):  # a module itself has no name in it
        found = getattr(found, part)
    return found


def _torch(path: str) -> Any:
    """A module or class of torch by its dotted path."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ImportError(path)


def _error(thing: Any, name: str) -> str:
    """What reading the name raises; empty if it raises nothing."""
    try:
        getattr(thing, name)
    except Exception as error:  # a __getattr__ of the project's may raise anything
        return f"{type(error).__name__}: {error}"
    return ""


def _supplier(owner: type) -> str:
    """The class whose __getattr__ or __getattribute__ is the project's own and may supply the name; empty if none."""
    for base in owner.__mro__:
        own = {"__getattr__", "__getattribute__"} & set(vars(base))
        if own and base is not object and not base.__module__.startswith(("torch.", "lightning", "pytorch_lightning")):
            return base.__qualname__
    return ""


if __name__ == "__main__":
    with open(os.environ["FORKLINT_TRIAL"], encoding="utf-8") as file:
        run(json.load(file)["spec"])
