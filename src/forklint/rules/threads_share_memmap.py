"""FKL305 threads-share-memmap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Cell, Severity
from forklint.rules.base import Rule, Suspect

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.facts.threads.sharing import Sharing
    from forklint.project.module import Module

ADVICE = {
    "memmap": "return the rows from the tasks, and write them in one thread as `imap` or `as_completed` yields them",
    "offset": "open the file in the task, use `os.pread` with its descriptor, or hold a lock for both calls",
    "text": "return the lines from the tasks and write them in one thread, or hold a lock while writing",
}


class ThreadsShareMemmap(Rule):
    """The tasks of a thread pool write one mapped file, or use one open file, at the same time.

    ## What it does
    Looks at the functions that are given to a `ThreadPool` or `ThreadPoolExecutor` (also by `partial`, as a lambda, as
    a method). It reports those that, without a lock,

    - store into a `np.memmap`, `open_memmap` or `np.load(..., mmap_mode="r+")` that was opened outside them,
    - seek in an open file and then read or write, or write to a text file, that was opened outside them.

    ## Why is this bad?
    Threads that write one mapped file have ended with a bus error on macOS, where the file's pages are extended while
    another thread touches them; on Linux the rows came out right, so the finding is macOS's alone. An open file has one
    offset: between one thread's seek and its read another may seek. Measured on Linux with 8 threads and 20,000 tasks:
    up to 14 reads and 167 writes at the wrong place. A text file's buffer is no safer: lines came out torn, some as
    bytes that no one wrote. Whole writes to a binary file were right.

    ## Example
    ```python
    def write(row):
        features[row] = mel_features(clips[row])


    with ThreadPool(os.cpu_count()) as pool:
        pool.map(write, range(len(clips)))
    ```

    ## Use instead
    ```python
    with ThreadPool(4) as pool:
        for row, mel in enumerate(pool.imap(mel_features, clips)):
            features[row] = mel
    ```

    ## Fix safety
    No fix is applied: what a task gives back is its author's to say.

    ## How it is proved
    The program runs, and who writes what is watched. A read after another thread's seek is seen as such, and confirms
    the finding. For a mapped file the threads that wrote it are counted; the bus error itself is seen on macOS, and
    elsewhere the answer is `unsupported here: needs darwin`.

    ## Known limits
    A `with` around the use is taken for a lock. Threads that are started by hand, by joblib or by an event loop are
    passed over, and so are arrays in a list, a dictionary or a view of another, files that are handed on through
    objects other than `self`, a `csv.writer`, and compressed files. That a pool has a thread for each processor is
    told, and no finding by itself. More is told in [further ways](../recall/FKL305.md).

    ## References
    - [numpy.memmap](https://numpy.org/doc/stable/reference/generated/numpy.memmap.html)
    - [io: multi-threading](https://docs.python.org/3/library/io.html#multi-threading)
    """

    code = "FKL305"
    name = "threads-share-memmap"
    severity = Severity.WARNING
    tokens = rb"\bThreadPool(?:Executor)?\b|\bmultiprocessing\.dummy\b|\bthread_map\b"
    words = (b"ThreadPool", b"multiprocessing.dummy", b"thread_map")

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Each thing that the tasks of one call share."""
        from forklint.facts.threads.sharing import sharings

        if not self.holds_tokens(module.document.code):
            return
        for sharing in sharings(self.project, module):
            cells = self._cells(sharing)
            if cells:
                use = self.link(module, sharing.use, "each task uses it here")
                made = self.link(module, sharing.made, "it is opened here")
                subject = sharing.name.removeprefix("self.")
                yield Suspect(sharing.tasks.call, subject, _message(sharing), cells, (made, use), facts=sharing)

    def _cells(self, sharing: Sharing) -> tuple[Cell, ...]:
        everywhere = sharing.kind != "memmap"
        return tuple(cell for cell in self.settings.cells if everywhere or cell.platform == "darwin")

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The kind, and the rows of the use."""
        sharing: Sharing = suspect.facts
        span = module.span(sharing.use)
        return {"kind": sharing.kind, "name": sharing.name, "use": [span.row, span.end_row]}

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterator[Proposal]:
        """Words."""
        yield Proposal(ADVICE[suspect.facts.kind], Applicability.DISPLAY)


def _message(sharing: Sharing) -> str:
    many = " (one thread per CPU)" if sharing.tasks.by_processors else ""
    if sharing.kind == "memmap":
        return f"the tasks of this pool{many} write to the mapped file `{sharing.name}` at the same time, which can cause a bus error on macOS"
    if sharing.kind == "offset":
        return f"the tasks of this pool{many} share the file offset of `{sharing.name}`: they read or write at the wrong position"
    return (
        f"the tasks of this pool{many} write to the text file `{sharing.name}` at the same time: lines can get mixed up"
    )
