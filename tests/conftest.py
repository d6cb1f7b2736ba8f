"""Shared by all tests: where the fixtures are, and the forklint command as a user runs it."""

from __future__ import annotations

import compileall
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from flake8_command import Flake8, environment
from forked_command import SERVER, Server
from run_order import dealt

from forklint.config import Settings
from forklint.rules import registry
from forklint.verify.doctor import HARNESS

FIXTURES = Path(__file__).parent / "fixtures"
signal.signal(signal.SIGINT, signal.default_int_handler)
"""Where the tests run in the background of a shell, Ctrl-C is ignored, and what they start would inherit that."""


def pytest_sessionstart() -> None:
    """End at once where rules would be asked by what they needed before.

    What runs in trials is compiled, as pip does when it installs: a trial writes no bytecode.
    """
    if registry.cards(Settings()) != registry.drawn(Settings()):
        pytest.exit("rules/table.py is older than the rules or their tables: run `make docs`", returncode=2)
    if not sys.dont_write_bytecode:
        compileall.compile_dir(HARNESS, quiet=1)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long tests first where workers share them, unless `scripts.shuffled` draws the order."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1 and "SHUFFLE" not in os.environ:
        items[:] = dealt(items, workers, lambda test: test.path)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """What commands are forked from."""
    yield SERVER
    SERVER.close()


@pytest.fixture
def forklint(server: Server):
    """Run the command in a process of its own: ``forklint("src", "--fix", cwd=folder)`` gives the CompletedProcess.

    With options of ``subprocess.run`` it has an interpreter of its own, too; ``fresh=True`` asks for that alone.
    """

    def run(
        *arguments: str | Path, cwd: Path, timeout: float = 120, fresh: bool = False, **options
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "NO_COLOR": "1", **options.pop("env", {})}
        if not fresh and options.keys() <= {"input"} and server.can_run(environment):
            return server.run(list(map(str, arguments)), cwd, environment, options.get("input"), timeout)
        command = [sys.executable, "-m", "forklint", *map(str, arguments)]
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout, check=False, **options
        )

    return run


@pytest.fixture(scope="session")
def flake8(tmp_path_factory: pytest.TempPathFactory) -> Flake8:
    """flake8 with forklint as its plugin: ``flake8("--select", "FKL", cwd=folder)`` gives the CompletedProcess."""
    return Flake8(environment(tmp_path_factory.mktemp("metadata")))


@pytest.fixture
def soak_seconds(request: pytest.FixtureRequest) -> float:
    """How long a soak test runs: MINUTES=5 of `make test-soak`, or else `pytest.mark.minutes(30)` of the test."""
    usual = request.node.get_closest_marker("minutes")
    return 60 * float(os.environ.get("FORKLINT_SOAK_MINUTES") or usual.args[0])


@pytest.fixture
def soak_seed() -> int:
    """What a soak test draws by: SEED=1 of `make test-soak`, or else always the same."""
    return int(os.environ.get("FORKLINT_SOAK_SEED") or 17)
