"""Bounded child processes: one request in, one answer out, and nothing left running.

A child gets its own process group. We kill the whole group when the child takes too long, when it writes too much, and
after it ended, so that none of its own children keeps running. Where we are killed ourselves, a *guard* between the two
does that; see ``guard.py``. This limits a failure. It is no sandbox.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_CHUNK = 1 << 16
_STDERR_TAIL = 2_000
_STDOUT_TAIL = 8_000
_POLL_SECONDS = 0.02  # how often we look whether the child ended: its own child may keep the pipes open
_GUARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guard.py")


class Completion(NamedTuple):
    """How a child ended.

    Attributes:
        status: its exit status; negative: the signal that ended it; ``None``: we killed it.
        stdout: what it wrote, at most the limit and one chunk (64 KiB); without a limit the last 8,000 bytes.
        stderr: the last 2,000 bytes of its standard error.
        timed_out: whether it took too long.
        flooded: whether it wrote more than the limit.
        unsent: how many bytes of the request it did not read.
    """

    status: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool
    flooded: bool
    unsent: int = 0

    @property
    def bad_status(self) -> str:
        """The exit status or the signal in words, such as ``exit status 3``; empty for 0, and when we killed it."""
        if not self.status:
            return ""
        return f"signal {-self.status}" if self.status < 0 else f"exit status {self.status}"


class Child:
    """A started child process that waits for its request.

    Args:
        argv: the program and its arguments; no shell sees them.
        cwd: the folder that it starts in.
        env: its environment; by default ours.
        seconds: how long it may take to answer, from the moment it is asked.
        max_output: how many bytes it may write to standard output; ``None``: any number, but only the end is kept.
        guarded: whether a guard ends it when this process is killed. Without a guard it starts 10 ms earlier; that is
            for a program that ends by itself when its input does.

    Raises:
        OSError: it could not be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        seconds: float,
        max_output: int | None,
        env: Mapping[str, str] | None = None,
        guarded: bool = True,
    ) -> None:
        self._seconds = seconds
        self._max_output = max_output
        self._ended = False
        self._ending = _thread.RLock()  # importing threading costs each recall half a millisecond
        self._parent = os.getpid()
        self._lifeline: int | None = None
        if guarded:
            self._process, self._lifeline = _start_guarded(argv, cwd, env)
        else:
            self._process = _start(argv, cwd, env)

    def is_waiting(self) -> bool:
        """Whether the child still runs and can be asked. A fork of the process that started it cannot ask it."""
        return not self._ended and self._is_ours() and self._process.poll() is None

    def _is_ours(self) -> bool:
        """Whether this process started the child. A fork of that process did not."""
        return os.getpid() == self._parent

    def kill(self) -> None:
        """End the child and its process group. Further calls do nothing."""
        with self._ending:
            if self._ended:  # another process may have its id by now
                return
            self._ended = True
            process = self._process
            if self._is_ours():
                self._end_group()
                process.wait()
            if self._lifeline is not None:
                os.close(self._lifeline)
            _close(process)

    def interrupt(self) -> None:
        """End the child's process group from another thread. The thread that asked it then gets its completion."""
        with self._ending:  # its descriptors must not be closed, and used for something else, meanwhile
            if not self._ended:
                self._end_group()

    def _end_group(self) -> None:
        if self._lifeline is not None:
            with contextlib.suppress(OSError):  # the guard has ended already, and the group before it
                os.write(self._lifeline, b"x")
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def ask(self, request: bytes) -> Completion:
        """Send the request, read the answer to its end, and leave nothing running."""
        try:
            return self._talk(request, stay=False)
        finally:
            self.kill()

    def ask_to_stay(self, line: bytes) -> Completion:
        """Send a request of one line and read an answer of one line. Then the child waits, unless it failed.

        Returns:
            How it ended; with the status 0 while it is still running.
        """
        done = None
        try:
            done = self._talk(line, stay=True)
            return done
        finally:
            if done is None or not done.stdout.endswith(b"\n") or done.timed_out or done.flooded:
                self.kill()

    def _talk(self, request: bytes, *, stay: bool) -> Completion:
        process = self._process
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        deadline = time.monotonic() + self._seconds
        pending, answer, errors = memoryview(request), bytearray(), bytearray()
        unsent = len(pending)

        def completed(status: int | None, *, timed_out: bool = False, flooded: bool = False) -> Completion:
            tail = answer if self._max_output is not None else answer[-_STDOUT_TAIL:]
            return Completion(status, bytes(tail), bytes(errors[-_STDERR_TAIL:]), timed_out, flooded, unsent)

        with selectors.DefaultSelector() as selector:
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            for pipe in (stdin, stdout, stderr):
                os.set_blocking(pipe.fileno(), False)
            while selector.get_map():
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return completed(None, timed_out=True)
                ended = process.poll() is not None
                ready = [key.fileobj for key, _ in selector.select(0 if ended else min(remaining, _POLL_SECONDS))]
                if ended and stdout not in ready and stderr not in ready:
                    break  # all is read; only a child of the child keeps a pipe open
                if stdin in ready:
                    try:
                        pending = pending[os.write(stdin.fileno(), pending[:_CHUNK]) :]
                        unsent = len(pending)
                    except BrokenPipeError:  # it stopped reading; the caller decides whether its answer counts
                        pending = pending[:0]
                    if not pending:
                        selector.unregister(stdin)
                        if not stay:
                            with contextlib.suppress(OSError):
                                stdin.close()
                for pipe, into in ((stdout, answer), (stderr, errors)):
                    if pipe in ready:
                        chunk = os.read(pipe.fileno(), _CHUNK)
                        into += chunk
                        if not chunk:
                            selector.unregister(pipe)
                if stay and answer.endswith(b"\n"):
                    return completed(0)
                if self._max_output is None:
                    del answer[: -2 * _STDOUT_TAIL]
                elif len(answer) > self._max_output:
                    return completed(None, flooded=True)
                del errors[: -2 * _STDERR_TAIL]
        try:
            return completed(process.wait(max(0.0, deadline - time.monotonic())))
        except subprocess.TimeoutExpired:
            return completed(None, timed_out=True)


