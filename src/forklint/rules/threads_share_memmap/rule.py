"""FKL305 threads-share-memmap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Cell, Severity
from forklint.rules.base import Rule, Suspect

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.project.module import Module
    from forklint.rules.threads_share_memmap.sharing import Sharing

ADVICE = {
    "memmap": "return the rows from the tasks, and write them in one thread as `imap` or `as_completed` yields them",
    "offset": "open the file in the task, use `os.pread` with its descriptor, or hold a lock for both calls",
    "text": "return the lines from the tasks and write them in one thread, or hold a lock while writing",
}


class ThreadsShareMemmap(Rule):
    """The tasks of a thread pool write to one mapped file, or use one open file, at the same time.

    ## What it does
    Looks at functions that are passed to a `ThreadPool` or `ThreadPoolExecutor` (also with `partial`, as a lambda, or
    as a method). It reports those that, without a lock,

    - store into a `np.memmap`, `open_memmap` or `np.load(..., mmap_mode="r+")` that was opened outside of them,
    - seek in an open file and then read or write, or write to a text file, that was opened outside of them.

    ## Why is this bad?
    Threads that write to one mapped file have caused a bus error on macOS, where pages of the file are extended while
    another thread accesses them; on Linux the result was correct, so the finding is only for macOS. An open file has
    one offset: another thread may seek between the seek and the read of the first. Measured on Linux with 8 threads and
    20,000 tasks: up to 14 reads and 167 writes at the wrong position. The buffer of a text file is not safe either, up
    to Python 3.12: lines got mixed up, and some contained bytes that no thread had written. With 3.13 each line stayed
    whole. Single writes to a binary file were correct.

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
    There is no automatic fix: what a task should return is up to its author.

    ## How it is proved
    The program runs, and all writes are observed. A read after another thread's seek confirms the finding. For a mapped
    file, the threads that write to it are counted; the bus error itself occurs on macOS, and on other platforms the
    verdict is `unsupported here: needs darwin`.

    ## Known limits
    Any `with` around the use is assumed to be a lock. Threads started by hand, by joblib or by an event loop are not
    checked, nor are arrays in a list, a dictionary or a view, files passed through objects other than `self`, a
    `csv.writer`, and compressed files. That a pool has one thread per CPU is mentioned, but not reported by itself. See
    [further ways](../recall/FKL305.md).

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
        from forklint.rules.threads_share_memmap.sharing import sharings

        if not self.holds_tokens(module.screened.code):
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
        return f"the tasks of this pool{many} write to the mapped file `{sharing.name}`: a bus error on macOS"
    if sharing.kind == "offset":
        return f"the tasks of this pool{many} share the offset of `{sharing.name}`: reads or writes can go wrong"
    return f"the tasks of this pool{many} write to the text file `{sharing.name}`: lines can get mixed up"
