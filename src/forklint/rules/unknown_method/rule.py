"""FKL501 unknown-method."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Link, Severity
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import Needs

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.project.module import Module
    from forklint.rules.unknown_method.iterators import OldNext
    from forklint.rules.unknown_method.lacking import Lacking
    from forklint.rules.unknown_method.missing_modules import MissingModule
    from forklint.rules.unknown_method.module_names import LackingName
    from forklint.rules.unknown_method.nearest import Nearest
    from forklint.rules.unknown_method.objects import Objects
    from forklint.rules.unknown_method.removed import Removed
    from forklint.rules.unknown_method.screening import Screening
    from forklint.rules.unknown_method.torch_names import Misspelt

    Wrong = Lacking | LackingName | MissingModule | Misspelt | OldNext | Removed

HIDDEN = "; the `except` around it hides the error"


class UnknownMethod(Rule):
    """A method is called, or an attribute read, that neither the object's class nor any of its bases has.

    ## What it does
    Looks at what is called or read on `self`, at calls on `super()`, and at calls on variables and attributes that only
    ever hold an object of one class, on such objects from other files of the project, on classes themselves, and at
    names that are imported or read from modules of torch and of the project. It reports a name that does not exist, and
    an import of a module that a package of the project does not have. It reports nothing if the name could come from
    elsewhere: a base class that is unknown, `__getattr__`, `setattr` with a computed name, a decorator that may change
    the class, or code that sets the attribute on another object. A class with subclasses is checked together with them:
    a mixin is reported if every class that uses it lacks the name, an abstract class if the name is not defined
    anywhere in the project.

    It also reports modules, functions and methods that torch removed, private ones included, and some of torchvision,
    torchaudio, transformers, datasets, huggingface_hub, Lightning and numpy: `torch._six`,
    `torchvision.transforms.Scale`, `torchaudio.info`, `transformers.AdamW`, `datasets.load_metric`, `torch.rfft`,
    `RNNCellBase.check_forward_input`, `Trainer.lr_find`, `np.int` and others, and `.next()` of an iterator of a
    `DataLoader`, which torch 1.13 removed. Where nothing is known of what `iter` is called with, it passes for a
    loader if no class of the project has a method `next`. Calls of functions that torch keeps only to raise an error,
    such as `torch.symeig`, are reported as well, and so is `self.hparams = ...` in a LightningModule, which has no
    setter since 1.3. Nothing of this is reported if the project asks for an older version, which had the name
    (`torch==1.7.1` in `requirements.txt`, `environment.yml` or another such file, or in a notebook's own `!pip
    install`); of numpy, also if it asks for a Python or a torch that the newer numpy does not go with.

    The rule checks files that use torch or transformers, and files of such a project that are in a package or import
    another file. If an `except` around several statements hides the error, the severity is info.

    ## Why is this bad?
    Python raises the error only when the line runs: after an epoch, or in a worker process, where the traceback is all
    you get. A script that was changed in one file but not in another can train for hours before it fails.

    ## Example
    ```python
    trainer = GANTrainer(n_features=8)
    synthetic = trainer.generate_synthetic_data(num_samples=64)
    ```

    ## Use instead
    ```python
    trainer = GANTrainer(n_features=8)
    synthetic = trainer.generate_sample(num_samples=64)
    ```

    ## Fix safety
    `next(batches)` instead of `batches.next()` is safe, and so is another name for the same object of numpy. Any
    other name is unsafe: the most similar one may not be the intended one. Only names that can be called are offered
    (methods, and attributes that hold torch modules), names of the project before those of torch, and no private name
    of another class. If several names are similar, they are only listed.

    The start method does not matter: the call raises an error wherever it runs, so a finding names all platforms and
    start methods.

    ## How it is proved
    A subprocess imports the class and looks up the attribute, or imports the module.

    ## Known limits
    An attribute that is read is reported once in a function. A class without `__init__` that the project never
    instantiates is checked for calls on `self` only, since it may be a mixin. Objects are followed through
    functions that return them, conditions, `None`, `with ... as`, and wrappers such as `DataParallel`, but not
    through a list or table, `torch.compile` or the `module` of a wrapper; the annotation of a parameter counts if
    nothing in the project supplies the name. If only one of several classes lacks the name, nothing is reported,
    except for a model that is sometimes wrapped, which is a warning. An object that another one holds is
    followed through two attributes (`trainer.model.encoder`), if the project alone makes both. Tensors are not
    checked. In
    a class without a base, which may be a mixin, `super()` is checked only for methods of `unittest.TestCase`. For
    objects of torch, a name that stands elsewhere in the project is reported only if it is plainly misspelt, and names
    of up to four letters are too short for that. A module that imports nothing of the
    project, is not in a package and does not mention torch is not checked, even if a training script imports it, and
    neither are subclasses of classes from unknown libraries. Imports in notebooks and from empty files are not
    checked. A module that is missing is reported only below a folder with an `__init__.py`, or from which the file
    imports something else. It is not reported if a build, a script or another project may supply it: if `setup.py`,
    another build file, `.gitmodules`, `.gitignore` or a command in the README names it, a file of another suffix has
    its name, its name begins with `_`, the package changes its `__path__`, it lies below a folder such as
    `third_party`, or most imports of the file fail.

    ## References
    - [torch.nn.Module](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html)
    - [AttributeError](https://docs.python.org/3/library/exceptions.html#AttributeError)
    """

    code = "FKL501"
    name = "unknown-method"
    severity = Severity.ERROR
    tokens = rb"(?:import|from)[ \t]+(?:torch|torchvision|torchaudio|lightning|pytorch_lightning|transformers)\b"
    words = (b"torch", b"lightning", b"transformers")
    needs = Needs(reached=words)
    """Torch or what is made for it, here or in what is reached; or anywhere, for a file that belongs with others."""

    @cached_property
    def _objects(self) -> Objects:
        from forklint.rules.unknown_method.objects import Objects

        return Objects(self.project)

    @cached_property
    def _screening(self) -> Screening:
        from forklint.rules.unknown_method.screening import Screening

        return Screening(self.project)

    def may_hold(self, path: Path, data: bytes) -> bool:
        """Something dotted, torch imported here or in a module that this one reaches, and a name that may lack."""
        from forklint.rules.unknown_method.iterators import ASKED

        return self._is_asked(path, data) and (ASKED.search(data) is not None or self._screening.may_lack(path))

    def _is_asked(self, path: Path, data: bytes) -> bool:
        return b"." in data and (self.reaches_tokens(path) or self._is_beside_torch(path))

    def _is_beside_torch(self, path: Path) -> bool:
        """Whether a file is one of a package or imports another, in a project of which some file imports torch."""
        return (path.name == "__init__.py" or bool(self.project.graph.imports(path))) and self.trains()

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Calls of methods that are not there, names of torch that are misspelt, and iterators asked as in Python 2."""
        from forklint.rules.unknown_method.iterators import old_nexts
        from forklint.rules.unknown_method.missing_modules import missing_modules
        from forklint.rules.unknown_method.module_names import lacking_names
        from forklint.rules.unknown_method.removed import removed
        from forklint.rules.unknown_method.removed_members import lost_members
        from forklint.rules.unknown_method.torch_names import misspelt

        if not self._is_asked(module.path, module.screened.code):
            return
        for lacking in self._objects.lacking(module):
            yield Suspect(
                node=lacking.node,
                subject=lacking.name,
                message=_method_message(lacking),
                cells=self.settings.cells,
                chain=tuple(self._chain(lacking)),
                severity=_severity(lacking),
                facts=lacking,
            )
        names = list(lacking_names(self.project, module))
        for absent in names:
            message = f"the module `{absent.owner_name}` has no `{absent.name}`{_hint(absent.near)}"
            message, severity = (f"{message}{HIDDEN}", Severity.INFO) if absent.hidden else (message, None)
            yield Suspect(absent.node, absent.name, message, self.settings.cells, severity=severity, facts=absent)
        said = {(absent.node, absent.name) for absent in names}
        for missing in missing_modules(self.project, module):
            if (missing.node, missing.name) in said:
                continue  # ``from . import name``: the package has neither a module nor anything else of the name
            message, severity = self._module_message(missing), Severity.INFO if missing.hidden else None
            yield Suspect(missing.node, missing.name, message, self.settings.cells, severity=severity, facts=missing)
        for wrong in misspelt(self.project, module):
            severity = Severity.INFO if wrong.hidden else None
            message = _name_message(wrong)
            yield Suspect(wrong.node, wrong.name, message, self.settings.cells, severity=severity, facts=wrong)
        for old in old_nexts(self.project, module):
            words = "an iterator of a DataLoader has no method `next` since torch 1.13"
            message, severity = (f"{words}{HIDDEN}", Severity.INFO) if old.hidden else (words, None)
            yield Suspect(old.node, old.node.attr, message, self.settings.cells, severity=severity, facts=old)
        for gone in (*removed(self.project, module), *lost_members(self.project, module)):
            message, severity = (f"{gone.message}{HIDDEN}", Severity.INFO) if gone.hidden else (gone.message, None)
            yield Suspect(gone.node, gone.path, message, self.settings.cells, severity=severity, facts=gone)

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The name, and the class or module of the project, or that of torch, that lacks it."""
        from forklint.project.module import ClassFacts
        from forklint.rules.unknown_method.iterators import ITERATOR, OldNext
        from forklint.rules.unknown_method.lacking import Lacking
        from forklint.rules.unknown_method.missing_modules import MissingModule
        from forklint.rules.unknown_method.module_names import LackingName
        from forklint.rules.unknown_method.removed import Removed

        wrong: Wrong = suspect.facts
        if isinstance(wrong, OldNext):
            return {"name": suspect.subject, "torch": ITERATOR}
        if isinstance(wrong, LackingName):
            return {"name": wrong.name, "class": (str(wrong.owner.path), "")}
        if isinstance(wrong, MissingModule):
            return {"name": wrong.name, "class": (str(wrong.init), ""), "is_module": True}
        if isinstance(wrong, Removed):
            above, _, name = wrong.path.rpartition(".")
            is_module = isinstance(wrong.node, (ast.Import, ast.ImportFrom))
            return {"name": name, "torch": above, "is_module": is_module, "is_setter": wrong.gone.is_setter}
        owner = wrong.owner
        if isinstance(wrong, Lacking) and wrong.is_above and isinstance(owner, ClassFacts):
            bases = self.project.ancestry(owner).classes[1:]
            base = {"class": bases[0].place} if bases else {"torch": "builtins.object"}
            return {"name": wrong.name, **base}
        if isinstance(owner, ClassFacts):
            return {"name": wrong.name, "class": owner.place}
        raises = {"raises": True} if not isinstance(wrong, Lacking) and wrong.gone and wrong.gone.raises else {}
        return {"name": wrong.name, "torch": owner.path, **raises}

    def _module_message(self, missing: MissingModule) -> str:
        elsewhere = missing.elsewhere.relative_to(self.project.root).as_posix() if missing.elsewhere else ""
        hint = f"; there is `{elsewhere}`" if elsewhere else ""
        hidden = HIDDEN if missing.hidden else ""
        return f"the package `{missing.package}` has no module `{missing.name}`{hint}{hidden}"

    def _chain(self, lacking: Lacking) -> Iterator[Link]:
        from forklint.project.module import ClassFacts

        owner = lacking.owner
        if not isinstance(owner, ClassFacts):
            return
        yield self.link(owner.module, owner.node, f"`{owner.name}` is defined here")
        meant = self.project.method(owner, lacking.near.outstanding)
        if meant is not None:
            yield self.link(meant[0].module, meant[1], f"`{lacking.near.outstanding}` is here")

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterator[Proposal]:
        """Rename it to the one name that stands out; else show those that are alike."""
        from forklint.rules.unknown_method import names
        from forklint.rules.unknown_method.iterators import OldNext
        from forklint.rules.unknown_method.lacking import Lacking
        from forklint.rules.unknown_method.missing_modules import MissingModule
        from forklint.rules.unknown_method.removed import Removed

        wrong: Wrong = suspect.facts
        if isinstance(wrong, MissingModule):
            return
        instead = _instead(wrong)
        if isinstance(wrong, Removed) and wrong.gone.renamed:
            statement = tree.statements[module.ordinals[module.statement_of(wrong.node)]]
            is_shadowed = module.scope_at(wrong.node).find(wrong.gone.renamed) is not None
            mended = names.put_instead(tree, statement, wrong.node, wrong.gone.renamed)
            yield Proposal(instead, Applicability.DISPLAY if is_shadowed else Applicability.SAFE, mended)
            return
        if instead or isinstance(wrong, Removed):
            yield from [Proposal(instead, Applicability.DISPLAY)] if instead else []
            return
        if isinstance(wrong, OldNext):
            statement = tree.statements[module.ordinals[module.statement_of(wrong.node)]]
            changed = names.asked_by_builtin(tree, statement, wrong.node) if _is_builtin(module, wrong.call) else None
            yield Proposal(
                "ask the builtin `next` for it", Applicability.SAFE if changed else Applicability.DISPLAY, changed
            )
            return
        meant = wrong.near.outstanding
        if isinstance(wrong, Lacking) and wrong.wrapped:
            yield Proposal(f"call it on the wrapped object: `.module.{wrong.name}`", Applicability.DISPLAY)
        elif meant and isinstance(suspect.node, ast.Call):
            yield Proposal(f"look up `{meant}` instead", Applicability.DISPLAY)
        elif meant:
            statement = tree.statements[module.ordinals[module.statement_of(suspect.node)]]
            uses: tuple[ast.AST, ...] = ()
            if isinstance(suspect.node, ast.ImportFrom):
                uses = tuple(node for node in module.nodes if isinstance(node, ast.Name) and node.id == wrong.name)
                changed = names.renamed_import(tree, statement, wrong.name, meant)
            else:
                changed = names.renamed(tree, statement, suspect.node, meant)
            yield Proposal(f"rename `{wrong.name}` to `{meant}`", Applicability.UNSAFE, changed, uses)
        elif wrong.near.names:
            yield Proposal(f"use one of {_listed(wrong.near.names)}", Applicability.DISPLAY)


def _severity(lacking: Lacking) -> Severity | None:
    if lacking.hidden:
        return Severity.INFO
    return Severity.WARNING if lacking.perhaps else None


def _method_message(lacking: Lacking) -> str:
    from forklint.knowledge.torch_api import ApiNames

    owner = lacking.owner
    if isinstance(owner, ApiNames):
        hint = "; the wrapped object has it, under `.module`" if lacking.wrapped else _hint(lacking.near)
        hint = "; where the object is wrapped, it has it under `.module`" if lacking.perhaps else hint
        return f"`{owner.path}` has no `{lacking.name}`{hint}{_former(lacking)}"
    hidden = HIDDEN if lacking.hidden else ""
    if lacking.is_above:
        return f"no base of `{owner.name}` has a method `{lacking.name}`{_former(lacking)}{hidden}"
    kind = "method" if lacking.is_call else "attribute"
    return f"`{owner.name}` has no {kind} `{lacking.name}`{_hint(lacking.near)}{_former(lacking)}{hidden}"


def _name_message(wrong: Misspelt) -> str:
    name = f"{wrong.owner.path}.{wrong.name}"
    end = f"{_former(wrong)}{HIDDEN if wrong.hidden else ''}"
    if wrong.gone is not None and wrong.gone.raises:
        return f"`{name}` only raises RuntimeError{end}"
    return f"`{wrong.owner.path}` has no `{wrong.name}`{_hint(wrong.near)}{end}"


def _former(wrong: Lacking | Misspelt) -> str:
    """Since when torch lacks a name that it once had."""
    return f" since torch {wrong.gone.version}" if wrong.gone is not None else ""


def _instead(wrong: Lacking | LackingName | Misspelt | OldNext | Removed) -> str:
    """What to use instead of what torch no longer has, if it is known."""
    from forklint.rules.unknown_method.iterators import OldNext
    from forklint.rules.unknown_method.module_names import LackingName

    gone = wrong.gone if not isinstance(wrong, (OldNext, LackingName)) else None
    return gone.instead if gone is not None else ""


def _hint(near: Nearest) -> str:
    if near.outstanding:
        return f"; did you mean `{near.outstanding}`?"
    return f"; similar names are {_listed(near.names)}" if near.names else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _is_builtin(module: Module, call: ast.Call) -> bool:
    """Whether the name `next` means the builtin where a call stands."""
    return module.scope_at(call).find("next") is None
