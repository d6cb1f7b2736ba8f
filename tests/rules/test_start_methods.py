"""What FKL202 says of multiprocessing, measured: what settles the start method, what a fork server keeps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from forklint.config import Settings
from forklint.knowledge import table
from forklint.project.index import Project
from forklint.rules.start_method_misuse import misuse

CALLS = {"Value": "Value('i', 0)", "Array": "Array('i', 3)", "Barrier": "Barrier(2)", "Pool": "Pool(1)"}
SETTLING = [CALLS.get(name, f"{name}()") for name in table("starters.toml")["settles_start_method"]["names"]]
SETTLING += ["get_context()", "get_context(None)", "get_start_method()", "set_start_method('fork')"]
HARMLESS = ["get_context('spawn')", "get_start_method(allow_none=True)", "Process()", "Pipe()", "cpu_count()"]

SCRIPT = """
import multiprocessing
if __name__ == "__main__":
    kept = multiprocessing.{call}
    try:
        multiprocessing.set_start_method("spawn")
    except RuntimeError as error:
        print(error)
"""
LATE = """
import multiprocessing, os
def held(queue):
    queue.put(os.environ.get("SET_LATE"))
if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    queue = context.Queue()
    first = context.Process(target=held, args=(queue,))
    first.start()
    queue.get()
    os.environ["SET_LATE"] = "1"
    second = context.Process(target=held, args=(queue,))
    second.start()
    print(queue.get())
    second.join()
"""


def said(text: str, tmp_path) -> str:
    (tmp_path / "script.py").write_text(text)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("call", SETTLING)
def test_it_settles_the_start_method(call: str, tmp_path) -> None:
    assert said(SCRIPT.format(call=call), tmp_path) == "context has already been set"


@pytest.mark.parametrize("call", HARMLESS)
def test_it_leaves_the_start_method_open(call: str, tmp_path) -> None:
    assert said(SCRIPT.format(call=call), tmp_path) == ""


@pytest.mark.skipif(sys.platform == "win32", reason="there is neither fork nor forkserver on Windows")
@pytest.mark.parametrize(("method", "held"), [("fork", "1"), ("spawn", "1"), ("forkserver", "None")])
def test_only_the_fork_server_hides_a_late_variable(method: str, held: str, tmp_path) -> None:
    assert said(LATE.format(method=method), tmp_path) == held


VARIABLE = "import os\nos.environ['RUN'] = '1'\n"
SERVER = "import multiprocessing\ncontext = multiprocessing.get_context('forkserver')\n"
RENAMED = "from multiprocessing import get_context as made\ncontext = made('forkserver')\n"


@pytest.mark.parametrize(
    ("text", "is_run"),
    [
        pytest.param(VARIABLE + "NOTE = 'not for forkserver'\n", False, id="a variable, and no fork server"),
        pytest.param(SERVER, False, id="a fork server alone"),
        pytest.param(VARIABLE + SERVER, True, id="a variable and a fork server"),
        pytest.param(VARIABLE + RENAMED, True, id="a variable and a fork server by another name"),
        pytest.param("from multiprocessing import set_start_method as put\nput('spawn')\n", True, id="it is set"),
    ],
)
def test_a_module_is_run_only_where_something_in_it_may_be_a_misuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, is_run: bool
) -> None:
    (tmp_path / "one.py").write_text(text)
    ran: list[object] = []
    monkeypatch.setattr(misuse, "events_in", lambda _, module: ran.append(module) or {None: ()})
    project = Project(tmp_path, Settings())
    assert not list(misuse.misuses(project, project.load(tmp_path / "one.py")))
    assert bool(ran) is is_run
