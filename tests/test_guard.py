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
from agents_helpers import Crew, shop
from evidence_helpers import CALC, make_project, patch
from helpers import Project, hanging, is_alive, pids, wait_until
from node_stand_in import NodeStandIn
from testlore import evidence
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
    os.kill(child._process.pid, signal.SIGTERM)
    assert all(is_gone(pid) for pid in children)
    child.kill()


def killed(project: Project, *argv: str, until: Path) -> None:
    """Start a command, and kill it with SIGKILL as soon as there is a file."""
    env = {**os.environ, **project.env}
    command = [sys.executable, "-m", "testlore", *argv]
    process = subprocess.Popen(command, cwd=project.root, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert wait_until(until.exists), process.communicate(timeout=10)
    process.kill()
    process.communicate()


def test_a_suite_ends_when_its_validation_is_killed_and_the_next_one_sweeps_its_copy(tmp_path: Path) -> None:
    notes, temporary = tmp_path / "notes", tmp_path / "temporary"
    notes.mkdir()
    temporary.mkdir()
    test = f"import os\ndef test_it():\n    if os.path.exists({str(notes / 'hang')!r}): exec({hanging(notes)!r})\n"
    root = make_project(tmp_path / "shop", {"calc.py": CALC, "tests/test_it.py": test}, {"adapter": "pytest"})
    (notes / "hang").touch()
    name = evidence.stage(root, patch())
    project = Project(root, {"TMPDIR": str(temporary)})
    killed(project, "validate", name, until=notes / "pids")
    assert all(is_gone(pid) for pid in pids(notes))
    assert list(temporary.iterdir())
    (notes / "hang").unlink()
    assert project.testlore("validate", name).returncode == 0
    assert list(temporary.iterdir()) == []


def test_an_embedding_command_ends_when_recall_is_killed(project: Project, tmp_path: Path) -> None:
    (project.root / "embed.py").write_text(hanging(tmp_path))
    embedding = {"mode": "command", "argv": [sys.executable, "embed.py"], "identity": "1"}
    project.configure({"embedding": embedding, "timeoutMs": 60_000})
    killed(project, "recall", "zero boundary", until=tmp_path / "pids")
    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_an_agent_ends_when_generation_is_killed(tmp_path: Path) -> None:
    crew = Crew(tmp_path / "crew")
    crew.behave(f"exec({hanging(tmp_path)!r})")
    killed(shop(tmp_path / "shop", crew), "generate", until=tmp_path / "pids")
    assert all(is_gone(pid) for pid in pids(tmp_path))


@pytest.mark.parametrize("where", ["load", "build", "search"])
def test_a_node_worker_ends_when_recall_is_killed_and_the_next_one_sweeps_the_cache(
    tmp_path: Path, node_modules: Path, where: str
) -> None:
    stand_in = NodeStandIn(tmp_path / "sdk", node_modules)
    project = stand_in.project(tmp_path / "till")
    project.configure({"timeoutMs": 60_000})
    if where == "search":
        project.ask_natively()
    notes = tmp_path / "pids"
    stand_in.break_with(stand_in.hanging(notes, where))
    killed(project, "recall", "zero boundary", until=notes)
    assert all(is_gone(int(pid)) for pid in notes.read_text().split())
    stand_in.mend()
    project.ask_natively()
    assert not list(project.cache.glob("*.testlore-tmp"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_person_who_interrupts_validation_waits_for_no_suite_and_finds_nothing_left(
    tmp_path: Path, number: signal.Signals
) -> None:
    notes, temporary = tmp_path / "notes", tmp_path / "temporary"
    notes.mkdir()
    temporary.mkdir()
    test = f"def test_it():\n    exec({hanging(notes)!r})\n"
    root = make_project(tmp_path / "shop", {"calc.py": CALC, "tests/test_it.py": test}, {"adapter": "pytest"})
    name = evidence.stage(root, patch())
    before = sorted(root.rglob("*"))
    script = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        f"from testlore import cli; sys.exit(cli.main(['validate', {name!r}]))"
    )
    env = {**os.environ, "TMPDIR": str(temporary)}
    process = subprocess.Popen([sys.executable, "-c", script], cwd=root, env=env, stderr=subprocess.PIPE, text=True)
    children = pids(notes)
    begin = time.monotonic()
    process.send_signal(number)
    _, told = process.communicate(timeout=20)
    assert time.monotonic() - begin < 5  # a second where nothing else runs
    assert process.returncode == 128 + number
    assert told.splitlines()[-1] == "testlore: interrupted"
    assert all(is_gone(pid) for pid in children)
    assert list(temporary.iterdir()) == []
    assert sorted(root.rglob("*")) == before
