"""flake8 itself, with forklint as its plugin: the command's findings, in flake8's ways."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fixture_cases import all_cases
from flake8_command import Flake8
from hazards import SHORT_HAZARD as HAZARD

DERIVED = HAZARD.replace("from torch.utils.data import Dataset", "from base import Base").replace("(Dataset)", "(Base)")
OPENING = "        self.env = lmdb.open(root, readonly=True)"
MAIN = "from flake8.main import cli\nraise SystemExit(cli.main())"
PLACE = "data.py:7:9: FKL301"
LINE = re.compile(r"(?P<path>.+?):(?P<row>\d+):(?P<column>\d+): (?P<code>\S+) (?P<message>.*)")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "forklint.toml").touch()
    (tmp_path / "data.py").write_text(HAZARD)
    return tmp_path


def places(output: str) -> list[str]:
    """``path:row:column: code`` of each line."""
    return [" ".join(line.split()[:2]) for line in output.splitlines()]


def violations(output: str, folder: Path) -> set[tuple[str, int, int, str, str]]:
    found = [LINE.fullmatch(line) for line in output.splitlines()]
    assert all(found), output
    return {(str(folder / m["path"]), int(m["row"]), int(m["column"]), m["code"], m["message"]) for m in found if m}


MARKING = """
import ast, sys
from flake8.main.cli import main
for node in ast.walk(ast.parse("[1, 2]\\n1 + 2\\n-1\\n1 < 2\\n1 and 2\\n")):
    for child in ast.iter_child_nodes(node):
        child._parent = node
