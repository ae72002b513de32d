"""Runs a test suite in a disposable copy of the project, within a time limit, and reads its JUnit report."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from testlore.child import Child
from testlore.evidence import junit, subject
from testlore.evidence.junit import Case
from testlore.frameworks import Extent, Framework, command, union
from testlore.frameworks.javascript import PACKAGES
from testlore.project import git, listing
from testlore.project.settings import Settings

#: The first folder on the search path of every Python that a run starts; its ``sitecustomize.py`` isolates the run.
_ISOLATION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "isolation")

# What an outer run of ours sets for its own child processes. Our runs must not get it.
_OUTER = ("TESTLORE_", "PYTHONPATH")


class Run(NamedTuple):
    """How a suite ran.

    Attributes:
        problem: why the run is incomplete, as a word of ``schemas/validation.schema.json``; empty when it is complete.
        status: the exit status; ``None`` when the suite was killed or did not start.
        cases: how often each of its cases ran.
        output: the end of what it printed. It is shown to people and never stored.
        stopped_early: whether it ended at its first failure, as it was told to. Only failed cases are counted then:
            which others ran, not every framework says.
    """

    problem: str
    status: int | None
    cases: Counter[Case]
    output: str = ""
    stopped_early: bool = False

    @property
    def complete(self) -> bool:
        """Whether the suite ran to its end, and its report fits its exit status."""
        return not self.problem

    def count(self, outcome: str = "") -> int:
        """How many cases have this outcome; without one, how many cases there are."""
        return sum(number for case, number in self.cases.items() if outcome in ("", case.outcome))

    def names(self, *outcomes: str) -> Counter[str]:
        """How often each name has one of these outcomes; without any, how often each name occurs."""
        found: Counter[str] = Counter()
        for case, number in self.cases.items():
            if not outcomes or case.outcome in outcomes:
                found[case.name] += number
        return found


class Place(NamedTuple):
    """Where suites are run, and how.

    Attributes:
        root: the original project.
        settings: its configuration.
        framework: its test framework.
        sources: the paths of its sources.
        folder: a disposable folder, without links in its path.
    """

    root: str
    settings: Settings
    framework: Framework
    sources: Sequence[str]
    folder: str


def run(
    place: Place,
    name: str,
    copy: str,
    only: str | Sequence[str] = (),
    *,
    stop_early: bool = False,
    measure: str = "",
    started: Callable[[Child], object] = lambda _: None,
) -> Run:
    """Run the suite of a copy. The project's own coverage is only measured in whole runs in which we measure nothing.

    Args:
        name: a name for this run that no other run in the same place has.
        copy: the folder of the copy.
        only: the test file or files to run; empty for the whole suite.
        stop_early: whether to stop at the first failure, if the framework can.
        measure: a folder for what :mod:`testlore.evidence.subject` reads; empty to measure nothing.
        started: called with the process, so that another thread can interrupt it.

    Raises:
        Refusal: ``runner-missing``: we do not know how to get a report from the configured runner.
    """
    folder = os.path.join(place.folder, f"{name}.run")
    temporary, witness, report = (os.path.join(folder, part) for part in ("tmp", "witness", "report.xml"))
    os.mkdir(folder)
    os.mkdir(temporary)
    os.mkdir(witness)
    description = {
        "original": os.path.realpath(place.root),
        "copy": copy,
        "witness": witness,
        "sources": os.path.join(folder, "sources.json"),
    }
    _write_json(os.path.join(folder, "project.json"), description)
    _write_json(description["sources"], list(place.sources))
    runner, files = place.settings.runner, _files_below(copy, place.sources)
    named = tuple([only] if isinstance(only, str) and only else only)
    extent = Extent(named, stop_early, without_coverage=bool(named or stop_early or measure))
    argv, variables = command.build(place.framework, place.root, runner, copy, report, files, extent)
    measuring = subject.environment(place.framework, measure) if measure else {}
    environment = {**_environment(folder, temporary, copy), **variables, **measuring}
    try:
        child = Child(argv, cwd=copy, env=environment, seconds=place.settings.run_seconds, max_output=None)
    except OSError as error:
        return Run("not-started", None, Counter(), f"{argv[0]}: {error.strerror}")
    started(child)
    ended = child.ask(b"")
    output = (ended.stdout + ended.stderr).decode("utf-8", "replace")
    if ended.timed_out:
        return Run("timed-out", None, Counter(), output)
    problem, cases = _read_report(report, copy)
    problem = problem or _isolation_problem(place.framework, witness)
    failed = Counter({case: number for case, number in cases.items() if case.outcome == "failed"})
    stopped_early = stop_early and bool(failed)
    if not problem and not is_coherent(place.framework, ended.status, failed=bool(failed), stopped_early=stopped_early):
        problem = "status-mismatch"
    return Run(problem, ended.status, failed if stopped_early else cases, output, stopped_early)


def _write_json(path: str, value: Any) -> None:
    with open(path, "w", encoding="ascii") as file:
        json.dump(value, file)


def _files_below(copy: str, sources: Sequence[str]) -> list[str]:
    """The files of a copy, but for what is installed or made there."""
    own = {os.path.dirname(path) for path in sources}
    found = []
    for folder, names, files in os.walk(copy):
        below = folder[len(copy) + 1 :].replace(os.sep, "/")
        names[:] = sorted(name for name in names if name != PACKAGES)
        if listing.IGNORED_FOLDERS.isdisjoint(below.split("/")) or below in own:
            found += [f"{below}/{file}" if below else file for file in files]
    return sorted(found)


def _environment(folder: str, temporary: str, copy: str) -> dict[str, str]:
    # A project's tests may run us. Then an outer run has put its own folder on the search path already.
    ours = {_ISOLATION, os.environ.get("TESTLORE_ISOLATION")}
    outer = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry not in ours]
    kept = {name: text for name, text in os.environ.items() if not _is_outer(name)}
    return {
        **kept,
        "TESTLORE_RUN": folder,
        "TMPDIR": temporary,
        "PWD": copy,
        "TESTLORE_ISOLATION": _ISOLATION,
        "PYTHONPATH": os.pathsep.join([_ISOLATION, *outer]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _is_outer(variable: str) -> bool:
    """Whether a variable was set by an outer run, or by a git hook, for its own child processes."""
    return variable.startswith(_OUTER) or git.redirects(variable) or union.is_outer(variable)


def _read_report(path: str, copy: str) -> tuple[str, Counter[Case]]:
    """What is wrong with a report, or nothing; and its cases."""
    try:
        if not os.path.isfile(path):  # at a pipe we would wait for a writer
            return "no-report", Counter()
        with open(path, "rb") as file:
            data = file.read(junit.MAX_BYTES + 1)
    except OSError:
        return "no-report", Counter()
    if not data.strip():
        return "no-report", Counter()
    if len(data) > junit.MAX_BYTES:
        return "report-too-large", Counter()
    try:
        report = junit.parse(data, copy)
    except junit.InvalidReport:
        return "report-invalid", Counter()
    if not report.whole:
        return "collection-failed", report.cases
    return "" if report.cases else "no-cases", report.cases


def _isolation_problem(framework: Framework, witness: str) -> str:
    """Why we cannot be sure that the copy was tested, and not the original; or nothing.

    Args:
        witness: the folder in which every Python of the run left a note of what it imported.
    """
    left = os.listdir(witness)
    if any(name.startswith("original-") for name in left):
        return "original-imported"
    if framework.IS_PYTHON and not any(name.startswith("copy-") for name in left):
        return "not-isolated"
    return ""


def is_coherent(framework: Framework, status: int | None, *, failed: bool, stopped_early: bool = False) -> bool:
    """Whether an exit status fits a report: the suite ran to its end, and it is zero exactly when no case failed.

    Args:
        status: ``None`` when the suite was killed.
        failed: whether the report has a failed case.
        stopped_early: whether the suite was told to stop at the first failure, and had one.
    """
    if status is None or not framework.ran_to_end(status, stopped_early=stopped_early):
        return False
    return (status != 0) == failed
