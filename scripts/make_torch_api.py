"""Write src/forklint/knowledge/torch_api.json: the names of torch's modules and classes.

    python scripts/make_torch_api.py --other DIR ... --lightning DIR [--pytorch-lightning DIR]

The torch that is installed is imported and asked for its names. `--other` is a
folder that holds the `torch/` of another version, unpacked; it is read, not
imported. A name that only such a version has is kept apart (`other`): it is
never called missing and never offered. `--lightning` is the folder that holds
`lightning/`, read in the same way.

A class is *open* when its source cannot tell all its attributes; the linter is
silent about it. So are modules whose names depend on how torch was built.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib
import inspect
import json
import pkgutil
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from forklint.project.scopes import statements
from forklint.rules.unknown_method.members import dotted, members_of

TARGET = Path(__file__).parent.parent / "src/forklint/knowledge/torch_api.json"

#: Modules people name in training code; a trailing dot takes what is below it too.
MODULES = (
    "torch",
    "torch.accelerator",
    "torch.amp",
    "torch.autograd",
    "torch.autograd.",
    "torch.backends.",
    "torch.compiler",
    "torch.cpu.",
    "torch.cuda",
    "torch.cuda.",
    "torch.distributed",
    "torch.distributions.",
    "torch.fft",
    "torch.func",
    "torch.functional",
    "torch.futures",
    "torch.hub",
    "torch.jit",
    "torch.library",
    "torch.linalg",
    "torch.masked",
    "torch.mps",
    "torch.mps.",
    "torch.multiprocessing",
    "torch.multiprocessing.",
    "torch.nested",
    "torch.nn",
    "torch.nn.attention",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.modules",
    "torch.nn.modules.",
    "torch.nn.parallel",
    "torch.nn.parallel.",
    "torch.nn.parameter",
    "torch.nn.utils",
    "torch.nn.utils.",
    "torch.optim",
    "torch.optim.",
    "torch.overrides",
    "torch.profiler",
    "torch.random",
    "torch.serialization",
    "torch.signal",
    "torch.sparse",
    "torch.special",
    "torch.storage",
    "torch.types",
    "torch.utils",
    "torch.utils.checkpoint",
    "torch.utils.cpp_extension",
    "torch.utils.data",
    "torch.utils.data.",
    "torch.utils.dlpack",
    "torch.utils.hooks",
    "torch.utils.model_zoo",
    "torch.version",
    "torch.xpu",
)

#: Their names depend on the build or the platform, or are made up on request.
VARYING = ("torch.distributed.", "torch.version", "torch.backends.xeon", "torch.utils.data.datapipes")

#: Their names depend on the build, too, but their source holds those of every build.
WRITTEN_OUT = {"torch.distributed"}

#: What torch.distributed had in versions before those that are read.
DISTRIBUTED_FORMER = {
    *("all_gather_multigpu", "all_reduce_multigpu", "broadcast_multigpu", "reduce_multigpu"),
    *("reduce_scatter_multigpu", "reduce_op", "deprecated"),
}

#: Where the classes live that training code instantiates or derives from.
INSTANCES = (
    *("torch.nn.", "torch.nn", "torch.optim", "torch.utils.data", "torch.distributions"),
    *("torch.amp", "torch.cuda.amp", "torch.profiler"),
)

#: `__getattr__` of Module looks only at parameters, buffers and submodules; the others
#: compute the names of parameters, which nobody calls, or names that are numbers.
UNDERSTOOD = {
    "torch._C.TensorBase",
    "torch._tensor.Tensor",
    "torch.nn.modules.module.Module",
    "torch.nn.modules.rnn.RNNBase",
    "torch.nn.modules.container.ModuleList",
    "torch.nn.modules.container.ParameterList",
    "torch.nn.modules.batchnorm.SyncBatchNorm",
}

#: Attributes that every class or instance has.
EVERYWHERE = {*dir(object), *dir(type), "__weakref__", "__annotations__", "__orig_bases__"}

#: These metaclasses add nothing to what instances have.
PLAIN_METACLASSES = {"type", "ABCMeta", "_TensorMeta", "_ParameterMeta", "_BufferMeta"}

#: What LightningModule had in versions before those that are read (its changelog, 0.8 to 1.8).
LIGHTNING_FORMER = {
    *("add_to_queue", "datamodule", "get_from_queue", "get_progress_bar_dict", "get_tqdm_dict", "grad_norm"),
    *("loaded_optimizer_states_dict", "log_grad_norm", "model_size", "on_epoch_end", "on_epoch_start"),
    *("on_hpc_load", "on_hpc_save", "on_post_move_to_device", "on_pretrain_routine_end", "summarize"),
    *("on_pretrain_routine_start", "on_train_dataloader", "on_val_dataloader", "on_test_dataloader"),
    *("on_predict_dataloader", "unfreeze", "use_amp", "use_ddp", "use_ddp2", "use_dp", "use_tpu"),
    *("write_prediction", "write_prediction_dict", "tng_dataloader", "data_loader", "test_end", "validation_end"),
}

LIGHTNING = {
    "LightningModule": "core.module",
    "LightningDataModule": "core.datamodule",
    "Callback": "callbacks.callback",
}

Tree = dict[str, Any]


class Sources:
    """The parsed modules of one unpacked tree."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._trees: dict[Path, ast.Module | None] = {}

    def paths(self, module: str) -> list[Path]:
        """The files of `module`: source, and stubs that tell what C code adds."""
        base = self.root.joinpath(*module.split("."))
        found = [base.with_suffix(".py"), base / "__init__.py", base / "__init__.pyi"]
        found += [base.with_suffix(".pyi")]
        return [path for path in found if path.is_file()]

    def parse(self, path: Path) -> ast.Module | None:
        """The tree of a file; None if this Python refuses it."""
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse(path.read_bytes())
            except SyntaxError:
                self._trees[path] = None
        return self._trees[path]

    def trees(self, module: str) -> list[ast.Module]:
        """The trees of all files of ``module``."""
        return [tree for path in self.paths(module) if (tree := self.parse(path))]

    def class_node(self, module: str, qualname: str) -> ast.ClassDef | None:
        """The class of that name in the files of ``module`` itself."""
        for tree in self.trees(module):
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef) and node.name == qualname.rpartition(".")[2]:
                    return node
        return None

    def locate(self, module: str, name: str) -> tuple[str, ast.ClassDef | None]:
        """The module that defines class `name`, found through what `module` imports."""
        node = self.class_node(module, name)
        for path in self.paths(module) if node is None else ():
            package = module if path.stem == "__init__" else module.rpartition(".")[0]
            tree = self.parse(path)
            for part in ast.walk(tree) if tree else ():
                if isinstance(part, ast.ImportFrom) and name in {a.name for a in part.names}:
                    return self.locate(_origin(part, package), name)
        return module, node

    def names(self, module: str, seen: frozenset[str] = frozenset()) -> set[str]:
        """Every public name that `module` may bind at its top level, or says that it exports."""
        if module in seen:
            return set()
        found = {p.stem for p in self.root.joinpath(*module.split(".")).glob("*")}
        for path in self.paths(module):
            tree = self.parse(path)
            package = module if path.stem == "__init__" else module.rpartition(".")[0]
            for node in statements(tree.body) if tree else ():
                found |= _bound(node)
                if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                    found |= self.names(_origin(node, package), seen | {module})
        if module == "torch":
            found |= self.names("torch._C") | self.names("torch._C._VariableFunctions")
        return {name for name in found if not name.startswith(("_", "*"))}


