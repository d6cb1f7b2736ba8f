"""A tolerant run destroys nothing and sends nothing: tried with programs that would."""

from __future__ import annotations

import http.server
import threading
from pathlib import Path

import pytest
from needed import need_torch

from tests.verify.tolerant_trial import run, stood_in

PRECIOUS = """
import os, pathlib, shutil, subprocess
"""


PLAIN = [
    "shutil.rmtree('data')",
    "os.remove('data/precious.txt')",
    "pathlib.Path('data/precious.txt').unlink()",
    "os.rename('data', 'elsewhere')",
    "shutil.move('data/precious.txt', 'moved.txt')",
    "os.truncate('data/precious.txt', 0)",
    "open('data/precious.txt', 'w').close()",
    "open('data/precious.txt', 'r+').write('x')",
    "pathlib.Path('data/precious.txt').write_text('gone')",
    "os.system('rm -rf data')",
    "subprocess.run(['rm', '-rf', 'data'])",
    "subprocess.check_output('rm -rf data', shell=True)",
    "os.popen('rm -rf data').read()",
    "os.execvp('rm', ['rm', '-rf', 'data'])",
    "os.makedirs('made/by/it')",
    "os.open('data/precious.txt', os.O_WRONLY | os.O_TRUNC)",
    "shutil.copy('data/precious.txt', 'copy.txt')",
    "os.symlink('data', 'link')",
    "import sqlite3; sqlite3.connect('made.db').execute('create table t (x)')",
]
"""Without a library: one program tries all, one after the other."""
REFUSED = {
    *("open", "os.exec", "os.mkdir", "os.remove", "os.rename", "os.symlink", "os.system", "os.truncate"),
    *("shutil.copyfile", "shutil.move", "shutil.rmtree", "sqlite3.connect", "subprocess.Popen"),
}
"""What is told of them, each with what it is refused for."""


@pytest.mark.parametrize(
    "actions",
    [
        PLAIN,
        ["import missing; shutil.rmtree(missing.folder)"],
        ["import missing; shutil.rmtree(missing.folder or '/')"],
        ["import missing; os.chdir(missing.folder); shutil.rmtree('.')"],
        ["import torch; torch.save([1], 'data/precious.txt')"],
        ["import numpy; numpy.save('made.npy', numpy.zeros(2))"],
    ],
    ids=lambda actions: "; ".join(actions)[:40],
)
def test_nothing_of_the_project_is_changed(tmp_path: Path, actions: list[str]) -> None:
    text = "\n".join(actions)
    if "torch" in text:
        need_torch()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "precious.txt").write_text("precious")
    seen = run(tmp_path, PRECIOUS + "".join(f"{action}\nprint('went on')\n" for action in actions))
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert left == ["data", "data/precious.txt", "program.py"], seen.output
    assert (tmp_path / "data" / "precious.txt").read_text() == "precious"
    assert seen.output.count("went on") == len(actions), seen.output
    told = {one.split()[0] for one in stood_in(seen).get("refused", ())}
    assert "missing" in text or (told >= REFUSED if actions is PLAIN else told)


def test_a_child_is_held_to_it_too(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("precious")
    text = """
import multiprocessing, os

def destroy():
    os.remove("precious.txt")
    os.system("rm -f precious.txt")

if __name__ == "__main__":
    for method in ("spawn", "fork", "forkserver"):
        child = multiprocessing.get_context(method).Process(target=destroy)
        child.start()
        child.join()
        print(method, child.exitcode)
"""
    seen = run(tmp_path, text)
    assert (tmp_path / "precious.txt").exists()
    assert all(f"{method} 0" in seen.output for method in ("spawn", "fork", "forkserver")), seen.output
    assert len({record["pid"] for record in seen.of("stood-in") if record["of"] == "refused"}) == 3


def test_scratch_may_be_written_and_cleared(tmp_path: Path) -> None:
    text = """
import os, shutil, tempfile
folder = tempfile.mkdtemp()
with open(os.path.join(folder, "one"), "w") as file:
    file.write("mine")
print(open(os.path.join(folder, "one")).read(), os.listdir(folder))
shutil.rmtree(folder)
print(os.path.exists(folder))
"""
    seen = run(tmp_path, text)
    assert "mine ['one']\nFalse" in seen.output
    assert not stood_in(seen)


class Counting(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self) -> None:
        Counting.asked += 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"here")

    def log_message(self, *_: object) -> None:
        pass


def test_this_machine_alone_is_asked(tmp_path: Path) -> None:
    server = http.server.HTTPServer(("127.0.0.1", 0), Counting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    text = f"""
import socket, urllib.request
near = urllib.request.urlopen("http://127.0.0.1:{server.server_port}/").read()
plain = socket.create_connection(("127.0.0.1", {server.server_port}))
far = urllib.request.urlopen("http://192.0.2.1/secret?data=1", timeout=5).read()
named = urllib.request.urlopen("http://data.example/").read()
print("came to the end", far is not None, named is not None)
"""
    seen = run(tmp_path, text)
    server.shutdown()
    assert "came to the end" in seen.output
    assert any("192.0.2.1" in what for what in stood_in(seen)["refused"])
    assert any("data.example" in what for what in stood_in(seen)["refused"])