def _start(
    argv: Sequence[str], cwd: str, env: Mapping[str, str] | None, pass_fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=env,
        start_new_session=True,
        pass_fds=pass_fds,
    )


def _start_guarded(argv: Sequence[str], cwd: str, env: Mapping[str, str] | None) -> tuple[subprocess.Popen[bytes], int]:
    """Start a command behind a guard.

    Returns:
        The guard, which ends as the command ends; and our end of the lifeline: the command's group ends when something
        is written there, or it is closed.

    Raises:
        OSError: the command could not be started.
    """
    locale = (os.environ if env is None else env).get("LC_CTYPE")  # in the locale C, the guard's Python changes it
    with contextlib.ExitStack() as lent, contextlib.ExitStack() as kept:
        watched, lifeline = _pipe(lent, kept)
        reported, report = _pipe(kept, lent)
        guard = [sys.executable, "-I", "-S", "-B", _GUARD, str(watched), str(report), str(os.getpid())]
        process = _start([*guard, "" if locale is None else f"={locale}", *argv], cwd, env, (watched, report))
        lent.close()
        try:
            failure = os.read(reported, 16)  # nothing, as soon as the command has started
            if failure:
                raise OSError(int(failure), os.strerror(int(failure)), argv[0])
        except BaseException:
            with contextlib.suppress(OSError):  # the guard has ended already
                os.write(lifeline, b"x")
            process.wait()
            _close(process)
            raise
        kept.pop_all()
        os.close(reported)
    return process, lifeline


def _pipe(for_reading: contextlib.ExitStack, for_writing: contextlib.ExitStack) -> tuple[int, int]:
    """A pipe, of which each stack will close an end."""
    reading, writing = map(_beyond_streams, os.pipe())
    for_reading.callback(os.close, reading)
    for_writing.callback(os.close, writing)
    return reading, writing


def _beyond_streams(descriptor: int) -> int:
    """A descriptor in place of one of the standard streams' numbers, which are free where we run without these."""
    if descriptor > 2:
        return descriptor
    import fcntl

    other = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return other


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
