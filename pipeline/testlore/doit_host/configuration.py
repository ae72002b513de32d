"""The configuration of doit: where its own database is, and a reporter that keeps standard output for the answer."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from typing import Any

from doit.doit_cmd import DoitMain
from doit.reporter import ConsoleReporter

from testlore.cache import FOLDER
from testlore.commands import output
from testlore.errors import Fallback, Unusable
from testlore.memory import store
from testlore.stages.clean import DOIT_DATABASE
from testlore.stages.session import Session

_PROBE_BYTES = 1 << 16


class Reporter(ConsoleReporter):  # type: ignore[misc]
    """doit's console reporter, on standard error instead of standard output."""

    def write(self, text: str) -> None:
        """Write progress to standard error, so that standard output is the answer alone."""
        if self.outstream is sys.stdout:
            output.write_error(text)
        else:
            self.outstream.write(text)


def doit_config(session: Callable[[], Session], default_tasks: Sequence[str]) -> dict[str, Any]:
    """The ``DOIT_CONFIG`` of a dodo.py that holds nothing but our tasks."""
    return {
        "backend": "sqlite3",
        "dep_file": _dep_file(session),
        "default_tasks": list(default_tasks),
        "reporter": Reporter,
        "sort": "definition",
        "verbosity": 2,
    }


def _dep_file(begin: Callable[[], Session]) -> str:
    """The path of doit's own database: in the derived cache, or in memory if it cannot or should not be there."""
    commands = {command.get_name() for command in DoitMain.DOIT_CMDS} - {"run"}
    try:
        session = begin()
        session.engine()
        path = session.cache.path(DOIT_DATABASE)
        remembered = os.path.exists(os.path.join(session.root, store.INDEX_FILE)) and session.settings().learning
        if not remembered or "clean" in sys.argv[1:]:
            return ":memory:"
        if commands.isdisjoint(sys.argv[1:]):
            _make_room(path)
        elif not os.path.exists(path):
            return ":memory:"
        if _is_readable(path):
            return path
        output.tell(f"doit's own database cannot be read: {FOLDER}/{DOIT_DATABASE}; `testlore clean` removes it")
    except (Fallback, Unusable, OSError):
        pass
    return ":memory:"


def _make_room(path: str) -> None:
    """Make the database's folder, and check that it takes a file. On a full disk, doit would leave a broken database.

    Raises:
        OSError: it takes none.
    """
    os.makedirs(os.path.dirname(path), exist_ok=True)
    probe = f"{path}-probe-{os.getpid()}"
    try:
        with open(probe, "wb") as file:
            file.write(bytes(_PROBE_BYTES))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(probe)


def _is_readable(path: str) -> bool:
    """Whether doit can use the database at ``path``, which may not exist yet."""
    sqlite3.register_converter("json", lambda data: json.loads(data.decode("utf-8")))  # as doit itself does
    try:
        with contextlib.closing(sqlite3.connect(path, detect_types=sqlite3.PARSE_DECLTYPES)) as connection:
            kinds = {kind for (kind,) in connection.execute("select type from sqlite_master")}
            rows = connection.execute("select task_id, task_data from doit").fetchall() if kinds else []
        return kinds <= {"table", "index"} and all(_is_readable_row(row) for _, row in rows)
    except (sqlite3.Error, ValueError, TypeError, RecursionError):
        return False


def _is_readable_row(row: object) -> bool:
    """Whether doit can use what is kept of a task; it checks no types itself, so other ones end it with a traceback.

    ``doit.dependency.Dependency`` lists the keys: those of its own end with a colon, and the others are files.
    """
    if not isinstance(row, dict) or not isinstance(row.get("_values_:") or {}, dict):
        return False
    dependencies = row.get("deps:") or []
    if not isinstance(dependencies, list) or not all(isinstance(one, str) for one in dependencies):
        return False
    if (row.get("checker:") or "MD5Checker") != "MD5Checker":
        return True  # doit forgets the states of files when another checker made them
    states = [state for key, state in row.items() if not key.endswith(":")]
    return all(state is None or (isinstance(state, list) and len(state) == 3) for state in states)
