"""Start of a supervisor: reads an order on standard input, answers with a report on standard output."""

import importlib
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
importlib.import_module("supervision.session").main()
