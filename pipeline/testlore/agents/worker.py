"""The worker: the configuration's ``agent`` command, started once for each request, and its answers.

It is started without a shell in the project's root. When it takes too long or answers too much, its whole process group
is killed. That limits a failure. It is no sandbox: a worker runs as you, and may do whatever you may.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
from contextlib import AbstractContextManager
from typing import Any

from testlore import canonical, schemas
from testlore.child import Child, Completion
from testlore.errors import Refusal
from testlore.project import safe_files
from testlore.project.settings import CONFIG_FILE

FOLDER = ".tddswarm/generation"
SECONDS = 120
MAX_ANSWER_BYTES = 2 << 20

_LAST_WORDS = 400  # characters of standard error in a message


class Transcript:
    """The answers of one generation's workers, written as they arrive, so that a person can read them after a failure.

    Args:
        root: the project.

    Attributes:
        folder: their folder, relative to the root.
        used: whether it holds an answer.
    """

    def __init__(self, root: str) -> None:
        moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        self.folder = f"{FOLDER}/{moment}-{os.urandom(4).hex()}"
        self.used = False
        self._root = root

    def write(self, name: str, data: bytes) -> None:
        """Keep what a worker wrote, in a new file.

        Raises:
            Refusal: ``generation-unsafe``, ``generation-unwritable``.
        """
        with self._disk():
            os.makedirs(safe_files.safe_path(self._root, self.folder), mode=0o700, exist_ok=True)
            with open(safe_files.safe_path(self._root, f"{self.folder}/{name}"), "xb") as file:
                file.write(data)
            self.used = True

    def remove(self) -> None:
        """Remove all answers. Call it when the candidate is staged."""
        with self._disk():
            shutil.rmtree(safe_files.safe_path(self._root, self.folder), ignore_errors=True)
            with contextlib.suppress(OSError):  # it may hold another generation's answers
                os.rmdir(safe_files.safe_path(self._root, FOLDER))

    def _disk(self) -> AbstractContextManager[None]:
        return safe_files.refusing(self.folder, unsafe="generation-unsafe", unwritable="generation-unwritable")


class Workers:
    """Starts workers and asks them. Several threads may ask at once.

    Args:
        root: the project, the working directory of every worker.
        argv: the program and its arguments.
        transcript: where their answers are kept.
        seconds: how long each may take.
    """

    def __init__(self, root: str, argv: tuple[str, ...], transcript: Transcript, seconds: float = SECONDS) -> None:
        self._root = root
        self._argv = argv
        self._transcript = transcript
        self._seconds = seconds
        self._lock = threading.Lock()
        self._running: set[Child] = set()
        self._stopped = False

    def ask(self, name: str, request: dict[str, Any]) -> dict[str, Any]:
        """Send a worker a request, and return its answer, checked against the role's schema.

        Args:
            name: the worker's name in messages and files: its role, and a number where there are several.
            request: as ``schemas/agent-request.schema.json`` describes it.

        Raises:
            Refusal: ``agent-missing``: the program cannot be started. ``worker-failed``: it took too long, wrote too
                much or ended badly. ``worker-answer-invalid``. ``generation-unsafe``, ``generation-unwritable``. The
                text names the role, the field and the rule.
        """
        done = self._run(canonical.to_bytes(canonical.dumps(request) + "\n"))
        stem = name.replace(" ", "-")
        self._transcript.write(f"{stem}.stdout", done.stdout)
        if done.stderr:
            self._transcript.write(f"{stem}.stderr", done.stderr)
        problem = self._problem(done)
        if problem:
            raise Refusal("worker-failed", f"{name}: {problem}")
        try:
            answer = canonical.loads(done.stdout)
        except ValueError as error:
            raise Refusal(
                "worker-answer-invalid", f"{name}: its answer is not JSON: {error}; allowed: one JSON object"
            ) from None
        wrong = schemas.first_problem(f"{request['role']}-answer", answer)
        if wrong is not None:
            raise Refusal("worker-answer-invalid", f"{name}: {wrong.text}")
        valid: dict[str, Any] = answer
        return valid

    def stop(self) -> None:
        """End every running worker, and start no more. Threads that wait in :meth:`ask` get ``worker-failed``."""
        with self._lock:
            self._stopped = True
            for child in self._running:
                child.interrupt()

    def _run(self, request: bytes) -> Completion:
        with self._lock:
            if self._stopped:
                raise Refusal("worker-failed", "stopped")
            try:
                child = Child(self._argv, cwd=self._root, seconds=self._seconds, max_output=MAX_ANSWER_BYTES)
            except (OSError, ValueError) as error:
                raise Refusal(
                    "agent-missing",
                    f"agent[0] in {CONFIG_FILE} is {self._argv[0]!r}, which cannot be started: {error}; "
                    "allowed: a program on PATH, or its path from the project's root",
                ) from None
            self._running.add(child)
        try:
            return child.ask(request)
        finally:
            with self._lock:
                self._running.discard(child)

    def _problem(self, done: Completion) -> str:
        """Why a worker failed; empty when it did not."""
        if done.timed_out:
            return f"no answer within {self._seconds:g} seconds"
        if done.flooded:
            return f"its answer is too long; allowed: at most {MAX_ANSWER_BYTES} bytes"
        if not done.bad_status:
            return ""
        last = " ".join(done.stderr.decode("utf-8", "replace").split())[-_LAST_WORDS:]
        return f"{done.bad_status}{'; its last words: ' if last else ''}{last}"
