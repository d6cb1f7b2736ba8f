"""Fixes, comments, pages and verdicts, as a client asks for them."""

from __future__ import annotations

from pathlib import Path

from lsp_client import Client, Json, applied, serving, span
from needed import need_torch
from server_project import DATA

ROW, START = 6, 8
RUNNABLE = """\
import multiprocessing


print("A finding that is proved without torch, which takes trials most of their time.")


multiprocessing.Process(target=print).start()
"""
UNSAFE = """\
from data import Words
from torch.utils.data import DataLoader

for batch in DataLoader(Words("words"), num_workers=2):
    print(batch)
"""


def titled(actions: list[Json], words: str) -> Json:
    (found,) = [one for one in actions if words in one["title"]]
    return found


def edits(action: Json) -> list[Json]:
    (change,) = action["edit"]["documentChanges"]
    return change["edits"]


def as_fixed(project: Path, forklint, *options: str) -> str:
    """The text of data.py as the command fixes it."""
    forklint("data.py", "--fix", *options, cwd=project)
    text = (project / "data.py").read_text()
    (project / "data.py").write_text(DATA)
    return text


def test_a_quick_fix_is_that_of_the_command(project: Path, forklint) -> None:
    with serving(project) as client:
        uri = client.open("data.py")
        fix = titled(client.actions(uri, span(ROW, START, START)), "open `self.env` on first use")
        assert fix["kind"] == "quickfix"
        assert fix["isPreferred"]
        assert "unsafe" not in fix["title"]
        assert applied(DATA, edits(fix)) == as_fixed(project, forklint)
        assert fix["edit"]["documentChanges"][0]["textDocument"] == {"uri": uri, "version": 1}
        assert client.actions(uri, span(0, 0, 0)) == [] or not client.actions(uri, span(0, 0, 0), ["quickfix"])


def test_an_unsafe_fix_says_so(project: Path) -> None:
    with serving(project) as client:
        uri = client.open("train.py", UNSAFE)
        assert client.codes(uri) == ["FKL201"]
        fixes = [one for one in client.actions(uri, span(3, 20, 20)) if "ignore" not in one["title"] and "edit" in one]
        assert fixes
        for fix in fixes:
            assert fix["title"].endswith("(unsafe fix)") != fix["isPreferred"]


def test_fix_all_applies_safe_fixes_alone(project: Path, forklint) -> None:
    with serving(project) as client:
        uri = client.open("data.py")
        (action,) = client.actions(uri, span(0, 0, 0), ["source.fixAll"])
        assert action["kind"] == "source.fixAll.forklint"
        assert "edit" not in action, "it is made when it is wanted"
        resolved = client.request("codeAction/resolve", action)
        assert applied(DATA, edits(resolved)) == as_fixed(project, forklint)
        assert client.codes(uri) == ["FKL301"], "asking changes nothing"
        assert client.actions(uri, span(0, 0, 0), ["source.organizeImports"]) == []

        other = client.open("train.py", UNSAFE)
        assert client.codes(other) == ["FKL201"]
        unsafe = [one.get("isPreferred") for one in client.actions(other, span(3, 20, 20)) if "FKL201" in one["title"]]
        if not any(unsafe):
            assert client.actions(other, span(0, 0, 0), ["source.fixAll.forklint"]) == []


def test_fix_all_at_once_for_a_client_that_resolves_nothing(project: Path, forklint) -> None:
    with serving(project, capabilities={"textDocument": {}, "workspace": {}}) as client:
        uri = client.open("data.py")
        (action,) = client.actions(uri, span(0, 0, 0), ["source.fixAll.forklint"])
        assert applied(DATA, action["edit"]["changes"][uri]) == as_fixed(project, forklint)


def test_ignore_here_writes_what_add_noqa_writes(project: Path, forklint) -> None:
    with serving(project) as client:
        uri = client.open("data.py")
        ignored = applied(DATA, edits(titled(client.actions(uri, span(ROW, START, START)), "ignore here")))
        forklint("data.py", "--add-noqa=", cwd=project)
        assert ignored == (project / "data.py").read_text() != DATA
        client.replace(uri, ignored)
        assert client.codes(uri) == []


