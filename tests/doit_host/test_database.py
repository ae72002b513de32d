"""Whatever happens to doit's own database, or to doit itself, no answer is lost and no engine is left running."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import Project, is_alive, states, wait_until
from wheel_stand_in import WheelStandIn


def _garbage(path: Path) -> None:
    path.write_bytes(b"garbage" * 1000)


def _damaged_page(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _other_tables(path: Path) -> None:
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table doit (something text)")


def _no_json_in_it(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update doit set task_data = '{'")


def _other_types_in_it(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update doit set task_data = json_set(task_data, '$.deps:', json('[[]]'))")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


@pytest.mark.parametrize(
    "spoil",
    [_garbage, _damaged_page, _truncated, _emptied, _other_tables, _no_json_in_it, _other_types_in_it, _folder, _link],
)
def test_a_damaged_database_of_doit_itself_costs_no_answer(built: Project, spoil: Callable[[Path], None]) -> None:
    assert built.ask_natively("doit") == "reused"
    path = built.cache / "doit.sqlite3"
    spoil(path)
    before = states(built.cache)
    assert built.ask_natively("doit") == "reused"
    assert built.doit().returncode == 0
    assert states(built.cache) == before
    assert built.doit("clean").returncode == 0
    assert not path.exists()
    assert built.ask_natively("doit") == "built"


@pytest.mark.parametrize("argv", [["recall", "limit=99"], ["recall", "form=json"], ["query"], ["index"]])
def test_no_engine_is_left_running_when_doit_ends_without_asking_it(
    project_of_sdk: Project, sdk: WheelStandIn, tmp_path: Path, argv: list[str]
) -> None:
    project = project_of_sdk
    assert project.ask_natively() == "built"
    pids = tmp_path / "pids"
    sdk.break_with(sdk.hanging(pids, "load"))
    project.configure({"timeoutMs": 1_000 if argv in (["query"], ["recall", "limit=99"]) else 60_000})
    started = time.monotonic()
    project.doit(*argv, "query=zero")
    assert time.monotonic() - started < 10
    left = [int(pid) for pid in pids.read_text().split()] if pids.exists() else []
    assert wait_until(lambda: not any(map(is_alive, left)))
