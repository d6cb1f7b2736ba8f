"""A large project is read by another process: the open file is answered first, and what was read is stored."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_client import Client, serving, span
from server_project import DATA

from forklint.server.analysis import Analysis
from forklint.server.learning import SMALL

BASE = "from torch.utils.data import Dataset\n\n\nclass Base(Dataset):\n    pass\n"
HEIR = DATA.replace("from torch.utils.data import Dataset", "from words.base import Base").replace(
    "(Dataset)", "(Base)"
)


@pytest.fixture
def large(project: Path) -> Path:
    """A project that is too large to be read at once."""
    package = project / "words"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "base.py").write_text(BASE)
    for number in range(SMALL + 50):
        (package / f"words_{number}.py").write_text(f"def word_{number}():\n    return {number}\n")
    (project / "heir.py").write_text(HEIR)
    return project


def is_read(client: Client) -> bool:
    return any("has been read" in message for message in client.messages("window/logMessage"))


def test_an_open_file_is_answered_before_all_others_are_read(large: Path) -> None:
    with serving(large, fresh=True) as client:
        heir = client.open("heir.py")
        assert client.codes(heir) == ["FKL301"]
        assert not is_read(client)
        client.change(heir, {"range": span(6, 8, 8), "text": "self.env = 0  # "})
        assert client.codes(heir) == []
        base = client.open("words/base.py")
        client.replace(heir, HEIR)
        assert client.codes(heir) == ["FKL301"]
        client.wait(lambda: is_read(client), "it is never read")
        assert list((large / ".forklint_cache").glob("*.sqlite"))
        client.replace(base, "class Base:\n    pass\n")
        client.until(heir, [])
        client.replace(base, BASE)
        client.until(heir, ["FKL301"])
        assert any("first use" in one["title"] for one in client.actions(heir, span(6, 9, 9)))
    with serving(large) as client:
        assert client.codes(client.open("heir.py")) == ["FKL301"]
        client.settle(2)
        assert not is_read(client), "all is stored"


def test_what_was_read_is_stored_where_the_environment_says(large: Path, tmp_path_factory, monkeypatch) -> None:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("FORKLINT_CACHE_DIR", str(folder))
    with serving(large) as client:
        client.open("heir.py")
        client.wait(lambda: is_read(client), "it is never read")
    assert list(folder.rglob("*.sqlite"))
    assert not (large / ".forklint_cache").exists()


def test_nothing_is_stored_where_nothing_may_be(large: Path) -> None:
    """Then this process reads what it needs."""
    (large / "pyproject.toml").unlink()
    with serving(large) as client:
        assert client.codes(client.open("heir.py")) == ["FKL301"]
    assert not (large / ".forklint_cache").exists()


def test_it_ends_while_a_project_is_read(large: Path) -> None:
    with serving(large) as client:
        client.found(client.open("heir.py"))


def test_what_is_started_while_it_ends_is_ended_as_well() -> None:
    """The thread that lints may start to read a project then."""
    analysis, ended = Analysis(), list[str]()

    class Reading:
        def __init__(self, name: str, *later: Reading) -> None:
            self.name, self.later = name, later

        def end(self) -> None:
            ended.append(self.name)
            analysis._learners.update({Path(one.name): one for one in self.later})

    analysis._learners[Path("first")] = Reading("first", Reading("second"))
    analysis._learners[Path("third")] = Reading("third")
    analysis.end()
    assert sorted(ended) == ["first", "second", "third"]
