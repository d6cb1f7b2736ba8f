"""Run the tests where they are rarely run: ``.ci/anywhere nohup shuffled`` runs under each condition by itself.

With ``--together`` they run once, under all of them. The tests run in a copy of the checkout, with this Python.
"""

from __future__ import annotations

import argparse
import grp
import os
import pwd
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ORDINARY_USER = os.environ.get("ANYWHERE_USER", "nobody")


@dataclass
class Place:
    """Where and how the tests run."""

    parent: Path
    environment: dict[str, str]
    options: list[str] = field(default_factory=list)
    name: str = "forklint"
    user: str = ""
    begin: list[Callable[[], object]] = field(default_factory=list)
    """What the process does before it becomes pytest."""
    beside: list[Callable[[], AbstractContextManager[None]]] = field(default_factory=list)
    """What is so as long as they run."""


def user(place: Place) -> None:
    """As an ordinary user; only root can do that."""
    place.user = ORDINARY_USER


def root(_: Place) -> None:
    """As root."""
    if os.geteuid() != 0:
        sys.exit("NOT TESTED: root: run it as root")


def background(place: Place) -> None:
    """As in the background of a shell without job control: no terminal, no input, Ctrl-C ignored."""
    place.begin += [os.setsid, lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)]


def nohup(place: Place) -> None:
    """As under nohup: hangups are ignored."""
    place.begin.append(lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))


def shuffled(place: Place) -> None:
    """In a random order; SHUFFLE=7 is the seed."""
    place.options += ["-p", "scripts.shuffled"]


def tmpdir(place: Place) -> None:
    """With temporary files on another file system."""
    folder = Path(tempfile.mkdtemp(prefix="fkl", dir="/dev/shm"))
    folder.chmod(0o777)
    place.environment["TMPDIR"] = str(folder)
    place.beside.append(lambda: removed(folder))


def home_unwritable(place: Place) -> None:
    """With a home that cannot be written to, by root either."""
    place.environment["HOME"] = "/proc/self/nowhere"
    _no_xdg(place)


def home_unset(place: Place) -> None:
    """Without a home."""
    place.environment.pop("HOME", None)
    _no_xdg(place)


def _no_xdg(place: Place) -> None:
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        place.environment.pop(name, None)


def odd_path(place: Place) -> None:
    """From a path with spaces and umlauts."""
    place.name = "ä b/fork lint ü"


def busy(place: Place) -> None:
    """Beside four busy loops."""
    place.beside.append(loops)


@contextmanager
def removed(folder: Path) -> Iterator[None]:
    """Remove a folder in the end."""
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def loops() -> Iterator[None]:
    """Four processes that never rest."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


CONDITIONS = {
    one.__name__.replace("_", "-"): one
    for one in (root, user, background, nohup, shuffled, tmpdir, home_unwritable, home_unset, odd_path, busy)
}


def shown(log: Path) -> str:
    """The tests that failed, and the figures of pytest."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(
        line for line in lines if re.match(r"(FAILED|ERROR) |=*\s*\d+ (passed|failed|skipped|error)", line)
    )


def copied(into: Path, owner: str) -> None:
    """Copy the files of the checkout that git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name, follow_symlinks=False)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "copy"]):
        subprocess.run([*git, *words], cwd=into, check=True)
    if owner:
        subprocess.run(["chown", "-R", owner, str(into)], check=True)


def ran(names: list[str], options: list[str], log: Path) -> int:
    """Run the tests under conditions; gives the exit status of pytest."""
    parent = Path(tempfile.mkdtemp(prefix="anywhere"))
    parent.chmod(0o755)
    place = Place(parent, {name: value for name, value in os.environ.items() if name != "PYTHONPATH"})
    for name in names:
        CONDITIONS[name](place)
    with ExitStack() as stack, log.open("wb") as output:
        stack.enter_context(removed(parent))
        checkout = parent / place.name
        checkout.mkdir(parents=True)
        copied(checkout, place.user)
        path = [str(checkout / "src"), str(checkout), *filter(None, [os.environ.get("ANYWHERE_PATH")])]
        place.environment["PYTHONPATH"] = os.pathsep.join(path)
        for beside in place.beside:
            stack.enter_context(beside())
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *place.options, *options],
            cwd=checkout,
            env=place.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            preexec_fn=lambda: [one() for one in place.begin],
            user=place.user or None,
            group=group_of(place.user) if place.user else None,
            extra_groups=[] if place.user else None,
            check=False,
        )
    return done.returncode


def group_of(user: str) -> str:
    """The name of a user's own group."""
    return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name


