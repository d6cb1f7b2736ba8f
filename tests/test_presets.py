"""Files of settings: bad input, odd layouts of the fix, the code around, comments that silence, the command."""

from __future__ import annotations

import json
import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from doc_snippets import snippet
from fixture_cases import fixed_text, linters
from identify import extensions
from ruamel.yaml import YAML

from forklint.model import Applicability, Finding
from forklint.source.presets import PresetError, parse

MAC = "mac:\n  num_workers: 4\n"
SHARED = "b: &b\n  num_workers: 4\n"
BROKEN = {
    "twice.yaml": b"mac:\n  num_workers: 4\n  num_workers: 2\n",
    "tab.yaml": b"mac:\n\tnum_workers: 4\n",
    "deep.yaml": b"[" * 10_000 + MAC.encode(),
    "utf16.yaml": MAC.encode("utf-16"),
    "nul.yaml": MAC.encode() + b"\0",
    "latin.yaml": b"# \xe9\n" + MAC.encode(),
    "template.yaml": b"{{- if .mac }}\nmac: {num_workers: {{ .n }} }\n{{- end }}\n",
    "alias.yaml": b"mac: {num_workers: *missing}\n",
    "large.yaml": MAC.encode() + b"# \n" * 400_000,
    "comment.json": b'// for a mac\n{"mac": {"num_workers": 4}}',
    "comma.json": b'{"mac": {"num_workers": 4,}}',
    "deep.json": b"[" * 100_000 + b'"mac num_workers"',
    "cut.json": b"{",
    "twice.toml": b"[mac]\nnum_workers = 4\n[mac]\nx = 1\n",
    "deep.toml": b"mac = " + b"[" * 5000 + b"]" * 5000 + b"\nnum_workers = 4\n",
    "cut.toml": b"=",
    "digits.json": b'{"mac": {"num_workers": 4}, "x": ' + b"9" * 5000 + b"}",
    "digits.toml": b"[mac]\nnum_workers = 4\nx = " + b"9" * 5000,
}
ODD = {
    "tag.yaml": "mac: !new\n  num_workers: 4\n  path: !!python/object/apply:os.system [exit]\n",
    "laughs.yaml": "a: &a [x, x]\n"
    + "".join(f"{y}: &{y} [{', '.join([f'*{x}'] * 9)}]\n" for x, y in pairwise("abcdefghijklmnopqrstu"))
    + MAC,
    "merges.yaml": "a: &a {k: 1}\n"
    + "".join(f"{y}: &{y}\n  <<: [{', '.join([f'*{x}'] * 9)}]\n" for x, y in pairwise("abcdefghijklmnopqrstu"))
    + "mac:\n  <<: *u\n  num_workers: 4\n",
    "circle.yaml": "mac: &mac\n  num_workers: 4\n  again: *mac\n  <<: *mac\n",
    "mark.yaml": "\ufeff" + MAC,
    "mark.json": '\ufeff{"mac": {"num_workers": 4}}',
    "mark.toml": "\ufeff[mac]\nnum_workers = 4\n",
    "nan.toml": 'x = nan\n"a.b" = """\n# [mac] "x" """\nd = 1979-05-27 07:32:00\n[mac]\nnum_workers = 4\n',
    "old_mac.yaml": "mac:\r  num_workers: 4\r",
    "directive.yaml": "%YAML 1.1\n---\nmac: {num_workers: 4}\n...\n",
    "complex.yaml": "? [a, b]\n: c\n? mac\n: num_workers: 4\n",
}


def findings(path: Path, text: str) -> tuple[Finding, ...]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return linters().of(path).lint(path).findings


def mended(path: Path, text: str) -> str:
    """What the fixes make of a text; checks that nothing is left and that a second pass changes nothing."""
    assert findings(path, text)
    new = fixed_text(path)
    assert findings(path, new) == ()
    assert fixed_text(path) == new
    return new


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "forklint.toml").touch()
    return tmp_path


# Bad input


def test_what_cannot_be_read_is_passed_over(forklint, root: Path) -> None:
    for name, data in BROKEN.items():
        (root / name).write_bytes(data)
    done = forklint(".", cwd=root)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_cannot_be_read_gets_one_line_where_it_was_named(forklint, root: Path) -> None:
    for name, data in BROKEN.items():
        (root / name).write_bytes(data)
    done = forklint(*BROKEN, cwd=root)
    assert done.returncode == 0
    assert [line.split(":")[1].strip() for line in done.stderr.splitlines()] == list(BROKEN)
    assert all("skipped: " in line for line in done.stderr.splitlines())
    assert "(line 2)" in next(line for line in done.stderr.splitlines() if "tab.yaml" in line)


