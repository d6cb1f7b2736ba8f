"""Tables in TOML and JSON, compiled as Python compiles its modules.

Reading the tables that a run over one file asks for took 8 ms, a fifth of all that it did beside importing click
(measured, Python 3.11). So Python's own loader of source files keeps them in ``__pycache__``, under the rules that hold
for modules: anew when the file changes, for each version of Python, and not at all where nothing can be written.
"""

from __future__ import annotations

import marshal
import sys
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

APART = ".py"
"""What the name of a table ends with for the loader, which keeps ``handles.toml`` and ``handles.py`` apart by it."""


@cache
def table(name: str) -> Any:
    """Read ``knowledge/<name>``, a TOML or JSON file, once; raises FileNotFoundError."""
    module = ModuleType(f"{__package__}.{name}")
    _TableLoader(module.__name__, str(Path(__file__).with_name(name))).exec_module(module)
    return module.table


def read_toml(text: str) -> dict[str, Any]:
    """Read TOML; raises ValueError."""
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - many runs meet no configuration, and the tables are compiled
    else:
        import tomli as tomllib  # noqa: PLC0415
    return tomllib.loads(text)


class _TableLoader(SourceFileLoader):
    """Loads a table as the module that holds it under the name ``table``."""

    def __init__(self, fullname: str, path: str) -> None:
        super().__init__(fullname, path + APART)

    def path_stats(self, path: str) -> Any:
        """The time and the size by which it is seen that a table has changed."""
        return super().path_stats(path.removesuffix(APART))

    def get_data(self, path: str) -> bytes:
        """The bytes of a table, which may lie in an archive as this package does, or of what was made of it."""
        if path != self.path:
            return super().get_data(path)
        import pkgutil  # noqa: PLC0415 - once for each version of a table, as what reads it

        return pkgutil.get_data(__package__, Path(path).name.removesuffix(APART)) or b""

    def source_to_code(self, data: Any, path: Any, **_: Any) -> CodeType:  # type: ignore[override]  # typeshed's static
        """Turn a table into a program that makes it."""
        text = bytes(data).decode()
        if path.endswith(f".json{APART}"):
            import json  # noqa: PLC0415

            value = json.loads(text)
        else:
            value = read_toml(text)
        return compile(f"from marshal import loads\ntable = loads({marshal.dumps(value)!r})", path, "exec")
