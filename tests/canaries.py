"""A repository with a trap in every place from which Python, pip, pytest, flake8, git or an editor runs code."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

HAZARD = """\
import lmdb
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __getitem__(self, index):
        return self.env.stat()
"""
STANDARD = [
    "abc",
    "argparse",
    "array",
    "ast",
    "base64",
    "bisect",
    "codecs",
    "collections",
    "concurrent",
    "configparser",
    "contextlib",
    "copy",
    "ctypes",
    "dataclasses",
    "datetime",
    "difflib",
    "email",
    "enum",
    "fnmatch",
    "functools",
    "gc",
    "getpass",
    "glob",
    "hashlib",
    "heapq",
    "html",
    "inspect",
    "io",
    "itertools",
    "json",
    "keyword",
    "linecache",
    "locale",
    "logging",
    "math",
    "mmap",
    "multiprocessing",
    "numbers",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "pkgutil",
    "platform",
    "posixpath",
    "queue",
    "random",
    "re",
    "resource",
    "select",
    "selectors",
    "shutil",
    "signal",
    "site",
    "socket",
    "sqlite3",
    "ssl",
    "stat",
    "string",
    "struct",
    "subprocess",
    "symtable",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "token",
    "tokenize",
    "tomllib",
    "traceback",
    "types",
    "typing",
    "unicodedata",
    "unittest",
    "urllib",
    "uuid",
    "warnings",
    "weakref",
    "xml",
    "zipfile",
    "zlib",
]
LIBRARIES = [
    "click",
    "flake8",
    "jinja2",
    "libcst",
    "markdown_it",
    "markupsafe",
    "pathspec",
    "pygments",
    "rich",
    "ruamel",
    "threadpoolctl",
    "tomli",
    "watchfiles",
    "pygls",
    "lsprotocol",
    "yaml",
    "forklint_plugin",
    "backend",
    "pycodestyle",
    "pyflakes",
    "mccabe",
    "colorama",
    "attrs",
    "cattrs",
    "matplotlib",
]
FILES = [
    "setup.py",
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "__init__.py",
    "__main__.py",
    "noxfile.py",
    "tasks.py",
    "manage.py",
    "fabfile.py",
    "hubconf.py",
    "ipython_config.py",
    ".pythonrc.py",
    ".pdbrc.py",
    "test_it.py",
    "tests/conftest.py",
    "__pycache__/data.cpython-311.pyc",
    ".ipython/profile_default/startup/00.py",
    "src/sitecustomize.py",
    "docs/conf.py",
]
HOOKS = (
    "pre-commit",
    "post-checkout",
    "post-index-change",
    "fsmonitor-watchman",
    "commit-msg",
    "pre-push",
    "post-merge",
)


def imported_first() -> set[str]:
    """The modules that Python itself imports for ``-m``, before the module: from the folder at hand, if they lie there.

    Nothing that is run with ``-m`` can change that; the command ``forklint`` is not concerned.
    """
    known = [
        subprocess.run(
            [sys.executable, "-X", "importtime", *asked], cwd="/", capture_output=True, text=True, check=True
        ).stderr
        for asked in (["-c", ""], ["-m", "this"])
    ]
    plain, module = ({row.rpartition("|")[2].strip().partition(".")[0] for row in rows.splitlines()} for rows in known)
    return module - plain | {"importlib", "runpy"}


class Trap:
    """Runs code where it is unpickled."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, (self.code,)