@pytest.mark.parametrize("name", ODD)
def test_odd_files_are_read_and_mended(root: Path, name: str) -> None:
    (finding,) = findings(root / name, ODD[name])
    assert finding.code == "FKL401"
    wanted = re.sub(r'(num_workers"?(?::| =) )4', r"\g<1>0", ODD[name].removeprefix("\ufeff"))
    assert mended(root / name, ODD[name]) == wanted


def test_nothing_is_constructed(root: Path) -> None:
    findings(root / "a.yaml", f"mac:\n  num_workers: 4\n  x: !!python/object/apply:os.mkdir [{root / 'made'}]\n")
    assert not (root / "made").exists()


def test_a_text_of_thousands_of_digits_is_no_count(forklint, root: Path) -> None:
    (root / "a.json").write_text('{"mac": {"num_workers": "%s"}}' % ("9" * 5000))
    done = forklint(".", cwd=root)
    assert (done.returncode, done.stderr) == (0, "")


def test_of_a_key_twice_in_json_nothing_is_said(root: Path) -> None:
    assert findings(root / "a.json", '{"mac": {"num_workers": 4, "num_workers": 0}}') == ()


def test_many_mappings_side_by_side_take_time_in_proportion(root: Path) -> None:
    """Which entries are there just once is not asked again for each of them: that took 25 seconds."""
    inner = ", ".join(f'"a{number}": {{}}' for number in range(12_000))
    start = time.process_time()
    findings(root / "a.json", f'{{"num_workers": 0, "prefetch_factor": 2, "mac": {{{inner}}}}}')
    assert time.process_time() - start < 5


def test_what_pre_commit_hands_over_as_settings_is_never_taken_for_python(forklint, root: Path) -> None:
    kinds = {"yaml", "toml", "json"}
    names = [name for name, tags in extensions.NAMES.items() if kinds & tags]
    names += [f"file.{suffix}" for suffix, tags in extensions.EXTENSIONS.items() if kinds & tags and suffix != "ipynb"]
    assert {"uv.lock", ".clang-format", "Pipfile", "file.geojson"} <= set(names)
    for name in names:
        (root / name).write_text("a: b: [=\n")
    done = forklint(*names, cwd=root)
    assert (done.returncode, done.stderr.count("\n")) == (0, len(names))


# The fix


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.yaml", "mac: {persistent_workers: true, num_workers: 4}\n", "mac: {num_workers: 0}\n"),
        ("a.yaml", "mac: {num_workers: 4, timeout: 5, }\n", "mac: {num_workers: 0, }\n"),
        ("a.yaml", "mac:\r\n  timeout: 5 # s\r\n  num_workers: 4 # n\r\n", "mac:\r\n  num_workers: 0 # n\r\n"),
        ("a.yaml", "mac:\n  num_workers: 4\n  prefetch_factor: 2", "mac:\n  num_workers: 0\n"),
        ("a.yaml", "mac: {a: 1, timeout: 5,\n  num_workers: 4}\n", "mac: {a: 1,\n  num_workers: 0}\n"),
        ("a.yaml", "mac: {timeout: 5, a: 1,\n  num_workers: 4}\n", "mac: {a: 1,\n  num_workers: 0}\n"),
        ("a.yaml", "mac: { # x\n num_workers: 4, # n\n timeout: 5 # t\n}\n", "mac: { # x\n num_workers: 0, # n\n}\n"),
        ("a.yaml", "w: &w 4\nmac: {num_workers: *w}\n", "w: &w 4\nmac: {num_workers: 0}\n"),
        ("a.yaml", "mac: {num_workers: &w 4}\n", "mac: {num_workers: &w 0}\n"),
        ("a.yaml", "mac:\n- timeout: 5\n  num_workers: 4\n", "mac:\n- num_workers: 0\n"),
        ("a.yaml", SHARED + "mac: {<<: *b, c: 1}", SHARED + "mac: {<<: *b, num_workers: 0, c: 1}"),
        ("a.yaml", SHARED + "mac:\n  <<: *b", SHARED + "mac:\n  <<: *b\n  num_workers: 0"),
        ("a.toml", "[mac]\nnum_workers = 4\ntimeout=5", "[mac]\nnum_workers = 0\n"),
        ("a.toml", "mac = {timeout = 5, num_workers = 0x4}", "mac = {num_workers = 0}"),
        ("a.toml", "mac.num_workers = 4\nmac.timeout = 5 # t\n\n[x]\n", "mac.num_workers = 0\n\n[x]\n"),
        ("a.toml", "[[m]]\nname='mac'\n'num_workers' = '4'\n", "[[m]]\nname='mac'\n'num_workers' = '0'\n"),
        ("a.json", '{"mac": {"num_workers": 4, "timeout": 5}}', '{"mac": {"num_workers": 0}}'),
        ("a.json", '{"mac": {"timeout": 5 , "num_workers": 4}}', '{"mac": {"num_workers": 0}}'),
        ("a.json", '{"mac": {\n\t"timeout": 5,\n\t"num_workers": "4"\n}}', '{"mac": {\n\t"num_workers": "0"\n}}'),
    ],
)  # fmt: skip
def test_layouts_of_the_fix(root: Path, name: str, before: str, after: str) -> None:
    assert mended(root / name, before) == after


