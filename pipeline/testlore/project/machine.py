"""What this user keeps on this machine, outside of every repository: decisions, and a random key that makes marks.

A repository is input: whoever wrote it may have written its derived cache too. A seal has no key, so anybody can make
one. A *mark* can only be made by this user on this machine: it is a digest with a random key that no clone can bring.
"""

from __future__ import annotations

import contextlib
import os
import stat
from functools import cache
from hashlib import blake2b

from testlore.project import safe_files

_KEY_BYTES = 32
_KEY_FILE = "key"


def folder() -> str:
    """Where this user's state is: ``testlore`` in ``XDG_STATE_HOME``, or in ``~/.local/state``."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):  # the XDG Base Directory Specification asks to ignore it then
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "testlore")


def mark(name: str, data: bytes) -> str:
    """This machine's mark of some data, 64 hex digits; empty where no key can be kept.

    Args:
        name: what the data is, so that no file can pass for another one.
    """
    key = _key(folder())
    if not key:
        return ""
    digest = blake2b(name.encode("utf-8", "surrogatepass") + b"\0", key=key, digest_size=32)
    digest.update(data)
    return digest.hexdigest()


def is_marked(name: str, data: bytes, given: str) -> bool:
    """Whether ``given`` is this machine's mark of the data."""
    ours = mark(name, data)
    return bool(ours) and ours == given


@cache
def _key(place: str) -> bytes:
    """This user's key; made when it is first needed. Empty where it cannot be kept, or others could read it."""
    for _ in range(2):  # when two processes make one at once, the second finds the first one's
        found = read_private(_KEY_FILE, _KEY_BYTES)
        if found is not None:
            return found if len(found) == _KEY_BYTES else b""
        with contextlib.suppress(OSError):
            write_private(_KEY_FILE, os.urandom(_KEY_BYTES), replace=False)
    return b""


def read_private(name: str, limit: int) -> bytes | None:
    """The bytes of a file of the state folder.

    Args:
        limit: the most bytes that are read; a longer file comes back one byte longer.

    Returns:
        ``None`` when there is no file; nothing when it cannot be read, or another user could have written or read it.
    """
    try:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # nobody may write to a pipe
        descriptor = os.open(os.path.join(folder(), name), flags)
    except FileNotFoundError:
        return None
    except OSError:
        return b""
    state = os.fstat(descriptor)
    ours = not hasattr(os, "geteuid") or state.st_uid == os.geteuid()
    if not (ours and stat.S_ISREG(state.st_mode) and not state.st_mode & 0o077):
        os.close(descriptor)
        return b""
    with open(descriptor, "rb") as file:
        return file.read(limit + 1)


def write_private(name: str, data: bytes, *, replace: bool = True) -> None:
    """Put a file of the state folder in place, whole, readable and writable for this user alone.

    Args:
        replace: whether it may take the place of an older one.

    Raises:
        OSError: it cannot be written; ``FileExistsError``: there is one, and it must not be replaced.
    """
    place = folder()
    os.makedirs(place, mode=0o700, exist_ok=True)
    safe_files.write_whole(os.path.join(place, name), data, ".tmp", replace=replace)
