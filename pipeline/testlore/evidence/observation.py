"""What a validation observes: runs, and how they are written down so that a verdict can be checked later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from testlore.evidence.functions import Comparison
from testlore.evidence.junit import Case
from testlore.evidence.running import Run
from testlore.evidence.subject import Subject

#: The kinds of faults: held-out defects, mutants, and the change that the tests are for taken back.
KINDS = ("given", "mutant", "undone")


class Fault(NamedTuple):
    """A set of wrong source files, to see which tests notice it.

    Attributes:
        name: its name, among those of its kind.
        kind: one of :data:`KINDS`.
        files: the wrong content, by path.
    """

    name: str
    kind: str
    files: Mapping[str, bytes]


class SuiteRun(NamedTuple):
    """A run of a suite, and the reruns of those files in which old cases failed."""

    run: Run
    reruns: Sequence[Run] = ()


class FaultRuns(NamedTuple):
    """The runs with a fault in the sources.

    Attributes:
        name, kind: of the fault.
        paths: the files that it changes.
        new: the run of the new cases' files; ``None`` where there is no new case.
        original: that of the original suite; ``None`` where its answer changes nothing.
        candidate: that of the candidate's whole suite; ``None`` likewise.
        applies: whether it can be seen: false for a mutant that no case runs, and where undoing a change says nothing.
    """

    name: str
    kind: str
    paths: Sequence[str]
    new: Run | None = None
    original: SuiteRun | None = None
    candidate: SuiteRun | None = None
    applies: bool = True


class Observation(NamedTuple):
    """What a validation saw.

    Attributes:
        original: the run of the project's suite as it is.
        candidate: the run of the suite with the candidate's changes.
        changed: runs of single changed test files, by path, when the candidate's report does not name their files.
        repeats: further runs of the new cases' files.
        faults: the runs with each fault; empty unless the candidate's suite was green, again and again.
        functions: how the candidate's Python functions differ from the project's.
        subject: what the new cases ran.
        unimportable: test files that the original suite cannot load, and that the candidate replaces or deletes. The
            original run is without them.
    """

    original: SuiteRun
    candidate: SuiteRun
    changed: Mapping[str, Run] = {}
    repeats: Sequence[Run] = ()
    faults: Sequence[FaultRuns] = ()
    functions: Comparison = Comparison()
    subject: Subject = Subject()
    unimportable: Sequence[str] = ()


def only_failed(run: Run) -> Run:
    """A run with only its failed cases. Of a run with a fault in the sources, nothing else is used."""
    return run._replace(cases=Counter({case: n for case, n in run.cases.items() if case.outcome == "failed"}))


def run_to_dict(run: Run) -> dict[str, Any]:
    """A run as a validation records it, without its output."""
    cases = [{**case._asdict(), "count": number} for case, number in sorted(run.cases.items())]
    return {"problem": run.problem, "status": run.status, "cases": cases, "stoppedEarly": run.stopped_early}


def run_from_dict(value: Mapping[str, Any]) -> Run:
    """The inverse of :func:`run_to_dict`."""
    cases: Counter[Case] = Counter()
    for case in value["cases"]:
        cases[Case(case["name"], case["file"], case["outcome"])] += case["count"]
    return Run(value["problem"], value["status"], cases, stopped_early=value["stoppedEarly"])


def _suite_to_dict(suite: SuiteRun | None) -> dict[str, Any] | None:
    return suite and {"run": run_to_dict(suite.run), "reruns": [run_to_dict(run) for run in suite.reruns]}


def _suite_from_dict(value: Mapping[str, Any]) -> SuiteRun:
    return SuiteRun(run_from_dict(value["run"]), [run_from_dict(run) for run in value["reruns"]])


def to_dict(observed: Observation) -> dict[str, Any]:
    """An observation as a validation records it."""
    functions = observed.functions
    return {
        "original": _suite_to_dict(observed.original),
        "candidate": _suite_to_dict(observed.candidate),
        "changed": [{"path": path, "run": run_to_dict(run)} for path, run in sorted(observed.changed.items())],
        "repeats": [run_to_dict(run) for run in observed.repeats],
        "faults": [
            {
                "name": one.name,
                "kind": one.kind,
                "paths": list(one.paths),
                "new": one.new and run_to_dict(one.new),
                "original": _suite_to_dict(one.original),
                "candidate": _suite_to_dict(one.candidate),
                "applies": one.applies,
            }
            for one in observed.faults
        ],
        "functions": {
            "known": sorted(functions.known),
            "differs": [list(place) for place in sorted(functions.differs)],
            "redecorated": [list(place) for place in sorted(functions.redecorated)],
            "moved": [[*place, *source] for place, source in sorted(functions.moved.items())],
        },
        "subject": {
            **observed.subject._asdict(),
            "files": [{"path": path, "digest": digest} for path, digest in observed.subject.files],
        },
        "unimportable": list(observed.unimportable),
    }


def from_dict(value: Mapping[str, Any]) -> Observation:
    """The inverse of :func:`to_dict`."""
    functions = value["functions"]
    return Observation(
        original=_suite_from_dict(value["original"]),
        candidate=_suite_from_dict(value["candidate"]),
        changed={one["path"]: run_from_dict(one["run"]) for one in value["changed"]},
        repeats=[run_from_dict(run) for run in value["repeats"]],
        faults=[
            FaultRuns(
                one["name"],
                one["kind"],
                one["paths"],
                one["new"] and run_from_dict(one["new"]),
                one["original"] and _suite_from_dict(one["original"]),
                one["candidate"] and _suite_from_dict(one["candidate"]),
                one["applies"],
            )
            for one in value["faults"]
        ],
        functions=Comparison(
            frozenset(functions["known"]),
            frozenset((path, name) for path, name in functions["differs"]),
            frozenset((path, name) for path, name in functions["redecorated"]),
            {(path, name): (old, was) for path, name, old, was in functions["moved"]},
        ),
        subject=Subject(
            [(file["path"], file["digest"]) for file in value["subject"]["files"]],
            value["subject"]["symbols"],
            value["subject"]["many"],
            value["subject"]["measured"],
        ),
        unimportable=value["unimportable"],
    )
