"""``forklint init``: what it shows, asks, writes, and leaves as it is."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from doc_snippets import snippet
from hook_repository import environment
from ruamel.yaml import YAML

from forklint import __version__
from forklint.setup import hook
from forklint.setup.hook import REPOSITORY
from forklint.setup.proposal import Project

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HOOK = {"repo": REPOSITORY, "rev": f"v{__version__}", "hooks": [{"id": "forklint"}]}
PYPROJECT = '# ours\n[project]\nname = "train"   # a name\nversion = "1"\nrequires-python = ">=3.11"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty git repository."""
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, env=environment(), check=True)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def load(path: Path):
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


def valid(*paths: Path) -> bool:
    command = [sys.executable, "-m", "pre_commit", "validate-config", *map(str, paths)]
    with tempfile.TemporaryDirectory() as home:  # pre-commit wants to write into the user's
        variables = {**environment(), "PRE_COMMIT_HOME": home}
        return subprocess.run(command, env=variables, capture_output=True, check=False).returncode == 0


def test_it_shows_and_writes_nothing_unasked(project: Path, forklint) -> None:
    (project / "pyproject.toml").write_text(PYPROJECT)
    before = files(project)
    shown = forklint("init", cwd=project)
    assert shown.returncode == 1
    assert "+[tool.forklint]\n" in shown.stdout
    assert f"+  - repo: {REPOSITORY}\n" in shown.stdout
    assert "--- /dev/null\n+++ .pre-commit-config.yaml\n" in shown.stdout
    assert shown.stdout.endswith("Nothing written. Run with --yes to write these changes.\n")
    assert files(project) == before


def test_yes_writes_what_was_shown(project: Path, forklint) -> None:
    (project / "pyproject.toml").write_text(PYPROJECT)
    done = forklint("init", "--yes", cwd=project)
    assert done.returncode == 0, done.stderr
    assert "wrote pyproject.toml\nwrote .pre-commit-config.yaml\n" in done.stdout
    text = (project / "pyproject.toml").read_text()
    assert text.startswith(PYPROJECT + "\n[tool.forklint]\n"), "what was there stays byte for byte"
    assert tomllib.loads(text) == {**tomllib.loads(PYPROJECT), "tool": {"forklint": {}}}
    assert load(project / ".pre-commit-config.yaml") == {"repos": [HOOK]}
    assert valid(project / ".pre-commit-config.yaml")
    assert forklint("--show-settings", cwd=project).stdout.startswith(f"# from {project / 'pyproject.toml'}")
    left = files(project)
    again = forklint("init", "--yes", cwd=project)
    assert (again.returncode, files(project)) == (0, left)
    assert "pyproject.toml: already configures forklint" in again.stdout
    assert ".pre-commit-config.yaml: already has a forklint hook" in again.stdout


def test_each_suggestion_is_a_valid_setting(project: Path, forklint) -> None:
    assert forklint("init", "--yes", cwd=project).returncode == 0
    path = project / "forklint.toml"
    lines = [line.removeprefix("# ") for line in path.read_text().splitlines()[1:]]
    path.write_text("\n".join(lines))
    shown = forklint("--show-settings", cwd=project)
    assert shown.returncode == 0, shown.stderr
    assert 'platforms = ["linux"]' in shown.stdout
    assert len(tomllib.loads(path.read_text())) == 4


def test_from_below_it_finds_the_project_and_the_repository(project: Path, forklint) -> None:
    part = project / "packages" / "train"
    (part / "src").mkdir(parents=True)
    (part / "pyproject.toml").write_text(PYPROJECT)
    done = forklint("init", "-y", cwd=part / "src")
    assert done.returncode == 0
    assert "tool.forklint" in (part / "pyproject.toml").read_text()
    assert (project / ".pre-commit-config.yaml").exists(), "pre-commit reads it from the repository's root"
    assert not (part / ".pre-commit-config.yaml").exists()


@pytest.mark.parametrize(
    ("option", "written"), [("--no-config", [".pre-commit-config.yaml"]), ("--no-hook", ["forklint.toml"])]
)
def test_one_of_the_two(project: Path, forklint, option: str, written: list[str]) -> None:
    assert forklint("init", option, "-y", cwd=project).returncode == 0
    assert list(files(project)) == written


def test_without_git_there_is_no_hook(tmp_path: Path, forklint) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    done = forklint("init", "-y", cwd=tmp_path)
    assert done.returncode == 0
    assert "not a git repository, so no commit hook" in done.stdout
    assert list(files(tmp_path)) == ["pyproject.toml"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n",
        "[project]\nname = 'a'",
        "[project]\r\nname = 'a' # é\r\n",
        "[tool.black]\nline-length = 80\n",
    ],
)
def test_what_was_in_pyproject_stays_byte_for_byte(project: Path, forklint, text: str) -> None:
    path = project / "pyproject.toml"
    path.write_bytes(text.encode())
    assert forklint("init", "-y", cwd=project).returncode == 0
    after = path.read_bytes().decode()
    assert after.startswith(text)
    assert tomllib.loads(after)["tool"]["forklint"] == {}
    added = after[len(text) :]
    assert ("\r\n" in added) == ("\r\n" in text)
    assert added.count("\n") == added.count("\r\n") or "\r" not in added


