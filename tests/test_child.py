"""Bounded child processes, with real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from helpers import hanging, pids
from testlore.child import Child, Completion

GUARDED = True


@pytest.fixture(params=[True, False], ids=["guarded", "unguarded"], autouse=True)
def _guarded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard between a child and us changes nothing about the child."""
    monkeypatch.setitem(globals(), "GUARDED", request.param)


def start(argv: list[str], **options: Any) -> Child:
    given: dict[str, Any] = {"cwd": "/", "seconds": 20, "max_output": 1000, "guarded": GUARDED}
    return Child(argv, **{**given, **options})


def run(script: str, request: bytes = b"", seconds: float = 20, max_output: int = 1000) -> Completion:
    return start([sys.executable, "-c", script], seconds=seconds, max_output=max_output).ask(request)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_gone(pid: int) -> bool:
    for _ in range(200):
        if not is_alive(pid):
            return True
        time.sleep(0.02)
    return False


def test_a_child_gets_its_request_and_its_answer_comes_back() -> None:
    done = run("import sys; data = sys.stdin.buffer.read(); print(len(data), end='')", b"x" * 3_000_000)
    assert done == Completion(0, b"3000000", b"", timed_out=False, flooded=False)


def test_the_exit_status_and_the_end_of_standard_error_are_told() -> None:
    done = run("import sys; sys.stderr.write('e' * 9000 + 'last words'); sys.exit(7)")
    assert done.status == 7
    assert done.stderr.endswith(b"last words")
    assert len(done.stderr) <= 2000


def test_death_by_signal_is_told() -> None:
    assert run("import os; os.kill(os.getpid(), 9)").status == -9


def test_a_child_that_wants_no_more_input_still_answers() -> None:
    assert run("import os; os.close(0); print('early', end='')", b"x" * 4_000_000).stdout == b"early"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_ends_soon(stream: str) -> None:
    script = f"import sys\nwhile True: sys.{stream}.write('x' * 65536)"
    begin = time.monotonic()
    done = run(script, seconds=1)
    assert done.flooded == (stream == "stdout")
    assert done.timed_out == (stream == "stderr")
    assert time.monotonic() - begin < 10
    assert len(done.stdout) < 200_000


def test_time_is_over_even_for_a_child_that_ignores_sigterm_and_its_children(tmp_path: Path) -> None:
    script = (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); pid = os.fork();"
        f"open({str(tmp_path / 'pids')!r}, 'a').write(f'{{os.getpid()}}\\n'); time.sleep(60)"
    )
    assert run(script, seconds=1).timed_out
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    assert all(wait_until_gone(pid) for pid in pids)


def test_a_grandchild_that_holds_the_pipes_open_neither_delays_the_answer_nor_stays(tmp_path: Path) -> None:
    script = (
        "import os, time\nif os.fork() == 0:\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)\n"
        "time.sleep(0.3); print('done', end='')"
    )
    begin = time.monotonic()
    done = run(script)
    assert (done.status, done.stdout) == (0, b"done")
    assert time.monotonic() - begin < 15
    assert wait_until_gone(int((tmp_path / "pid").read_text()))


def test_what_cannot_be_started_is_an_os_error() -> None:
    with pytest.raises(OSError, match="No such file"):
        start(["/no/such/program"])


def test_killing_leaves_no_open_files() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        start([sys.executable, "-c", "input()"]).kill()
    assert len(os.listdir("/proc/self/fd")) == before


