"""Which line of the project is at work."""

from __future__ import annotations

import traceback
from typing import Any, Dict, Iterable, Optional


def of_project(root: str, stack: Optional[Iterable[traceback.FrameSummary]] = None) -> Dict[str, Any]:
    """The innermost frame of a stack (by default this one's) that lies below the project's root; empty if none does.

    Installed packages may lie there too, in a virtual environment: they are none of the project.
    """
    frames = list(traceback.extract_stack()[:-1] if stack is None else stack)
    for frame in reversed(frames):
        name = frame.filename.replace("\\", "/")
        if name.startswith(root.replace("\\", "/").rstrip("/") + "/") and "/site-packages/" not in name:
            return {"file": frame.filename, "line": frame.lineno, "function": frame.name}
    return {}
