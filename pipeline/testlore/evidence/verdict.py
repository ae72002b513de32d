"""The verdict on a candidate: a pure function of its manifest and of what was observed.

There is no secret key, so a seal proves nothing against whoever recomputes it. What can be checked is that a recorded
verdict is the one that follows from the recorded observations: validation and remembering both call :func:`judge`, so
a flag that was flipped, or a count that was changed, is seen. Whoever invents all observations consistently is not:
evidence is as trustworthy as whoever can write the project's files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from testlore import frameworks
from testlore.evidence.junit import Case
from testlore.evidence.running import Run, is_coherent

#: Each reason for a rejection, and the warning that a record of it carries. Both in the order in which they are listed.
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
    """How both suites ran with a held-out defect in the source."""

    name: str
    original: Run
    candidate: Run


class Observation(NamedTuple):
    """What a validation saw.

    Attributes:
        original, candidate: the suite as it is, and as the candidate would have it.
        changed: runs of single changed test files, by path, where the candidate's report does not name files.
        defects: in the manifest's order; empty when the suites gave no ground to go on.
        drifted: whether the project or the candidate changed meanwhile.
    """

    original: Run
    candidate: Run
    changed: Mapping[str, Run]
    defects: list[Defect]
    drifted: bool


class Verdict(NamedTuple):
    """What follows from what was observed.

    Attributes:
        reasons: why it is rejected, in words of :data:`WARNINGS`; empty when it is accepted.
        details: the reasons with names, for people.
        warnings: what a record of it carries.
        evidence: as a record holds it.
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
    """Judge a candidate by what was observed of it.

    Args:
        manifest: as staged.
        observed: of the exact candidate that the manifest describes.
    """
    found: list[tuple[str, str]] = []
    framework = manifest["framework"]
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
    demonstrated, caught = [], []
    if both_green:
        for position, defect in enumerate(manifest["heldOutDefects"]):
            seen = observed.defects[position] if position < len(observed.defects) else None
            matches = seen is not None and seen.name == defect["name"]
            if seen is not None and matches and _sees(framework, observed.original, seen.original):
                demonstrated.append(defect["name"])
            else:
                found.append(("undemonstrated-defect", defect["name"]))
            if seen is not None and matches and _sees(framework, observed.candidate, seen.candidate):
                caught.append(defect["name"])
            else:
                found.append(("held-out-miss", defect["name"]))
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
            "demonstratedDefects": len(demonstrated),
            "caughtDefects": len(caught),
            "complete": is_complete(framework, observed.original) and is_complete(framework, observed.candidate),
        },
    )


def is_complete(framework: str, run: Run) -> bool:
    """Whether a run is complete by its cases and exit status too, not by its own word alone."""
    return run.complete and run.count() > 0 and is_coherent(framework, run.status, failed=run.count("failed") > 0)


def is_green(framework: str, run: Run) -> bool:
    """Whether a run is complete and no case of it failed."""
    return is_complete(framework, run) and not run.count("failed")


def missing_cases(original: Run, candidate: Run) -> Counter[str]:
    """How many cases of each name the candidate's suite has fewer than the original's, or no longer executes."""
    total, ran = candidate.names(), candidate.names("passed", "failed")
    gone = original.names() - total
    skipped = original.names("passed", "failed") - ran
    return gone | skipped


def changed_tests(manifest: Mapping[str, Any], candidate: Run) -> list[str]:
    """The paths of a candidate's files that are tests: by their names, or since cases of them ran."""
    ran = {case.file for case in candidate.cases}
    paths = [file["path"] for file in manifest["files"]]
    return [path for path in paths if path in ran or frameworks.is_test_file(path)]


def unattributed(manifest: Mapping[str, Any], candidate: Run) -> list[str]:
    """The changed test files of which the report names no executed case, and may have left out the file's name."""
    if not any(not case.file for case in candidate.cases):
        return []
    return [path for path in changed_tests(manifest, candidate) if not _ran(candidate, path)]


def _ran(run: Run, path: str) -> bool:
    return any(case.file == path and case.outcome != "skipped" for case in run.cases)


def _unexecuted(manifest: Mapping[str, Any], framework: str, observed: Observation) -> list[tuple[str, str]]:
    changed = changed_tests(manifest, observed.candidate)
    if not changed:
        return [("no-changed-test", "")]
    found = []
    for path in changed:
        alone = observed.changed.get(path)
        # Cases that name another file do not count for this one.
        by_itself = alone is not None and is_complete(framework, alone) and _ran_unnamed(alone, path)
        if not _ran(observed.candidate, path) and not by_itself:
            found.append(("changed-test-not-run", path))
    return found


def _ran_unnamed(run: Run, path: str) -> bool:
    return any(case.file in ("", path) and case.outcome != "skipped" for case in run.cases)


def _sees(framework: str, clean: Run, broken: Run) -> bool:
    """Whether a suite fails in a named case, one that passes without the defect: a crash alone shows nothing."""
    if not is_complete(framework, broken):
        return False
    return not clean.names("passed").keys().isdisjoint(broken.names("failed"))


def run_to_dict(run: Run) -> dict[str, Any]:
    """A run as a validation records it: without what was printed."""
    cases = [{**case._asdict(), "count": number} for case, number in sorted(run.cases.items())]
    return {"problem": run.problem, "status": run.status, "cases": cases}


def run_from_dict(value: Mapping[str, Any]) -> Run:
    """The inverse of :func:`run_to_dict`."""
    cases: Counter[Case] = Counter()
    for case in value["cases"]:
        cases[Case(case["name"], case["file"], case["outcome"])] += case["count"]
    return Run(value["problem"], value["status"], cases)


def to_dict(observed: Observation) -> dict[str, Any]:
    """What was observed, as a validation records it."""
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