def test_without_a_limit_a_flood_is_read_to_its_end_and_its_end_is_kept() -> None:
    done = start([sys.executable, "-c", "print('x' * 3_000_000 + 'last words')"], max_output=None).ask(b"")
    assert (done.status, done.flooded, len(done.stdout)) == (0, False, 8_000)
    assert done.stdout.endswith(b"last words\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGABRT, signal.SIGSEGV, signal.SIGPIPE])
def test_every_signal_that_ends_a_child_is_told(number: signal.Signals) -> None:
    script = f"import os, signal; signal.signal({number:d}, signal.SIG_DFL); os.kill(os.getpid(), {number:d})"
    assert run(script).status == -number


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda path: None, FileNotFoundError),
        (lambda path: path.mkdir(), PermissionError),
        (lambda path: path.write_text("no program"), PermissionError),
        (lambda path: (path.write_text("#!/no/such/interpreter\n"), path.chmod(0o755)), FileNotFoundError),
        (lambda path: (path.write_bytes(b"\x7fELF"), path.chmod(0o755)), OSError),
    ],
    ids=["missing", "folder", "not executable", "no interpreter", "no format"],
)
@pytest.mark.parametrize("on_path", [True, False], ids=["on PATH", "by its path"])
def test_why_a_program_cannot_be_started_is_told_as_subprocess_tells_it(
    tmp_path: Path, make: Any, error: type[OSError], on_path: bool
) -> None:
    make(tmp_path / "program")
    before = len(os.listdir("/proc/self/fd"))
    name = "program" if on_path else str(tmp_path / "program")
    env = {**os.environ, "PATH": str(tmp_path)}
    with pytest.raises(error) as caught:
        start([name], env=env)
    with pytest.raises(OSError) as expected:  # noqa: PT011
        subprocess.Popen([name], env=env, cwd="/")
    assert str(caught.value) == str(expected.value)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        start([sys.executable], cwd=str(tmp_path / "nowhere"))
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_program_is_found_from_the_folder_that_it_starts_in(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("#!/bin/sh\necho found\n")
    (tmp_path / "program").chmod(0o755)
    assert start(["./program"], cwd=str(tmp_path)).ask(b"").stdout == b"found\n"


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"LANG": "C"}, {"LC_CTYPE": "C"}, {"LC_CTYPE": ""}, {}], ids=str)
def test_a_child_gets_the_very_environment_and_no_open_file(tmp_path: Path, locale: dict[str, str]) -> None:
    env = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "7", "PYTHONHOME": "/nowhere", "WORD": "\udcff", **locale}
    done = start(["sh", "-c", "env; echo; ls /proc/self/fd"], env=env, max_output=100_000).ask(b"")
    variables, _, descriptors = done.stdout.decode("utf-8", "surrogateescape").partition("\n\n")
    found = dict(line.split("=", 1) for line in variables.splitlines())
    assert {name: text for name, text in found.items() if name not in ("PWD", "OLDPWD", "SHLVL", "_")} == env
    assert len(descriptors.split()) == 4  # the three streams, and the folder that ls reads


def test_a_child_handles_signals_as_if_we_had_started_it() -> None:
    script = (
        "import signal, json; ask = signal.getsignal;"
        "print(json.dumps([n for n in signal.valid_signals() if ask(n) == signal.SIG_IGN]),"
        " list(signal.pthread_sigmask(signal.SIG_BLOCK, [])))"
    )
    expected = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout
    assert run(script).stdout == expected


def test_a_child_leads_a_session_and_a_group_and_has_no_child_that_it_does_not_know() -> None:
    script = (
        "import os\npid = os.getpid()\nprint(os.getsid(0) == pid, os.getpgrp() == pid)\n"
        "try: os.wait()\nexcept ChildProcessError: print('alone')"
    )
    assert run(script).stdout == b"True True\nalone\n"


def test_a_signal_to_the_childs_own_group_ends_nothing_but_the_group() -> None:
    script = (
        "import os, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "os.killpg(0, signal.SIGTERM); print('unharmed', end='')"
    )
    assert (run(script).status, run(script).stdout) == (0, b"unharmed")


def test_an_interruption_from_another_thread_ends_a_child_and_its_children(tmp_path: Path) -> None:
    child = start([sys.executable, "-c", hanging(tmp_path)])

    def interrupt() -> None:
        pids(tmp_path)
        child.interrupt()

    threading.Thread(target=interrupt).start()
    assert child.ask(b"").status == -9
    assert all(wait_until_gone(pid) for pid in pids(tmp_path))


def test_a_child_is_started_and_asked_where_we_have_no_standard_streams(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "import sys; print(sys.stdin.read() + '!', end='')"]
    script = (
        "import os\nfor stream in range(3): os.close(stream)\n"
        "from testlore.child import Child\n"
        f"done = Child({argv!r}, cwd='/', seconds=20, max_output=9, guarded={GUARDED}).ask(b'asked')\n"
        f"open({str(tmp_path / 'answer')!r}, 'w').write(repr(done.stdout))\n"
    )
    subprocess.run([sys.executable, "-c", script], check=False)
    assert (tmp_path / "answer").read_text() == "b'asked!'"
