"""The turn to write: a file lock whose waiters sleep in the system, which wakes them in the order of their coming.

filelock asks again and again whether a lock is free. Of eight busy writers one then gets it many times while another
waits for ten seconds. It takes part all the same: it uses the same kind of lock on the same file.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

from testlore import libraries

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def turn(path: str, seconds: float) -> Iterator[None]:
    """Hold the lock at ``path``.

    Args:
        seconds: how long to wait for it.

    Raises:
        TimeoutError: another process held it all the time.
        OSError: the file cannot be opened.
    """
    if fcntl is None:
        with libraries.installed():
            import filelock

        try:
            with filelock.FileLock(path, timeout=seconds):
                yield
        except filelock.Timeout:
            raise TimeoutError(path) from None
        return
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _Waiter(descriptor).wait(path, seconds)
    except BaseException:
        os.close(descriptor)
        raise
    try:
        yield
    finally:
        os.close(descriptor)  # and with it goes the lock


class _Waiter:
    """Waits for a lock in a thread of its own, since the system's waiting has no time limit.

    Args:
        descriptor: the open file; closed by the thread when nobody wants the lock any more.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._failure: OSError | None = None
        self._abandoned = False
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        except OSError as error:
            self._failure = error
        with self._lock:
            self._over.set()
            if self._abandoned:
                os.close(self._descriptor)

    def wait(self, path: str, seconds: float) -> None:
        """Return when the lock is held.

        Raises:
            TimeoutError: it was not free in time.
            OSError: it cannot be had.
        """
        try:
            self._over.wait(seconds)
        finally:
            with self._lock:
                if not self._over.is_set():
                    self._abandoned = True
        if self._abandoned:
            raise TimeoutError(path)
        if self._failure is not None:
            os.close(self._descriptor)
            raise self._failure
