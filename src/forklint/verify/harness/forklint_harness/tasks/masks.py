"""For FKL601: what torch says to the masks of one call of attention, and what bool masks would have given.

As a hook it watches the call in the user's program. Run as a program it makes the call itself, with small tensors.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import warnings
from typing import Any, Callable, Dict, List, Optional

from forklint_harness import ending, journal
from forklint_harness.frames import caller
from forklint_harness.imports import after_import

SIZE, WIDTH, HEADS = 4, 8, 2
DROPOUT = 0.1


def install(order: Dict[str, Any]) -> None:
    """Wait for torch, and put a watch on the function or class that the finding speaks of."""
    if "file" in order["spec"]:
        after_import("torch", lambda _: _watch(order))


def _watch(order: Dict[str, Any]) -> None:
    spec = order["spec"]
    owner, _, name = spec["call"].rpartition(".")
    holder: Any = sys.modules[owner]
    target = getattr(holder, name)
    is_class = isinstance(target, type)
    plain = target.forward if is_class else target
    places = {"{}:{}".format(spec["file"], row) for row in range(spec["rows"][0], spec["rows"][1] + 1)}

    def watched(*args: Any, **kwargs: Any) -> Any:
        place = caller()
        if place in places and journal.is_main():
            _seen(order, place, plain, args, kwargs)
        return plain(*args, **kwargs)

    if is_class:
        target.forward = watched
    else:
        setattr(holder, name, watched)


def _seen(order: Dict[str, Any], place: str, plain: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Look at the call's masks, try it with them and with bool ones, and end."""
    spec = order["spec"]
    given = _bound(spec, plain, args, kwargs)
    masks = {name: given[name] for name in spec["masks"] if given.get(name) is not None}
    record = _compared(spec, lambda changed: plain(**{**given, **changed}), masks)
    journal.record("attended", place=place, **record)
    journal.record("done")
    ending.end(order["journal"])


def _bound(spec: Dict[str, Any], plain: Callable[..., Any], args: Any, kwargs: Any) -> Dict[str, Any]:
    """The arguments by name; torch's functions in C have no signature, so the table's names serve."""
    try:
        return dict(inspect.signature(plain).bind(*args, **kwargs).arguments)
    except ValueError:
        return {**dict(zip(spec["parameters"], args)), **kwargs}  # noqa: B905 - Python 3.8 has no strict


def _compared(spec: Dict[str, Any], call: Callable[[Dict[str, Any]], Any], masks: Dict[str, Any]) -> Dict[str, Any]:
    """What the call gives with its masks, against the same masks as bool."""
    import torch

    described = {name: _described(mask) for name, mask in masks.items()}
    result, error, said = _tried(lambda: call({}))
    better = {name: _as_bool(mask, spec) for name, mask in masks.items()}
    if spec["kind"] == "causal":
        better = {"is_causal": False}
    control, control_error, _ = _tried(lambda: call(better))
    differs = None
    if result is not None and control is not None and result.shape == control.shape:
        differs = not torch.allclose(result, control, atol=1e-5, equal_nan=True)
    record = {"masks": described, "error": error, "said": said, "control": control_error, "differs": differs}
    if spec["kind"] == "causal" and not error:
        _, record["math"], _ = _tried(lambda: call({"dropout_p": DROPOUT}))  # with dropout the math kernel runs
        _, record["control"], _ = _tried(lambda: call({**better, "dropout_p": DROPOUT}))
    return record


def _tried(call: Callable[[], Any]) -> Any:
    """The result, the error, and torch's words about masks; the random numbers are the same each time."""
    import torch

    state = torch.get_rng_state()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
            result, error = (result[0] if isinstance(result, tuple) else result).detach(), ""
        except Exception as raised:  # whatever torch raises is what is asked for
            result, error = None, "{}: {}".format(type(raised).__name__, " ".join(str(raised).split())[:200])
    torch.set_rng_state(state)
    said = [" ".join(str(one.message).split())[:200] for one in caught if "mask" in str(one.message)]
    return result, error, said


