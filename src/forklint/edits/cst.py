"""LibCST, imported when the first name of it is used.

A rule writes ``from forklint.edits import cst`` and builds nodes as ``cst.Name("x")`` inside its functions.
Importing a rule then costs nothing; only a file with a finding pays for LibCST (about 0.4 s).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from libcst import *  # noqa: F403 - a stand-in for the whole of it
else:

    def __getattr__(name: str) -> Any:
        import libcst  # noqa: PLC0415 - the point of this module

        value = getattr(libcst, name)
        globals()[name] = value
        return value
