"""FKL204 unpicklable-payload."""

from __future__ import annotations

import re
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
    from forklint.rules.unpicklable_payload.payloads import Payload, Payloads
    from forklint.sending.sites import Sent

CLOSURE = "use a module-level function with `functools.partial`, or a class with `__call__`"
LEAVE_OUT = "create it on first use, in the process that uses it, and drop it in `__getstate__`"
ADVICE = {
    "LAMBDA": CLOSURE,
    "LOCAL_FUNCTION": CLOSURE,
    "LOCAL_CLASS": "move the class to the top of the module",
    "GUARDED": "define it above the guard",
    "GENERATOR": "create the generator where it is used, in `__iter__` or `__getitem__`",
    "MODULE": "import the module where it is used, and do not store it",
    "VIEW": "store a list instead: `list(...)`",
    "OBJECT": LEAVE_OUT,
    "NOTEBOOK": "move it to a module that the notebook imports",
}


class UnpicklablePayload(Rule):
    """Something that is sent to a worker process cannot be pickled.

    ## What it does
    Looks at everything that is sent to processes: `dataset`, `collate_fn` and `worker_init_fn` of a loader that may
    have workers, the datasets and `data_collator` of a `transformers.Trainer`, `target` and `args` of a `Process`, the
    function and `initializer` of a pool or executor, the function passed to `torch.multiprocessing.spawn`. It follows
    names, functions that return functions, `functools.partial`, `transforms.Compose` and similar classes, attributes
    set in `__init__`, stages of pipelines (webdataset, torch's DataPipes), the transform of a Hugging Face dataset, and
    datasets composed of others. It reports lambdas, functions and classes defined in a function, generators, locks,
    threads, queues of threads, executors and pools, modules, scripted modules of torch, sessions of boto3, views of a
    dictionary, methods cached by `lru_cache(...)(self.method)`, `torch.Generator` (on Linux), and open handles outside
    of a dataset (those in a dataset are reported by FKL301). A finding stands where the thing is made, however many
    scripts send it, a module that everyone passes to a dataset where the dataset stores it, and datasets of the project
    with such an attribute are reported wherever they are loaded. In a notebook, it reports functions and classes
    defined in the notebook itself; where nothing says that workers get pickles, only the first for each loader, and
    none on Colab and Kaggle, which fork. `sampler`, `batch_sampler` and `generator` stay in the parent. A dataset that
    is passed to a function or method which makes the loader is followed there. A method of an object that keeps the
    processes it has started cannot be the `target` of the next one.

    The rule reports nothing if the number of workers is 0 or unknown, if the start method is fork, if `__getstate__` or
    `__reduce__` drops the attribute, and for libraries that use dill or cloudpickle (`multiprocess`, `pathos`, joblib).

    ## Why is this bad?
    A worker that is started by spawn (macOS, Windows) or forkserver (Linux from Python 3.14 on) receives everything by
    pickle. Iterating the loader then raises `PicklingError`, `AttributeError: Can't pickle local object` or `TypeError:
    cannot pickle '_thread.lock' object`, in a program that used to work on Linux. Arguments of a pool's methods are
    sent through a pipe and fail under fork, too. Functions and classes of a notebook are pickled by name, which the new
    process cannot find: it ends, and the loader fails. A worker on Linux also fails if it is sent a `torch.Generator`,
    whose state is no longer in shared memory when it arrives.

    ## Example
    ```python
    loader = DataLoader(samples, batch_size=8, num_workers=4, collate_fn=lambda batch: tuple(zip(*batch)))
    ```

    ## Use instead
    ```python
    def collate(batch):
        return tuple(zip(*batch))


    loader = DataLoader(samples, batch_size=8, num_workers=4, collate_fn=collate)
    ```

    ## Fix safety
    A lambda or a local function that uses no variables of the functions around it is moved to the top of the module,
    which is safe. For other functions and for objects there is only advice.

    ## How it is proved
    The program is run up to the call, and its arguments are pickled as multiprocessing does it. A loader is read
    without workers and with workers under each start method; the verdict names the attribute that cannot be pickled.

    ## Known limits
    Arguments passed in by callers are known only if a caller passes a lambda or a local function on to a loader or its
    dataset, through at most four calls. What another module makes is reported there, once, if that module leads by
    imports to the one that sends it, and otherwise where it is sent. A stored iterator of a loader is not
    reported. If only platforms are affected that the project shows no sign of using, and no Python from 3.14 on is
    configured, the severity is info.

    ## References
    - [multiprocessing: the spawn and forkserver start methods](https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods)
    - [pickle: what can be pickled](https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled)
    - [torch.utils.data: platform-specific behaviors](https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors)
    """

    code = "FKL204"
    name = "unpicklable-payload"
    words = (
        *(b"Loader(", b"create_loader", b"Process(", b"Process as ", b"ProcessPoolExecutor", b"Pool(", b"Pool as "),
        *(b"spawn(", b"spawn as ", b"process_map", b"start_processes"),
    )
    datasets = re.compile(rb"(?i:class \w+\([^)]*data(?:set|pipe))")
    made = (
        *(b"lambda", b"Lock(", b"Queue(", b"Thread(", b"Manager(", b"collat", b"worker_init", b"transform", b"_fn"),
        *(b"Executor(", b"cv2.", b"= np.random", b"cache(", b"Env", b"_env", b"ScriptModule", b"Session("),
    )
    needs = Needs(here=((*words, *made, b"Loader", b"workers", b"Folder", b"Dataset", b"DataPipe"),))
    """A call that sends something, a dataset, or what a dataset of another file may keep."""

    @cached_property
    def _payloads(self) -> Payloads:
        from forklint.rules.unpicklable_payload.payloads import Payloads

        return Payloads(self.project)

    def may_hold(self, path: Path, data: bytes) -> bool:
        """A call that sends something, or a class that looks like a dataset."""
        if self.holds_tokens(data):
            return True
        if b"Folder" in data and b"class " in data:
            return True
        if (b"Dataset" in data or b"DataPipe" in data) and self.datasets.search(data) is not None:
            return True
        from forklint.loading.screening import may_set_up_loader
        from forklint.rules.unpicklable_payload.beside import may_be_kept, may_make
        from forklint.sending.screening import may_hand_on

        if may_set_up_loader(self.project, path):  # a loader of the project, whatever it is called
            return True
        if may_be_kept(self.project, path):
            return True
        return may_make(self.project, path) and may_hand_on(self.project, path)

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """What this module sends, or its datasets keep."""
        from forklint.loading.certainty import is_idle

        for payload in self._payloads.in_module(module):
            if payload.sent is None and payload.dataset is not None and is_idle(self.project, payload.dataset):
                continue
            doubt = self._doubt(payload)
            yield Suspect(
                node=payload.node,
                subject=_subject(payload),
                message=f"{_message(payload)} ({doubt})" if doubt else _message(payload),
                cells=payload.cells,
                chain=tuple(self._chain(module, payload)),
                severity=Severity.INFO if doubt else self._severity(payload),
                facts=payload,
            )

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The call that sends it and the parameter, or the dataset, and the attributes that lead to it.

        ``late``: words of the error of a process that cannot read what was pickled; ``again``: whether only a further
        process of the call is refused.
        """
        payload: Payload = suspect.facts
        sent = payload.sent
        place = None
        if sent is not None:
            span = sent.module.span(sent.call)
            place = {"file": str(sent.module.path), "first": span.row, "last": span.end_row}
        return {
            "call": place,
            "part": sent.part if sent is not None else "dataset",
            "to": sent.to if sent is not None else "DataLoader",
            "piped": sent is not None and sent.piped,
            "dataset": payload.dataset.place if payload.dataset is not None else None,
            "path": payload.culprit.path,
            "late": payload.culprit.late,
            "again": payload.culprit.again,
            "what": payload.culprit.name,
        }

    def _doubt(self, payload: Payload) -> str:
        """Why workers may never get it."""
        from forklint.loading.certainty import ONLY_WITH_OPTION, doubt_of, has_none_by_default

        loader = payload.sent.loader if payload.sent is not None else None
        if loader is not None:
            return ONLY_WITH_OPTION if has_none_by_default(loader) else ""
        return doubt_of(self.project, payload.dataset) if payload.dataset is not None else ""

    def _severity(self, payload: Payload) -> Severity:
        from forklint.machines.signs import expects_pickling

        sent = payload.sent
        if sent is not None and (sent.piped or (sent.asked and _has_workers(sent))):
            return Severity.ERROR
        return Severity.WARNING if expects_pickling(self.project, payload.cells) else Severity.INFO

    def _chain(self, module: Module, payload: Payload) -> Iterator[Link]:
        culprit, sent = payload.culprit, payload.sent
        if sent is not None and sent.value is not payload.node:
            yield self.link(sent.module, sent.call, f"it is sent as `{sent.part}` here")
        if culprit.module is not module:
            yield self.link(culprit.module, culprit.node, "it is here")
        elif culprit.definition not in {culprit.node, payload.node} and culprit.definition is not None:
            yield self.link(module, culprit.definition, "it is defined here")

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterable[Proposal]:
        """Move a function that needs nothing of its surroundings to the top of the module; else say what helps."""
        from forklint.rules.unpicklable_payload import module_level

        payload: Payload = suspect.facts
        culprit = payload.culprit
        if culprit.definition is not None and culprit.why.name != "NOTEBOOK":
            moved = module_level.proposal(culprit, payload.part, module, tree)
            if moved is not None:
                return (moved,)
        return (Proposal(ADVICE.get(culprit.why.name, LEAVE_OUT), Applicability.DISPLAY),)


def _has_workers(sent: Sent) -> bool:
    """Whether what it is sent to is surely there: of a loader's workers the number must be known."""
    from forklint.values.numbers import Workers

    return sent.loader is None or sent.loader.workers.kind is Workers.SOME


