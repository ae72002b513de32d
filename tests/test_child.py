"""Bounded child processes, with real ones."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from testlore.child import Child, Completion


def run(script: str, request: bytes = b"", seconds: float = 20, max_output: int = 1000) -> Completion:
    child = Child([sys.executable, "-c", script], cwd="/", seconds=seconds, max_output=max_output)
    return child.ask(request)


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
        Child(["/no/such/program"], cwd="/", seconds=1, max_output=1)


def test_killing_leaves_no_open_files() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        Child([sys.executable, "-c", "input()"], cwd="/", seconds=9, max_output=9).kill()
    assert len(os.listdir("/proc/self/fd")) == before


def test_without_a_limit_a_flood_is_read_to_its_end_and_its_end_is_kept() -> None:
    child = Child([sys.executable, "-c", "print('x' * 3_000_000 + 'last words')"], cwd="/", seconds=20, max_output=None)
    done = child.ask(b"")
    assert (done.status, done.flooded, len(done.stdout)) == (0, False, 8_000)
    assert done.stdout.endswith(b"last words\n")
