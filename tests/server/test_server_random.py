"""An hour of random edits, opens, closes, renames and checkouts: the server says what a fresh run says."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path

import pytest
from fixture_cases import all_cases
from lsp_client import Client, serving, span

Told = set[tuple[str, int, int, str]]
CREATED, CHANGED, DELETED = 1, 2, 3
MOST_OPEN = 8
PAUSES = (0.0, 0.02, 0.1, 0.3, 1.0)
"""Seconds between two things that somebody does, of which one is drawn each time."""


def projects() -> list[Path]:
    """Fixtures of several files without settings of their own."""
    folders = [case.path for case in all_cases() if case.path.is_dir()]
    settings = {"pyproject.toml", "forklint.toml", "setup.cfg"}
    return [path for path in folders if not settings & {file.name for file in path.rglob("*")}]


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null")
    subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


def sound(found: Told) -> Told:
    """Of files that cannot be parsed the syntax error alone: a server may still show what it found before."""
    broken = {name for name, *_, what in found if what.startswith("FKL002 ")}
    return {one for one in found if one[0] not in broken or one[-1].startswith("FKL002 ")}


class Person:
    """Somebody who works on a project with an editor, as the dice say."""

    def __init__(self, root: Path, dice: random.Random) -> None:
        self.root = root
        self.dice = dice
        self.texts: dict[str, str] = {}
        """What is open, by name, as the editor shows it."""
        self.done: Counter[str] = Counter()
        self.history: deque[str] = deque(maxlen=40)
        self.lines = sorted({line for name in self.files() for line in self.on_disk(name).split("\n") if line.strip()})

    def files(self) -> list[str]:
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*.py"))

    def on_disk(self, name: str) -> str:
        return (self.root / name).read_bytes().decode()

    def act(self, client: Client) -> None:
        """Do one thing."""
        acts: list[tuple[int, Callable[[Client], None]]] = [
            (30, self.type),
            (8, self.open),
            (5, self.close),
            (6, self.save),
            (4, self.change_on_disk),
            (2, self.rename),
            (2, self.delete),
            (2, self.create),
            (1, self.check_out),
        ]
        (act,) = self.dice.choices([act for _, act in acts], [weight for weight, _ in acts])
        self.history.append(act.__name__)
        act(client)
        self.done[act.__name__] += 1
        client.settle(self.dice.choice(PAUSES))

    def changed(self, text: str) -> tuple[dict, str]:
        """A change of a text, as the protocol says it, and the text after it."""
        lines = text.split("\n")
        row = self.dice.randrange(len(lines))
        last = min(row + self.dice.choice((0, 0, 1, 2)), len(lines) - 1)
        new = [self.dice.choice(self.lines) for _ in range(self.dice.choice((0, 1, 1, 2)))]
        edit = {"range": span(row, 0, 0), "text": "".join(f"{line}\n" for line in new)}
        edit["range"]["end"] = {"line": last, "character": 0}
        return edit, "\n".join([*lines[:row], *new, *lines[last:]])

    def type(self, client: Client) -> None:
        if not self.texts:
            return self.open(client)
        name = self.dice.choice(sorted(self.texts))
        if self.dice.random() < 0.15:  # undo all
            text = self.on_disk(name) if (self.root / name).exists() else ""
            client.replace(client.uri(name), text)
        else:
            edit, text = self.changed(self.texts[name])
            client.change(client.uri(name), edit)
        self.texts[name] = text
        return None

    def open(self, client: Client) -> None:
        if len(self.texts) >= MOST_OPEN:
            self.close(client)
        closed = [name for name in self.files() if name not in self.texts]
        if closed:
            name = self.dice.choice(closed)
            client.open(name)
            self.texts[name] = self.on_disk(name)

    def close(self, client: Client) -> None:
        if self.texts:
            name = self.dice.choice(sorted(self.texts))
            del self.texts[name]
            client.close(client.uri(name))

    def save(self, client: Client) -> None:
        if self.texts:
            name = self.dice.choice(sorted(self.texts))
            kind = CHANGED if (self.root / name).exists() else CREATED
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_bytes(self.texts[name].encode())
            client.notify("textDocument/didSave", {"textDocument": {"uri": client.uri(name)}})
            self.seen(client, {name: kind})

    def change_on_disk(self, client: Client) -> None:
        name = self.dice.choice(self.files())
        (self.root / name).write_bytes(self.changed(self.on_disk(name))[1].encode())
        self.seen(client, {name: CHANGED})

    def rename(self, client: Client) -> None:
        name = self.dice.choice(self.files())
        new = f"{name.removesuffix('.py')}_{self.dice.randrange(10)}.py"
        if (self.root / new).exists():
            return
        (self.root / name).rename(self.root / new)
        if name in self.texts:
            client.close(client.uri(name))
            text = self.texts[new] = self.texts.pop(name)
            client.open(new, text)
        self.seen(client, {name: DELETED, new: CREATED})

    def delete(self, client: Client) -> None:
        if len(names := self.files()) > 10:
            name = self.dice.choice(names)
            (self.root / name).unlink()
            self.seen(client, {name: DELETED})

    def create(self, client: Client) -> None:
        name = self.dice.choice(self.files())
        new = (Path(name).parent / f"new_{self.dice.randrange(100)}.py").as_posix()
        if not (self.root / new).exists():
            (self.root / new).write_bytes((self.root / name).read_bytes())
            self.seen(client, {new: CREATED})

    def check_out(self, client: Client) -> None:
        """Another branch; editors show what is open as it is there, unless it was changed and not saved."""
        before = {name: self.on_disk(name) for name in self.files()}
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "--allow-empty", "-m", "work")
        git(self.root, "checkout", "-q", self.dice.choice(("one", "two", "three")))
        after = {name: self.on_disk(name) for name in self.files()}
        kinds = {name: CHANGED if name in after else DELETED for name in before if after.get(name) != before[name]}
        kinds |= dict.fromkeys(after.keys() - before.keys(), CREATED)
        for name in sorted(kinds.keys() & self.texts.keys()):
            if name in after and self.texts[name] == before.get(name):
                self.texts[name] = after[name]
                client.replace(client.uri(name), after[name])
        self.seen(client, kinds)

    def seen(self, client: Client, kinds: dict[str, int]) -> None:
        events = [{"uri": client.uri(name), "type": kind} for name, kind in sorted(kinds.items())]
        client.notify("workspace/didChangeWatchedFiles", {"changes": events})

    def told(self, client: Client) -> Told:
        """What the server has said last of what is open."""
        found = set()
        for name in self.texts:
            for one in client.diagnostics[client.uri(name)].diagnostics:
                place = one.range.start
                found.add((name, place.line + 1, place.character + 1, f"{one.code} {one.message}"))
        return sound(found)

    def fresh(self, copy: Path) -> Told:
        """What the command says of what is open, in a copy of the project with the texts of the editor in it."""
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.root, copy, ignore=shutil.ignore_patterns(".git", ".forklint_cache"))
        for name, text in self.texts.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(text.encode())
        command = [
            sys.executable,
            "-m",
            "forklint",
            "--no-cache",
            "-j1",
            "--output-format",
            "json",
            *sorted(self.texts),
        ]
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode in {0, 1}, done.stderr
        found = set()
        for one in json.loads(done.stdout):
            name = Path(one["filename"]).resolve().relative_to(copy.resolve()).as_posix()
            place = one["location"]
            found.add((name, place["row"], place["column"], f"{one['code']} {one['message']}"))
        return sound(found)


def is_answered(client: Client, person: Person) -> bool:
    versions = {name: client._versions[client.uri(name)] for name in person.texts}
    return all(
        (seen := client.diagnostics.get(client.uri(name))) is not None and seen.version == version
        for name, version in versions.items()
    )


def compare(client: Client, person: Person, copy: Path) -> int:
    """Wait until all is answered and nothing more is said, and compare; gives the number of findings."""
    client.wait(lambda: is_answered(client, person), "not all is answered")
    wanted = person.fresh(copy)
    until = time.monotonic() + 60
    while (told := person.told(client)) != wanted and time.monotonic() < until:
        client.settle(1.0)
    if different := sorted(told ^ wanted):
        texts = {name: person.texts[name] for name, *_ in different}
        versions = {name: client.diagnostics[client.uri(name)].version for name in texts}
        pytest.fail(
            f"only the server: {sorted(told - wanted)}\nonly a fresh run: {sorted(wanted - told)}\n{versions}\n"
            f"{' '.join(person.history)}\n" + "\n".join(f"--- {name}\n{text}" for name, text in texts.items())
        )
    return len(wanted)


@pytest.fixture
def project(tmp_path: Path, soak_seed: int) -> Path:
    """Some fixtures, each in a folder of its own, with three branches that differ."""
    root = tmp_path / "project"
    root.mkdir()
    dice = random.Random(soak_seed)
    (root / "forklint.toml").write_text('preview = true\nselect = ["ALL"]\n')
    (root / ".gitignore").write_text(".forklint_cache/\n")
    names = {}
    for number, path in enumerate(dice.sample(projects(), 12)):
        names[path] = root / f"{path.parent.name[:6].lower()}_{number}"
        shutil.copytree(path, names[path], ignore=shutil.ignore_patterns("*.fixed.*", "__pycache__"))
    git(root, "init", "-q", "-b", "one")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    person = Person(root, dice)
    for branch in ("two", "three"):
        git(root, "checkout", "-q", "-b", branch)
        for name in dice.sample(person.files(), 15):
            (root / name).write_bytes(person.changed(person.on_disk(name))[1].encode())
        git(root, "commit", "-q", "-a", "-m", branch)
    return root


@pytest.mark.soak
@pytest.mark.minutes(60)
def test_it_says_what_a_fresh_run_says(
    project: Path, tmp_path: Path, soak_seconds: float, soak_seed: int, record_property: Callable[[str, object], None]
) -> None:
    person = Person(project, random.Random(soak_seed))
    compared = findings = 0
    until = time.monotonic() + soak_seconds
    with serving(project, fresh=True) as client:
        while time.monotonic() < until or not compared:
            end = time.monotonic() + min(60.0, soak_seconds / 2)
            while time.monotonic() < end:
                person.act(client)
            findings += compare(client, person, tmp_path / "copy")
            compared += 1
    acts = ", ".join(f"{name} {number}" for name, number in sorted(person.done.items()))
    record_property("figures", f"compared {compared} times, {findings} findings, all equal; {acts}")
    print(compared, findings, acts)
    assert findings
