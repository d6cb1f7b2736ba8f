"""The hooks as a user has them: pre-commit clones the repository and builds an environment for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hook_repository import BASE, WORDS, Repository, environment, published, remote

from forklint import __version__

pytestmark = pytest.mark.soak
TAG = f"v{__version__}"
NO_REGISTRY = ("Could not find a version", "No matching distribution", "ConnectionError", "NewConnectionError")


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """The tree as it is now, as a repository with a tag."""
    return published(tmp_path_factory.mktemp("published") / "forklint", TAG)


@pytest.fixture(scope="module")
def home(source: Path, tmp_path_factory) -> Path:
    """Where pre-commit keeps its environments, with that of the hooks built once."""
    folder = tmp_path_factory.mktemp("pre-commit")
    begin = tmp_path_factory.mktemp("begin")
    made = Repository(begin, remote(str(source), TAG, "forklint"), **variables(folder))
    built = made.pre_commit("install-hooks")
    said = built.stdout + built.stderr + (folder / "pre-commit.log").read_text() if built.returncode else ""
    if any(word in said for word in NO_REGISTRY):
        pytest.skip("NO PACKAGE REGISTRY: the hooks were not tried in an environment of their own")
    assert not said, said
    return folder


def variables(home: Path) -> dict[str, str]:
    """Nothing of this environment leaks into the hook's."""
    return {"PRE_COMMIT_HOME": str(home), "PYTHONPATH": "", "PYTHONSAFEPATH": "1"}


@pytest.fixture
def repository(source: Path, home: Path, tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "project", remote(str(source), TAG, "forklint-fix", "forklint"), **variables(home))
    made.write("base.py", BASE)
    assert made.commit().returncode == 0
    return made


def test_a_bad_commit_is_refused_mended_and_passes(repository: Repository) -> None:
    path = repository.write("words.py", WORDS)
    refused = repository.commit()
    assert refused.returncode == 1
    assert "files were modified by this hook" in refused.stdout
    assert "fixed words.py:8: FKL301" in refused.stdout
    assert path.read_text() != WORDS
    passed = repository.commit()
    assert passed.returncode == 0, passed.stdout


def test_the_environment_has_forklint_and_no_torch(home: Path) -> None:
    (command,) = home.glob("repo*/py_env-*/bin/forklint")
    shown = subprocess.run(
        [command, "--version"], capture_output=True, text=True, check=True, env=environment(PYTHONPATH="")
    )
    assert shown.stdout == f"forklint {__version__}\n"
    assert not list(home.glob("repo*/py_env-*/lib/python*/site-packages/torch"))


def test_try_repo(source: Path, repository: Repository) -> None:
    repository.write("words.py", WORDS)
    repository.git("add", ".")
    tried = repository.pre_commit("try-repo", str(source), "forklint", "--ref", TAG, "--verbose")
    assert tried.returncode == 1, tried.stdout + tried.stderr
    assert "error[FKL301] handle-in-init" in tried.stdout
