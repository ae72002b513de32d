"""Whether there is room for copies and for what suites write, and the refusal when there is none."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable

from testlore.errors import Refusal

#: The ``errno`` of each failure that means that something found no room.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

_LEAST = 1 << 20  # with less than this, a suite may not be able to write its report
_LOW = 1 << 30  # with less than this, we believe a suite that says that there was no room
_SAID = (b"ENOSPC", b"EDQUOT", *(os.strerror(number).encode() for number in (errno.ENOSPC, errno.EDQUOT)))


def refusal(error: OSError, where: str, need: str) -> Refusal:
    """The refusal for something that could not be written.

    Args:
        where: the folder that has no room, or takes no files.
        need: how much room was needed, for people.
    """
    if error.errno in FULL:
        return Refusal("no-room", f"{where} is full: {need}")
    return Refusal("copy-unwritable", f"{where}: {error.strerror or error}")


def check(folder: str, output: str, size: int) -> None:
    """Refuse to judge a run that may have failed for want of room.

    Args:
        folder: the disposable folder in which it wrote.
        output: what it printed.
        size: how many bytes its copy has.

    Raises:
        Refusal: ``no-room``.
    """
    left = free(folder)
    said = any(word.lower() in output.lower().encode("utf-8", "replace") for word in map(bytes.lower, _SAID))
    if left < _LEAST or (said and left < _LOW):
        need = f"beside a copy of {size} bytes, a run needs more than the {left} bytes that are free"
        raise Refusal("no-room", f"{os.path.dirname(folder)} is full: {need}")


def free(where: str) -> int:
    """How many bytes we may still write; 0 when there can be no more files."""
    found = os.statvfs(where)
    return 0 if found.f_files and not found.f_favail else found.f_bavail * found.f_frsize


def size(root: str, paths: Iterable[str]) -> int:
    """How many bytes files have in all."""
    total = 0
    for path in paths:
        with contextlib.suppress(OSError):
            total += os.lstat(os.path.join(root, path)).st_size
    return total