@pytest.mark.parametrize("text", ["tool = {black = {}}\n", "tool = 3\n"])
def test_a_pyproject_that_takes_no_section_is_left(project: Path, forklint, text: str) -> None:
    (project / "pyproject.toml").write_text(text)
    done = forklint("init", "-y", "--no-hook", cwd=project)
    assert done.returncode == 1, done.stderr
    assert "add this yourself:\n[tool.forklint]\n" in done.stdout
    assert files(project) == {"pyproject.toml": text.encode()}


def test_a_configuration_above_governs(project: Path, forklint) -> None:
    (project / "forklint.toml").write_text("")
    part = project / "train"
    part.mkdir()
    (part / "pyproject.toml").write_text(PYPROJECT)
    done = forklint("init", "-y", cwd=part)
    assert "../forklint.toml: already configures forklint" in done.stdout
    assert (part / "pyproject.toml").read_text() == PYPROJECT


STYLES = {
    "plain": "repos:\n  - repo: https://x.org/b\n    rev: 24.1.0\n    hooks:\n      - id: black\n",
    "no end of line": "repos:\n  - repo: https://x.org/b\n    rev: 24.1.0\n    hooks:\n      - id: black",
    "flush": "repos:\n- repo: https://x.org/b\n  rev: 24.1.0\n  hooks:\n  - id: black\n",
    "wide": "repos:\n-   repo: https://x.org/b\n    rev: 24.1.0\n    hooks:\n    -   id: black\n",
    "crlf": "repos:\r\n- repo: https://x.org/b\r\n  rev: 24.1.0\r\n  hooks:\r\n  - id: black\r\n",
    "bom": "\ufeffrepos:\n  - repo: https://x.org/b\n    rev: 24.1.0\n    hooks:\n      - id: black\n",
    "comments": "# top\nrepos:\n  # first\n  - repo: https://x.org/b # b\n    rev: 24.1.0\n    hooks:\n"
    "      - id: black  # end\n      # - id: other\n\n# tail\n",
    "keys after": "repos:\n  - repo: https://x.org/b\n    rev: 24.1.0\n    hooks:\n      - id: black\n"
    "\n# CI\nci:\n  autofix_prs: false\n",
    "keys before": "fail_fast: true\nrepos:\n  - hooks:\n      - id: black\n    repo: https://x.org/b\n"
    "    rev: 24.1.0\n",
    "quotes": "\"repos\":\n  - 'repo': \"https://x.org/b\"\n    rev: '24.1.0'\n    hooks: [{id: black}]\n",
    "flow end": "repos:\n  - repo: https://x.org/b\n    rev: 24.1.0\n    hooks:\n      - {\n        id: black\n"
    "        }\n",
    "document": "---\nrepos:\n  - repo: https://x.org/b\n    rev: 24.1.0\n    hooks:\n      - id: black\n...\n",
    "anchor": "repos:\n  - repo: https://x.org/b\n    rev: &rev 24.1.0\n    hooks: &hooks\n      - id: black\n"
    "  - repo: https://x.org/b\n    rev: *rev\n    hooks: *hooks\n",
    "empty list": "repos: []\n",
    "empty list, comment": "repos: [ ]  # none yet\nfail_fast: true\n",
    "spaced": "repos:\n\n  - repo: https://x.org/b\n    rev: 24.1.0\n    hooks:\n      - id: black\n\n"
    "  - repo: https://x.org/b\n    rev: 24.1.0\n    hooks:\n      - id: black\n",
    "block text": "repos:\n  - repo: https://x.org/b\n    rev: 24.1.0\n    hooks:\n      - id: black\n"
    "        exclude: |\n          (?x)^(a/.*\n          )$\n",
}


def added_to(folder: Path, text: str) -> str:
    """What the proposed hook makes of a configuration."""
    path = folder / ".pre-commit-config.yaml"
    path.write_bytes(text.encode())
    proposal = hook.propose(Project(folder, folder))
    assert proposal is not None
    assert proposal.before == text.encode()
    return (proposal.after or b"").decode()


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES)
def test_the_hook_is_added_in_the_style_of_the_file(project: Path, text: str) -> None:
    after = added_to(project, text)
    before = YAML(typ="safe", pure=True).load(text)
    assert YAML(typ="safe", pure=True).load(after) == {**before, "repos": [*before["repos"], HOOK]}
    old, new = text.splitlines(), after.splitlines()
    start = next(number for number, line in enumerate(new) if REPOSITORY in line)
    kept = new[:start] + new[start + 4 :]
    assert [line for line in kept if line.strip()] == [
        line.replace("[ ]", "").replace("  #", " #") if "none yet" in line else line.replace(" []", "")
        for line in old
        if line.strip()
    ]
    assert after.count("\r\n") == (after.count("\n") if "\r\n" in text else 0)