@pytest.mark.parametrize(
    ("text", "applicability"),
    [
        ("mac: {num_workers: 4, persistent_workers: true}", Applicability.SAFE),
        ("mac: {num_workers: 4, persistent_workers: false}", Applicability.SAFE),
        ("mac: {num_workers: 4, prefetch_factor: '${factor}'}", Applicability.UNSAFE),
        ("loader: {prefetch_factor: 4}\nmac: {num_workers: 4}", Applicability.UNSAFE),
        ("linux: {prefetch_factor: 4, num_workers: 8}\nmac: {num_workers: 4}", Applicability.SAFE),
        ("base: {prefetch_factor: 4, num_workers: 8}\nmac: {num_workers: 4}", Applicability.UNSAFE),
        ("prefetch_factor: 4\nmac_num_workers: 4", Applicability.UNSAFE),
        ("mac: &m {num_workers: 4}\nlinux: {<<: *m}", Applicability.DISPLAY),
        ("mac: &m {num_workers: 4}\nmacbook: {<<: *m}", Applicability.SAFE),
        ("mac: {num_workers: &w 4}\nbatch_size: *w", Applicability.DISPLAY),
    ],
)
def test_how_safe_the_fix_is(root: Path, text: str, applicability: Applicability) -> None:
    found = findings(root / "a.yaml", text)
    assert {finding.fixes[0].applicability for finding in found} == {applicability}


@pytest.mark.parametrize(
    ("name", "other", "text", "applicability"),
    [
        ("configs/linux.yaml", "num_workers: 8\npersistent_workers: true\n", "num_workers: 4\n", Applicability.SAFE),
        ("configs/base.yaml", "num_workers: 8\npersistent_workers: true\n", "num_workers: 4\n", Applicability.UNSAFE),
        ("configs/base.yaml", "num_workers: 8\npersistent_workers: False\n", "num_workers: 4\n", Applicability.SAFE),
        ("conf/loader.yaml", "prefetch_factor: 4\n", "num_workers: 4\n", Applicability.UNSAFE),
        ("conf/loader.json", '{"prefetch_factor": 4}', "num_workers: 4\n", Applicability.SAFE),
        (
            "configs/linux.yaml",
            "num_workers: 8\nprefetch_factor: 4\n",
            "defaults: [linux]\nnum_workers: 4\n",
            Applicability.UNSAFE,
        ),
    ],
)
def test_options_of_files_that_it_is_put_together_with(
    root: Path, name: str, other: str, text: str, applicability: Applicability
) -> None:
    (root / name).parent.mkdir()
    (root / name).write_text(other)
    (finding,) = findings(root / "configs" / "mac.yaml", text)
    assert finding.fixes[0].applicability is applicability


def test_an_option_that_code_sets_makes_the_fix_unsafe(root: Path) -> None:
    (root / "train.py").write_text(
        "def load(DataLoader, data, n):\n    return DataLoader(data, num_workers=n, prefetch_factor=2)\n"
    )
    (finding,) = findings(root / "a.yaml", MAC)
    assert finding.fixes[0].applicability is Applicability.UNSAFE