class Canaries:
    """The repository, and what has fired in it."""

    def __init__(self, folder: Path, fired: Path) -> None:
        """``fired`` lies outside of the repository; each trap leaves a line with its name there."""
        self.folder, self.fired = folder, fired
        folder.mkdir()
        names = [*FILES, *(f"{name}.py" for name in (*STANDARD, *LIBRARIES))]
        names += [f"{name}/__init__.py" for name in ("concurrent", "forklint_extra", "evil")]
        first = imported_first()
        for name in names:
            if name.partition("/")[0].removesuffix(".py") in first:
                continue
            self.write(name, self.code(name))
        self.write("data.py", HAZARD)
        self.write("package/data.py", HAZARD)
        self.write("package/__init__.py", self.code("package"))
        self.settings()
        self.documents()
        if shutil.which("git"):
            self.git()

    def code(self, name: str) -> str:
        """Python code that says that it was run."""
        return f"open({str(self.fired)!r}, 'a').write({name + chr(10)!r})\n"

    def shell(self, name: str) -> str:
        """The same for a shell."""
        return f"#!/bin/sh\necho '{name}' >> '{self.fired}'\n"

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def settings(self) -> None:
        """Configurations of other tools that name code, and of our own that lead out."""
        self.write(
            "pyproject.toml",
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
            '[tool.pytest.ini_options]\naddopts = "-p evil"\n[tool.forklint]\n',
        )
        self.write("setup.cfg", "[options]\nzip_safe = attr: evil.VERSION\n[tool:pytest]\naddopts = -p evil\n")
        self.write("tox.ini", "[testenv]\ncommands = python setup.py\n")
        self.write(".flake8", "[flake8:local-plugins]\nextension =\n    EVL = evil:Plugin\npaths = .\n")
        run = self.code("x.pth").strip().replace("\n", "\\n")
        for place in ("x.pth", ".venv/lib/python3.11/site-packages/x.pth", "venv/Lib/site-packages/x.pth"):
            self.write(place, f"import sys; {run}\n")
        self.write(".venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = true\n")
        for place in (".venv/bin/python", ".venv/bin/forklint", "git", "python", "python3", "sh", ".envrc"):
            self.write(place, self.shell(place)).chmod(0o755)
        hook = "repos: [{repo: local, hooks: [{id: x, name: x, entry: ./sh, language: system}]}]\n"
        self.write(".pre-commit-config.yaml", hook)
        self.write(".vscode/settings.json", '{"forklint.path": ["./sh"], "python.defaultInterpreterPath": "./python"}')

    def documents(self) -> None:
        """Data that runs code where it is loaded in the wrong way."""
        for name in ("data.pkl", "model.pt", "rows.npy", "store.joblib", "book.pickle"):
            self.write(name, pickle.dumps(Trap(self.code(name))))
        tag = "!!python/object/apply:builtins.exec"
        self.write("train.yaml", f"num_workers: 2\npersistent_workers: true\nx: {tag} [{self.code('train.yaml')!r}]\n")
        self.write("conf/train.yml", f"num_workers: !!python/name:evil.x\ndata: {tag} [{self.code('train.yml')!r}]\n")
        source = f"%run setup.py\n!./sh\n%%bash\n{HAZARD}"
        import json

        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell, {**cell, "source": HAZARD}]}
        self.write("book.ipynb", json.dumps(book))

    def git(self) -> None:
        """A repository whose own settings run programs."""
        for command in (["init", "-q"], ["config", "user.name", "A"], ["config", "user.email", "a@b"]):
            subprocess.run(["git", *command], cwd=self.folder, check=True, capture_output=True)
        self.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
        trap = self.write(".git/trap", self.shell("git")).absolute()
        trap.chmod(0o755)
        for hook in HOOKS:
            self.write(f".git/hooks/{hook}", self.shell(f"hook {hook}")).chmod(0o755)
        self.write(".git/included", f'[diff]\n\texternal = "{trap}"\n')
        config = (self.folder / ".git" / "config").read_text()
        config += (
            f'[core]\n\tfsmonitor = "{trap}"\n\tpager = "{trap}"\n\teditor = "{trap}"\n\tsshCommand = "{trap}"\n'
            f'\tattributesFile = "{self.folder}/.gitattributes"\n[include]\n\tpath = included\n'
            f'[filter "evil"]\n\tclean = "{trap}"\n\tsmudge = "{trap}"\n\trequired = true\n'
            f'[diff "evil"]\n\ttextconv = "{trap}"\n'
            f'[alias]\n\tstatus = "!{trap}"\n[credential]\n\thelper = "!{trap}"\n'
        )
        self.write(".git/config", config)

    @property
    def told(self) -> list[str]:
        """The traps that have fired."""
        return self.fired.read_text().splitlines() if self.fired.exists() else []

    def spring(self) -> None:
        """Run some of them in the way that they are made for."""
        runs = [[sys.executable, "setup.py"], [sys.executable, "-m", "json"], ["./sh"]]
        loads = self.folder.with_name("loads.py")
        loads.write_text(f"import pickle\npickle.load(open({str(self.folder / 'data.pkl')!r}, 'rb'))\n")
        runs.append([sys.executable, str(loads)])
        if shutil.which("git"):
            runs.append(["git", "status"])
        for run in runs:
            subprocess.run(run, cwd=self.folder, capture_output=True, check=False)