def test_pre_commit_accepts_each_of_them(project: Path) -> None:
    made = []
    for number, text in enumerate(STYLES.values()):
        made.append(project / f"{number}.yaml")
        made[-1].write_bytes(added_to(project, text).encode())
    assert valid(*made)


LAYOUTS = {
    "plain": "  - repo: {}\n    rev: {}\n    hooks:\n      - id: forklint\n",
    "flush": "- repo: {}\n  rev: {}\n  hooks:\n  - id: forklint\n",
    "wide": "-   repo: {}\n    rev: {}\n    hooks:\n    -   id: forklint\n",
    "spaced": "\n  - repo: {}\n    rev: {}\n    hooks:\n      - id: forklint\n",
}


@pytest.mark.parametrize("style", LAYOUTS)
def test_an_entry_is_laid_out_like_the_one_before(project: Path, style: str) -> None:
    added = added_to(project, STYLES[style]).removeprefix(STYLES[style])
    assert re.sub("  #.*", "", added) == LAYOUTS[style].format(REPOSITORY, HOOK["rev"])


@pytest.mark.parametrize(
    "text",
    [
        "repos:\n- repo: local\n  hooks:\n  - {id: forklint, name: f, entry: f, language: system}\n",
        f"repos:\n- repo: {REPOSITORY}\n  rev: v0\n  hooks: []\n",
        "repos:\n- repo: git@example.org:mirror/forklint.git\n  rev: v0\n  hooks: []\n",
    ],
)
def test_a_hook_that_is_there_is_left(project: Path, forklint, text: str) -> None:
    path = project / ".pre-commit-config.yaml"
    path.write_text(text)
    done = forklint("init", "-y", "--no-config", cwd=project)
    assert done.returncode == 0
    assert "already has a forklint hook; not changed" in done.stdout
    assert path.read_text() == text


@pytest.mark.parametrize(
    "text",
    [
        '{"repos": [{"repo": "meta", "hooks": [{"id": "identity"}]}]}\n',
        "repos: [{repo: meta, hooks: [{id: identity}]}]\n",
        "repos:\n  - {repo: meta, hooks: [{id: identity}]}\n",
        "x: &x\n  - {repo: meta, hooks: [{id: identity}]}\nrepos:\n  - *a\n".replace("*a", "*x"),
    ],
)
def test_a_list_that_takes_no_entry_is_left(project: Path, forklint, text: str) -> None:
    path = project / ".pre-commit-config.yaml"
    path.write_text(text)
    done = forklint("init", "-y", "--no-config", cwd=project)
    assert done.returncode == 1
    assert "add this yourself:\n  - repo: " in done.stdout
    assert path.read_text() == text


BOMB = "a0: &a0 x\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30))


def test_anchors_that_expand_without_end(project: Path, forklint) -> None:
    path = project / ".pre-commit-config.yaml"
    path.write_text(BOMB + STYLES["plain"])
    assert forklint("init", "-y", "--no-config", cwd=project, timeout=20).returncode == 0
    assert path.read_text().startswith(BOMB + STYLES["plain"])


BROKEN = {
    "pyproject": ("pyproject.toml", b"[project\n", "pyproject.toml: not valid TOML: ", "fix it, or pass --no-config"),
    "encoding": ("pyproject.toml", b'a = "\xff"\n', "pyproject.toml: not UTF-8", ""),
    "yaml": (".pre-commit-config.yaml", b"repos:\n\t- repo: x\n", "not valid YAML: line 2: ", "or pass --no-hook"),
    "open": (".pre-commit-config.yaml", b"repos: [\n", "not valid YAML: line ", "or pass --no-hook"),
    "control": (".pre-commit-config.yaml", b"repos: \x01\n", "not valid YAML: ", "or pass --no-hook"),
    "list": (".pre-commit-config.yaml", b"- repo: x\n", "`repos` is missing or not a list", "or pass --no-hook"),
    "none": (".pre-commit-config.yaml", b"ci: {}\n", "`repos` is missing or not a list", "or pass --no-hook"),
    "null": (".pre-commit-config.yaml", b"repos:\n", "`repos` is missing or not a list", "or pass --no-hook"),
    "scalar": (".pre-commit-config.yaml", b"hello\n", "`repos` is missing or not a list", "or pass --no-hook"),
    "two": (
        ".pre-commit-config.yaml",
        b"repos: []\n---\nrepos: []\n",
        "`repos` is missing or not a list",
        "or pass --no-hook",
    ),
}


