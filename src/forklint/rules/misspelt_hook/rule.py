"""FKL502 misspelt-hook."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Link, Severity
from forklint.rules.base import Rule, Suspect
from forklint.rules.needs import Needs, last_names

if TYPE_CHECKING:
    from forklint.config import Settings
    from forklint.edits.tree import Tree
    from forklint.project.module import Module
    from forklint.rules.misspelt_hook.keywords import MisspeltKeyword
    from forklint.rules.misspelt_hook.methods import MisspeltMethod, RemovedMethod

METHODS = re.compile(rb"def[ \t]+(\w+)")
FAMILIES = (b"Dataset", b"Sampler")
"""What stands in the names of torch's classes that need not be known one by one."""
CERTAIN = ("__getitem__", "__iter__")
"""Hooks without which a class of torch's only raises."""
MOVE = "collect what the steps return in an attribute, and move this method's work to"
CONSTRUCTOR, PYTHON = "__init__", "Python"
"""The one hook that Python asks for, whatever the class is."""
MOST_KEYWORDS = 10_000
"""So many keywords are remembered, each with whether it may be a slip."""


@cache
def hook_meant(name: bytes) -> bool:
    """Whether a method of this name may be meant for a hook, or is one that is there no longer."""
    from forklint.knowledge.hooks import removed_hooks
    from forklint.rules.misspelt_hook.meaning import meant_hook

    written = name.decode(errors="replace")
    return meant_hook(written) is not None or written in removed_hooks()


@lru_cache(MOST_KEYWORDS)
def keyword_meant(name: str) -> bool:
    """Whether some keyword of some loader may be meant by this one."""
    from forklint.rules.misspelt_hook.meaning import meant_by

    known = _keywords()
    return name not in known and bool(meant_by(name, known))


@cache
def _keywords() -> frozenset[str]:
    """The keywords of all loaders that are known."""
    from forklint.knowledge.starters import starters

    return frozenset(word for row in starters().values() for word in row.arguments)


