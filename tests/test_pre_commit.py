"""The hooks in a real git repository, run by the real pre-commit with this Python: no network is needed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from doc_snippets import snippet
from hook_repository import BASE, WORDS, Repository, local
from ruamel.yaml import YAML

from forklint import __version__
from forklint.setup.hook import REPOSITORY


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository with both hooks and a first module that stays unchanged."""
    folder = tmp_path_factory.mktemp("first")
    made = Repository(folder / "project", local("forklint-fix", "forklint"), PRE_COMMIT_HOME=str(folder / "pre-commit"))
    made.write("base.py", BASE)
    assert made.commit().returncode == 0
    return made


@pytest.fixture
def repository(first: Repository, tmp_path: Path) -> Repository:
    """A copy of it, with what pre-commit has kept."""
    return first.copied(tmp_path)


def hooks(folder: Path, name: str) -> Repository:
    return Repository(folder / "project", local(name), PRE_COMMIT_HOME=str(folder / "pre-commit"))


def test_a_bad_commit_is_refused_mended_and_passes(repository: Repository) -> None:
    path = repository.write("words.py", WORDS)
    refused = repository.commit("words.py")
    assert refused.returncode == 1
    assert "files were modified by this hook" in refused.stdout
    assert "fixed words.py:8: FKL301" in refused.stdout
    assert path.read_text() != WORDS, "mended, and not yet staged"
    assert repository.git("show", ":words.py") == WORDS
    passed = repository.commit("words.py")
    assert passed.returncode == 0, passed.stdout
    assert passed.stdout.count("Passed") == 2
    assert repository.git("status", "--porcelain") == ""
    assert repository.git("show", "HEAD:words.py") == path.read_text()


def test_forklint_alone_shows_the_finding_and_changes_nothing(tmp_path: Path) -> None:
    repository = hooks(tmp_path, "forklint")
    repository.write("base.py", BASE)
    repository.commit()
    repository.write("words.py", WORDS)
    refused = repository.commit("words.py")
    assert refused.returncode == 1
    assert "- exit code: 1" in refused.stdout
    assert "error[FKL301] handle-in-init" in refused.stdout
    assert "--> words.py:8:9" in refused.stdout
    assert "1 fixable with --fix" in refused.stdout
    assert "modified" not in refused.stdout
    assert repository.git("diff") == ""


def test_the_imports_of_one_changed_file_are_followed(repository: Repository) -> None:
    unrelated = WORDS.replace("from base import Indexed", "from other import Indexed")
    repository.write("words.py", unrelated)
    assert repository.commit().returncode == 0, "nothing says that it is a dataset"
    repository.write("words.py", WORDS)
    refused = repository.commit("words.py")
    assert refused.returncode == 1
    assert "FKL301" in refused.stdout, "base.py, which was not handed over, says so"


@pytest.mark.soak
def test_excluded_files_are_spared_though_named(repository: Repository) -> None:
    repository.write("forklint.toml", 'exclude = ["third_party"]\n')
    repository.write("third_party/words.py", WORDS.replace("from base", "from ..base"))
    repository.write(
        "third_party/data.py",
        WORDS.replace("from base import Indexed", "from torch.utils.data import Dataset as Indexed"),
    )
    passed = repository.commit()
    assert passed.returncode == 0, passed.stdout
    repository.write("forklint.toml", "")
    assert repository.pre_commit("run", "--all-files", "forklint").returncode == 1


def test_with_no_file_for_it_the_hook_passes(repository: Repository) -> None:
    repository.write("notes.md", "none of its business\n")
    skipped = repository.commit("notes.md")
    assert skipped.returncode == 0
    assert skipped.stdout.count("(no files to check)Skipped") == 2
    empty = repository.run("git", "commit", "--allow-empty", "--message", "nothing")
    assert empty.returncode == 0
    assert "Skipped" in empty.stderr


def test_a_file_that_goes_is_not_asked_for(repository: Repository) -> None:
    repository.git("rm", "--quiet", "base.py")
    assert repository.commit().returncode == 0


@pytest.mark.soak
def test_hundreds_of_files_and_odd_names_go_to_one_process(repository: Repository) -> None:
    for number in range(300):
        repository.write(f"a_package_with_a_long_name/module_{number:03}.py", "import torch\n")
    names = ["rule", "with a space.py", "größe.py", "数据.py", "it's.py", "-dash.py"]
    for number, name in enumerate(names):
        text = "#!/usr/bin/env python3\n" + WORDS.replace("Words", f"Words{number}")
        repository.write(name, text).chmod(0o755)
    repository.git("add", ".")
    done = repository.pre_commit("run", "--verbose", "forklint")
    assert done.returncode == 1
    assert "Found 6 findings." in done.stdout, "one process has seen all"
    for name in names:
        assert f"{name}:9:9" in done.stdout.replace("--> ./", "--> ")
    mended = repository.pre_commit("run", "forklint-fix")
    assert "6 fixed" in mended.stdout
    repository.git("add", ".")
    assert repository.pre_commit("run").returncode == 0