sys.exit(main(sys.argv[1:]))
"""
"""What pyflakes before 4.1 does, and other plugins: contexts and operators, which all trees share, lead out of them."""


def test_nodes_that_all_trees_share_may_have_attributes_of_others(flake8: Flake8, project: Path) -> None:
    (project / "base.py").write_text(
        "from torch.utils.data import Dataset\n\n\nclass Base(Dataset):\n    sizes = [3]\n"
    )
    (project / "data.py").write_text(DERIVED)
    assert places(flake8("--select", "FKL", cwd=project, code=MARKING).stdout) == [f"./{PLACE}"]


@pytest.mark.parametrize(
    ("part", "fewest"),
    [
        pytest.param(slice(0, None, 64), 10, id="some"),
        pytest.param(slice(None), 50, id="all", marks=pytest.mark.soak),
    ],
)
def test_the_findings_are_those_of_the_command(
    flake8: Flake8, forklint, tmp_path: Path, part: slice, fewest: int
) -> None:
    for number, case in enumerate(all_cases()[part]):
        folder = tmp_path / f"{number}-{case.path.stem}"
        folder.mkdir()
        case.copy_to(folder)
    inside = flake8("--select", "FKL", "--forklint-info", "-j", "2", cwd=tmp_path)
    alone = forklint("--output-format", "json", cwd=tmp_path, timeout=240)
    expected = {
        (one["filename"], one["location"]["row"], one["location"]["column"], one["code"], one["message"])
        for one in json.loads(alone.stdout)
        if one["filename"].endswith(".py") and one["code"] not in {"FKL001", "FKL002"}
    }
    assert len(expected) > fewest
    assert violations(inside.stdout, tmp_path) == expected
    assert inside.stderr == ""


def test_clean_is_zero_and_findings_are_one(flake8: Flake8, project: Path) -> None:
    result = flake8("--select", "FKL", "data.py", cwd=project)
    assert places(result.stdout) == [PLACE]
    assert result.returncode == 1
    (project / "data.py").write_text("import torch\n\nprint(torch)\n")
    assert flake8(cwd=project).returncode == 0


def test_infos_are_reported_where_they_count(flake8: Flake8, project: Path) -> None:
    def reported(*arguments: str) -> list[str]:
        return places(flake8("--select", "FKL", "--forklint-platform", "linux,windows", *arguments, cwd=project).stdout)

    (project / "data.py").unlink()
    (project / "words").mkdir()
    (project / "words" / "__init__.py").touch()
    (project / "words" / "data.py").write_text(HAZARD)
    (project / "setup.py").write_text("from setuptools import setup\n\nsetup()\n")
    info = f"./words/{PLACE}"
    assert reported() == [], "what is latent in a library makes neither the command fail nor flake8"
    assert reported("--forklint-info") == [info]
    (project / ".flake8").write_text("[flake8]\nforklint-info = true\n")
    assert reported() == [info]
    (project / ".flake8").unlink()
    (project / "forklint.toml").write_text('exit-on = "info"\n')
    assert reported() == [info]


def test_columns_count_characters(flake8: Flake8, project: Path) -> None:
    lines = "import os\nimport torch\nname = 'öäü😀'; os.environ['OMP_NUM_THREADS'] = '1'\n"
    (project / "data.py").write_text(lines, encoding="utf-8")
    result = flake8("--select", "FKL", "data.py", cwd=project)
    assert places(result.stdout) == ["data.py:3:16: FKL101"]
    assert places(flake8("--select", "FKL", "-", cwd=project, input=lines).stdout) == ["stdin:3:16: FKL101"]


SPREAD = "        self.env = lmdb.open(\n            root,{}\n            readonly=True,\n        ){}"
COMMENTS = {
    "plain": (OPENING, True),
    "blanket": (f"{OPENING}  # noqa", False),
    "named": (f"{OPENING}  # noqa: FKL301", False),
    "prefix": (f"{OPENING}  # noqa: E501,FKL3", False),  # as flake8 reads it
    "foreign": (f"{OPENING}  # noqa: E501", True),
    "own": (f"{OPENING}  # forklint: ignore[FKL301]", False),
    "own_name": (f"{OPENING}  # forklint: ignore[handle-in-init]", False),
    "own_other": (f"{OPENING}  # forklint: ignore[FKL201]", True),
    "own_above": (f"        # forklint: ignore[FKL301]\n{OPENING}", False),
    "noqa_above": (f"        # noqa: FKL301\n{OPENING}", True),
    "spread": (SPREAD.format("", ""), True),
    "spread_within": (SPREAD.format("  # noqa: FKL301", ""), False),
    "spread_end": (SPREAD.format("", "  # noqa: FKL301"), False),
    "spread_own": (SPREAD.format("", "  # forklint: ignore[FKL301]"), False),
}


def test_comments_silence_unless_they_are_disabled(flake8: Flake8, project: Path) -> None:
    (project / "data.py").unlink()
    for name, (text, _) in COMMENTS.items():
        (project / f"{name}.py").write_text(HAZARD.replace(OPENING, text))
    (project / "whole_file.py").write_text(f"# flake8: noqa\n{HAZARD}")
    reported = flake8("--select", "FKL", cwd=project).stdout
    assert {Path(line.split(":")[0]).stem for line in reported.splitlines()} == {
        name for name, (_, stays) in COMMENTS.items() if stays
    }
    assert set(re.findall(r"FKL\d+", reported)) == {"FKL301"}, "unused comments are not flake8's business"
    disabled = flake8("--select", "FKL", "--disable-noqa", cwd=project).stdout
    assert {Path(line.split(":")[0]).stem for line in disabled.splitlines()} == {*COMMENTS, "whole_file"}


@pytest.mark.parametrize(
    ("arguments", "configuration", "found"),
    [
        (["--select", "E,W"], "", False),
        (["--select", "E,W", "--extend-select", "FKL3"], "", True),
        (["--select", "E9,F63,F7,F82"], "", False),
        (["--extend-ignore", "FKL3"], "", False),
        (["--per-file-ignores", "data.py:FKL301"], "", False),
        ([], "per-file-ignores =\n    other.py: FKL301\n", True),
        (["--forklint-select", "FKL1,late-env-var"], "", False),
        ([], "forklint-select = FKL1,\n    handle-in-init\n", True),
        (["--forklint-ignore", "fkl3"], "", False),
        ([], "forklint_ignore = FKL3\n", False),
    ],
)
def test_selection(flake8: Flake8, project: Path, arguments: list[str], configuration: str, found: bool) -> None:
    (project / ".flake8").write_text(f"[flake8]\n{configuration}")
    assert places(flake8(*arguments, "data.py", cwd=project).stdout) == [PLACE] * found


@pytest.mark.soak
def test_options_and_settings(flake8: Flake8, project: Path) -> None:
    def message(*arguments: str) -> str:
        return flake8("--select", "FKL", *arguments, "data.py", cwd=project).stdout

    assert "under fork" in message()
    assert "under fork, " not in message("--forklint-platform", "windows,macos")
    assert "under fork, " not in message("--forklint-target-python", "3.14")
    (project / "setup.cfg").write_text("[flake8]\nforklint-platform =\n    darwin,\n    windows\n")
    assert "under fork, " not in message()
    assert "under fork, " in message("--forklint-platform", "linux")
    (project / "forklint.toml").write_text('ignore = ["FKL301"]\n')
    assert message() == ""
    assert PLACE in message("--forklint-isolated")
    (project / "other").mkdir()
    (project / "other" / "settings.toml").write_text('platforms = ["linux"]\n')
    (project / "setup.cfg").write_text("[flake8]\nforklint-config = ./other/settings.toml\nforklint-preview = yes\n")
    assert PLACE in message()


def test_what_the_settings_exclude_is_passed_over(flake8: Flake8, project: Path) -> None:
    (project / "forklint.toml").write_text('exclude = ["vendored"]\n')
    (project / "vendored").mkdir()
    (project / "vendored" / "data.py").write_text(HAZARD)
    assert places(flake8("--select", "FKL", cwd=project).stdout) == [f"./{PLACE}"]


@pytest.mark.parametrize(
    ("arguments", "configuration", "message"),
    [
        (["--forklint-platform", "solaris"], "", "--forklint-platform: unknown platform 'solaris'"),
        (["--forklint-target-python", "new"], "", "--forklint-target-python: 'new' is not a Python version"),
        (["--forklint-select", "FKL999"], "", "--forklint-select: unknown rule 'FKL999'"),
        ([], "forklint-ignore = E501\n", "--forklint-ignore: unknown rule 'E501'"),
        ([], "forklint-platform = ,\n", "--forklint-platform: expected at least one platform"),
        ([], "forklint-preview = maybe\n", "--forklint-preview: expected true or false, not 'maybe'"),
        (["--forklint-config", "missing.toml"], "", "missing.toml: No such file or directory"),
    ],
)
def test_a_wrong_option_is_one_clear_line(
    flake8: Flake8, project: Path, arguments: list[str], configuration: str, message: str
) -> None:
    (project / ".flake8").write_text(f"[flake8]\n{configuration}")
    result = flake8(*arguments, "data.py", cwd=project)
    output = result.stdout + result.stderr
    assert result.returncode != 0
    assert message in output.splitlines()[-1]
    assert "Traceback" not in output


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_wrong_setting_is_one_clear_line(flake8: Flake8, project: Path, jobs: str) -> None:
    (project / "forklint.toml").write_text('platform = ["linux"]\n')
    (project / "more.py").write_text("")
    result = flake8("--select", "FKL", "-j", jobs, cwd=project)
    assert result.returncode == 1
    heading, line = result.stdout.splitlines()
    assert heading == "There was a critical error during execution of Flake8:"
    assert line == f"{project / 'forklint.toml'}: unknown key 'platform'; did you mean 'platforms'?"
    assert result.stderr == ""


def test_standard_input_stands_for_the_file(flake8: Flake8, project: Path) -> None:
    def from_stdin(text: str | bytes, *arguments: str, cwd: Path = project) -> list[str]:
        data = text.encode() if isinstance(text, str) else text
        done = flake8("--select", "FKL", *arguments, "-", cwd=cwd, input=data, text=False)
        assert done.stderr == b""
        return places(done.stdout.decode())

    assert from_stdin(HAZARD) == [PLACE.replace("data.py", "stdin")]
    here = ("--stdin-display-name", "data.py")
    assert from_stdin("import torch\nprint(torch)\n", *here) == [], "what is on the disk does not count"
    (project / "data.py").write_text("import torch\n")
    assert from_stdin(HAZARD, *here) == [PLACE]
    assert from_stdin(HAZARD.replace("\n", "\r\n"), *here) == [PLACE]
    assert from_stdin(b"\xef\xbb\xbf" + HAZARD.encode(), *here) == [PLACE]
    latin = f"# -*- coding: latin-1 -*-\n{HAZARD}# é\n".encode("latin-1")
    assert from_stdin(latin, *here) == [PLACE.replace(":7:", ":8:")]


def test_standard_input_belongs_to_the_project_of_its_name(flake8: Flake8, project: Path) -> None:
    (project / "lib").mkdir()
    (project / "lib" / "base.py").write_text("class Base:\n    pass\n")
    (project / "lib" / "forklint.toml").write_text('platforms = ["linux"]\ntarget-python = "3.12"\n')

    def from_stdin(text: str) -> str:
        name = project / "lib" / "unsaved.py"
        arguments = ("--select", "FKL", "--stdin-display-name", str(name), "-")
        done = flake8(*arguments, cwd=project.parent, input=text)
        return done.stdout.removeprefix(str(name))

    found = from_stdin(HAZARD)
    assert found.startswith(":7:9: FKL301")
    assert "under fork" in found
    assert "spawn" not in found
    assert from_stdin(DERIVED) == "", "the base that lies beside it is no dataset"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_many_files_in_many_processes(flake8: Flake8, project: Path, method: str) -> None:
    for number in range(30):
        (project / f"data{number}.py").write_text(HAZARD)
    (project / ".flake8").write_text("[flake8]\nforklint-target-python = 3.12\n")
    main = f"import multiprocessing\nmultiprocessing.set_start_method({method!r})\n{MAIN}"
    result = flake8("--select", "FKL", "-j", "2", cwd=project, code=main)
    assert (len(result.stdout.splitlines()), result.stderr) == (31, "")
    assert "forkserver" not in result.stdout


def test_odd_files(flake8: Flake8, project: Path) -> None:
    outside = project / "outside"
    outside.mkdir()
    (project / "forklint.toml").unlink()
    files = {
        "mark.py": b"\xef\xbb\xbf" + HAZARD.encode(),
        "returns.py": HAZARD.replace("\n", "\r\n").encode(),
        "latin.py": f"# -*- coding: latin-1 -*-\n{HAZARD}# é\n".encode("latin-1"),
        "no_cookie.py": f"{HAZARD}# é\n".encode("latin-1"),
        "unknown.py": f"# -*- coding: klingon -*-\n{HAZARD}".encode(),
        "broken.py": f"{HAZARD}def (:\n".encode(),
        "empty.py": b"",
    }
    for name, data in files.items():
        (outside / name).write_bytes(data)
    (outside / "preset.json").write_text("{}")
    result = flake8("--select", "FKL,E9", *files, "preset.json", "nowhere.py", "mark.py", cwd=outside)
    found = {line.split(":")[0]: line.split()[1] for line in result.stdout.splitlines()}
    assert found == {
        "broken.py": "E999",
        "latin.py": "FKL301",
        "mark.py": "FKL301",
        "nowhere.py": "E902",
        "returns.py": "FKL301",
    }
    assert len(result.stdout.splitlines()) == 6, "a file that is named twice is reported twice, as flake8 does"


def test_a_notebook_that_reads_as_python_is_left_to_the_command(flake8: Flake8, forklint, project: Path) -> None:
    cell = {"cell_type": "code", "source": HAZARD, "metadata": {}, "outputs": [], "execution_count": 1}
    (project / "words.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}))
    assert forklint("words.ipynb", cwd=project).returncode == 1
    assert flake8("--select", "FKL,E9", "words.ipynb", cwd=project).stdout == ""


def test_formats_and_files_of_flake8(flake8: Flake8, project: Path) -> None:
    row, message = PLACE.split(":")[1], "[FKL301] `self.env` holds an open LMDB environment"
    result = flake8("--select", "FKL", "--format", "pylint", "--tee", "--output-file", "report", "data.py", cwd=project)
    assert result.stdout == (project / "report").read_text()
    assert result.stdout.startswith(f"data.py:{row}: {message}")
    counted = flake8("--select", "FKL", "-qq", "--statistics", "--count", "data.py", cwd=project).stdout.split()
    assert (counted[:2], counted[-1]) == (["1", "FKL301"], "1")


FAULT = f"""
from forklint.rules.unknown_method.rule import UnknownMethod