def _origin(node: ast.ImportFrom, package: str) -> str:
    """The absolute name of the module that an import statement in `package` reads."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parts, node.module] if node.module else parts)


def _bound(node: ast.stmt) -> set[str]:
    """The names that one statement at top level binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(a.asname or a.name).partition(".")[0] for a in node.names}
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
        return set()
    parts = list(ast.walk(node))
    found = {p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}
    if isinstance(node, ast.Expr) or "__all__" in found:  # names that are exported
        strings = (p.value for p in parts if isinstance(p, ast.Constant))
        found |= {s for s in strings if isinstance(s, str) and s.isidentifier()}
    return found


def modules_named() -> list[str]:
    """The names of MODULES, with what lies below those that end in a dot."""
    found = set()
    for name in MODULES:
        found.add(name.rstrip("."))
        if name.endswith("."):
            package = importlib.import_module(name[:-1])
            below = pkgutil.iter_modules(getattr(package, "__path__", []), name)
            found |= {module.name for module in below}
    public = {n for n in found if not any(part.startswith("_") for part in n.split("."))}
    return sorted(n for n in public if not n.startswith(VARYING))


def read_modules(sources: list[Sources]) -> tuple[Tree, dict[str, type]]:
    """The names of each module, and the classes by each path under which they are public."""
    modules: Tree = {}
    classes: dict[str, type] = {}
    own = Sources(Path(importlib.import_module("torch").__file__ or "").parent.parent)
    for name in modules_named():
        try:
            module = importlib.import_module(name)
        except (ImportError, RuntimeError, AttributeError) as error:  # it needs what is not installed
            print(f"left out: {name} ({error})", file=sys.stderr)
            continue
        below = {m.name for m in pkgutil.iter_modules(getattr(module, "__path__", []))}
        names = {n for n in {*dir(module), *below} if not n.startswith("_")}
        other = set().union(*(s.names(name) for s in sources)) - names
        if name == "torch":
            other -= own.names("torch._C")  # stubs promise what the compiled module lacks
            other.add("set_vital")  # it answers for this name itself
        if name in WRITTEN_OUT:
            other |= (own.names(name) | DISTRIBUTED_FORMER) - names
        modules[name] = _names(names, other)
        for public in _holding_classes(name, names):
            value = getattr(module, public, None)
            if inspect.isclass(value) and value.__module__.startswith("torch"):
                classes[f"{name}.{public}"] = value
    return modules, classes


