"""The database of doit itself, looked at before doit opens it: what it cannot use or grow ends its run badly."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3

_PROBE_BYTES = 1 << 16


def make_room(path: str) -> None:
    """Make the database's folder, and see that it takes a file.

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


def is_readable(path: str) -> bool:
    """Whether the database at ``path``, which may be new, is one that doit can use."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
            rows = connection.execute("select task_id, task_data from doit").fetchall() if tables else []
        return all(isinstance(json.loads(data), dict) for _, data in rows)
    except (sqlite3.Error, ValueError, TypeError):
        return False
