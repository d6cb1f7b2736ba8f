"""Runs the main job on the example: from a crash to a fix, find, mend, train, guard with a commit hook, prove."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
FORKLINT = [sys.executable, "-m", "forklint"]
PATH = os.environ.get("PYTHONPATH", "")
GIT = {
    f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in (("NAME", "A"), ("EMAIL", "a@b.c"))
}
HOOKS = """\
repos:
  - repo: local
    hooks:
      - id: forklint-fix
        name: forklint-fix
        entry: '"{python}" -m forklint lint --force-exclude --fix --show-fixes --'
        language: system
        types: [python]
        require_serial: true
      - id: forklint
        name: forklint
        entry: '"{python}" -m forklint lint --force-exclude --'
        language: system
        types: [python]
        require_serial: true
"""
"""The hooks of .pre-commit-hooks.yaml, run by this Python: the demo installs nothing."""
START = "import multiprocessing\nmultiprocessing.set_start_method({!r}, force=True)\n"


def step(title: str, command: list[str], folder: Path, *, expect: int, **environment: str) -> None:
    """Say what is run, run it, and end the demo if it does not end as it should."""
    words = [Path(word).name if word == sys.executable else word for word in command]
    if words[1:2] == ["-m"]:
        words = [words[2].replace("_", "-"), *words[3:]]
    title = f"\033[1m# {title}\033[0m" if sys.stdout.isatty() else f"# {title}"
    print(f"\n{title}\n$ {shlex.join(words)}", flush=True)
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, stderr=subprocess.STDOUT, check=False)
    if done.returncode != expect:
        sys.exit(f"demo: expected exit code {expect}, got {done.returncode}")


def main() -> None:
    """Run the demo; exits with 1 if any step ends otherwise than it should."""
    with tempfile.TemporaryDirectory(prefix="forklint-demo-") as name:
        folder = Path(name)
        copy = folder / "examples"
        shutil.copytree(ROOT / "examples", copy, ignore=shutil.ignore_patterns(".data", "__pycache__"))
        (folder / "forklint.toml").touch()
        from_a_crash(folder, copy)
        step("Find: five hazards in one small project", [*FORKLINT, "examples"], folder, expect=1)
        mend = [*FORKLINT, "examples", "--fix", "--show-fixes", "--output-format", "concise"]
        step("Mend what is safe", mend, folder, expect=1)
        step("Mend the rest, which wants your judgement", [*mend, "--unsafe-fixes"], folder, expect=0)
        for method in ("fork", "spawn"):
            platform = folder / method
            platform.mkdir()
            (platform / "sitecustomize.py").write_text(START.format(method), encoding="utf-8")
            title = f"Train the mended project where processes start by {method}"
            command = [sys.executable, "train.py", "--epochs", "1"]
            step(title, command, copy / "ocr", expect=0, PYTHONPATH=os.pathsep.join([str(platform), PATH]))
        commit(folder, folder / "examples")
        prove(folder)


def from_a_crash(folder: Path, example: Path) -> None:
    """Crash a copy of the example as it does on macOS and Windows, and get from its log to a fixed file."""
    project = folder / "crashed"
    shutil.copytree(example, project, ignore=shutil.ignore_patterns(".data", "__pycache__"))
    (project / "forklint.toml").touch()
    started = project / "spawn"
    started.mkdir()
    (started / "sitecustomize.py").write_text(START.format("spawn"), encoding="utf-8")
    spawned = {"PYTHONPATH": os.pathsep.join([str(started), PATH])}
    train = [sys.executable, "ocr/train.py", "--epochs", "1"]
    with (project / "crash.log").open("wb") as log:
        subprocess.run(train, cwd=project, env={**os.environ, **spawned}, stdout=log, stderr=log, check=False)
    explain = [*FORKLINT, "explain", "crash.log"]
    step("From a crash log to a fixed file, 1: what causes it, and where?", explain, project, expect=1)
    fix = [*FORKLINT, "ocr/data.py", "--select", "FKL301", "--fix", "--quiet"]
    step("From a crash log to a fixed file, 2: fix it", fix, project, expect=0)
    step("From a crash log to a fixed file, 3: nothing here causes it any more", explain, project, expect=0)


def prove(folder: Path) -> None:
    """Run what was found, in the example as it was and in the mended copy."""
    shutil.copytree(ROOT / "examples", folder / "before", ignore=shutil.ignore_patterns(".data", "__pycache__"))
    (folder / "before" / "forklint.toml").touch()
    verify = [*FORKLINT, "verify"]
    step("Prove what was found, and what safety costs", [*verify, "ocr", "--fix"], folder / "before", expect=1)
    step("After the fixes nothing is left to prove", [*verify, "examples", "--quiet"], folder, expect=0)


def commit(folder: Path, mended: Path) -> None:
    """Put the mended example under git with the hooks, but for its dataset; commit that as it was at first."""
    project = folder / "project"
    shutil.copytree(mended, project, ignore=shutil.ignore_patterns(".data", "__pycache__", "data.py"))
    (project / "forklint.toml").touch()
    (project / ".pre-commit-config.yaml").write_text(HOOKS.format(python=sys.executable), encoding="utf-8")
    variables = {**GIT, "GIT_CONFIG_GLOBAL": os.devnull, "PRE_COMMIT_HOME": str(folder / "pre-commit")}

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=project, env={**os.environ, **variables}, check=True)

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "All but the dataset")
    install = [sys.executable, "-m", "pre_commit", "install"]
    step("Have every commit looked at", install, project, expect=0, **variables)
    shutil.copy(ROOT / "examples" / "ocr" / "data.py", project / "ocr")
    add = ["git", "add", "ocr/data.py"]
    again = ["git", "commit", "--message", "Read glyphs from a file"]
    git(*add[1:])
    step("Commit a dataset that opens its file too early: refused, and mended", again, project, expect=1, **variables)
    step("What the hook mended, not staged yet", ["git", "diff", "--stat"], project, expect=0, **variables)
    step("Agree to it", add, project, expect=0, **variables)
    step("Commit it again: it passes", again, project, expect=0, **variables)


if __name__ == "__main__":
    main()