def suspects(self, module):
    raise KeyError("surprise\\nand more")

UnknownMethod.may_hold = lambda self, path, data: True
UnknownMethod.suspects = suspects
{MAIN}
"""


def test_a_fault_in_a_rule_is_reported_and_costs_that_rule_alone(flake8: Flake8, project: Path) -> None:
    result = flake8("--select", "FKL", "data.py", cwd=project, code=FAULT)
    assert places(result.stdout) == ["data.py:1:1: FKL000", PLACE]
    assert "FKL501 failed: KeyError: " in result.stdout
    assert "please report it" in result.stdout


def test_a_fault_of_forklint_itself_is_reported(flake8: Flake8, project: Path) -> None:
    main = f"import forklint.source.roots\nforklint.source.roots.Roots.of = lambda self, path: 1 / 0\n{MAIN}"
    result = flake8("--select", "FKL", "data.py", cwd=project, code=main)
    message = "internal error (ZeroDivisionError: division by zero); please report it"
    assert (result.stdout, result.stderr) == (f"data.py:1:1: FKL000 {message}\n", "")


def test_a_file_that_libcst_refuses_has_its_findings_as_in_the_command(flake8: Flake8, project: Path) -> None:
    refusal = """
from forklint.edits import tree
from forklint.edits.tree import UnparsableError

