"""An accelerator in the main process: in use before workers start, as in training, and given each batch."""

from __future__ import annotations

from typing import Any, Mapping


def begin(device: str) -> None:
    """Compute something there and wait for it: from here on the process holds the device's context."""
    import torch

    send([torch.ones(64, 64, device=device) @ torch.ones(64, 64, device=device)], device)


def send(batch: Any, device: Any) -> None:
    """Send what is in a batch to a device, and wait until it is there; nothing happens without a device."""
    if not device:
        return
    if isinstance(batch, Mapping):
        batch = list(batch.values())
    if isinstance(batch, (list, tuple)):
        for part in batch:
            send(part, device)
    elif hasattr(batch, "to"):
        batch.to(device).cpu()
