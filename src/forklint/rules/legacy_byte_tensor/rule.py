"""FKL603 legacy-byte-tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forklint.edits.proposal import Proposal
from forklint.model import Applicability
from forklint.project.versions import asks_for_older
from forklint.rules.base import Rule, Suspect

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.project.module import Module
    from forklint.rules.legacy_byte_tensor.byte_tensors import ByteTensor

WARNING = (2, 0)
"""The first torch that warns of such a storage."""
MESSAGE = "`torch.ByteStorage` is deprecated and will be removed from torch: use `torch.frombuffer`"


class LegacyByteTensor(Rule):
    """Bytes are turned into a tensor with a storage class that torch will remove.

    ## What it does
    Looks for `torch.ByteTensor(torch.ByteStorage.from_buffer(data))`, also if the storage is stored in a variable
    first. This is an old way to turn images or pickled objects into tensors without NumPy. The rule reports nothing in
    branches for a torch without `frombuffer`, for `_from_buffer`, which torch uses itself, and in a project that asks
    for a torch older than 2.0, which does not warn (`torch==1.10.1` in `requirements.txt` or another such file).

    ## Why is this bad?
    `ByteStorage` is a `TypedStorage`: torch warns "TypedStorage is deprecated. It will be removed in the future" in
    each process that creates one, so in every worker of a loader, and a future version will raise an error.

    ## Example
    ```python
    tensor = torch.ByteTensor(torch.ByteStorage.from_buffer(picture.tobytes()))
    ```

    ## Use instead
    ```python
    tensor = torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8)
    ```

    `torch.frombuffer` shares the memory that it is given. `bytes` are not writable: it warns of them, even if a
    `.clone()` follows. The `bytearray` is the copy that the storage used to make, and warns of nothing. It is as fast
    or faster (2 µs against 5 µs for a picture of 224 x 224), where `torch.tensor(bytearray(data))` takes 25 ms.

    ## Fix safety
    The fix is unsafe for two special cases. For empty data, the storage creates an empty tensor, while `frombuffer`
    raises `ValueError`. A tensor on memory that torch does not own cannot be enlarged with `resize_`; if the file uses
    that, the fix adds `.clone()`. In all other cases the tensor is the same, also in workers.

    ## How it is proved
    The call is made with the installed torch, and its warnings are compared with those of `torch.frombuffer`.

    ## Known limits
    Storages of other types (`FloatStorage`), and storages that are created in one function and used in another, stored
    in an object, assigned in two branches or put into a tensor with `set_`, are not checked. See [further
    ways](../recall/FKL603.md).

    ## References
    - [torch.frombuffer](https://docs.pytorch.org/docs/stable/generated/torch.frombuffer.html)
    - [torch.Storage](https://docs.pytorch.org/docs/stable/storage.html): "torch.TypedStorage is deprecated"
    """

    code = "FKL603"
    name = "legacy-byte-tensor"
    tokens = rb"\bByteStorage\b"
    words = (b"ByteStorage",)

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Find the tensors that are made of such a storage."""
        from forklint.rules.legacy_byte_tensor.byte_tensors import byte_tensors

        for found in byte_tensors(self.project, module):
            if asks_for_older(self.project, module.path, WARNING):
                return
            chain = (self.link(module, found.storage, "the storage is created here"),) if found.assigned else ()
            yield Suspect(found.call, ast.unparse(found.call.func), MESSAGE, self.settings.cells, chain, facts=found)

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterator[Proposal]:
        """Make the tensor by ``torch.frombuffer``."""
        from forklint.rules.legacy_byte_tensor import frombuffer as byte_tensor

        found: ByteTensor = suspect.facts
        changed = byte_tensor.without_storage(tree, module, found)
        if changed is not None:
            yield Proposal("use `torch.frombuffer`", Applicability.UNSAFE, changed)
        else:
            advice = "use `torch.frombuffer(bytearray(...), dtype=torch.uint8)`"
            yield Proposal(advice, Applicability.DISPLAY)
