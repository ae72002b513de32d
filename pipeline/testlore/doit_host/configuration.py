"""doit's own configuration: where its database is, and a reporter that leaves standard output to the answer."""

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
    """doit's console reporter on standard error: standard output is the answer's."""

    def write(self, text: str) -> None:
        """Write progress where it does not mix with the answer."""
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
    """Find doit's own database: in the project's derived cache, or in memory where none can or should be there."""
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
    """Make the database's folder, and see that it takes a file: a full disk would leave doit a broken database.

    Raises:
        OSError: it does not.
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
    """Whether the database at ``path``, which may be new, is one that doit can use."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
            rows = connection.execute("select task_id, task_data from doit").fetchall() if tables else []
        return all(isinstance(json.loads(data), dict) for _, data in rows)
    except (sqlite3.Error, ValueError, TypeError):
        return False
