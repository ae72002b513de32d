"""Where libraries are installed: on ``sys.path``, but never in the working folder.

doit and ``python -m`` put the working folder first on ``sys.path``. A project may have a ``tabulate/``, a
``filelock.py`` or a ``ruvector/`` of its own there, which is neither what we need nor ours to run.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

_ALONE = threading.RLock()


def folders(*others: str) -> list[str]:
    """The folders of ``sys.path`` that may hold installed libraries.

    Args:
        others: more folders that hold none, such as a project's root.
    """
    never = {_identity(place) for place in (os.curdir, *others)} - {None}
    return [entry for entry in sys.path if entry and _identity(entry) not in never]


def _identity(folder: str) -> tuple[int, int] | None:
    """What two paths of one folder have in common; ``None`` when there is no folder."""
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """While this is entered, imports do not look in the working folder. Enter it for no longer than an import."""
    with _ALONE:
        before = sys.path
        sys.path = folders()
        try:
            yield
        finally:
            sys.path = before
