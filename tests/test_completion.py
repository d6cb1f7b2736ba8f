"""Shell completion, through the protocol by which shells ask for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from forklint.cli import main


def complete(forklint, folder: Path, *words: str) -> list[str]:
    """What is offered for the last of these words."""
    env = {
        "_FORKLINT_COMPLETE": "bash_complete",
        "COMP_WORDS": "\n".join(("forklint", *words)),
        "COMP_CWORD": str(len(words)),
    }
    result = forklint(cwd=folder, env=env)
    assert result.stderr == ""
    return result.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["rule", "FKL4"], ["plain,FKL401", "plain,FKL402"]),
        (["src", "--select", "FKL2,FKL4"], ["plain,FKL2,FKL401", "plain,FKL2,FKL402"]),
        (["lint", "--ignore", "fkl4"], ["plain,FKL401", "plain,FKL402"]),
        (["--platform", "linux,d"], ["plain,linux,darwin"]),
        (["--exit-on", "w"], ["plain,warning"]),
        (["--exit-n"], ["plain,--exit-non-zero-on-fix"]),
        (["ru"], ["file,ru", "plain,rule"]),
        (["conf"], ["file,conf", "plain,config"]),
        (["config", "target-"], ["plain,target-python", "plain,target-torch"]),
        (["config", "--output-format", ""], ["plain,text", "plain,json"]),
        (["--target-python", "3.1"], [f"plain,3.{minor}" for minor in range(10, 16)]),
        (["--per-file-ignores", "tests/*:FKL301,FKL4"], ["plain,tests/*:FKL301,FKL401", "plain,tests/*:FKL301,FKL402"]),
        (["--output-format", "json"], ["plain,json", "plain,json-lines"]),
        (["verify", "--suspect", "src/da"], ["file,src/da"]),
        (["verify", "--suspect", "src/data.py:3:fkl4"], ["plain,src/data.py:3:FKL401", "plain,src/data.py:3:FKL402"]),
        (["verify", "--start-method", "fork"], ["plain,fork", "plain,forkserver"]),
        (["verify", "--label", "python3.1"], [f"plain,python3.{minor}" for minor in range(10, 16)]),
        (["worker", "tcp"], ["plain,tcp://", "plain,tcp://127.0.0.1:8786"]),
        (["scheduler", "--host", "0"], ["plain,0.0.0.0"]),
        (["init", "src"], ["dir,src"]),
        (["clean", "--cache"], ["plain,--cache-dir"]),
        (["ex"], ["file,ex", "plain,explain"]),
        (["explain", "cr"], ["file,cr"]),
        (["explain", "--out"], ["plain,--output-format"]),
        (["doctor", "--ti"], ["plain,--timeout"]),
    ],
)
def test_what_is_offered(forklint, tmp_path: Path, words: list[str], offered: list[str]) -> None:
    assert complete(forklint, tmp_path, *words) == offered


def parameters() -> list[tuple[str, click.Parameter, click.Context]]:
    """All parameters of all commands, with a context to complete them in."""
    group = click.Context(main, info_name="forklint")
    found = []
    for name in main.list_commands(group):
        command = main.get_command(group, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=group)
        found += [(f"{name} {one.name}", one, context) for one in command.params]
    return found


FREE = {"lint add_noqa", "verify replay", "verify repro", "worker name"}
"""Options whose value is free text: a reason, a name, and the names of trials, which only planning them can tell."""
NUMBERS = (click.types.IntParamType, click.types.FloatParamType)


@pytest.mark.parametrize(("name", "parameter", "context"), parameters(), ids=[name for name, *_ in parameters()])
def test_every_value_can_be_completed(name: str, parameter: click.Parameter, context: click.Context) -> None:
    is_flag = isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count)
    if is_flag or name in FREE or isinstance(parameter.type, NUMBERS):
        return
    offered = [parameter.shell_complete(context, start) for start in ("", "a:", "a:1:")]
    assert any(offered), f"nothing is offered for {name}"


@pytest.mark.skipif(shutil.which("bash") is None or os.name == "nt", reason="needs bash")
def test_bash_itself(tmp_path: Path) -> None:
    command = tmp_path / "forklint"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m forklint "$@"\n')
    command.chmod(0o755)
    script = (
        'eval "$(_FORKLINT_COMPLETE=bash_source forklint)"\n'
        "COMP_WORDS=(forklint rule FKL4); COMP_CWORD=2\n"
        "_forklint_completion forklint FKL4 rule\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["FKL401", "FKL402"], done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script(forklint, tmp_path: Path, shell: str) -> None:
    result = forklint(cwd=tmp_path, env={"_FORKLINT_COMPLETE": f"{shell}_source"})
    assert "_FORKLINT_COMPLETE" in result.stdout
