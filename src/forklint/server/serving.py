"""The server as a process: standard output belongs to the protocol, and to nobody else."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from typing import BinaryIO

from forklint.server.features import make


def serve() -> None:
    """Serve the client at standard input and output, and end the process when it says so or is gone."""
    reader, writer = _own_streams()
    for name in ("pygls", "asyncio"):
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
    server = make()
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        server.start_io(reader, writer)
    server.analysis.end()
    sys.stderr.flush()
    os._exit(0 if server.is_shut_down else 1)  # a file may still be linted, and nobody waits for what is found


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output as files that no other code knows: what else is printed goes to standard error."""
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    return reader, writer