def test_an_option_that_code_reads_by_its_key_stays(root: Path) -> None:
    (root / "train.py").write_text('def load(settings):\n    return settings["persistent_workers"]\n')
    text = "mac:\n  num_workers: 4\n  persistent_workers: true # p\n  prefetch_factor: 2\n"
    assert mended(root / "a.yaml", text) == "mac:\n  num_workers: 0\n  persistent_workers: false # p\n"


@pytest.mark.parametrize(
    "code",
    [
        "def load(num_workers, persistent_workers): ...\nload(**settings)\n",
        "@dataclass\nclass Settings:\n    num_workers: int\n    persistent_workers: bool\n",
        'def load(given):\n    return {key: given[key] for key in ("num_workers", "persistent_workers")}\n',
    ],
)
def test_an_option_that_code_wants_as_an_argument_stays(root: Path, code: str) -> None:
    (root / "train.py").write_text(code)
    text = "mac:\n  num_workers: 4\n  persistent_workers: true\n"
    assert mended(root / "a.yaml", text) == "mac:\n  num_workers: 0\n  persistent_workers: false\n"


@pytest.mark.parametrize(
    "path",
    sorted((Path(__file__).parent / "fixtures/FKL401_workers_on_darwin").glob("bad_*.yaml")),
    ids=lambda path: path.name,
)
def test_a_library_reads_the_values_that_the_tree_has(path: Path) -> None:
    def plain(node):
        node = node.real
        if node.shape.value == "mapping":
            return {key: plain(entry.value) for key, entry in node.effective().items()}
        return [plain(item) for item in node.items] if node.shape.value == "sequence" else node.value

    text = path.read_text(encoding="utf-8")
    library = YAML(typ="safe", pure=True)
    assert [plain(tree) for tree in parse(text, "yaml")] == list(library.load_all(text))


# The code around


def test_the_chain_leads_to_the_code_that_reads_the_file(root: Path) -> None:
    (root / "train.py").write_text('import yaml\n\nCONFIG = yaml.safe_load(open("configs/mac.yaml"))\n')
    (finding,) = findings(root / "configs" / "mac.yaml", "data:\n  num_workers: 4\n")
    assert [(Path(link.path).name, link.row, link.message) for link in finding.chain] == [
        ("train.py", 3, "this reads the file")
    ]
    assert "in `mac.yaml`, named for a Mac" in finding.message


def test_a_name_that_two_files_have_leads_nowhere(root: Path) -> None:
    (root / "train.py").write_text('NAME = "mac.yaml"\n')
    (root / "other").mkdir()
    (root / "other" / "mac.yaml").touch()
    (finding,) = findings(root / "configs" / "mac.yaml", "num_workers: 4\n")
    assert finding.chain == ()


def test_a_short_name_counts_where_code_hands_it_to_a_loader(root: Path) -> None:
    (root / "train.py").write_text('NAME = "configs/mac.yaml"\n')
    assert findings(root / "configs" / "mac.yaml", "workers: 4\n") == ()
    (root / "train.py").write_text(
        'NAME = "configs/mac.yaml"\n\ndef load(c, f):\n    return f(num_workers=c["workers"])\n'
    )
    assert findings(root / "configs" / "mac.yaml", "workers: 4\n")


# The command


def test_the_door_of_the_command(forklint, root: Path) -> None:
    (root / "train.py").write_text("import torch\n")
    for name, text in (
        ("a.yaml", MAC),
        ("b.toml", "[mac]\nnum_workers = 4\n"),
        ("c.json", '\ufeff{"mac": {"num_workers": 4}}'),
    ):
        (root / name).write_text(text, encoding="utf-8")
    done = forklint(".", "--output-format", "json", cwd=root)
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert [(Path(item["filename"]).name, item["code"]) for item in found] == [
        ("a.yaml", "FKL401"),
        ("b.toml", "FKL401"),
        ("c.json", "FKL401"),
    ]
    assert forklint(".", "--fix", cwd=root).returncode == 0
    assert (root / "a.yaml").read_text() == "mac:\n  num_workers: 0\n"
    assert (root / "c.json").read_bytes() == b'\xef\xbb\xbf{"mac": {"num_workers": 0}}'
    assert forklint(".", cwd=root).returncode == 0


def test_settings_of_forklint_count_for_presets(forklint, root: Path) -> None:
    (root / "configs").mkdir()
    (root / "configs" / "mac.json").write_text('{"num_workers": 4}')
    assert forklint(".", cwd=root).returncode == 1
    (root / "forklint.toml").write_text('per-file-ignores = {"configs/*.json" = ["FKL401"]}\n')
    assert forklint(".", cwd=root).returncode == 0
    (root / "forklint.toml").write_text('exclude = ["configs"]\n')
    assert forklint(".", cwd=root).returncode == 0
    (root / "forklint.toml").write_text('platforms = ["linux"]\n')
    assert forklint(".", cwd=root).returncode == 0


