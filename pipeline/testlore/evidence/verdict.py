"""The verdict on a candidate: a pure function of its manifest and of what was observed.

A seal has no secret key, so anyone can make a new one. But we can check that a recorded verdict follows from the
recorded observations: both validating and remembering call :func:`judge`, so a changed flag or count is noticed.
Observations that were all invented, and fit each other, are not noticed. Evidence is as trustworthy as the people and
programs that can write the project's files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from testlore import frameworks
from testlore.evidence.junit import Case
from testlore.evidence.running import Run, is_coherent
from testlore.frameworks import Framework, union

#: Each reason for a rejection, and the warning that a record has for it. Answers list both in this order.
WARNINGS = {
    "review-rejected": "review-rejected",
    "oracle-missing": "oracle-missing",
    "original-incomplete": "execution-incomplete",
    "original-failed": "execution-failed",
    "candidate-incomplete": "execution-incomplete",
    "candidate-failed": "execution-failed",
    "no-changed-test": "other-rejection",
    "changed-test-not-run": "execution-incomplete",
    "case-loss": "case-loss",
    "undemonstrated-defect": "undemonstrated-defect",
    "held-out-miss": "held-out-miss",
    "provenance-changed": "other-rejection",
}

_MAX_DETAILS = 50
_MAX_DETAIL_CHARACTERS = 300


class Defect(NamedTuple):
    """The runs of both suites with a held-out defect in the source."""

    name: str
    original: Run
    candidate: Run


class Observation(NamedTuple):
    """What a validation saw.

    Attributes:
        original: the run of the project's suite as it is.
        candidate: the run of the suite with the candidate's changes.
        changed: runs of single changed test files, by path, when the candidate's report does not name their files.
        defects: the runs with each defect, in the manifest's order; empty unless both suites were green.
        drifted: whether the project or the candidate changed during the validation.
    """

    original: Run
    candidate: Run
    changed: Mapping[str, Run]
    defects: list[Defect]
    drifted: bool


class Verdict(NamedTuple):
    """What follows from what was observed.

    Attributes:
        reasons: why the candidate is rejected, as keys of :data:`WARNINGS`; empty when it is accepted.
        details: the reasons with the names of cases, files and defects, for people.
        warnings: the warnings of its record.
        evidence: the counts, as a record holds them.
    """

    reasons: list[str]
    details: list[str]
    warnings: list[str]
    evidence: dict[str, Any]

    @property
    def outcome(self) -> str:
        """``accepted`` or ``rejected``."""
        return "rejected" if self.reasons else "accepted"


def judge(manifest: Mapping[str, Any], observed: Observation) -> Verdict:
    """Judge a candidate by what was observed.

    Args:
        manifest: the candidate's manifest.
        observed: what a validation of this very candidate saw.
    """
    found: list[tuple[str, str]] = []
    framework = frameworks.framework(manifest["framework"])
    if not manifest["review"]["accepted"]:
        found.append(("review-rejected", ""))
    if not manifest["review"]["independentOracle"]:
        found.append(("oracle-missing", ""))
    for name, run in (("original", observed.original), ("candidate", observed.candidate)):
        if not is_complete(framework, run):
            found.append((f"{name}-incomplete", run.problem))
        elif run.count("failed"):
            found += [(f"{name}-failed", case) for case in sorted(run.names("failed"))]
    both_green = is_green(framework, observed.original) and is_green(framework, observed.candidate)
    lost = missing_cases(observed.original, observed.candidate)
    if is_complete(framework, observed.candidate):
        found += _unexecuted(manifest, framework, observed)
        found += [("case-loss", name) for name in sorted(lost)]
    defects = _judge_defects(manifest, framework, observed) if both_green else []
    for defect in defects:
        found += [] if defect.demonstrated else [("undemonstrated-defect", defect.name)]
        found += [] if defect.caught else [("held-out-miss", defect.name)]
    if observed.drifted:
        found.append(("provenance-changed", ""))
    reasons = [reason for reason in WARNINGS if any(reason == word for word, _ in found)]
    return Verdict(
        reasons=reasons,
        details=[f"{word}: {name}"[:_MAX_DETAIL_CHARACTERS] for word, name in found if name][:_MAX_DETAILS],
        warnings=list(dict.fromkeys(WARNINGS[reason] for reason in reasons)),
        evidence={
            "originalCases": observed.original.count(),
            "candidateCases": observed.candidate.count(),
            "passedCases": observed.candidate.count("passed"),
            "failedCases": observed.candidate.count("failed"),
            "missingCases": sum(lost.values()),
            "demonstratedDefects": sum(defect.demonstrated for defect in defects),
            "caughtDefects": sum(defect.caught for defect in defects),
            "complete": is_complete(framework, observed.original) and is_complete(framework, observed.candidate),
        },
    )


def is_complete(framework: Framework, run: Run) -> bool:
    """Whether a run says that it is complete, and its cases and exit status agree."""
    failed = run.count("failed") > 0
    return (
        run.complete
        and run.count() > 0
        and is_coherent(framework, run.status, failed=failed, stopped_early=run.stopped_early)
    )


def is_green(framework: Framework, run: Run) -> bool:
    """Whether a run is complete and no case failed."""
    return is_complete(framework, run) and not run.count("failed")


def missing_cases(original: Run, candidate: Run) -> Counter[str]:
    """How many cases of each name are lost: the candidate lacks them, or skips cases that the original executes."""
    total, ran = candidate.names(), candidate.names("passed", "failed")
    gone = original.names() - total
    skipped = original.names("passed", "failed") - ran
    return gone | skipped


def changed_tests(manifest: Mapping[str, Any], candidate: Run) -> list[str]:
    """The paths of those files of a candidate that are tests, by their names or because cases in them ran."""
    ran = {case.file for case in candidate.cases}
    paths = [file["path"] for file in manifest["files"]]
    return [path for path in paths if path in ran or union.is_test_file(path)]


def unattributed(manifest: Mapping[str, Any], candidate: Run) -> list[str]:
    """The changed test files that a report shows no executed case of, if some of its cases name no file."""
    if not any(not case.file for case in candidate.cases):
        return []
    return [path for path in changed_tests(manifest, candidate) if not _ran(candidate, path)]


def _ran(run: Run, path: str) -> bool:
    return any(case.file == path and case.outcome != "skipped" for case in run.cases)


def _unexecuted(manifest: Mapping[str, Any], framework: Framework, observed: Observation) -> list[tuple[str, str]]:
    """The reasons, with their details, why we cannot say that every changed test file ran."""
    changed = changed_tests(manifest, observed.candidate)
    if not changed:
        return [("no-changed-test", "")]
    found = []
    for path in changed:
        alone = observed.changed.get(path)
        # A case that names another file says nothing about this one.
        by_itself = alone is not None and is_complete(framework, alone) and _ran_unnamed(alone, path)
        if not _ran(observed.candidate, path) and not by_itself:
            found.append(("changed-test-not-run", path))
    return found


def _ran_unnamed(run: Run, path: str) -> bool:
    return any(case.file in ("", path) and case.outcome != "skipped" for case in run.cases)


class _DefectVerdict(NamedTuple):
    """Whether the original suite shows a held-out defect, and whether the candidate's suite does."""

    name: str
    demonstrated: bool
    caught: bool