def _described(mask: Any) -> Any:
    """The dtype of a mask, and whether it is a float mask of zeros and ones."""
    import torch

    if not isinstance(mask, torch.Tensor):
        return [type(mask).__name__, False]
    values = torch.unique(mask).tolist() if mask.is_floating_point() else []
    return [str(mask.dtype).partition(".")[2], values == [0.0, 1.0]]


def _as_bool(mask: Any, spec: Dict[str, Any]) -> Any:
    """The mask as bool, with True for what the call understands by it."""
    import torch

    if mask.dtype == torch.bool:
        return mask
    if not mask.is_floating_point() or bool((mask >= 0).all()):
        return mask.bool()
    hidden = mask < -1.0
    return hidden if spec["true"] == "blocked" else ~hidden


# The call made by the trial itself


def run(spec: Dict[str, Any]) -> None:
    """Make the call with small tensors whose dtypes are those of the finding."""
    try:
        import torch
    except ImportError as error:
        journal.record("not-imported", error="{}: {}".format(type(error).__name__, error))
        return
    torch.manual_seed(0)
    masks = {name: _mask(name, kind, values, spec) for name, (kind, values) in spec["masks"].items()}
    call = _call(spec["call"].rpartition(".")[2])
    if spec["kind"] == "causal":
        masks_only = call
        call = lambda **given: masks_only(**{"is_causal": True, **given})  # noqa: E731
    record = _compared(spec, lambda changed: call(**{**masks, **changed}), masks)
    journal.record("attended", place="", **record)


def _mask(name: str, kind: str, values: List[str], spec: Dict[str, Any]) -> Any:
    """A mask of the kind that hides the last step, or the future."""
    import torch

    hidden = torch.ones(SIZE, SIZE).triu(1)
    if "padding" in name:
        hidden = torch.zeros(2, SIZE)
        hidden[:, -1] = 1
    ones = 1 - hidden if spec["true"] == "allowed" else hidden
    if kind == "float":
        return ones if values == ["0", "1"] else hidden.masked_fill(hidden == 1, float("-inf"))
    return ones.bool() if kind == "bool" else ones.long()


def _call(name: str) -> Callable[..., Any]:
    """The function, or an object of the class, with all its arguments but the masks."""
    import torch
    from torch import nn

    functional: Any = nn.functional
    x = torch.randn(2, SIZE, WIDTH)
    if name == "scaled_dot_product_attention":
        return lambda **masks: functional.scaled_dot_product_attention(*[x.view(2, 1, SIZE, WIDTH)] * 3, **masks)
    attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    if name == "MultiheadAttention":
        return lambda **masks: attention(x, x, x, **masks)
    if name == "multi_head_attention_forward":
        weights = (attention.in_proj_weight, attention.in_proj_bias, None, None, False, 0.0)
        out = (attention.out_proj.weight, attention.out_proj.bias)
        y = x.transpose(0, 1)
        return lambda **masks: functional.multi_head_attention_forward(y, y, y, WIDTH, HEADS, *weights, *out, **masks)
    module = _module(name)
    return lambda **masks: module(x, **masks) if "Encoder" in name else module(x, x, **masks)


def _module(name: str) -> Any:
    from torch import nn

    sizes: Dict[str, Any] = {"dim_feedforward": WIDTH, "dropout": 0.0, "batch_first": True}
    if name == "Transformer":
        return nn.Transformer(WIDTH, HEADS, 1, 1, **sizes)
    stack: Optional[Any] = None if name.endswith("Layer") else getattr(nn, name)
    layer = getattr(nn, name if stack is None else name + "Layer")(WIDTH, HEADS, **sizes)
    return layer if stack is None else stack(layer, 1)


if __name__ == "__main__":
    with open(os.environ["FORKLINT_TRIAL"], encoding="utf-8") as file:
        run(json.load(file)["spec"])