@pytest.mark.parametrize(("name", "content", "said", "tail"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_one_line(project: Path, forklint, name: str, content: bytes, said: str, tail: str) -> None:
    (project / name).write_bytes(content)
    done = forklint("init", "--yes", cwd=project)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert str(project / name) in line
    assert said in line
    assert line.endswith(tail)
    assert files(project) == {name: content}, "nothing is written, not even the other file"


def test_a_folder_that_is_no_project(tmp_path: Path, forklint) -> None:
    done = forklint("init", "--yes", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "is not in a project" in done.stderr
    assert list(tmp_path.iterdir()) == []
    gone = forklint("init", "gone", cwd=tmp_path)
    assert (gone.returncode, gone.stderr) == (2, "Error: gone: no such directory\n")


@pytest.mark.parametrize("name", ["pyproject.toml", ".pre-commit-config.yaml"])
def test_a_read_only_file_and_a_folder_in_its_place(project: Path, forklint, name: str) -> None:
    path = project / name
    path.write_text("# ours\n" if name == "pyproject.toml" else STYLES["plain"])
    before = path.read_bytes()
    path.chmod(0o444)
    done = forklint("init", "--yes", cwd=project)
    assert done.returncode == 2
    assert done.stderr == f"Error: {path}: not written: the file is read-only\n"
    assert path.read_bytes() == before
    path.chmod(0o644)
    path.unlink()
    path.mkdir()
    done = forklint("init", "--yes", cwd=project)
    assert done.returncode == 2
    assert done.stderr == f"Error: {path}: Is a directory\n"


def test_the_mode_of_a_file_and_a_link_stay(project: Path, forklint) -> None:
    (project / "real.toml").write_text(PYPROJECT)
    (project / "real.toml").chmod(0o600)
    (project / "pyproject.toml").symlink_to("real.toml")
    assert forklint("init", "--yes", "--no-hook", cwd=project).returncode == 0
    assert (project / "pyproject.toml").is_symlink()
    assert "tool.forklint" in (project / "real.toml").read_text()
    assert (project / "real.toml").stat().st_mode & 0o777 == 0o600
    (project / ".pre-commit-config.yaml").symlink_to("gone.yaml")
    assert forklint("init", "--yes", cwd=project).returncode == 2


ADVICE = {
    "ruff in pyproject": ("pyproject.toml", "[tool.ruff.lint]\nselect = ['E']\n", "tool.ruff.lint.external"),
    "ruff, told already": ("pyproject.toml", "[tool.ruff.lint]\nexternal = ['FKL']\n", ""),
    "ruff, told of old": ("pyproject.toml", "[tool.ruff]\nexternal = ['FKL']\n", ""),
    "ruff.toml": ("ruff.toml", "line-length = 100\n", "ruff.toml: set lint.external"),
    "flake8": (".flake8", "[flake8]\nselect = E,W\n", ".flake8: add FKL to flake8's `select`"),
    "flake8, told already": ("tox.ini", "[flake8]\nselect = E,FKL\n", ""),
    "flake8 selects nothing": ("setup.cfg", "[flake8]\nmax-line-length = 100\n", ""),
    "broken": ("setup.cfg", "flake8]\n", ""),
}


@pytest.mark.parametrize(("name", "text", "advised"), ADVICE.values(), ids=ADVICE)
def test_other_linters_are_spoken_of_and_left(project: Path, forklint, name: str, text: str, advised: str) -> None:
    (project / name).write_text(text)
    done = forklint("init", "-y", "--no-hook", cwd=project)
    assert done.returncode == 0, done.stderr
    assert ("advice: " in done.stdout) == bool(advised)
    assert advised in done.stdout
    assert (project / name).read_text().startswith(text)


def test_the_page_shows_what_the_command_prints(project: Path, forklint) -> None:
    (project / "pyproject.toml").write_text('[project]\nname = "train"\nversion = "1.0"\nrequires-python = ">=3.11"\n')
    (project / ".pre-commit-config.yaml").write_text(
        "repos:\n- repo: https://github.com/pre-commit/pre-commit-hooks\n  rev: v5.0.0\n  hooks:\n  - id: check-yaml\n"
    )
    command, _, shown = snippet("init.md", "console").partition("\n")
    assert command == "$ forklint init"
    assert forklint("init", cwd=project).stdout == shown


def test_the_address_is_the_project_s() -> None:
    root = Path(__file__).parent.parent
    assert tomllib.loads((root / "pyproject.toml").read_text())["project"]["urls"]["Homepage"] == REPOSITORY
