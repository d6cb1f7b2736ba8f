"""FKL601 mask-dtype-mismatch."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from forklint.edits import cst
from forklint.edits.proposal import Proposal
from forklint.model import Applicability, Link, Severity
from forklint.rules.base import Rule, Suspect

if TYPE_CHECKING:
    from forklint.edits.tree import Tree
    from forklint.project.module import CodeLink, Module
    from forklint.rules.mask_dtype_mismatch.attending import Mask, Wrong

SEVERITIES = {"integers": Severity.ERROR, "added": Severity.ERROR}
BY_HAND = "use `.bool()` if its ones mark hidden positions, `== 0` if they mark visible ones"
OTHER_WAY = {"blocked": BY_HAND, "allowed": "use `.bool()` if its ones mark visible positions, else `== 0`"}


class MaskDtypeMismatch(Rule):
    """An attention mask has a dtype that torch rejects, deprecates, or adds to the scores.

    ## What it does
    Looks at calls of `nn.MultiheadAttention`, the layers of `nn.Transformer` and their stacks,
    `F.multi_head_attention_forward` and `F.scaled_dot_product_attention` whose masks are created in a known way: with
    `torch.ones`, `torch.triu`, a comparison, `.bool()`, `generate_square_subsequent_mask`, or a function of the
    project. It reports

    - an int mask (`.long()`, `.byte()`, `torch.tensor([[1, 0]])`),
    - a float mask of zeros and ones,
    - a bool mask together with a float one for the same scores,
    - `is_causal=True` together with a mask in `scaled_dot_product_attention`.

    ## Why is this bad?
    A bool mask hides the positions it marks; a float mask is added to the scores. An int mask raises an error. A float
    mask of zeros and ones adds 1 to positions that should be hidden, so the model sees the padding and the future
    without an error; the fused kernel of the encoder, which runs only in evaluation mode, interprets the same mask as
    bool, so the model behaves differently than in training. Mixing a bool and a float mask is deprecated and leads to a
    warning. With `is_causal=True` and a mask, the math kernel raises an error (it is used with dropout, for example),
    and the fused CPU kernel applies both. All of this was measured with torch 2.13 on CPU.

    ## Example
    ```python
    causal = torch.triu(torch.full((length, length), float("-inf")), diagonal=1)
    padding = tokens == self.pad
    attended, _ = self.attention(x, x, x, attn_mask=causal, key_padding_mask=padding)
    ```

    ## Use instead
    ```python
    causal = torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)
    padding = tokens == self.pad
    attended, _ = self.attention(x, x, x, attn_mask=causal, key_padding_mask=padding)
    ```

    ## Fix safety
    A float mask of zeros and minus infinity that is used with a bool one gets `.bool()`: this is safe for attention
    itself, which returns the same numbers, and unsafe for the encoder, which may then use its fused kernel. For masks
    of ones the fix is unsafe, since the model computes something else afterwards, and it is only offered if the meaning
    of the ones is clear.

    The start method does not matter, so a finding names all platforms and start methods.

    ## How it is proved
    With a script to run, the call itself is observed: the dtypes and values of its masks, the errors and warnings of
    torch, and the difference to the result with bool masks. Otherwise the same call is made with small tensors of these
    dtypes.

    ## Known limits
    Masks from outside the class (arguments, a batch, NumPy), masks shaped like an unknown tensor, products of masks,
    layers from a list, subclasses of layers, and explicit calls of `forward` are not followed. See [further
    ways](../recall/FKL601.md).

    ## References
    - [torch.nn.MultiheadAttention](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html)
    - [scaled_dot_product_attention](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html)
    """

    code = "FKL601"
    name = "mask-dtype-mismatch"
    severity = Severity.WARNING
    tokens = (
        rb"\bMultiheadAttention\b|\bscaled_dot_product_attention\b|\bmulti_head_attention_forward\b"
        rb"|\bTransformer(?:En|De)coder(?:Layer)?\b|\bnn\.Transformer\b|\bimport Transformer\b"
    )
    words = (
        *(b"MultiheadAttention", b"scaled_dot_product_attention", b"multi_head_attention_forward"),
        *(b"TransformerEncoder", b"TransformerDecoder", b"nn.Transformer", b"import Transformer"),
    )

    def suspects(self, module: Module) -> Iterator[Suspect]:
        """Calls whose masks do not fit."""
        from forklint.rules.mask_dtype_mismatch.attending import wrong_masks

        if not self.holds_tokens(module.screened.code):
            return
        for wrong in wrong_masks(self.project, module):
            chain = tuple(self._made(wrong, module))
            subject = ", ".join(mask.parameter for mask in wrong.masks)
            severity = SEVERITIES.get(wrong.kind, Severity.WARNING)
            yield Suspect(wrong.call, subject, _message(wrong), self.settings.cells, chain, severity, wrong)

    def _made(self, wrong: Wrong, module: Module) -> Iterator[Link | CodeLink]:
        from forklint.values.evaluator import Evaluator
        from forklint.values.model import Expression
        from forklint.values.origins import behind

        for mask in wrong.masks:
            if isinstance(mask.node, ast.Name):
                place = Expression(module, module.scope_at(mask.node), mask.node)
                for one in behind(Evaluator(self.project), place):
                    yield one.link(f"`{mask.node.id}` is created here")

    def proof(self, suspect: Suspect, module: Module) -> Mapping[str, Any]:
        """The function or class, and what its masks are."""
        wrong: Wrong = suspect.facts
        masks = {one.parameter: [one.tensor.kind, sorted(one.tensor.values or ())] for one in wrong.masks}
        return {"call": wrong.row.call[0], "kind": wrong.kind, "masks": masks}

    def fixes(self, suspect: Suspect, module: Module, tree: Tree) -> Iterator[Proposal]:
        """Make the mask bool, if it is plain what it marks; else say what to choose from."""
        wrong: Wrong = suspect.facts
        if wrong.kind == "causal":
            words = "remove `is_causal=True` and hide the future in the mask; or remove a mask that only does this"
            yield Proposal(words, Applicability.DISPLAY)
        elif wrong.kind == "mixed":
            yield _agreeing(wrong, module, tree)
        else:
            yield _as_bool(wrong, module, tree)


def _message(wrong: Wrong) -> str:
    names, first = " and ".join(f"`{mask.parameter}`" for mask in wrong.masks), wrong.masks[0]
    plural = len(wrong.masks) > 1
    if wrong.kind == "integers":
        what = "are int tensors" if plural else "is an int tensor"
        return f"{names} {what}: {wrong.row.name} accepts only bool and float masks, and raises"
    if wrong.kind == "added":
        what = "are float masks" if plural else "is a float mask"
        later = "" if wrong.row.adds else "; in evaluation mode it may be read as a bool mask"
        return f"{names} {what} of zeros and ones: {wrong.row.name} adds it to the scores, so nothing is hidden{later}"
    if wrong.kind == "causal":
        return f"{names} together with `is_causal=True`: torch's math kernel raises, other kernels apply both"
    second = wrong.masks[1]
    return (
        f"`{first.parameter}` is {first.tensor.kind} and `{second.parameter}` is {second.tensor.kind}: "
        f"{wrong.row.name} merges them with a warning, for this is deprecated"
    )


def _agreeing(wrong: Wrong, module: Module, tree: Tree) -> Proposal:
    """Make the float mask of a pair bool, which it can be if it holds zeros and minus infinity."""
    from forklint.rules.mask_dtype_mismatch.values import BLOCKING

    mask = next(mask for mask in wrong.masks if mask.tensor.kind == "float")
    other = next(mask for mask in wrong.masks if mask.tensor.kind == "bool")
    if mask.tensor.values != BLOCKING or mask.tensor.optional:
        words = (
            f"make `{other.parameter}` a float mask, too: "
            "`torch.zeros_like(mask, dtype=torch.float).masked_fill(mask, float('-inf'))`"
        )
        return Proposal(words, Applicability.DISPLAY)
    applicability = Applicability.SAFE if wrong.row.adds else Applicability.UNSAFE
    return Proposal(f"make `{mask.parameter}` bool, too", applicability, _changed([mask], module, tree, ".bool()"))


def _as_bool(wrong: Wrong, module: Module, tree: Tree) -> Proposal:
    """Make masks of zeros and ones bool, in the sense that the call gives to True."""
    marks = {mask.tensor.marks for mask in wrong.masks}
    if marks == {""} or len(marks) > 1 or any(mask.tensor.optional for mask in wrong.masks):
        return Proposal(f"make it bool: {OTHER_WAY[wrong.row.true]}", Applicability.DISPLAY)
    ending = ".bool()" if marks == {wrong.row.true} else " == 0"
    changed = _changed(list(wrong.masks), module, tree, ending)
    return Proposal(f"make it bool: `{ending.strip()}`", Applicability.UNSAFE, changed)


def _changed(masks: list[Mask], module: Module, tree: Tree, ending: str) -> Tree:
    """Put a method, or a comparison, behind the arguments that give the masks."""
    from forklint.edits.places import Places

    places = Places(tree, module)
    changes: dict[cst.CSTNode, cst.CSTNode] = {}
    for mask in masks:
        old = places.expression(mask.node)
        plain = isinstance(mask.node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) or old.lpar
        inner = old if plain else old.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        if ending.startswith("."):
            new: cst.CSTNode = cst.Call(func=cst.Attribute(value=inner, attr=cst.Name("bool")))
        else:
            zero = cst.ComparisonTarget(operator=cst.Equal(), comparator=cst.Integer("0"))
            new = cst.Comparison(left=inner, comparisons=[zero])
        changes[old] = new
    return tree.replace_all(dict(changes))
