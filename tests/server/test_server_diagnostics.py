"""What the server says of files, notebooks and presets while they are edited and the disk changes below them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from lsp_client import CAPABILITIES, Json, applied, point, serving, span
from lsprotocol import types
from server_project import DATA

from forklint.pages import URL
from forklint.server.schedule import PAUSE

BASE = "from torch.utils.data import Dataset\n\n\nclass Base(Dataset):\n    pass\n"
HEIR = """\
import lmdb

from base import Base


class Words(Base):
    def __init__(self, root):
        self.env = lmdb.open(root)
"""
GUARDLESS = """\
from torch.utils.data import DataLoader

from data import Words

for batch in DataLoader(Words("words"), num_workers=2):
    print(batch)
"""


def test_a_finding_as_a_diagnostic(project: Path) -> None:
    with serving(project) as client:
        (found,) = client.found(client.open("data.py"))
        assert (found.code, found.source, found.severity) == ("FKL301", "forklint", types.DiagnosticSeverity.Error)
        assert found.range == types.Range(types.Position(6, 8), types.Position(6, 34))
        assert found.code_description == types.CodeDescription(URL.format(code="FKL301"))
        assert "LMDB environment" in found.message


def test_unsaved_text_counts(project: Path) -> None:
    with serving(project) as client:
        uri = client.open("data.py", "import lmdb\n")
        assert client.codes(uri) == []
        client.replace(uri, DATA)
        assert client.codes(uri) == ["FKL301"]
        client.change(uri, {"range": span(6, 8, 8), "text": "self.env = 0  # "})
        assert client.codes(uri) == []


def test_text_of_another_open_file_counts(project: Path) -> None:
    (project / "base.py").write_text(BASE)
    (project / "heir.py").write_text(HEIR)
    with serving(project) as client:
        heir, base = client.open("heir.py"), client.open("base.py")
        assert client.codes(heir) == ["FKL301"]
        client.replace(base, BASE.replace("(Dataset)", ""))
        client.until(heir, [])
        client.close(base)  # then the file on the disk counts again
        client.until(heir, ["FKL301"])


def test_a_file_that_is_not_written_yet_can_be_imported(project: Path) -> None:
    (project / "heir.py").write_text(HEIR)
    with serving(project) as client:
        heir = client.open("heir.py")
        assert client.codes(heir) == []
        base = client.open("base.py", BASE)
        client.until(heir, ["FKL301"])
        client.close(base)
        client.until(heir, [])


def test_only_the_newest_text_is_spoken_of(project: Path) -> None:
    with serving(project) as client:
        uri = client.open("data.py")
        for number in range(20):
            client.change(uri, {"range": span(0, 0, 0), "text": f"# {number}\n"})
        assert client.codes(uri) == ["FKL301"]
        assert client.diagnostics[uri].diagnostics[0].range.start.line == 26
        versions = [
            one["params"]["version"] for one in client.seen if one["method"] == "textDocument/publishDiagnostics"
        ]
        assert versions == sorted(versions)
        assert len(versions) < 10, "edits that follow each other closely are answered once"


def test_findings_stay_while_a_line_is_half_typed(project: Path) -> None:
    """The syntax error is reported beside them."""
    with serving(project) as client:
        uri = client.open("data.py")
        (before,) = client.found(uri)
        client.change(uri, {"range": span(before.range.start.line - 1, 0, 0), "text": "        if (\n"})
        error, after = client.found(uri)
        assert (error.code, after.code) == ("FKL002", "FKL301")
        assert after.range.start.line == before.range.start.line + 1
        client.settle(PAUSE + 0.5)
        assert client.codes(uri) == ["FKL002", "FKL301"]
        client.change(uri, {"range": span(after.range.start.line, 0, 0), "text": "x"})
        assert client.codes(uri) == ["FKL002"], "nothing is known of a line that was edited since"
        client.replace(uri, DATA)
        assert client.codes(uri) == ["FKL301"]


def test_a_syntax_error_is_reported_before_the_user_pauses(project: Path) -> None:
    with serving(project) as client:
        uri = client.open("data.py")
        client.found(uri)
        client.change(uri, {"range": span(9, 0, 0), "text": "        if (\n"})
        for _ in range(100):
            client.change(uri, {"range": span(9, 12, 12), "text": "x"})
            client.settle(PAUSE / 10)
            if "FKL002" in [one.code for one in client.diagnostics[uri].diagnostics]:
                return
        pytest.fail("it is not reported while keys are pressed")


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="it is no newer syntax than that of this Python")
def test_newer_syntax_is_no_error_once_the_user_pauses(project: Path) -> None:
    """As long as LibCST was not asked, what ``ast`` says of a text that was sound so far is reported."""
    with serving(project) as client:
        uri = client.open("data.py")
        client.found(uri)
        client.replace(uri, DATA + 'print(t"{1}")\n')
        assert "FKL002" in client.codes(uri)
        client.wait(lambda: not client.diagnostics[uri].diagnostics, "it is still called an error")
        client.replace(uri, DATA + 'print(t"{12}")\n')
        assert client.codes(uri) == []


def test_closing_takes_the_diagnostics_away(project: Path) -> None:
    with serving(project) as client:
        uri = client.open("data.py")
        client.found(uri)
        client.close(uri)
        client.wait(lambda: not client.diagnostics[uri].diagnostics, "still there")


def test_related_places_lead_into_other_files(project: Path) -> None:
    (project / "train.py").write_text(GUARDLESS)
    with serving(project) as client:
        uri = client.open("data.py")
        (found,) = client.found(uri)
        (related,) = found.related_information or ()
        assert related.location.uri == client.uri("train.py")
        assert related.location.range.start == types.Position(4, 13)
        assert "2 workers" in related.message
        client.open("train.py", "\n" + GUARDLESS.replace("=2", "=3"))  # unsaved
        client.wait(lambda: "3 workers" in str(client.diagnostics[uri]), "the chain is as it was")
        (related,) = client.diagnostics[uri].diagnostics[0].related_information or ()
        assert related.location.range.start == types.Position(5, 13)


def test_severities_and_what_is_unused(project: Path) -> None:
    with serving(project) as client:
        (found,) = client.found(client.open("idle.py", "import json  # noqa: FKL301\n"))
        assert found.code == "FKL001"
        assert list(found.tags or ()) == [types.DiagnosticTag.Unnecessary]
        assert found.severity == types.DiagnosticSeverity.Warning
        assert client.codes(client.open("broken.py", "def broken(:\n")) == ["FKL002"]


def test_presets(project: Path) -> None:
    text = "data:\n  loader:\n    num_workers: 8\n    pin_memory: true\ndevice: mps\n"
    with serving(project) as client:
        uri = client.open("mac.yaml", text)
        assert client.codes(uri) == ["FKL401"]
        assert client.found(uri)[0].range.start == types.Position(2, 17)
        (fix, ignore) = (one["edit"]["documentChanges"][0]["edits"] for one in client.actions(uri, span(2, 17, 17))[:2])
        assert applied(text, fix) == text.replace("8", "0")
        assert "# noqa: FKL401" in applied(text, ignore)
        client.replace(uri, text.replace("8", "0"))
        assert client.codes(uri) == []


# Notebooks


def cell(uri: str, kind: int = 2) -> Json:
    return {"kind": kind, "document": uri}


def text(uri: str, source: str, language: str = "python") -> Json:
    return {"uri": uri, "languageId": language, "version": 1, "text": source}


def test_notebooks_are_linted_by_their_cells(project: Path) -> None:
    head, body = DATA.split("\n\n\n")
    with serving(project) as client:
        uri = client.uri("explore.ipynb")
        one, two, three = (f"vscode-notebook-cell:/explore.ipynb#{number}" for number in "abc")
        notebook = {
            "uri": uri,
            "notebookType": "jupyter-notebook",
            "version": 1,
            "cells": [cell(one, 1), cell(two), cell(three)],
        }
        documents = [text(one, "# Words", "markdown"), text(two, f"%matplotlib inline\n{head}"), text(three, body)]
        client.notify("notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": documents})
        client.until(three, ["FKL301"])
        assert client.diagnostics[three].diagnostics[0].range.start == types.Position(2, 8)
        assert list(client.diagnostics[two].diagnostics) == []

        fix, ignore, *_ = client.actions(three, span(2, 9, 9))
        assert {edit["textDocument"]["uri"] for edit in fix["edit"]["documentChanges"]} == {three}
        (change,) = ignore["edit"]["documentChanges"]
        assert change["textDocument"]["uri"] == three
        assert change["edits"][0]["newText"].endswith("# noqa: FKL301\n")

        harmless = {"range": span(2, 8, 8), "text": "self.env = 0  # "}
        edit = {"document": {"uri": three, "version": 2}, "changes": [harmless]}
        change = {"notebookDocument": {"uri": uri, "version": 2}, "change": {"cells": {"textContent": [edit]}}}
        client.notify("notebookDocument/didChange", change)
        client.until(three, [])

        array = {"start": 2, "deleteCount": 1, "cells": []}
        structure = {"array": array, "didClose": [{"uri": three}]}
        change = {"notebookDocument": {"uri": uri, "version": 3}, "change": {"cells": {"structure": structure}}}
        client.notify("notebookDocument/didChange", change)
        client.notify("notebookDocument/didClose", {"notebookDocument": {"uri": uri}, "cellTextDocuments": []})


# Positions


def test_columns_count_utf_16_units_unless_agreed_otherwise(project: Path) -> None:
    line = "        name = '😀ä'; self.env = lmdb.open(root)\n"
    source = DATA.replace("        self.env = lmdb.open(root)\n", line)
    column = line.index("self")
    expected = {None: column + 1, "utf-8": column + 4, "utf-32": column}
    for encoding, start in expected.items():
        capabilities = CAPABILITIES | ({"general": {"positionEncodings": [encoding]}} if encoding else {})
        with serving(project, capabilities=capabilities) as client:
            uri = client.open("data.py", source)
            assert client.found(uri)[0].range.start == types.Position(6, start)
            client.change(uri, {"range": {"start": point(6, start), "end": point(6, start)}, "text": "pass; "})
            assert client.found(uri)[0].range.start == types.Position(6, start + 6)
            (ignore,) = [one for one in client.actions(uri, span(6, start + 6, start + 6)) if "ignore" in one["title"]]
            (edit,) = ignore["edit"]["documentChanges"][0]["edits"]
            assert edit["newText"] == line.replace("self", "pass; self").rstrip() + "  # noqa: FKL301\n"


def test_lines_end_where_the_protocol_ends_them(project: Path) -> None:
    """Not at a form feed or a line separator, where ``str.splitlines`` does."""
    with serving(project) as client:
        uri = client.open("data.py", "\f# one\x0btwo\u2028three\r" + DATA.replace("\n", "\r\n"))
        assert client.found(uri)[0].range.start == types.Position(7, 8)
        client.change(uri, {"range": span(7, 8, 8), "text": "self.env = 0  # "})
        assert client.codes(uri) == []
        client.change(uri, {"range": span(7, 8, 24), "text": ""})
        assert client.codes(uri) == ["FKL301"]


# The disk and settings


def changed(client, *events: tuple[str, int]) -> None:
    client.notify(
        "workspace/didChangeWatchedFiles",
        {"changes": [{"uri": client.uri(name), "type": kind} for name, kind in events]},
    )


CREATED, CHANGED, DELETED = 1, 2, 3


def test_what_changes_on_the_disk_is_taken_in(project: Path) -> None:
    (project / "base.py").write_text(BASE)
    (project / "heir.py").write_text(HEIR)
    with serving(project) as client:
        heir = client.open("heir.py")
        assert client.codes(heir) == ["FKL301"]
        registered = [one for one in client.seen if one["method"] == "client/registerCapability"]
        assert "ipynb" in json.dumps(registered)

        (project / "base.py").write_text("class Base:\n    pass\n")
        changed(client, ("base.py", CHANGED))
        client.until(heir, [])

        (project / "base.py").write_text(BASE)
        changed(client, ("base.py", CHANGED))
        client.until(heir, ["FKL301"])

        (project / "base.py").unlink()
        changed(client, ("base.py", DELETED))
        client.until(heir, [])


def test_folders_that_are_renamed_are_taken_in(project: Path) -> None:
    (project / "old").mkdir()
    (project / "old" / "__init__.py").touch()
    (project / "old" / "base.py").write_text(BASE)
    (project / "heir.py").write_text(HEIR.replace("from base", "from new.base"))
    with serving(project) as client:
        heir = client.open("heir.py")
        assert client.codes(heir) == []
        (project / "old").rename(project / "new")
        changed(client, ("old", DELETED), ("new", CREATED))
        client.until(heir, ["FKL301"])


def test_settings_of_the_project_are_read_again(project: Path) -> None:
    with serving(project) as client:
        uri = client.open("data.py")
        assert client.codes(uri) == ["FKL301"]
        (project / "pyproject.toml").write_text('[tool.forklint]\nignore = ["FKL301"]\n')
        changed(client, ("pyproject.toml", CHANGED))
        client.until(uri, [])
        (project / "pyproject.toml").write_text("[tool.forklint]\nignor = []\n")
        changed(client, ("pyproject.toml", CHANGED))
        client.wait(client.messages, "no word of a wrong setting")
        assert "ignor" in client.messages()[0]
        (project / "pyproject.toml").write_text("[tool.forklint]\n")
        changed(client, ("pyproject.toml", CHANGED))
        client.until(uri, ["FKL301"])


def test_settings_of_the_client(project: Path) -> None:
    with serving(project, start={"initializationOptions": {"settings": {"ignore": ["FKL301"]}}}) as client:
        uri = client.open("data.py")
        assert client.codes(uri) == []
        client.notify("workspace/didChangeConfiguration", {"settings": {"forklint": {"ignore": []}}})
        client.until(uri, ["FKL301"])
        client.notify("workspace/didChangeConfiguration", {"settings": {"forklint": {"platforms": ["amiga"]}}})
        client.wait(client.messages, "no word of a wrong setting")
        assert "forklint.platforms" in client.messages()[0]


def test_settings_are_pulled_from_a_client_that_can_be_asked(project: Path) -> None:
    capabilities = CAPABILITIES | {"workspace": {"configuration": True}}
    with serving(project, capabilities=capabilities, start=None) as client:
        client.answers["workspace/configuration"] = [{"ignore": ["FKL301"]}]
        client.start()
        client.wait(lambda: any(one["method"] == "workspace/configuration" for one in client.seen), "nothing is asked")
        uri = client.open("data.py")
        client.until(uri, [])
        client.answers["workspace/configuration"] = [None]
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        client.until(uri, ["FKL301"])


def test_the_baseline_and_exclude_hold(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.forklint]\nexclude = ["data.py"]\n')
    (project / "other.py").write_text(DATA)
    with serving(project) as client:
        assert client.codes(client.open("data.py")) == []
        assert client.codes(client.open("other.py")) == ["FKL301"]


def test_many_roots_each_with_settings_of_their_own(project: Path, tmp_path_factory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "forklint.toml").write_text('ignore = ["FKL301"]\n')
    (other / "data.py").write_text(DATA)
    folders = [{"uri": one.as_uri(), "name": one.name} for one in (project, other)]
    with serving(project, start={"workspaceFolders": folders}) as client:
        assert client.codes(client.open("data.py")) == ["FKL301"]
        uri = client.open(str(other / "data.py"))
        assert client.codes(uri) == []
        event = {"added": [], "removed": folders[1:]}
        client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        (other / "forklint.toml").write_text("")
        client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": folders[1:], "removed": []}})
        client.until(uri, ["FKL301"])