def can_run(user: str) -> bool:
    """Whether another user may run this interpreter, which may lie in a home folder that is closed to them."""
    command, group = [sys.executable, "-c", ""], group_of(user)
    try:
        return subprocess.run(command, user=user, group=group, extra_groups=[], check=False).returncode == 0
    except PermissionError:
        return False


OPENED = "ANYWHERE_OPENED"
"""Set where folders were opened already."""


def closed(path: Path) -> Path | None:
    """The uppermost folder above a path that others may not enter."""
    return next((one for one in reversed(path.parents) if not one.stat().st_mode & stat.S_IXOTH), None)


def opening(needed: Iterable[Path]) -> str:
    """Commands for a shell in a mount namespace of its own, after which others can reach these folders.

    A closed folder is covered by an empty one in which there is only what is needed; outside, all stays as it is.
    """
    covered: dict[Path, list[Path]] = {}
    for path in needed:
        if (folder := closed(path)) is not None:
            covered.setdefault(folder, []).append(path)
    lines = ["set -e", "umask 022"]
    for folder, paths in covered.items():
        places = [shlex.quote(str(path)) for path in paths]
        for number, place in enumerate(places):
            lines += [f"kept{number}=$(mktemp -d)", f'mount --bind {place} "$kept{number}"']
        lines.append(f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(str(folder))}")
        for number, place in enumerate(places):
            kept = f'"$kept{number}"'
            lines += [f"mkdir -p {place}", f"mount --bind {kept} {place}", f"umount {kept}", f"rmdir {kept}"]
    return "\n".join([*lines, 'exec "$@"'])


def again_opened() -> int | None:
    """Run this command where others can reach the interpreter; None where that cannot be done."""
    if OPENED in os.environ or shutil.which("unshare") is None:
        return None
    script = opening({Path(sys.base_prefix), Path(sys.prefix)})
    apart = ["unshare", "--mount", "--propagation", "private"]
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        return None
    command = [*apart, "sh", "-c", script, "sh", sys.executable, *sys.argv]
    return subprocess.run(command, env={**os.environ, OPENED: "1"}, check=False).returncode


def main() -> int:
    """Return 0 if all passed, 1 if tests failed, 2 if the other user cannot run this interpreter."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = "; ".join(f"{name}: {one.__doc__.rstrip('.')}" for name, one in CONDITIONS.items())
    parser.add_argument("conditions", nargs="*", choices=[*CONDITIONS, []], metavar="CONDITION", help=names)
    parser.add_argument("--together", action="store_true", help="all conditions at once")
    parser.add_argument("--log", type=Path, default=ROOT / "build" / "anywhere", help="folder for the output of pytest")
    parser.add_argument("--test-options", default="", help="tests and options for pytest, in one word")
    asked = parser.parse_args()
    asked.log.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("SHUFFLE", str(int(time.time())))
    names = asked.conditions or list(CONDITIONS)
    if user.__name__ in names and os.geteuid() == 0 and not can_run(ORDINARY_USER):
        if (status := again_opened()) is not None:
            return status
        print(f"NOT TESTED: {ORDINARY_USER} may not run {sys.executable}, and root may not mount folders here")
        return 2
    worst = 0
    for group in [names] if asked.together else [[name] for name in names]:
        log = asked.log / f"{'+'.join(group)}.log"
        status = ran(group, asked.test_options.split(), log.absolute())
        print(
            f"{' '.join(group)}: {'passed' if status == 0 else f'FAILED ({status})'}; {log}\n{shown(log)}", flush=True
        )
        worst = max(worst, 1 if status else 0)
    return worst


if __name__ == "__main__":
    sys.exit(main())