def refuse(text):
    raise UnparsableError("too new")

tree.parse = refuse
"""
    found = flake8("--select", "FKL", "data.py", cwd=project, code=refusal + MAIN).stdout
    assert found == flake8("--select", "FKL", "data.py", cwd=project).stdout
    assert "FKL301" in found


SERVER = """
from pathlib import Path
from flake8.api import legacy
from flake8.main.application import Application

PLAIN, DATASET = "class Base:\\n    pass\\n", "from torch.utils.data import Dataset as Base\\n"
guide, names = legacy.get_style_guide(select=["FKL"], forklint_isolated=True), ["data.py"]

def again():
    return guide.check_files(["data.py"]).total_errors, guide.check_files(names).total_errors

def anew():
    application = Application()
    application.run(["--select", "FKL", "-q", "data.py"])
    return application.result_count

for text in (DATASET, PLAIN, DATASET):
    Path("base.py").write_text(text)
    print(*again(), anew(), guide.check_files(names).total_errors)
"""


def test_a_process_that_lives_on_sees_what_other_files_say_now(flake8: Flake8, project: Path) -> None:
    (project / "data.py").write_text(DERIVED)
    result = flake8(cwd=project, code=SERVER)
    assert [line for line in result.stdout.splitlines() if line[0].isdigit()] == ["1 1 1 1", "0 0 0 0", "1 1 1 1"]


PROBE = """
import sys
from flake8.main import cli

code = cli.main()
print("loaded:", sorted(set(sys.modules) & set({heavy!r})), "code:", code)
"""


def test_a_clean_file_loads_nothing_heavy(flake8: Flake8, project: Path) -> None:
    probe = PROBE.format(heavy=("click", "libcst", "numpy", "pathspec", "rich", "ruamel", "tomlkit", "torch"))
    options = ("--select", "FKL", "--forklint-platform", "linux", "clean.py")
    (project / "clean.py").write_text("import torch\n\nmodel = torch.nn.Linear(2, 2)\n")
    assert flake8(*options, cwd=project, code=probe).stdout == "loaded: [] code: 0\n"
    (project / "clean.py").write_text(HAZARD)
    assert "loaded: ['libcst'] code: 1" in flake8(*options, cwd=project, code=probe).stdout


def test_a_run_for_other_codes_alone_does_not_pay(flake8: Flake8, project: Path) -> None:
    probe = PROBE.format(heavy=("forklint.engine", "forklint.config", "libcst"))
    assert flake8("--select", "E9,F63,F7,F82", "data.py", cwd=project, code=probe).stdout == "loaded: [] code: 0\n"
