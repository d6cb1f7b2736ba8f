"""Settings: which file wins, what each key takes, and how a wrong one is said."""

from __future__ import annotations

import shutil
from dataclasses import fields
from pathlib import Path

import pytest

from forklint import knowledge
from forklint.config import READERS, ConfigError, Settings, SettingsFinder, load, python_range
from forklint.knowledge.handles import Handle
from forklint.knowledge.starters import Starter
from forklint.source.roots import find_extent


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_nearest_file_wins(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", '[tool.forklint]\nignore = ["FKL301"]\n')
    write(tmp_path / "inner" / "forklint.toml", 'ignore = ["FKL201"]\n')
    write(tmp_path / "inner" / "deep" / "pyproject.toml", "[project]\nname = 'x'\n")
    finder = SettingsFinder()
    assert finder.for_file(tmp_path / "a.py").ignore == ("FKL301",)
    assert finder.for_file(tmp_path / "inner" / "a.py").ignore == ("FKL201",)
    assert finder.for_file(tmp_path / "inner" / "deep" / "a.py").ignore == ("FKL201",)


def test_each_setting_has_a_key_and_each_key_a_setting() -> None:
    found_by_itself = {"base", "source"}
    assert {key.replace("-", "_") for key in READERS} | found_by_itself == {field.name for field in fields(Settings)}


def test_the_command_line_comes_on_top(tmp_path: Path) -> None:
    write(tmp_path / "forklint.toml", 'ignore = ["FKL301"]\nplatforms = ["linux"]\n')
    settings = SettingsFinder({"ignore": ()}).for_file(tmp_path / "a.py")
    assert (settings.ignore, settings.platforms) == ((), ("linux",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('slect = ["ALL"]', "unknown key 'slect'; did you mean 'select'?"),
        ('select = "ALL"', "select: expected a list of strings"),
        ('select = ["FKL31"]', "select: unknown rule 'FKL31'"),
        ('platforms = ["macosx"]', "platforms: unknown platform 'macosx'"),
        ("platforms = []", "platforms: expected at least one platform"),
        ('exit-on = "fatal"', "exit-on: unknown severity 'fatal'"),
        ("preview = 1", "preview: expected true or false"),
        ('target-python = "three"', "target-python: 'three' is not a Python version"),
        ('[per-file-ignores]\n"a.py" = ["FKL9"]', "per-file-ignores: unknown rule 'FKL9'"),
        ('[[handles]]\ncall = ["a.b"]', "handles: the key 'kind' is missing in a row"),
        ('[[handles]]\ncall = "a.b"\nkind = "x"', "handles: 'call': expected a list"),
        ("select = [", "not valid TOML"),
        ("[tool.forklint]\npreview = true", "unknown key 'tool'; write keys here without [tool.forklint]"),
        ("target-python = 3.12", "target-python: expected a string"),
        ('target-python = "2.7"', "target-python: '2.7' is not a supported range of Python versions"),
        ('target-python = "3.13-3.10"', "target-python: '3.13-3.10' is not a supported range of Python versions"),
        ("target-torch = 2.4", "target-torch: expected a string"),
        ('target-torch = "2"', "target-torch: expected a string"),
        ('target-torch = "2.4-2.1"', "target-torch: expected a string"),
        ('[[handles]]\ncall = ["a.b"]\nkind = "x"\nfoo = 1', "handles: unknown key 'foo' in a row"),
        ('[[handles]]\ncall = ["a.b("]\nkind = "x"', "handles: 'call': 'a.b(' is not a qualified name; write package"),
        ('[[handles]]\ncall = [1]\nkind = "x"', "handles: 'call': 1 is not a qualified name"),
        ('[[starters]]\ncall = ["a.b[0]"]', "starters: 'call': 'a.b[0]' is not a qualified name"),
        ('[[env-vars]]\nname = "A"\nmodules = ["a b"]', "env-vars: 'modules': 'a b' is not a qualified name"),
    ],
)
def test_a_wrong_setting_names_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "forklint.toml", text)
    with pytest.raises(ConfigError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_broken_pyproject_of_someone_else_is_passed_over(tmp_path: Path) -> None:
    assert load(write(tmp_path / "pyproject.toml", "[tool.black\n")) is None


def test_a_broken_pyproject_that_speaks_of_forklint_is_told_of(tmp_path: Path) -> None:
    path = write(tmp_path / "pyproject.toml", '[tool.forklint]\nignore = ["FKL401"\nx\n')
    with pytest.raises(ConfigError, match="not valid TOML"):
        load(path)


def test_requires_python_counts_without_a_table_of_ours(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", '[project]\nname = "x"\nrequires-python = ">=3.10,<3.13"\n')
    assert SettingsFinder().for_file(tmp_path / "a.py").target_python == ((3, 10), (3, 12))
    own = SettingsFinder({"target_python": ((3, 14), (3, 14))})
    assert own.for_file(tmp_path / "a.py").target_python == ((3, 14), (3, 14))


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("3.12", ((3, 12), (3, 12))),
        ("py312", ((3, 12), (3, 12))),
        ("3.10-3.13", ((3, 10), (3, 13))),
        (">=3.11", ((3, 11), Settings().target_python[1])),
        (">=3.9,<3.14", ((3, 10), (3, 13))),
        (">=3.9,<4", ((3, 10), Settings().target_python[1])),
        ("==3.12.*", ((3, 12), (3, 12))),
        ("<=3.12", ((3, 10), (3, 12))),
    ],
)
def test_python_ranges(text: str, bounds: object) -> None:
    assert python_range(text) == bounds


