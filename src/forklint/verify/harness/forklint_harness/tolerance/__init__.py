"""A tolerant run: the program continues if something outside of it is missing, and only then.

The order's spec says so under ``tolerance``, an object with

- ``roots``: folders of the project; modules below them are loaded in their tolerant form,
- ``texts``: by path, the text of a file that replaces the one on disk,
- ``skipped``: by path, rows (first and last) of statements that do not lead to the finding and are not run,
- ``wanted``: by path, rows that the run must reach: conditions on stand-ins lead there,
- ``claimed``: by path, rows (first and last) of what the claim is about: a failure there is never skipped,
- ``loads``: by name of a package that may be missing, the modules that it imports,
- ``foreign``: names of libraries that files of the project with the same name do not replace,
- ``ambiguous``: names that are the project's only for files below the folder that has them,
- ``claims``: what else must not be replaced: ``accelerator``,
- ``guarded``: by path, a row from which on the top level is put under a main guard,
- ``known``: missing classes of which it is known what they do (see ``known``),
- ``by_value``: ``name`` and ``file`` of what is sent by what it is made of (see ``by_value``).

``is_stand_in`` says whether a value is a stand-in or was computed from one, ``missing_bases`` whether a class has one
among its bases: what a claim is about must be neither.
"""

from __future__ import annotations

import os
from typing import Any, Mapping

from forklint_harness.tolerance.stand_ins import StandIn, is_stand_in, missing_bases, name_of

__all__ = ["StandIn", "begin", "is_stand_in", "missing_bases", "name_of"]


def begin(order: Mapping[str, Any]) -> None:
    """Make this process, and those that it starts, tolerant, if the order says so."""
    spec = order["spec"].get("tolerance")
    if spec is None:
        return
    from forklint_harness.tolerance import accelerators, arguments, claims, known, listings, loading, refusals, runtime

    runtime.LOADS.update(spec.get("loads", {}))
    known.install(spec)
    refusals.Refusals(os.path.dirname(order["journal"])).begin()
    loading.install(loading.Project(spec))
    claims.install()
    accelerators.install(spec, order["task"])
    listings.install()
    arguments.install()