def _judge_defects(manifest: Mapping[str, Any], framework: Framework, observed: Observation) -> list[_DefectVerdict]:
    """Judge each held-out defect of the manifest. One that was not observed is neither demonstrated nor caught."""
    found = []
    for position, defect in enumerate(manifest["heldOutDefects"]):
        name = defect["name"]
        seen = observed.defects[position] if position < len(observed.defects) else None
        if seen is None or seen.name != name:
            found.append(_DefectVerdict(name, demonstrated=False, caught=False))
            continue
        demonstrated = _sees(framework, observed.original, seen.original)
        found.append(_DefectVerdict(name, demonstrated, caught=_sees(framework, observed.candidate, seen.candidate)))
    return found


def _sees(framework: Framework, clean: Run, broken: Run) -> bool:
    """Whether a case that passes without the defect fails with it. A crash alone proves nothing."""
    if not is_complete(framework, broken):
        return False
    return not clean.names("passed").keys().isdisjoint(broken.names("failed"))


def run_to_dict(run: Run) -> dict[str, Any]:
    """A run as a validation records it, without its output."""
    cases = [{**case._asdict(), "count": number} for case, number in sorted(run.cases.items())]
    return {"problem": run.problem, "status": run.status, "cases": cases}


def run_from_dict(value: Mapping[str, Any]) -> Run:
    """The inverse of :func:`run_to_dict`."""
    cases: Counter[Case] = Counter()
    for case in value["cases"]:
        cases[Case(case["name"], case["file"], case["outcome"])] += case["count"]
    return Run(value["problem"], value["status"], cases)


def to_dict(observed: Observation) -> dict[str, Any]:
    """An observation as a validation records it."""
    return {
        "original": run_to_dict(observed.original),
        "candidate": run_to_dict(observed.candidate),
        "changed": [{"path": path, "run": run_to_dict(run)} for path, run in sorted(observed.changed.items())],
        "defects": [
            {"name": one.name, "original": run_to_dict(one.original), "candidate": run_to_dict(one.candidate)}
            for one in observed.defects
        ],
        "drifted": observed.drifted,
    }


def from_dict(value: Mapping[str, Any]) -> Observation:
    """The inverse of :func:`to_dict`."""
    return Observation(
        original=run_from_dict(value["original"]),
        candidate=run_from_dict(value["candidate"]),
        changed={one["path"]: run_from_dict(one["run"]) for one in value["changed"]},
        defects=[
            Defect(one["name"], run_from_dict(one["original"]), run_from_dict(one["candidate"]))
            for one in value["defects"]
        ],
        drifted=value["drifted"],
    )
