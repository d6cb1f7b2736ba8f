"""Write src/forklint/knowledge/removed_api.json: the modules and names that torch once had and no longer has.

    pip install remotezip
    python scripts/make_removed.py

One wheel of each minor version of torch is read on PyPI, by requests for a part of a file: a megabyte or two of each,
nothing is imported. A name is gone if the newest versions have it nowhere in their source and the torch that is
installed does not have it either; it is gone since the version after the last one that had it.

Left out are names that a module imports from elsewhere than torch, what removed.toml has already, and modules that
training code does not name: private ones but for a few, and those of tools that change with each version.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from urllib.request import Request, urlopen

from remotezip import RemoteZip

from forklint.knowledge.removed import removed_by_hand

TARGET = Path(__file__).parent.parent / "src/forklint/knowledge/removed_api.json"
INDEX = Request("https://pypi.org/simple/torch/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
WHEEL = re.compile(r"torch-(\d+)\.(\d+)\.(\d+)-cp(\d+)-\S*(?:manylinux1|manylinux_2_28)_x86_64\.whl")
INSTALLED = (2, 13)
STUBS = ("torch/__init__.pyi", "torch/_C/_VariableFunctions.pyi")
"""What the compiled part of torch gives the package."""

PRIVATE = frozenset({"torch._utils", "torch._jit_internal", "torch._tensor", "torch._six"})
"""Private modules that programs import nevertheless."""
NAMED_DESPITE = ("torch.utils.data._utils", "torch.nn.parallel._functions", "torch.nn.backends", "torch.nn._functions")
TOOLS = (
    *("torch.ao", "torch.quantization", "torch.nn.quantized", "torch.nn.quantizable", "torch.nn.intrinsic"),
    *("torch.nn.qat", "torch.fx", "torch.export", "torch.package", "torch.testing", "torch.onnx.symbolic"),
    *("torch.utils.hipify", "torch.utils.benchmark", "torch.contrib", "torch.distributed.", "torch.masked"),
    *("torch.compiler", "torch.monitor"),
)
DISTRIBUTED = "torch.distributed.distributed_c10d"

Version = tuple[int, int]
Names = dict[str, set[str]]
"""By module: what its source binds at its top level; with ``=`` in front what it defines or has from torch."""


def wheels() -> dict[Version, str]:
    """The address of one wheel of each minor version: of the last patch."""
    with urlopen(INDEX) as answer:  # noqa: S310 - the address stands above
        files = json.load(answer)["files"]
    found: dict[Version, tuple[tuple[int, int], str]] = {}
    for one in files:
        match = WHEEL.fullmatch(one["filename"])
        if match:
            major, minor, patch, python = map(int, match.groups())
            key = (patch, -python)
            if key > found.get((major, minor), ((-1, 0), ""))[0]:
                found[major, minor] = (key, one["url"])
    return {version: url for version, (_, url) in sorted(found.items())}


def read(url: str) -> Names:
    """What the modules in a wheel bind."""
    names: Names = {}
    with RemoteZip(url, initial_buffer_size=1 << 20) as wheel:
        inside = [one for one in wheel.namelist() if one.startswith("torch/")]
        for path in inside:
            module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            if path.endswith(".py") and (is_named(module) or module.count(".") == 0):
                names[module] = set(bound(wheel.read(path)))
        for stub in STUBS:
            if stub in inside:
                names["torch"].update(one for one in bound(wheel.read(stub)) if one.lstrip("=")[:1].islower())
    for module in list(names):
        above, _, name = module.rpartition(".")
        names.get(above, set()).update((name, f"={name}"))
    return names


def is_named(module: str) -> bool:
    """Whether training code may import a module by name."""
    if module.startswith(NAMED_DESPITE) or module in PRIVATE or module == DISTRIBUTED:
        return True
    return not module.startswith(TOOLS) and not any(part.startswith("_") for part in module.split("."))


def bound(source: bytes) -> Iterator[str]:
    """What a module binds, in branches and by ``global``, too."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from node.names
    waiting: list[ast.AST] = [*tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from (node.name, f"={node.name}")
            if isinstance(node, ast.ClassDef) and node.name == "_VariableFunctions":
                waiting += node.body
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            is_own = isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("torch"))
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                yield from (name, f"={name}") if is_own else (name,)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield from (node.id, f"={node.id}")
        else:
            waiting.extend(ast.iter_child_nodes(node))


def gone(versions: dict[Version, Names]) -> tuple[dict[str, Version], dict[tuple[str, str], Version]]:
    """Since when modules, and names by their module, are gone."""
    old = [names for version, names in versions.items() if version < INSTALLED]
    new = [names for version, names in versions.items() if version >= INSTALLED]
    modules: dict[str, Version] = {}
    names: dict[tuple[str, str], Version] = {}
    by_hand = removed_by_hand()
    for module in sorted({one for each in old for one in each}):
        if not any(module in each for each in new):
            if not is_there(module, "") and module.rpartition(".")[0] not in modules:
                modules[module] = since(versions, lambda each, module=module: module in each)
            continue
        once = set().union(*(each.get(module, ()) for each in old))
        today = set().union(*(each.get(module, ()) for each in new))
        for name in sorted(one for one in once - today if f"={one}" in once and one.isidentifier()):
            is_known = (module, name) in by_hand or f"{module}.{name}" in by_hand
            if not name.startswith("__") and not is_known and not is_there(module, name):
                names[module, name] = since(versions, lambda each, at=(module, name): at[1] in each.get(at[0], ()))
    return {one: version for one, version in modules.items() if one not in by_hand}, names


def since(versions: dict[Version, Names], has: Callable[[Names], bool]) -> Version:
    """The version after the last one that has something."""
    last = max(version for version, names in versions.items() if has(names))
    return min(version for version in versions if version > last)


def is_there(module: str, name: str) -> bool:
    """Whether the installed torch has a module, and in it a name."""
    try:
        found = importlib.import_module(module)
    except (Exception, SystemExit):  # noqa: BLE001 - what cannot be imported here may be there elsewhere
        return bool(name)
    try:
        return not name or hasattr(found, name) or importlib.import_module(f"{module}.{name}") is not None
    except (Exception, SystemExit):  # noqa: BLE001 - importing may run anything
        return False


def written(names: dict[tuple[str, str], Version]) -> dict[str, dict[str, list[str]]]:
    """By module and version, as the file has it."""
    found: dict[str, dict[str, list[str]]] = {}
    for (module, name), version in sorted(names.items()):
        found.setdefault(module, {}).setdefault(spelt(version), []).append(name)
    return found


def spelt(version: Version) -> str:
    """As people write it."""
    return f"{version[0]}.{version[1]}"


def main(arguments: Iterable[str]) -> None:
    """Read, compare, write."""
    if list(arguments):
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    found = wheels()
    with ThreadPoolExecutor(4) as pool:
        versions = dict(zip(found, pool.map(partial(read), found.values()), strict=True))
    modules, names = gone(versions)
    about = {"installed": spelt(INSTALLED), "read": [spelt(version) for version in versions]}
    document = {"about": about, "modules": {k: spelt(v) for k, v in modules.items()}, "names": written(names)}
    TARGET.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{len(modules)} modules and {len(names)} names are gone")


if __name__ == "__main__":
    main(sys.argv[1:])