def test_comments_silence(root: Path) -> None:
    assert findings(root / "a.yaml", "mac:\n  num_workers: 4 # noqa: FKL401\n") == ()
    assert findings(root / "a.yaml", "mac:\n  # forklint: ignore[FKL401]\n  num_workers: 4\n") == ()
    assert findings(root / "a.toml", "[mac]\nnum_workers = 4 # forklint: ignore\n") == ()
    assert findings(root / "a.yaml", "mac: {num_workers: 4, x: ' # noqa'}\n") != ()
    assert findings(root / "a.yaml", "mac: {num_workers: 4, x: ' # a'} # noqa\n") == ()


def test_a_file_with_data_is_not_kept(root: Path) -> None:
    path = root / "boxes.json"
    path.write_text('{"boxes": [1, 2, 3, 4]}')
    linter = linters().of(path)
    assert linter.lint(path).findings == ()
    path.unlink()
    assert linter.project.data(path) == b""


def test_comments_that_silence_nothing_are_found_and_taken_out(forklint, root: Path) -> None:
    (root / "a.yaml").write_text(
        "# forklint: ignore-file[FKL301]\nmac:\n  num_workers: 4 # noqa: FKL201, FKL401\n"
        "linux:\n  num_workers: 4 # noqa: FKL401, E501\n  a: '# noqa: FKL401'\n  b: |\n    # noqa: FKL401\n"
    )
    (root / "b.toml").write_text('a = "# noqa: FKL401"\r\n# noqa: FKL401\r\nb = 1\r\n', newline="")
    (root / "c.yaml").write_text("a: [ # noqa: FKL401\n")
    (root / "d.json").write_text('["# noqa: FKL401"]')
    found = json.loads(forklint(".", "--output-format", "json", cwd=root).stdout)
    assert [(Path(one["filename"]).name, one["code"], one["location"]["row"]) for one in found] == [
        ("a.yaml", "FKL001", 1),
        ("a.yaml", "FKL001", 3),
        ("a.yaml", "FKL001", 5),
        ("b.toml", "FKL001", 2),
    ]
    assert forklint(".", "--fix", cwd=root).returncode == 0
    assert (root / "a.yaml").read_text() == (
        "mac:\n  num_workers: 4 # noqa: FKL401\n"
        "linux:\n  num_workers: 4 # noqa: E501\n  a: '# noqa: FKL401'\n  b: |\n    # noqa: FKL401\n"
    )
    assert (root / "b.toml").read_bytes() == b'a = "# noqa: FKL401"\r\nb = 1\r\n'


def test_a_file_with_more_counts_than_people_write_costs_little_and_is_not_fixed(forklint, root: Path) -> None:
    (root / "a.yaml").write_text(f"---\n{MAC}" * 500)
    done = forklint("a.yaml", "--fix", "--statistics", cwd=root, timeout=20)
    assert done.returncode == 1
    assert "500  FKL401" in done.stdout
    assert done.stderr.startswith("forklint: a.yaml: cannot be fixed: it has more than 50 findings\n")


@pytest.mark.parametrize("text", ["[", "a: [1\nb: 2", "a: 1\na: 2", "\tx: 1", "x: *y", "{{ x }}: }"])
def test_broken_yaml_is_one_error(text: str) -> None:
    with pytest.raises(PresetError) as caught:
        list(parse(text, "yaml"))
    assert "\n" not in str(caught.value)


# The page


def test_what_the_page_shows(forklint, root: Path) -> None:
    before = snippet("presets.md", "presets-before")
    (root / "settings.yaml").write_text(before)
    done = forklint("settings.yaml", "--output-format", "concise", cwd=root)
    assert [line.split(":")[1] for line in done.stdout.splitlines() if "FKL401" in line] == ["6"]
    assert forklint("settings.yaml", "--fix", cwd=root).returncode == 0
    assert (root / "settings.yaml").read_text() == snippet("presets.md", "presets-after")


def test_the_page_shows_how_to_silence(root: Path) -> None:
    assert findings(root / "settings.yaml", snippet("presets.md", "presets-silenced")) == ()
