"""What a guard is for: nothing that we started goes on when we are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import hanging, is_alive, pids, wait_until
from testlore.child import Child


def is_gone(pid: int) -> bool:
    return wait_until(lambda: not is_alive(pid), 5)


ASKER = """
import json, os, sys
from testlore.child import Child
child = Child(json.loads(sys.argv[1]), cwd="/", seconds=600, max_output=1000)
{more}
child.ask(b"x" * 3_000_000)
"""


@pytest.mark.parametrize(
    "more", ["", "if os.fork() == 0: import time; time.sleep(6); os._exit(0)"], ids=["alone", "with a fork"]
)
def test_a_guarded_child_and_its_children_end_when_their_asker_is_killed(tmp_path: Path, more: str) -> None:
    argv = json.dumps([sys.executable, "-c", hanging(tmp_path)])
    asker = subprocess.Popen([sys.executable, "-c", ASKER.format(more=more), argv], start_new_session=True)
    children = pids(tmp_path)
    assert all(is_alive(pid) for pid in children)
    asker.kill()
    asker.wait()
    assert all(is_gone(pid) for pid in children)


def test_no_kill_while_a_guarded_child_starts_leaves_it_running(tmp_path: Path) -> None:
    script = f"import os, time; open({str(tmp_path)!r} + f'/{{os.getpid()}}', 'w'); time.sleep(600)"
    argv = json.dumps([sys.executable, "-c", script])
    for turn in range(25):
        asker = subprocess.Popen([sys.executable, "-c", ASKER.format(more=""), argv])
        time.sleep(0.03 + 0.004 * turn)
        asker.kill()
        asker.wait()
    time.sleep(0.5)
    assert all(is_gone(int(name)) for name in os.listdir(tmp_path))


def test_a_guard_that_is_ended_ends_its_child(tmp_path: Path) -> None:
    child = Child([sys.executable, "-c", hanging(tmp_path)], cwd="/", seconds=600, max_output=1000)
    children = pids(tmp_path)
    os.kill(int(Path(f"/proc/{children[0]}/stat").read_text().rsplit(")", 1)[1].split()[1]), signal.SIGTERM)
    assert all(is_gone(pid) for pid in children)
    child.kill()