def _subject(payload: Payload) -> str:
    """The attributes that lead to the culprit; without any the parameter, or the class that is sent as it is."""
    owner = payload.dataset.name if payload.dataset is not None else ""
    return ".".join(payload.culprit.path) or payload.part or owner


def _message(payload: Payload) -> str:
    culprit, sent = payload.culprit, payload.sent
    methods = " and ".join(sorted({cell.start_method for cell in payload.cells}))
    if culprit.is_lost:
        where = "in a notebook" if culprit.why.name == "NOTEBOOK" else "under the main guard"
        return f"{culprit.name} is defined {where}, where a process started by {methods} cannot find it"
    if sent is not None and sent.piped:
        path = f" in `{'.'.join(culprit.path)}`" if culprit.path else ""
        words = f"{culprit.name}{path} cannot be sent through `{_pipe(sent)}`"
        return f"{words}, whatever the start method: {culprit.error}"
    path = ".".join(("self" if sent is None else sent.part, *culprit.path))
    who = "a worker" if sent is None or sent.loader is not None else f"a {sent.to}"
    return f"{culprit.name} in `{path}` cannot be sent to {who} under {methods}: {culprit.error}"


def _pipe(sent: Sent) -> str:
    return f"{sent.to}.{sent.part}" if sent.part != "fn" else sent.to