class MisspeltHook(Rule):
    """A method or keyword has a misspelled or removed name, so torch never uses it.

    ## What it does
    In datasets, iterable datasets and samplers (classes that derive from torch's, across files) it looks for methods
    whose names are one typo away from `__getitem__`, `__getitems__`, `__len__`, `__iter__`, `__getstate__`,
    `__setstate__` and `__init__`: `__get_item__`, `__length__`, `__itr__`, `_len_`, `__getitems_`; and for `get_item`,
    `length` and similar names if the class defines nothing else for the purpose. In a torch module, it looks for
    names that are one typo away from `forward` and `__init__`: `foward`, `__int__`, `_init_`, and in a class without a
    base outside of the project for names that are one typo away from `__init__` and `__call__`: `__ini__`, `_call__`.
    In a LightningModule, a LightningDataModule and a Callback, it looks for names that are one typo away from their
    hooks: `val_dataloaders`, `configure_optimizer`. In calls that create a `DataLoader`, or of a subclass or function
    that passes its `**kwargs` on, it looks for keywords: `worker_init=`, `num_worker=`, `collate=`, `pin_mem=`. Those
    that a function puts into a mapping before the call count as well, even if it does so in a branch.

    It also reports hooks that Lightning removed: `training_epoch_end`, `validation_epoch_end` and `test_epoch_end`,
    for which it raises an error, and those that it merely no longer calls, as `on_epoch_end`, `on_batch_start` and
    `training_step_end`. It does not if a requirements file, `pyproject.toml`, `setup.py` or conda environment beside
    the file or above it asks for an older Lightning.

    The rule reports nothing if code in the project uses the misspelled name, if a subclass has the right one, if the
    method has a signature that does not fit the hook, or if a `TypeError` is expected.

    ## Why is this bad?
    Python never calls a method with such a name. A dataset without `__getitem__` raises `NotImplementedError` when
    the first sample is read, possibly in a worker process; one without `__len__` raises `TypeError` when its loader
    is read, or created with `shuffle=True`. Without `__getitems__` or `__getstate__` there is no error, but batches
    are slow, or handles are pickled. Lightning skips validation if there is no `val_dataloader`, and raises
    `NotImplementedError` for some hooks that it removed, and ignores the others. An unknown keyword of the loader
    raises `TypeError` when the loader is created, which may be late in a run.

    ## Example
    ```python
    class Clips(Dataset):
        def __get_item__(self, index):
            return self.clips[index]


    loader = DataLoader(Clips(), worker_init=seed_worker)
    ```

    ## Use instead
    ```python
    class Clips(Dataset):
        def __getitem__(self, index):
            return self.clips[index]


    loader = DataLoader(Clips(), worker_init_fn=seed_worker)
    ```

    ## Fix safety
    The fix uses the correct name. It is safe for keywords, since the call raises an error as it is, and for
    `__getitem__` and `__iter__` of classes that derive only from torch's, which raise without them. It is unsafe for
    methods that change working behavior: a `__len__` decides whether the object is truthy, `__getitems__` and
    `__getstate__` are used from then on, and a plain `get_item` may be called from outside of the project.

    ## How it is proved
    The class is imported and used as torch uses it. A loader is created with the keyword, and with the correct one. A
    model with a removed hook is given to a `Trainer` of the Lightning that is installed; for a hook that is ignored,
    the class of that Lightning is asked for it.

    ## Known limits
    A class that does not derive from torch's counts as a dataset only if an object of it is passed to a loader, and if
    it has at least one of the correct names. Names with two typos are not reported, nor Lightning hooks with another
    name, unless a word of it is only another form (`on_training_epoch_end`, `val_step`). Functions inside of
    `__init__`, arguments of transformers, unknown loaders, and attributes of a loader that are set later are not
    checked. See [further ways](../recall/FKL502.md).

    ## References
    - [torch.utils.data.Dataset](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.Dataset)
    - [Emulating container types](https://docs.python.org/3/reference/datamodel.html#emulating-container-types)
    """

    code = "FKL502"
    name = "misspelt-hook"
    severity = Severity.ERROR

    @classmethod
    def needs_under(cls, settings: Settings) -> Needs:
        """A class that torch asks, by its bases or by what it has, or a loader, here or in what is reached."""
        from forklint.knowledge import datasets
        from forklint.knowledge.hooks import roles
        from forklint.knowledge.starters import starters

        bases = (*datasets.bases(), *datasets.homes(), *(base for role in roles() for base in role.base))
        loaders = (name for name, row in starters(settings.starters).items() if row.is_loader)
        return Needs(reached=FAMILIES, named=last_names((*bases, *datasets.entries(), *loaders)))

    def may_hold(self, path: Path, data: bytes) -> bool:
        """A class with a method of such a name, or such a keyword and what may make a loader."""
        if b"class " in data and any(map(hook_meant, set(METHODS.findall(data)))):
            return True
        summary = self.project.summary(path)
        scopes = summary.scopes if summary is not None else ()
        names = frozenset[str]().union(*(scope.passed | scope.strings for scope in scopes))
        if not any(map(keyword_meant, names)):
            return False  # the file alone says so: no keyword is a slip, nor a key of a mapping
        from forklint.loading.screening import may_set_up_loader

        return may_set_up_loader(self.project, path)

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Find the methods that nothing calls, and the keywords that no loader has."""
        from forklint.rules.misspelt_hook.keywords import misspelt_keywords
        from forklint.rules.misspelt_hook.methods import misspelt_methods, removed_methods

        if not self.may_hold(module.path, module.screened.code):
            return
        for method in misspelt_methods(self.project, module):
            yield Suspect(
                node=method.method,
                subject=method.method.name,
                message=_method_message(method),
                cells=self.settings.cells,
                severity=Severity.ERROR if method.effect else Severity.WARNING,
                facts=method,
            )
        for removed in removed_methods(self.project, module):
            yield Suspect(
                node=removed.method,
                subject=removed.method.name,
                message=_removed_message(removed),
                cells=self.settings.cells,
                severity=Severity.ERROR if removed.hook.refused else Severity.WARNING,
                facts=removed,
            )
        for keyword in misspelt_keywords(self.project, module):
            given = keyword.given
            is_here = given.module is module and (given.is_own or keyword.is_collected)
            raises = f"`{keyword.row.name}` has no parameter `{given.name}` and raises TypeError"
            message = f"{raises}; did you mean `{keyword.meant}`?"
            yield Suspect(
                node=given.value if is_here else keyword.call,
                subject=given.name,
                message=message,
                cells=self.settings.cells,
                chain=tuple(self._chain(module, keyword, is_here=is_here)),
                facts=keyword,
            )

    def _chain(self, module: Module, keyword: MisspeltKeyword, *, is_here: bool) -> Iterator[Link]:
        given = keyword.given
        if not is_here:
            yield self.link(given.module, given.value, f"`{given.name}` is set here")
        elif given.home is not given.call:
            yield self.link(module, keyword.call, "the loader is created here")

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The class, the method and the hook; or the loader, the keyword and the one that is meant."""
        from forklint.knowledge.starters import TORCH
        from forklint.rules.misspelt_hook.methods import MisspeltMethod, RemovedMethod

        wrong: MisspeltMethod | RemovedMethod | MisspeltKeyword = suspect.facts
        if isinstance(wrong, RemovedMethod):
            hook = wrong.hook
            return {"class": wrong.owner.place, "name": hook.name, "meant": hook.instead, "removed": hook.effect}
        if isinstance(wrong, MisspeltMethod):
            return {"class": wrong.owner.place, "name": wrong.method.name, "meant": wrong.hook, "effect": wrong.effect}
        loader = TORCH if wrong.row.passes_on else wrong.row.call[0]
        return {"loader": loader, "name": wrong.given.name, "meant": wrong.meant}

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterator[Proposal]:
        """Rename it."""
        from forklint.rules.misspelt_hook import renaming
        from forklint.rules.misspelt_hook.methods import MisspeltMethod, RemovedMethod

        wrong: MisspeltMethod | RemovedMethod | MisspeltKeyword = suspect.facts
        if isinstance(wrong, RemovedMethod):
            hook = wrong.hook
            advice = MOVE if hook.refused else "move this method's work to"
            yield Proposal(f"{advice} `{hook.instead}`", Applicability.DISPLAY)
            return
        if isinstance(wrong, MisspeltMethod):
            name = wrong.method.name
            is_plain = bool(wrong.effect) and wrong.is_alone and wrong.hook in CERTAIN and name.startswith("_")
            changed = renaming.method_renamed(tree, module, wrong.method, wrong.hook)
            safety = Applicability.SAFE if is_plain else Applicability.UNSAFE
            if changed is not None:
                yield Proposal(f"rename `{name}` to `{wrong.hook}`", safety, changed)
            return
        name = wrong.given.name
        changed = renaming.argument_renamed(tree, module, wrong.given, wrong.meant) if wrong.is_free else None
        if changed is not None:
            yield Proposal(f"rename `{name}` to `{wrong.meant}`", Applicability.SAFE, changed)
        else:
            advice = f"rename `{name}` to `{wrong.meant}` where it is written" if wrong.is_free else f"remove `{name}`"
            yield Proposal(advice, Applicability.DISPLAY)


def _method_message(wrong: MisspeltMethod) -> str:
    role = wrong.role
    asker = PYTHON if wrong.hook == CONSTRUCTOR else role.asker
    asked = f"{asker} looks for `{wrong.hook}` in a {role.kind}"
    told = f"`{wrong.owner.name}.{wrong.method.name}` is never called: {asked}"
    return f"{told}; without it {wrong.effect}" if wrong.effect else told


def _removed_message(wrong: RemovedMethod) -> str:
    hook, version = wrong.hook, ".".join(map(str, wrong.hook.since))
    told = f"Lightning {version} removed the hook `{hook.name}`"
    so = f"; where a class has it, {hook.refused}" if hook.refused else ", and nothing calls it"
    return f"{told}{so}; use `{hook.instead}`"
