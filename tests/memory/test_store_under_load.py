"""The store under load: many writers at once, writers that are killed, and stores that are full."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from episodes import make_episode, pattern
from evidence_helpers import fill, patch, pytest_project, records, tree
from helpers import without_powers
from testlore import canonical, evidence
from testlore.errors import Refusal, Unusable
from testlore.memory import store, writer

HERE = str(Path(__file__).parents[1])

REMEMBER = """\
import sys
sys.path.insert(0, {here!r})
from testlore import evidence
for name in sys.argv[2:]:
    evidence.remember(sys.argv[1], name)
"""
MERGE = """\
import sys
from testlore.memory.merge import merge
for source in sys.argv[2:]:
    merge(sys.argv[1], source)
"""
WRITE_FOR_EVER = """\
import sys
sys.path.insert(0, {here!r})
from episodes import make_episode
from testlore.memory import store, writer
for number in range(int(sys.argv[2]), 1_000_000):
    writer.update(sys.argv[1], lambda found: [*found, make_episode(number)])
    print(number, flush=True)
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script.format(here=HERE), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def watch(root: Path, writers: list[subprocess.Popen[str]]) -> int:
    """Read the store, verified, again and again until all writers ended; how often there was one."""
    seen = 0
    while any(writer.poll() is None for writer in writers):
        if (root / store.INDEX_FILE).exists():
            store.parse(store.read_bytes(str(root)))
            seen += 1
        time.sleep(0.05)
    for process in writers:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    return seen


def test_eight_processes_that_remember_and_merge_at_once_lose_nothing(tmp_path: Path) -> None:
    root = pytest_project(tmp_path / "shop")
    names = []
    for number in range(4):
        test = f"def test_number_{number}():\n    assert {number} == {number}\n"
        names.append(evidence.stage(root, patch({f"tests/test_{number}.py": test})))
        evidence.validate(root, names[-1])
    expected = {record["id"] for record in records(root)}
    assert len(expected) == 4
    (root / store.INDEX_FILE).unlink()
    sources = [tmp_path / f"other-{number}" for number in range(4)]
    for number, source in enumerate(sources):
        fill(source, range(10 * number, 10 * number + 15))  # they share some
        expected |= {record["id"] for record in records(source)}
    paths = [str(source) for source in sources]
    writers = [start(REMEMBER, str(root), *names[turn:], *names[:turn]) for turn in range(4)]
    writers += [start(MERGE, str(root), *paths[turn:], *paths[:turn]) for turn in range(4)]
    assert watch(root, writers) > 0
    assert {record["id"] for record in records(root)} == expected


def test_a_writer_that_is_killed_leaves_the_old_or_the_new_store_whole(tmp_path: Path) -> None:
    chance = random.Random(7)
    fill(tmp_path, range(100))
    for turn in range(12):
        first = 1000 * (turn + 1)
        writer = start(WRITE_FOR_EVER, str(tmp_path), str(first))
        assert writer.stdout is not None
        last = int(writer.stdout.readline())
        time.sleep(chance.uniform(0, 0.3))
        os.kill(writer.pid, signal.SIGKILL)
        rest, _ = writer.communicate()
        last = int(rest.split()[-1]) if rest.split() else last
        found = [record["candidateId"] for record in records(tmp_path) if int(record["candidateId"][1:]) >= first]
        newest = len(found) - 1 + first
        assert found == [f"c{number}" for number in range(newest, first - 1, -1)]
        assert newest in (last, last + 1)  # it may have been killed before it could tell
    fill(tmp_path, range(99_000, 99_001))
    left = set(os.listdir(tmp_path / ".tddswarm/learning"))
    assert left - {"index.json.lock"} == {"index.json"}


def test_over_two_hundred_records_the_oldest_leave(tmp_path: Path) -> None:
    fill(tmp_path, range(150))
    change = writer.update(str(tmp_path), lambda found: [*found, *(make_episode(number) for number in range(150, 230))])
    assert len(change.after) == 200
    assert change.dropped == [make_episode(number)["id"] for number in range(29, -1, -1)]
    assert [record["candidateId"] for record in records(tmp_path)] == [f"c{n}" for n in range(229, 29, -1)]


