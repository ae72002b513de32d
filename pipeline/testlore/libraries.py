"""Imports of libraries as they are installed, not of folders that are named like them.

doit puts the folder of a dodo.py first on ``sys.path``. A project may have a ``tabulate/`` or a ``filelock.py`` of its
own there, which is neither what we need nor ours to run.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

_ALONE = threading.RLock()


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """While this is entered, imports do not look in the working folder. Enter it for no longer than an import."""
    here = os.path.realpath(os.curdir)
    with _ALONE:
        before = sys.path
        sys.path = [entry for entry in before if entry and os.path.realpath(entry) != here]
        try:
            yield
        finally:
            sys.path = before
