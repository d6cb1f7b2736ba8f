"""Which frames are the project's own."""

from __future__ import annotations

import os
import sys
import traceback
from types import FrameType, TracebackType
from typing import List, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
STANDARD = os.path.dirname(os.path.abspath(os.__file__))


def is_library(path: str) -> bool:
    """Whether a source file belongs to Python, to an installed package or to the harness."""
    if path.startswith("<"):
        return True
    path = os.path.abspath(path)
    parts = path.split(os.sep)
    return "site-packages" in parts or "dist-packages" in parts or path.startswith((STANDARD + os.sep, HERE + os.sep))


def caller() -> str:
    """``file:line`` of the innermost frame of the project on the stack; empty if there is none."""
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            return "{}:{}".format(os.path.abspath(frame.f_code.co_filename), frame.f_lineno)
        frame = frame.f_back
    return ""


def callers() -> List[str]:
    """``file:line`` of all frames of the project on the stack, innermost first."""
    found = []
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            found.append("{}:{}".format(os.path.abspath(frame.f_code.co_filename), frame.f_lineno))
        frame = frame.f_back
    return found


def raised_at(trace: Optional[TracebackType]) -> str:
    """``file:line, in name`` of the innermost frame of the project in a traceback; empty if there is none."""
    for summary in reversed(traceback.extract_tb(trace)):
        if not is_library(summary.filename):
            return "{}:{}, in {}".format(os.path.abspath(summary.filename), summary.lineno, summary.name)
    return ""
