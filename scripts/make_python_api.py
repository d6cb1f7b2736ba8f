"""Write src/forklint/knowledge/python_api.json: the names that objects of Python's own classes have.

    python scripts/make_python_api.py

Each class is one that programs derive from. Its names are those of the class and its bases, and those that their
methods store on `self`, read from their source. `FORMER` and `LATER` have what other versions of Python had or have.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import textwrap
from pathlib import Path

from forklint.rules.unknown_method.members import members_of

TARGET = Path(__file__).parent.parent / "src/forklint/knowledge/python_api.json"

CLASSES = (
    *("multiprocessing.process.BaseProcess", "multiprocessing.Process", "multiprocessing.context.Process"),
    *("multiprocessing.context.SpawnProcess", "multiprocessing.context.ForkProcess"),
    *("threading.Thread", "threading.Timer", "unittest.TestCase", "unittest.IsolatedAsyncioTestCase"),
    *("logging.Handler", "logging.StreamHandler", "logging.FileHandler", "logging.Formatter", "logging.Filter"),
    *("logging.Logger", "logging.LoggerAdapter", "json.JSONEncoder", "json.encoder.JSONEncoder", "json.JSONDecoder"),
    *("argparse.Action", "argparse.ArgumentParser", "argparse.HelpFormatter", "argparse.RawTextHelpFormatter"),
    *("argparse.ArgumentDefaultsHelpFormatter", "argparse.RawDescriptionHelpFormatter"),
    *("collections.OrderedDict", "collections.defaultdict", "collections.UserDict", "collections.UserList"),
    *("collections.Counter", "collections.deque", "collections.ChainMap"),
    *("collections.abc.Mapping", "collections.abc.MutableMapping", "collections.abc.Sequence"),
    *("collections.abc.MutableSequence", "collections.abc.Set", "collections.abc.MutableSet"),
    *("collections.abc.Iterator", "collections.abc.Iterable", "collections.abc.Callable", "collections.abc.Sized"),
    *("collections.abc.Collection", "collections.abc.Generator", "collections.abc.Hashable"),
    *("contextlib.ContextDecorator", "contextlib.AbstractContextManager", "contextlib.ExitStack"),
    *("string.Formatter", "string.Template", "html.parser.HTMLParser", "cmd.Cmd", "queue.Queue"),
    *("concurrent.futures.Executor", "concurrent.futures.ThreadPoolExecutor", "concurrent.futures.ProcessPoolExecutor"),
    *("http.server.BaseHTTPRequestHandler", "socketserver.BaseRequestHandler", "ast.NodeVisitor"),
    *("ast.NodeTransformer", "random.Random"),
)

ALIASES = {
    "torch.multiprocessing.Process": "multiprocessing.Process",
    "collections.Mapping": "collections.abc.Mapping",
    "collections.MutableMapping": "collections.abc.MutableMapping",
    **{
        f"typing.{name}": f"collections.abc.{name}"
        for name in ("Mapping", "MutableMapping", "Sequence", "MutableSequence", "Iterator", "Iterable", "Callable")
    },
    **{f"typing.{name}": f"collections.abc.{name}" for name in ("Sized", "Collection", "Generator", "Hashable")},
    "typing.OrderedDict": "collections.OrderedDict",
    "typing.Dict": "builtins.dict",
    "typing.List": "builtins.list",
    "typing.Tuple": "builtins.tuple",
    "typing.Set": "builtins.set",
}

FORMER = {
    "unittest.case.TestCase": {
        *("failUnless", "failIf", "failUnlessEqual", "failUnlessRaises", "failUnlessAlmostEqual"),
        *("_addSkip", "_feedErrorsToResult"),
    },
    "unittest.async_case.IsolatedAsyncioTestCase": {"_asyncioLoopRunner", "_setupAsyncioLoop", "_tearDownAsyncioLoop"},
}

LATER = {
    "multiprocessing.process.BaseProcess": {"interrupt"},
    "queue.Queue": {"shutdown", "is_shutdown"},
    "logging.Logger": {"getChildren"},
    "logging.LoggerAdapter": {"merge_extra"},
    "random.Random": {"binomialvariate"},
    "threading.Thread": {"_after_fork"},
    "argparse.ArgumentParser": {"_warning", "color", "suggest_on_error"},
    "argparse.HelpFormatter": {"_get_actions_usage_parts", "_set_color", "_theme"},
    "concurrent.futures.process.ProcessPoolExecutor": {"kill_workers", "terminate_workers"},
    "html.parser.HTMLParser": {"_escapable", "_support_cdata"},
    "unittest.case.TestCase": {
        *("_addDuration", "_assertNotWarns", "assertHasAttr", "assertNotHasAttr", "assertIsSubclass"),
        *("assertNotIsSubclass", "assertStartsWith", "assertNotStartsWith", "assertEndsWith", "assertNotEndsWith"),
    },
    "unittest.async_case.IsolatedAsyncioTestCase": {"loop_factory"},
}
"""Python 3.12 to 3.14."""


def names_of(path: str) -> list[str]:
    """The names of objects of the class at a dotted path."""
    module, _, name = path.rpartition(".")
    cls = getattr(importlib.import_module(module), name)
    names = set(dir(cls))
    for base in cls.__mro__:
        names |= _stored(base)
        key = f"{base.__module__}.{base.__qualname__}"
        names |= FORMER.get(key, set()) | LATER.get(key, set())
    names |= FORMER.get(path, set()) | LATER.get(path, set())
    return sorted(one for one in names if not one.startswith("__") and one not in dir(object))


def _stored(cls: type) -> set[str]:
    try:
        source = textwrap.dedent(inspect.getsource(cls))
    except (OSError, TypeError):  # written in C
        return set()
    node = ast.parse(source).body[0]
    return set(members_of(node).names) if isinstance(node, ast.ClassDef) else set()


def main() -> None:
    """Write the file."""
    classes = {path: names_of(path) for path in CLASSES}
    api = {"aliases": ALIASES, "classes": classes}
    TARGET.write_text(json.dumps(api, indent=1, sort_keys=True) + "\n", "utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
