"""What tells that a test run changed a file, or that something of it still runs."""

from __future__ import annotations

import contextlib
import mmap
import os
import time

State = tuple[int, ...]
Attributes = tuple[object, ...]

_DYING_SECONDS = 0.5  # how long a killed process may take to be gone
_TICK_SECONDS = 3.0  # the coarsest clock of a common file system ticks every two seconds
_PAGE = mmap.PAGESIZE


def state(found: os.stat_result) -> State:
    """What differs after every change of a file.

    A test can set the modification time back, but not the change time: the system alone sets it, at each change of the
    bytes, the rights, the names, the owner and the extended attributes.
    """
    return (
        *(found.st_dev, found.st_ino, found.st_mode, found.st_nlink, found.st_uid, found.st_gid, found.st_size),
        *(found.st_mtime_ns, found.st_ctime_ns),
    )


def attributes(path: str, found: os.stat_result) -> Attributes:
    """What a folder is, besides its rights and what is in it."""
    extended: list[tuple[str, bytes]] = []
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):  # the file system has none
            names = sorted(os.listxattr(path, follow_symlinks=False))
            extended = [(name, os.getxattr(path, name, follow_symlinks=False)) for name in names]
    return (found.st_dev, found.st_uid, found.st_gid, *extended)


def wait_for_tick(probe: str, newest: int) -> bool:
    """Wait until a change has a later time than all that was recorded.

    The clock of a file system ticks every few milliseconds or seconds. A change within the tick in which a state was
    recorded would leave no trace.

    Args:
        probe: a path for a file of ours in the same file system.
        newest: the latest recorded change time, in nanoseconds.

    Returns:
        Whether it ticked.
    """
    end = time.monotonic() + _TICK_SECONDS
    while time.monotonic() < end:
        with open(probe, "wb"):
            pass
        if os.lstat(probe).st_ctime_ns > newest:
            return True
        time.sleep(0.001)
    return False


def shows_mapped_writes(probe: str) -> bool:
    """Whether the file system changes a file's times when it is written through a memory map; some tmpfs do not.

    Args:
        probe: a path for a file of ours in the same file system.
    """
    with open(probe, "wb") as file:
        file.write(bytes(_PAGE))
    before = os.lstat(probe).st_ctime_ns
    if not wait_for_tick(f"{probe}-clock", before):
        return False
    with open(probe, "r+b") as written, mmap.mmap(written.fileno(), _PAGE) as mapped:
        mapped[0] = 1
    return os.lstat(probe).st_ctime_ns > before


def anything_runs(folder: str) -> bool:
    """Whether a process may run that was started by a run below a folder, or works in it.

    A run's process group has been killed. A process that left the group is known by the environment that it inherited.

    Returns:
        True, too, where the system does not tell.
    """
    end = time.monotonic() + _DYING_SECONDS
    while _runs(folder):
        if time.monotonic() > end:
            return True
        time.sleep(0.01)
    return False


def _runs(folder: str) -> bool:
    try:
        processes = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return True
    named = os.fsencode(folder)
    for process in processes:
        if int(process) == os.getpid():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{process}/environ", "rb") as file:
            if named in file.read():
                return True
        with contextlib.suppress(OSError):
            if os.fsencode(os.readlink(f"/proc/{process}/cwd")).startswith(named):
                return True
    return not processes