def _holding_classes(module: str, names: set[str]) -> list[str]:
    if module == "torch":
        return ["Tensor"]
    return sorted(names) if module.startswith(INSTANCES) else []


def _names(names: Iterable[str], other: Iterable[str]) -> Tree:
    result = {"names": sorted(set(names) - EVERYWHERE)}
    if elsewhere := sorted(set(other) - EVERYWHERE):
        result["other"] = elsewhere
    return result


def read_classes(public: dict[str, type], sources: list[Sources]) -> tuple[Tree, Tree]:
    """Each class and each of its bases under one name, and the other names it goes by."""
    keys: dict[type, str] = {}
    aliases: Tree = {}
    for path in sorted(public, key=lambda p: (p.count("."), len(p), p)):
        key = keys.setdefault(public[path], path)
        if key != path:
            aliases[path] = key
    for cls in list(keys):
        for base in cls.__mro__:
            if base.__module__.startswith("torch"):
                keys.setdefault(base, f"{base.__module__}.{base.__qualname__}")
    own = Sources(Path(importlib.import_module("torch").__file__ or "").parent.parent)
    classes = {key: _class(cls, keys, own, sources) for cls, key in keys.items()}
    known: Tree = {}
    for cls, key in keys.items():
        if not any(classes[keys[base]].get("open") for base in cls.__mro__ if base in keys):
            known[key] = classes[key]
    return known, {path: key for path, key in aliases.items() if key in known}


def _class(cls: type, keys: dict[type, str], own: Sources, sources: list[Sources]) -> Tree:
    names = set(vars(cls)) | set(vars(cls).get("__annotations__", {}))
    node = own.class_node(cls.__module__, cls.__qualname__)
    reason = ""
    if node:
        members = members_of(node)
        names |= members.names
        reason = members.open_because
    if f"{cls.__module__}.{cls.__qualname__}" in UNDERSTOOD:
        reason = ""
    elif type(cls).__name__ not in PLAIN_METACLASSES:
        reason = f"its metaclass is {type(cls).__name__}"
    elif "__init_subclass__" in vars(cls) or "__getattr__" in vars(cls):
        reason = reason or "it defines __init_subclass__ or __getattr__"
    for base in cls.__mro__[1:]:
        if base not in keys and base is not object:
            names |= set(vars(base))
    other: set[str] = set()
    for source in sources:
        old = source.class_node(cls.__module__, cls.__qualname__)
        other |= members_of(old).names if old else set()
    other -= set(dir(cls)) | names
    bases = [keys[base] for base in cls.__bases__ if base in keys]
    return {"bases": bases, **_names(names, other), **({"open": reason} if reason else {})}


