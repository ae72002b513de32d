"""Asks git about a folder, without changing anything in it.

Git never gets the ``GIT_*`` variables of our own environment. In a hook of a linked worktree these include ``GIT_DIR``,
and git would answer for another work tree.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping

_SECONDS = 60


def environment() -> Mapping[str, str]:
    """Our environment without ``GIT_*`` variables. Git takes no optional lock, and asks for no password."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}


class Question:
    """A git command that runs while the caller goes on.

    Args:
        folder: the working directory of git.
        arguments: as after ``git``.
    """

    def __init__(self, folder: str, *arguments: str) -> None:
        self._folder = folder
        self._arguments = arguments
        self._start()

    def _start(self) -> None:
        self._asked_by = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):  # there is no git, or no folder
            self._process = subprocess.Popen(
                ["git", *self._arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(),
                start_new_session=True,
            )

    def answer(self) -> bytes:
        """What git printed; empty when it failed, does not know the folder, or took over a minute."""
        if self._asked_by != os.getpid():  # we are a fork of the process that asked, and git answers that one
            self._start()
        if self._process is None:
            return b""
        process = self._process
        try:
            output, _ = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            return b""
        finally:  # also when we are interrupted
            self.end()
        return output if process.returncode == 0 else b""

    def end(self) -> None:
        """End git, if it still works, and what it started: ``git`` may be a script that starts the real one."""
        process, self._process = self._process, None
        if process is None or self._asked_by != os.getpid():
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def ask(folder: str, *arguments: str) -> bytes:
    """What a git command printed; see :meth:`Question.answer`."""
    return Question(folder, *arguments).answer()
