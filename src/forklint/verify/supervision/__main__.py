"""Start of a supervisor: reads an order on standard input, answers with a report on standard output.

With words behind it, ``view PLACE ROOTS...`` or ``view-in-memory PLACE ROOTS...``, it says by its exit code whether
such a view can be had.
"""

import importlib
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
if len(sys.argv) > 1:
    kind, place, *roots = sys.argv[1:]
    view = importlib.import_module("supervision.view")
    sys.exit(not view.is_possible(view.View(roots, kind == "view-in-memory"), place))
importlib.import_module("supervision.session").main()