def test_over_four_mebibytes_the_oldest_leave(tmp_path: Path) -> None:
    # Characters of three bytes: 200 such records would have more than 4 MiB.
    def big(number: int) -> store.Record:
        return make_episode(number, patterns=[pattern("漢" * 1_100 + str(number))] * 8)

    writer.update(str(tmp_path), lambda _: [big(number) for number in range(200)])
    size = (tmp_path / store.INDEX_FILE).stat().st_size
    kept = [record["candidateId"] for record in records(tmp_path)]
    one_more = [*reversed([big(number) for number in range(199 - len(kept), 200)])]
    assert size <= store.MAX_BYTES < len(writer.to_bytes(one_more))
    assert kept == [f"c{number}" for number in range(199, 199 - len(kept), -1)]


def test_what_would_be_refused_is_not_written(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    before = tree(tmp_path)
    with pytest.raises(Unusable, match="store-corrupt"):
        writer.update(str(tmp_path), lambda found: [*found, {**make_episode(5), "outcome": "rejected"}])
    assert tree(tmp_path) == before


def test_a_change_that_changes_nothing_does_not_touch_the_file(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    before = (tmp_path / store.INDEX_FILE).stat()
    writer.update(str(tmp_path), lambda found: found)
    after = (tmp_path / store.INDEX_FILE).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_store_of_the_other_tool_is_written_back_byte_for_byte(tmp_path: Path) -> None:
    source = Path(HERE) / "data/two-hundred" / store.INDEX_FILE
    target = tmp_path / store.INDEX_FILE
    target.parent.mkdir(parents=True)
    target.write_bytes(source.read_bytes())
    newest = records(tmp_path)[0]
    writer.update(str(tmp_path), lambda found: found[1:])
    writer.update(str(tmp_path), lambda found: [*found, newest])
    assert target.read_bytes() == source.read_bytes()


def test_a_folder_that_is_named_like_a_temporary_file_is_not_in_the_way(tmp_path: Path) -> None:
    folder = (tmp_path / store.INDEX_FILE).parent
    left = folder / "index.json.1-left.testlore-tmp"
    (folder / "index.json.2-a.testlore-tmp").mkdir(parents=True)
    (folder / "index.json.2-a.testlore-tmp/note").write_text("somebody's")
    left.write_bytes(b"half")
    fill(tmp_path, range(1))
    assert len(records(tmp_path)) == 1
    assert (folder / "index.json.2-a.testlore-tmp/note").read_text() == "somebody's"
    assert not left.exists()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    update = "import sys; from testlore.memory import writer; writer.update(sys.argv[1], lambda found: found)"
    done = subprocess.run(
        [sys.executable, "-c", update, str(tmp_path)],
        preexec_fn=without_powers,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode
    assert "memory-unwritable" in done.stderr


def test_a_lock_that_another_process_keeps_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, range(1))
    hold = (
        "import sys, time, filelock\nwith filelock.FileLock(sys.argv[1]):\n    print(1, flush=True)\n    time.sleep(30)"
    )
    holder = start(hold, str(tmp_path / writer.LOCK_FILE))
    assert holder.stdout is not None
    holder.stdout.readline()
    monkeypatch.setattr(writer, "_LOCK_SECONDS", 0.2)
    try:
        with pytest.raises(Refusal, match="memory-busy"):
            fill(tmp_path, range(1, 2))
    finally:
        holder.kill()
        holder.communicate()
    fill(tmp_path, range(1, 2))
    assert len(records(tmp_path)) == 2


def test_threads_may_read_more_stores_than_are_kept() -> None:
    sealed = [canonical.seal({"schemaVersion": 1, "records": [make_episode(number)]}) for number in range(7)]
    stores = [canonical.dumps(one).encode() for one in sealed]

    def read(start: int) -> int:
        read = [store.parse(stores[at % 7], known_valid=True) for at in range(start, start + 2_000)]
        return len({one.digest for one in read})

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            assert set(threads.map(read, range(0, 24, 3))) == {7}
    finally:
        sys.setswitchinterval(interval)
