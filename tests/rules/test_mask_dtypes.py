"""What FKL601 says of torch, measured: the answers differ by version, and the page must be right for the newest."""

from __future__ import annotations

import warnings
from types import ModuleType, SimpleNamespace

import pytest
from needed import need_torch

need_torch()


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    """Imported by the process that runs these tests, and not by each that collects them."""
    import torch

    return torch


@pytest.fixture(scope="module")
def masks(torch: ModuleType) -> SimpleNamespace:
    """What hides later places, by ones and by minus infinity, and what hides padding."""
    return SimpleNamespace(
        future=torch.ones(4, 4).triu(1),
        padding=torch.tensor([[0.0, 0, 0, 1], [0, 0, 0, 0]]),
        hidden=torch.full((4, 4), float("-inf")).triu(1),
    )


@pytest.fixture
def attend(torch):
    torch.manual_seed(0)
    x = torch.randn(2, 4, 8)
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    return lambda **given: layer(x, x, x, **given)[0]


@pytest.mark.parametrize(
    ("argument", "name", "kind"), [("attn_mask", "future", "int64"), ("key_padding_mask", "padding", "uint8")]
)
def test_int_masks_raise(torch, masks, attend, argument: str, name: str, kind: str) -> None:
    with pytest.raises(AssertionError, match="only bool and floating types"):
        attend(**{argument: getattr(masks, name).to(getattr(torch, kind))})


@pytest.mark.parametrize(("argument", "name"), [("attn_mask", "future"), ("key_padding_mask", "padding")])
def test_float_masks_of_ones_are_added(torch, masks, attend, argument: str, name: str) -> None:
    mask = getattr(masks, name)
    assert not torch.allclose(attend(**{argument: mask}), attend(**{argument: mask.bool()}), atol=1e-4)


def test_bool_beside_float_warns_and_the_fix_gives_the_same(torch, masks, attend) -> None:
    with pytest.warns(UserWarning, match="mismatched key_padding_mask and attn_mask is deprecated"):
        mixed = attend(attn_mask=masks.hidden, key_padding_mask=masks.padding.bool())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(mixed, attend(attn_mask=masks.hidden.bool(), key_padding_mask=masks.padding.bool()))


@pytest.mark.parametrize("name", ["mask", "src_key_padding_mask"])
def test_the_encoder_adds_in_training_and_may_hide_in_evaluation(torch, masks, name: str) -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    encoder, x = torch.nn.TransformerEncoder(layer, 1), torch.randn(2, 4, 8)
    mask = masks.future if name == "mask" else masks.padding
    seen = slice(0, 3)  # what is given for padding itself differs by kernel
    trained = encoder(x, **{name: mask})[:, seen], encoder(x, **{name: mask.bool()})[:, seen]
    assert not torch.allclose(*trained, atol=1e-4)
    encoder.eval()
    with torch.no_grad():
        evaluated = encoder(x, **{name: mask})[:, seen], encoder(x, **{name: mask.bool()})[:, seen]
    assert torch.allclose(*evaluated, atol=1e-5)


def test_a_mask_beside_is_causal_raises_in_the_math_kernel_and_is_joined_in_the_other(torch, masks) -> None:
    attention = torch.nn.functional.scaled_dot_product_attention
    torch.manual_seed(0)
    q, near = torch.randn(2, 2, 4, 8), torch.ones(4, 4).triu(-1).bool()
    both = attention(q, q, q, attn_mask=near & ~masks.future.bool())
    assert torch.allclose(attention(q, q, q, attn_mask=near, is_causal=True), both, atol=1e-5)
    with pytest.raises(RuntimeError, match="should not be set when is_causal=True"):
        attention(q, q, q, attn_mask=near, is_causal=True, dropout_p=0.1)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("fix", ["tgt", "memory"])
def test_the_decoder_gives_the_same_once_both_are_bool(torch, masks, training: bool, fix: str) -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    decoder, x = torch.nn.TransformerDecoder(layer, 2).train(training), torch.randn(2, 4, 8)
    padding = {f"{fix}_key_padding_mask": masks.padding.bool()}
    with pytest.warns(UserWarning, match="deprecated"):
        mixed = decoder(x, x, **{f"{fix}_mask": masks.hidden}, **padding)
    assert torch.allclose(mixed, decoder(x, x, **{f"{fix}_mask": masks.hidden.bool()}, **padding), atol=1e-6)