def read_lightning(root: Path, others: list[Sources]) -> tuple[Tree, Tree]:
    """LightningModule, LightningDataModule and Callback, with their bases, read as text."""
    sources = Sources(root)
    package = next(p for p in ("lightning.pytorch", "pytorch_lightning") if sources.paths(p))
    classes: Tree = {}
    aliases: Tree = {}
    for name, module in LIGHTNING.items():
        key = f"lightning.pytorch.{name}"
        _written_class((f"{package}.{module}", name, key), sources, others, classes)
        roots = ("lightning.pytorch", "pytorch_lightning", "lightning")
        below = module.split(".")
        places = ["", f".{below[0]}", f".{module}"]
        for path in {f"{r}{place}.{name}" for r in roots for place in places} - {key}:
            aliases[path] = key
    return classes, aliases


def _written_class(where: tuple[str, str, str], sources: Sources, others: list[Sources], found: Tree) -> None:
    """Add to ``found`` the class at (module, name, key), and those of its bases that the sources hold."""
    module, name, key = where
    module, node = sources.locate(module, name)
    if node is None or key in found:
        return
    members = members_of(node)
    imported = {
        alias.asname or alias.name: (_origin(part, module.rpartition(".")[0]), alias.name)
        for tree in sources.trees(module)
        for part in ast.walk(tree)
        if isinstance(part, ast.ImportFrom)
        for alias in part.names
    }
    bases, reason = [], members.open_because if "__getattr__" not in members.names else ""
    found[key] = {}
    for base in node.bases:
        text = dotted(base)
        place, original = imported.get(text, (module, text))
        if place.startswith("torch"):
            bases.append("torch.nn.Module" if original == "Module" else f"{place}.{original}")
        elif sources.locate(place, original)[1]:
            bases.append(f"{place}.{original}")
            _written_class((place, original, bases[-1]), sources, others, found)
        elif not hasattr(builtins, text) and place not in {"abc", "typing"}:
            reason = f"its base {text} is not known"
    other: set[str] = set()
    for source in others:
        old_module = module.replace("lightning.pytorch", "pytorch_lightning", 1)
        old = source.class_node(old_module, name)
        other |= members_of(old).names if old else set()
    if name == "LightningModule":
        other |= LIGHTNING_FORMER
    names = _names(members.names, other - members.names)
    found[key] = {"bases": bases, **names, **({"open": reason} if reason else {})}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--other", type=Path, nargs="*", default=[], help="folders of other torches")
    parser.add_argument("--lightning", type=Path, help="folder that holds lightning/")
    parser.add_argument("--pytorch-lightning", type=Path, nargs="*", default=[])
    parser.add_argument("--output", type=Path, default=TARGET)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    torch: ModuleType = importlib.import_module("torch")
    sources = [Sources(path) for path in given.other]
    modules, public = read_modules(sources)
    classes, aliases = read_classes(public, sources)
    if given.lightning:
        lightning = read_lightning(given.lightning, [Sources(p) for p in given.pytorch_lightning])
    else:
        lightning = ({}, {})
    about = {
        "torch": torch.__version__,
        "other": sorted(_version(path) for path in given.other),
        "platform": sys.platform,
    }
    api = {
        "about": about,
        "modules": modules,
        "classes": classes,
        "aliases": aliases,
        "lightning": dict(zip(("classes", "aliases"), lightning, strict=True)),
    }
    given.output.write_text(json.dumps(api, indent=1, sort_keys=True) + "\n", "utf-8")
    print(f"{given.output}: {given.output.stat().st_size:,} bytes")


def _version(root: Path) -> str:
    text = (root / "torch/version.py").read_text("utf-8")
    return str(text.partition("__version__ = ")[2].splitlines()[0]).strip("'\"")


if __name__ == "__main__":
    main()