def test_ignore_here_touches_no_other_finding(project: Path) -> None:
    two = DATA.replace("lmdb.open(root)\n", "lmdb.open(root)\n        self.file = open(root)\n")
    with serving(project) as client:
        uri = client.open("data.py", two)
        count = len(client.found(uri))
        assert count == 2
        action = titled(client.actions(uri, span(ROW, START, START)), "ignore here")
        client.replace(uri, applied(two, edits(action)))
        assert len(client.found(uri)) == 1


def test_the_page_of_a_finding(project: Path) -> None:
    with serving(project) as client:
        uri = client.open("data.py")
        ask = {"textDocument": {"uri": uri}, "position": {"line": ROW, "character": START + 3}}
        shown = client.request("textDocument/hover", ask)
        page = shown["contents"]["value"]
        for words in (
            "FKL301",
            "| linux | yes | yes |  |",
            "| darwin |",
            "Why is this bad?",
            "rules/FKL301/",
            "Fix: open",
        ):
            assert words in page
        assert shown["range"]["start"] == {"line": ROW, "character": START}
        ask["position"]["line"] = 0
        assert client.request("textDocument/hover", ask) is None


# Verifying


def place_of(client: Client, uri: str) -> Json:
    client.found(uri)
    (lens,) = client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    assert lens["range"]["start"]["line"] == ROW
    return lens["command"]


def test_a_finding_is_verified_when_the_user_asks(project: Path) -> None:
    """The real command runs for some seconds."""
    need_torch()
    (project / "data.py").write_text(RUNNABLE)
    with serving(project) as client:
        uri = client.open("data.py")
        command = place_of(client, uri)
        answer = client.request("workspace/executeCommand", command)
        assert answer["verdict"] == "confirmed"
        kinds = [one["params"]["value"]["kind"] for one in client.seen if one["method"] == "$/progress"]
        assert (kinds[0], kinds[-1]) == ("begin", "end")
        assert "confirmed" in client.messages()[0]
        client.wait(lambda: "confirmed" in client.diagnostics[uri].diagnostics[0].message, "no verdict is shown")
        related = client.diagnostics[uri].diagnostics[0].related_information or ()
        assert sum(one.message.startswith("confirmed") for one in related) == 1
        client.replace(uri, f"# a comment\n{RUNNABLE}")
        assert "confirmed" not in client.found(uri)[0].message, "it was another text"


def test_verifying_can_be_cancelled(project: Path) -> None:
    with serving(project) as client:
        command = place_of(client, client.open("data.py"))
        number = client.send("workspace/executeCommand", command)
        client.wait(lambda: any(one["method"] == "$/progress" for one in client.seen), "no progress")
        token = next(one["params"]["token"] for one in client.seen if one["method"] == "$/progress")
        client.notify("window/workDoneProgress/cancel", {"token": token})
        client.wait(lambda: number in client._responses, "it goes on", 30)
        assert client._responses[number]["result"] is None
        assert not client.messages()


def test_what_cannot_be_verified_is_said(project: Path) -> None:
    python = project / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    options = {"settings": {"interpreter": str(python)}}
    with serving(project, start={"initializationOptions": options}) as client:
        uri = client.open("data.py")
        command = place_of(client, uri)
        assert client.request("workspace/executeCommand", command) is None
        assert "cannot be verified" in client.messages()[-1]
        client.replace(uri, f"{DATA}\n")
        client.found(uri)
        assert client.request("workspace/executeCommand", command) is None
        assert "save the file first" in client.messages()[-1]


def test_nothing_is_run_where_the_workspace_is_not_trusted(project: Path) -> None:
    with serving(project, start={"initializationOptions": {"trusted": False}}) as client:
        uri = client.open("data.py")
        client.found(uri)
        assert client.request("textDocument/codeLens", {"textDocument": {"uri": uri}}) is None
        assert not [one for one in client.actions(uri, span(ROW, START, START)) if "command" in one]
        place = {"uri": uri, "code": "FKL301", "fingerprint": "", "line": ROW + 1}
        client.request("workspace/executeCommand", {"command": "forklint.verify", "arguments": [place]})
        assert "not trusted" in client.messages()[-1]


def test_lenses_can_be_switched_off(project: Path) -> None:
    with serving(project, start={"initializationOptions": {"codeLens": False}}) as client:
        uri = client.open("data.py")
        client.found(uri)
        assert client.request("textDocument/codeLens", {"textDocument": {"uri": uri}}) is None
