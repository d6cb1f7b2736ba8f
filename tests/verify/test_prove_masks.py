"""FKL601 proved: torch raises, warns, or adds; in the program itself where it comes to the call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from needed import need_torch

need_torch()

HEAD = """
import torch
from torch import nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8, batch_first=True), 1)

    def forward(self, x, tokens):
"""
RUN = """

if __name__ == "__main__":
    Layer()(torch.randn(2, 4, 8), torch.tensor([[1, 2, 3, 0], [1, 2, 0, 0]]))
"""
FUTURE = "torch.full((4, 4), float('-inf')).triu(1)"
CALLS = {
    "integers": ("self.attention(x, x, x, key_padding_mask=(tokens == 0).long())", "only bool and floating types"),
    "added": (
        "self.attention(x, x, x, key_padding_mask=(tokens == 0).float())",
        "differs from that with the same masks as bool",
    ),
    "mixed": (f"self.attention(x, x, x, attn_mask={FUTURE}, key_padding_mask=tokens == 0)", "mismatched"),
    "encoder": (f"self.encoder(x, {FUTURE}, tokens == 0)", "mismatched src_key_padding_mask and mask"),
    "causal": (
        "F.scaled_dot_product_attention(x, x, x, attn_mask=torch.ones(4, 4).bool(), is_causal=True)",
        "should not be set when is_causal=True",
    ),
}


@pytest.fixture
def verdict(command, tmp_path: Path):
    def run(text: str, *arguments: str) -> dict:
        (tmp_path / "forklint.toml").touch()
        (tmp_path / "layer.py").write_text(text)
        done = command("verify", "layer.py", "--select", "FKL601", "--output-format", "json", *arguments, cwd=tmp_path)
        (found,) = json.loads(done.stdout)["experiments"]
        return found

    return run


@pytest.mark.soak
@pytest.mark.parametrize("kind", CALLS)
def test_a_call_that_no_program_comes_to_is_made_with_small_masks(verdict, kind: str) -> None:
    call, words = CALLS[kind]
    found = verdict(f"{HEAD}        return {call}\n")
    assert found["verdict"] == "confirmed", found
    assert found["evidence"].startswith("with small masks of these dtypes")
    assert words in found["evidence"]


@pytest.mark.parametrize("kind", ["added", "mixed", "causal"])
@pytest.mark.soak
def test_the_call_of_the_program_itself(verdict, kind: str) -> None:
    call, words = CALLS[kind]
    found = verdict(f"{HEAD}        return {call}\n{RUN}", "--")
    assert found["verdict"] == "confirmed", found
    assert found["evidence"].startswith("at layer.py:14 (")
    assert words in found["evidence"]


@pytest.mark.soak
def test_a_mask_that_is_another_one_when_the_program_runs_is_refuted(verdict, tmp_path: Path) -> None:
    """The rule cannot see it: another module makes every comparison's float mask bool."""
    (tmp_path / "patched.py").write_text("import torch\ntorch.Tensor.float = lambda self: self\n")
    text = f"__import__('patched')\n{HEAD}        return {CALLS['added'][0]}\n{RUN}"
    found = verdict(text, "--")
    assert (found["verdict"], "key_padding_mask: bool" in found["evidence"]) == ("refuted", True), found


@pytest.mark.soak
def test_a_program_that_never_comes_to_the_call_is_no_answer_and_the_call_is_made(verdict) -> None:
    text = f"{HEAD}        return {CALLS['integers'][0]}\n\n\nprint(1)\n"
    found = verdict(text, "--")
    assert found["evidence"].startswith("with small masks of these dtypes"), found
