"""Starts workers, keeps one waiting for the next question, and ends it."""

from __future__ import annotations

import atexit
import os
from typing import NamedTuple

from testlore.child import Child
from testlore.engines import Engine, Sdk
from testlore.errors import Fallback

MAX_ANSWER_BYTES = 1 << 20


class Job(NamedTuple):
    """What a worker is started for.

    Attributes:
        engine, sdk: what it runs.
        root: the project's root, which is its working directory.
        timeout_ms: how long it may take to answer.
    """

    engine: Engine
    sdk: Sdk
    root: str
    timeout_ms: int


class Worker(NamedTuple):
    """A child process that runs an engine, and the job that it was started for."""

    job: Job
    child: Child


def start(job: Job) -> Worker:
    """Start a worker, or take the waiting one if it does the same job. It loads the SDK while the caller goes on.

    Raises:
        Fallback: ``ruvector-worker-failed``: it could not be started.
    """
    waiting = _waiting.pop(job, None)
    if waiting is not None:
        if waiting.child.is_waiting():
            return waiting
        waiting.child.kill()
    # Variables such as NODE_OPTIONS must not reach a worker. Those of Python are ignored because of its option -I.
    env = {name: value for name, value in os.environ.items() if not name.startswith("NODE_")}
    argv, seconds = job.engine.worker_argv(job.sdk), job.timeout_ms / 1000
    guarded = not job.engine.ENDS_ALONE
    try:
        child = Child(argv, cwd=job.root, env=env, seconds=seconds, max_output=MAX_ANSWER_BYTES, guarded=guarded)
        return Worker(job, child)
    except OSError as error:
        raise Fallback("ruvector-worker-failed", error.strerror or str(error)) from None


def keep(worker: Worker) -> None:
    """Keep a worker for this process's next question. At most one waits. It ends itself after a while."""
    if worker.child.is_waiting():
        end_waiting()
        _waiting[worker.job] = worker


def end_waiting() -> None:
    """End the waiting worker, if there is one."""
    while _waiting:
        _waiting.popitem()[1].child.kill()


_waiting: dict[Job, Worker] = {}
atexit.register(end_waiting)
