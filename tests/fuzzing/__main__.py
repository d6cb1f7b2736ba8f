"""Checks a run of inputs of one kind; prints a line of JSON for each that fails, and says how far it got."""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import math
import os
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from fuzzing.checks import KINDS, check

HANG = 120
"""Seconds of processor time after which an input counts as hanging."""
WAIT = 3600
"""Seconds after which it hangs without working, however busy the machine is."""


class HangError(Exception):
    """An input took too long."""


def _hang(*_: object) -> None:
    raise HangError(f"no end after {HANG} s of work, or {WAIT} s")


def main() -> int:
    """Run as asked; the exit code is 1 if an input failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--first", "--seed", type=int, default=0, help="number of the first input")
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no further input after so many")
    parser.add_argument("--keep", type=Path, help="folder in which to leave the input")
    options = parser.parse_args()
    faulthandler.enable()
    signal.signal(signal.SIGALRM, _hang)
    signal.signal(signal.SIGPROF, _hang)
    failed = 0
    until = time.monotonic() + options.seconds
    for number in range(options.first, options.first + options.count):
        if number > options.first and time.monotonic() > until:
            print(json.dumps({"stopped": number}))
            break
        print(json.dumps({"at": number}), flush=True)  # if the process ends here, this was why
        with contextlib.ExitStack() as stack:
            folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fuzz-")))
            folder.mkdir(exist_ok=True)
            os.chdir(folder)
            signal.alarm(WAIT)
            signal.setitimer(signal.ITIMER_PROF, HANG)
            try:
                check(options.kind, number, folder)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
                failed += 1
                lines = traceback.format_exception(error)
                what = f"{type(error).__name__}: {str(error)[:1500]}"
                print(json.dumps({"failed": number, "error": what, "trace": "".join(lines)[-3000:]}), flush=True)
            finally:
                signal.alarm(0)
                signal.setitimer(signal.ITIMER_PROF, 0)
                os.chdir("/")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
