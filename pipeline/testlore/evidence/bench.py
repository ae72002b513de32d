"""Runs suites of one project in working copies: two at a time where the machine has two processors.

Suites that run at the same time may be in each other's way, through a port or a database. Whoever sees that asks for
one at a time.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import NamedTuple, TypeVar

from testlore.child import Child
from testlore.evidence import cases, room, running, subject
from testlore.evidence.junit import Case
from testlore.evidence.running import Place, Run
from testlore.evidence.state import ProjectState
from testlore.evidence.subject import Subject
from testlore.evidence.working_copy import WorkingCopy
from testlore.frameworks import Framework
from testlore.progress import Progress
from testlore.project import temporary

_MOST_AT_A_TIME = 2
_SPARE_BYTES = 256 << 20  # with less room beside two copies, there is one copy
_TELL_SECONDS = 2.0

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Request(NamedTuple):
    """A run of a suite.

    Attributes:
        about: what it is, for people.
        files: the content of new and replaced files, by path.
        deleted: the paths of files to delete.
        only: the test files to run; empty for the whole suite.
        stop_early: whether the first failure decides.
    """

    about: str
    files: Mapping[str, bytes] = {}
    deleted: Sequence[str] = ()
    only: Sequence[str] = ()
    stop_early: bool = False


class _Stopped(Exception):
    """Another run failed, or a person interrupted: no further run begins."""


class Bench:
    """Where the suites of a project run.

    Args:
        root: the project.
        now: its state.
        added: the paths of files that it does not have yet.
        progress: told what runs.
    """

    def __init__(self, root: str, now: ProjectState, added: Sequence[str], progress: Progress) -> None:
        self._root, self._now, self._added, self._progress = root, now, added, progress
        self._sources = now.sources.files()
        self._kept = contextlib.ExitStack()
        self._lanes: queue.LifoQueue[_Lane | None] = queue.LifoQueue()
        self._at_a_time = 1
        self._lock = threading.Lock()
        self._children: set[Child] = set()
        self._stopped = False
        self._runs = 0
        self._going: dict[int, str] = {}
        self.planned = 0

    @property
    def framework(self) -> Framework:
        """The project's test framework."""
        return self._now.framework

    @contextlib.contextmanager
    def opened(self) -> Iterator[Bench]:
        """Hold the bench's disposable folders.

        Raises:
            Refusal: ``no-room``, ``copy-unwritable``.
        """
        where = "the folder for temporary files"
        try:
            where = temporary.place()
            size = room.size(self._root, self._sources)
            if _processors() > 1 and room.free(where) > 2 * size + _SPARE_BYTES:
                self._at_a_time = _MOST_AT_A_TIME
            for _ in range(self._at_a_time):
                self._lanes.put(None)  # a lane is made when it is first needed
            with self._kept:
                yield self
        except OSError as error:
            need = f"a copy of the sources has {room.size(self._root, self._sources)} bytes, and a run needs more"
            raise room.refusal(error, where, need) from None

    def each(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Do some work for each item, for several at a time, and return the results in order.

        When one fails, or a person interrupts, the others are ended.
        """
        with ThreadPoolExecutor(self._at_a_time) as pool:
            futures: list[Future[_Result]] = []
            done = False
            try:
                for item in items:
                    futures.append(pool.submit(work, item))  # an interrupt must find those before it
                while wait(futures, _TELL_SECONDS, FIRST_EXCEPTION).not_done:
                    if any(future.done() and future.exception() for future in futures):
                        break
                    self._show()
                else:
                    results = [future.result() for future in futures]
                    done = True
                    return results
            finally:
                if not done:
                    self._stop(futures)
        raise next(
            error
            for future in futures
            if not future.cancelled() and (error := future.exception()) and not isinstance(error, _Stopped)
        )

    def run(self, request: Request) -> Run:
        """Run a suite, in a copy that nobody else uses meanwhile.

        Raises:
            Refusal: as :meth:`WorkingCopy.prepare` and :func:`running.run` raise it.
            OSError: a change cannot be written.
        """
        return self._in_lane(request, lambda lane, name: self._run_in(lane, name, request))

    def measure(self, request: Request, new: Iterable[Case]) -> Subject:
        """Run some cases once more to see what they run; how they end does not matter.

        Args:
            new: the cases.

        Raises:
            Refusal, OSError: as :meth:`run` raises them.
        """

        def work(lane: _Lane, name: str) -> Subject:
            data = os.path.join(lane.place.folder, f"{name}.measure")
            self._run_in(lane, name, request, data)
            return subject.of_run(self.framework, lane.copy.path, data, new, self._sources)

        return self._in_lane(request, work)

    def _in_lane(self, request: Request, work: Callable[[_Lane, str], _Result]) -> _Result:
        """Do some work with a copy that nobody else uses meanwhile."""
        self._check()
        with self._lock:
            self._runs += 1
            number = self._runs
            self._going[number] = request.about
        self._show()
        lane = self._lanes.get()
        try:
            if lane is None:
                with self._lock:
                    lane = self._new_lane()
            return work(lane, f"run-{number}")
        finally:
            self._lanes.put(lane)
            with self._lock:
                del self._going[number]

    @property
    def is_parallel(self) -> bool:
        """Whether suites run at the same time."""
        return self._at_a_time > 1

    def one_at_a_time(self) -> None:
        """Let no suite run while another one does, from now on."""
        self._at_a_time = 1

    def run_alone(self, request: Request) -> Run:
        """Run a suite while no other one runs."""
        return self.each(self.run, [request])[0]

    def is_complete(self, run: Run) -> bool:
        """Whether a run is complete."""
        return cases.is_complete(self.framework, run)

    def is_green(self, run: Run) -> bool:
        """Whether a run is complete, and no case failed."""
        return self.is_complete(run) and not run.count("failed")

    def _run_in(self, lane: _Lane, name: str, request: Request, measure: str = "") -> Run:
        copy = lane.copy.prepare(name, request.files, request.deleted)
        self._check()
        self._show()
        ran = running.run(
            lane.place, name, copy, request.only, stop_early=request.stop_early, measure=measure, started=self._watch
        )
        self._check()  # what was killed must not be taken for a result
        if not self.is_green(ran):
            room.check(lane.place.folder, ran.output, lane.copy.size)
        return ran

    def _new_lane(self) -> _Lane:
        folder = self._kept.enter_context(temporary.in_system())
        paths = [*self._sources, *self._added]
        place = Place(self._root, self._now.settings, self._now.framework, paths, folder)
        return _Lane(place, WorkingCopy(self._root, folder, self._sources, self._copying))

    def _copying(self, what: str, done: int, of: int) -> None:
        """Say how far copying is, and end it where no further run shall begin."""
        self._check()
        self._progress(what, done, of)

    def _watch(self, child: Child) -> None:
        with self._lock:
            self._children.add(child)
            if not self._stopped:
                return
        child.interrupt()

    def _check(self) -> None:
        if self._stopped:
            raise _Stopped

    def _stop(self, futures: Iterable[Future[_Result]]) -> None:
        self._stopped = True
        for future in futures:
            future.cancel()
        with self._lock:
            children = list(self._children)
        for child in children:
            child.interrupt()

    def _show(self) -> None:
        with self._lock:
            going = dict(self._going)
        if going:
            of = max(self.planned, self._runs)
            self._progress("; ".join(f"run {number} of {of}: {about}" for number, about in sorted(going.items())), 0, 0)


class _Lane(NamedTuple):
    """A working copy, and the place in which its runs leave their reports."""

    place: Place
    copy: WorkingCopy


def _processors() -> int:
    """How many processors we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