def test_a_project_adds_openers(forklint, tmp_path: Path) -> None:
    write(
        tmp_path / "forklint.toml",
        '[[handles]]\ncall = ["ourlib.open_shard"]\nkind = "shard"\nfork_effect = "workers read one cursor"\n',
    )
    write(
        tmp_path / "data.py",
        "import ourlib\nfrom torch.utils.data import Dataset\n\n\nclass Shards(Dataset):\n"
        "    def __init__(self, path):\n        self.shard = ourlib.open_shard(path)\n\n"
        "    def __getitem__(self, index):\n        return self.shard[index]\n",
    )
    result = forklint(".", "--output-format", "concise", "-q", cwd=tmp_path)
    assert result.returncode == 1
    assert "data.py:7:9: FKL301" in result.stdout
    assert "an open shard" in result.stdout


def test_the_keys_of_added_rows_are_those_that_are_read() -> None:
    assert knowledge.KNOWN_KEYS["handles"] == {field.name for field in fields(Handle)}
    assert knowledge.KNOWN_KEYS["starters"] == {field.name for field in fields(Starter)}


def test_root_is_the_nearest_mark_or_the_outermost_package(tmp_path: Path) -> None:
    write(tmp_path / "lib" / "pkg" / "__init__.py", "")
    inner = write(tmp_path / "lib" / "pkg" / "sub" / "__init__.py", "")
    assert find_extent(inner).root == tmp_path / "lib"
    write(tmp_path / "pyproject.toml", "")
    assert find_extent(inner).root == tmp_path


def test_a_project_adds_variables_and_starters(forklint, tmp_path: Path) -> None:
    write(
        tmp_path / "forklint.toml",
        '[[env-vars]]\nname = "OURLIB_THREADS"\nmodules = ["ourlib"]\n'
        '[[starters]]\ncall = ["ourlib.ShardLoader"]\nhow = "iterated"\nworkers = "num_workers"\n',
    )
    write(
        tmp_path / "train.py",
        "import os\n\nimport ourlib\n\nos.environ['OURLIB_THREADS'] = '1'\n"
        "for batch in ourlib.ShardLoader('shards', num_workers=2):\n    print(batch)\n",
    )
    output = forklint(".", "--output-format", "concise", "-q", cwd=tmp_path).stdout
    assert [line.split()[1] for line in output.splitlines()] == ["FKL101", "FKL201"], output


def test_a_path_with_dots_takes_the_settings_of_its_own_folder(forklint, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "forklint.toml").write_text('ignore = ["FKL002"]\n')
    (tmp_path / "data.py").write_text("def broken(:\n")
    (here / "link").symlink_to(tmp_path / "far" / "away")
    (tmp_path / "far" / "away").mkdir(parents=True)
    for path in ("../data.py", "..", "link/../../data.py"):
        result = forklint(path, "--output-format", "concise", cwd=here)
        assert (result.returncode, result.stdout.count("data.py:1:12: FKL002")) == (1, 1), path
    source = (tmp_path / "data.py").read_text()
    assert forklint("-", "--stdin-filename", "../data.py", cwd=here, input=source).returncode == 1
    assert forklint("--show-settings", "../data.py", cwd=here).stdout.startswith("# from defaults")
    assert forklint("-", "--stdin-filename", "data.py", cwd=here, input=source).returncode == 0


def test_a_path_with_dots_is_known_to_the_same_baseline(forklint, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "data.py").write_text("def broken(:\n")
    forklint("..", "--baseline", "../known.json", "--update-baseline", cwd=here)
    (tmp_path / "forklint.toml").write_text('exclude = ["other.py"]\n')
    shutil.copy(tmp_path / "data.py", tmp_path / "other.py")
    assert forklint("..", "--baseline", "../known.json", cwd=here).returncode == 0
    assert forklint(".", "--baseline", "known.json", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("text", "below"),
    [
        ("", False),
        ('target-torch = "2.4"', False),
        ('target-torch = "2.1-2.3"', True),
        ('target-torch = "2.1-2.6"', False),
        ('target-torch = ">=2.0"', False),
    ],
)
def test_the_newest_torch_decides(text: str, below: bool, tmp_path: Path) -> None:
    settings = load(write(tmp_path / "forklint.toml", text))
    assert settings is not None
    assert settings.meets_only_torch_below((2, 4)) is below
