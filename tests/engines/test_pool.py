"""A worker waits for its process's next question, is replaced when it dies, and never outlives its parent."""

from __future__ import annotations

from helpers import (
    Project,
    is_alive,
    wait_until,
)


def test_a_long_lived_process_asks_one_worker_again_and_leaves_none(project: Project) -> None:
    asking = (
        "import os, subprocess; from testlore import recall; from testlore.engines import pool;"
        "start = pool.Child.__init__; starts = [];"
        "pool.Child.__init__ = lambda self, *a, **k: (starts.append(1), start(self, *a, **k))[1];"
        "answers = [recall('.', 'zero boundary') for _ in range(3)]; first = len(starts);"
        "answers += [recall('.', query) for query in ('cents', 'unicode accents')];"
        "print(len(starts) - first, [answer.retrieval for answer in answers]);"
        "print(*(worker.child._process.pid for worker in pool._waiting.values()))"
    )
    project.ask_natively()
    counted, pids = project.python("-c", asking).stdout.splitlines()
    assert counted == f"0 {['ruvector'] * 5}"
    assert wait_until(lambda: not any(is_alive(int(pid)) for pid in pids.split()))
    assert len(pids.split()) == 1


def test_a_worker_that_waits_is_replaced_when_it_dies(project: Project) -> None:
    asking = (
        "import os, time; from testlore import recall; from testlore.engines import pool; recall('.', 'zero boundary');"
        "[worker] = pool._waiting.values(); os.kill(worker.child._process.pid, 9); time.sleep(0.2);"
        "print(recall('.', 'zero boundary').retrieval)"
    )
    assert project.python("-c", asking).stdout == "ruvector\n"


def test_a_worker_whose_parent_was_killed_ends(project: Project) -> None:
    asking = (
        "import os; from testlore import recall; from testlore.engines import pool; recall('.', 'zero boundary');"
        "[worker] = pool._waiting.values(); print(worker.child._process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    pid = int(project.python("-c", asking).stdout)
    assert wait_until(lambda: not is_alive(pid))