def test_each_kind_of_file_is_handed_over(repository: Repository) -> None:
    files = {
        "a.py": "",
        "b.pyi": "",
        "c.ipynb": json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
    }
    files |= {
        "d.yaml": "a: 1\n",
        "e.yml": "a: 1\n",
        "f.toml": "a = 1\n",
        "g.json": "{}\n",
        "script": "#!/usr/bin/env python3\n",
    }
    others = {"h.txt": "", "i.ini": "", "j.csv": "", "k.png": b"\x89PNG\r\n\x1a\n"}
    for name, content in (files | others).items():
        repository.write(name, content)
    (repository.folder / "script").chmod(0o755)
    seen = local("forklint").replace("-m forklint lint --force-exclude", "-c 'import sys; print(sorted(sys.argv[2:]))'")
    repository.write("hooks.yaml", seen)
    repository.git("add", ".")
    done = repository.pre_commit("run", "--config", "hooks.yaml", "--verbose", "--all-files")
    handed = next(line for line in done.stdout.splitlines() if line.startswith("["))
    ours = {".pre-commit-config.yaml", "base.py", "hooks.yaml"}
    assert handed == str(sorted({*files, *ours}))


def test_a_notebook_is_mended_like_a_module(repository: Repository) -> None:
    cell = {"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": []}
    cell["source"] = WORDS.splitlines(keepends=True)
    notebook = {"cells": [cell], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    path = repository.write("words.ipynb", json.dumps(notebook, indent=1) + "\n")
    refused = repository.commit()
    assert refused.returncode == 1
    assert "files were modified by this hook" in refused.stdout
    assert "fixed words.ipynb:" in refused.stdout
    assert "_env_handle" in path.read_text()
    passed = repository.commit()
    assert passed.returncode == 0, passed.stdout


def test_settings_that_are_no_presets_do_not_stop_a_commit(repository: Repository) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "train"\n',
        "package.json": '{"name": "train", "scripts": {"test": "jest"}}\n',
        "tsconfig.json": "{\n  // with a comment\n  'strict': true,\n}\n",
        "compose.yaml": "services:\n  db:\n    image: postgres\n",
        "broken.yaml": "a: [\n\tb: {\n",
        "template.yaml": "name: {{ name }}\n{% if x %}\n",
        "broken.toml": "[a\n",
        "empty.json": "",
        "binary.yml": b"\x00\xff\xfe",
        "two.yaml": "a: 1\n---\na: 2\n",
        "uv.lock": '[[package]]\nname = "train"\n',
        ".clang-format": "BasedOnStyle: LLVM\n",
    }
    for name, content in files.items():
        repository.write(name, content)
    passed = repository.commit()
    assert passed.returncode == 0, passed.stdout
    assert passed.stdout.count("Passed") == 2


def test_the_hooks_are_well_formed(repository: Repository) -> None:
    root = Path(__file__).parent.parent
    valid = repository.pre_commit("validate-manifest", str(root / ".pre-commit-hooks.yaml"))
    assert valid.returncode == 0, valid.stdout


@pytest.mark.parametrize("name", ["config", "options"])
def test_the_page_names_what_is_published(repository: Repository, name: str) -> None:
    text = snippet("pre-commit.md", name)
    path = repository.write("page.yaml", text)
    assert repository.pre_commit("validate-config", str(path)).returncode == 0
    (entry,) = YAML(typ="safe", pure=True).load(text)["repos"]
    assert (entry["repo"], entry["rev"]) == (REPOSITORY, f"v{__version__}")
    root = Path(__file__).parent.parent
    published = YAML(typ="safe", pure=True).load(root / ".pre-commit-hooks.yaml")
    assert {hook["id"] for hook in entry["hooks"]} <= {hook["id"] for hook in published}


def test_the_options_of_the_page_are_options(repository: Repository) -> None:
    (entry,) = YAML(typ="safe", pure=True).load(snippet("pre-commit.md", "options"))["repos"]
    (hook,) = entry["hooks"]
    text = local("forklint").replace("args: [--]", f"args: {json.dumps(hook['args'])}")
    assert "--select=FKL3" in text
    repository.write("page.yaml", text)
    repository.write("-words.py", WORDS)
    repository.git("add", ".")
    done = repository.pre_commit("run", "--config", "page.yaml")
    assert "-words.py:8:9: FKL301" in done.stdout, "concise, and no option though it begins with a dash"


def test_the_local_hook_of_the_page(repository: Repository) -> None:
    text = snippet("pre-commit.md", "local").replace("entry: forklint", f"entry: {sys.executable} -m forklint")
    repository.write("page.yaml", text)
    repository.write("words.py", WORDS)
    repository.git("add", ".")
    done = repository.pre_commit("run", "--config", "page.yaml")
    assert done.returncode == 1
    assert "error[FKL301]" in done.stdout
