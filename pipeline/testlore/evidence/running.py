"""``run``: execute a test suite in a disposable copy, within its time, and read its JUnit report."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from testlore import frameworks
from testlore.child import Child
from testlore.evidence import junit
from testlore.evidence.junit import Case
from testlore.project import safe_files, snapshot
from testlore.project.settings import Settings

_FIRST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "first")

# What an outer test run or git hook says to its own children is not meant for ours.
_OUTER = (
    *("PYTEST_", "COV_CORE_", "COVERAGE_", "JEST_", "VITEST", "NODE_TEST_", "TESTLORE_", "PYTHONPATH"),
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX"),
)
_KEPT = frozenset(["PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"])


class Run(NamedTuple):
    """How a suite ran.

    Attributes:
        problem: why the run is incomplete, in one of the words of ``schemas/validation.schema.json``; or empty.
        status: the exit status; ``None`` when it was killed.
        cases: its cases, each as often as it ran.
        output: the end of what it printed; for people, and kept nowhere.
    """

    problem: str
    status: int | None
    cases: Counter[Case]
    output: str = ""

    @property
    def complete(self) -> bool:
        """Whether the suite ran to its end, and its report and exit status agree."""
        return not self.problem

    @property
    def green(self) -> bool:
        """Whether it is complete and no case failed."""
        return self.complete and not self.count("failed")

    def count(self, outcome: str = "") -> int:
        """How many cases ended so; all cases for no outcome."""
        return sum(number for case, number in self.cases.items() if outcome in ("", case.outcome))

    def names(self, *outcomes: str) -> Counter[str]:
        """How often each name ended in one of the outcomes; in any for none."""
        found: Counter[str] = Counter()
        for case, number in self.cases.items():
            if not outcomes or case.outcome in outcomes:
                found[case.name] += number
        return found


class Place(NamedTuple):
    """Where suites are run.

    Attributes:
        root: the original project.
        settings: its configuration.
        sources: the paths of its sources.
        folder: a disposable folder, without links in its path.
    """

    root: str
    settings: Settings
    sources: Sequence[str]
    folder: str


def run(place: Place, name: str, copy: str, only: str = "") -> Run:
    """Run the suite of a copy.

    Args:
        name: tells this run from others in the same place.
        copy: the folder of the copy.
        only: the one test file that is run; empty for the whole suite.

    Raises:
        Refusal: ``runner-missing``.
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
    command = frameworks.command(place.root, place.settings, copy, report, _listed(copy), only)
    environment = {**_environment(folder, temporary, copy), **command.environment}
    try:
        child = Child(command.argv, cwd=copy, env=environment, seconds=place.settings.run_seconds, max_output=None)
    except OSError as error:
        return Run("not-started", None, Counter(), f"{command.argv[0]}: {error.strerror}")
    ended = child.ask(b"")
    output = (ended.stdout + ended.stderr).decode("utf-8", "replace")
    if ended.timed_out:
        return Run("timed-out", None, Counter(), output)
    problem, cases = _read_report(report, copy)
    problem = problem or _isolation_problem(place, witness) or _status_problem(place, ended.status, cases)
    return Run(problem, ended.status, cases, output)


def _write_json(path: str, value: Any) -> None:
    with open(path, "w", encoding="ascii") as file:
        json.dump(value, file)


def _listed(copy: str) -> list[str]:
    found = []
    for folder, names, files in os.walk(copy):
        names[:] = sorted(name for name in names if name not in snapshot.IGNORED_FOLDERS)
        for file in files:
            found.append(os.path.relpath(os.path.join(folder, file), copy).replace(os.sep, "/"))
    return sorted(found)


def _environment(folder: str, temporary: str, copy: str) -> Mapping[str, str]:
    ours = {_FIRST, os.environ.get("TESTLORE_FIRST")}  # an outer run's, when a project runs us in its own tests
    outer = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry not in ours]
    kept = {key: text for key, text in os.environ.items() if key in _KEPT or not key.startswith(_OUTER)}
    return {
        **kept,
        "TESTLORE_RUN": folder,
        "TMPDIR": temporary,
        "PWD": copy,
        "TESTLORE_FIRST": _FIRST,
        "PYTHONPATH": os.pathsep.join([_FIRST, *outer]),
        "PYTHONDONTWRITEBYTECODE": "1",
        # The older family of pytest's reports names the file of a case.
        "PYTEST_ADDOPTS": f"-p no:cacheprovider -o junit_family=xunit1 --rootdir={_quoted(copy)}",
    }


def _quoted(text: str) -> str:
    """As pytest's ``shlex`` reads it back."""
    import shlex

    return shlex.quote(text)


def _read_report(path: str, copy: str) -> tuple[str, Counter[Case]]:
    try:
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


def _isolation_problem(place: Place, witness: str) -> str:
    """What speaks against that the copy's own code was tested."""
    left = os.listdir(witness)
    if any(name.startswith("original-") for name in left):
        return "original-imported"
    framework = safe_files.framework(place.root, place.settings)
    if framework in safe_files.PYTHON_FRAMEWORKS and not any(name.startswith("copy-") for name in left):
        return "not-isolated"
    return ""


def _status_problem(place: Place, status: int | None, cases: Counter[Case]) -> str:
    framework = safe_files.framework(place.root, place.settings)
    failed = any(case.outcome == "failed" for case in cases)
    return "" if is_coherent(framework, status, failed=failed) else "status-mismatch"


def is_coherent(framework: str, status: int | None, *, failed: bool) -> bool:
    """Whether an exit status fits a report: zero exactly when no case failed, and no end by a signal.

    pytest's statuses above 1 mean that it was interrupted, misused or broken.
    """
    if status is None or status < 0 or (framework == "pytest" and status > 1):
        return False
    return (status != 0) == failed
