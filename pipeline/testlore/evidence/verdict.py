"""The verdict on a candidate: a pure function of its manifest and of what was observed.

Credit goes to the new cases: what the old suite notices is no merit of a candidate.

A seal has no secret key, so anyone can make a new one. But we can check that a recorded verdict follows from the
recorded observations: both validating and remembering call :func:`judge`, so a changed flag or count is noticed.
Observations that were all invented, and fit each other, are not noticed. Evidence is as trustworthy as the people and
programs that can write the project's files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from testlore import frameworks
from testlore.evidence import cases
from testlore.evidence.cases import Key, NewCase
from testlore.evidence.faults import FaultVerdict, of_fault
from testlore.evidence.observation import FaultRuns, Observation
from testlore.frameworks import Framework

#: The warning that a record has for each reason of ``errors.REJECTIONS``, in the same order.
WARNINGS = {
    "review-rejected": "review-rejected",
    "candidate-incomplete": "execution-incomplete",
    "candidate-failed": "execution-failed",
    "changed-test-not-run": "execution-incomplete",
    "case-loss": "case-loss",
    "flaky": "flaky",
    "held-out-miss": "held-out-miss",
    "undemonstrated-defect": "undemonstrated-defect",
    "adds-nothing": "adds-nothing",
}

_MAX_DETAILS = 50
_MAX_DETAIL_CHARACTERS = 300
_MAX_TESTS = 100


class Verdict(NamedTuple):
    """What follows from what was observed.

    Attributes:
        reasons: why the candidate is rejected, as keys of :data:`WARNINGS`; empty when it is accepted.
        details: the reasons with the names of cases, files and faults, for people.
        warnings: the warnings of its record.
        evidence: the counts, as a record holds them.
        tests: the new cases, with their ``path``, ``name`` and ``outcome``.
        faults: who sees each fault.
        notes: what is no reason, but good to know.
    """

    reasons: list[str]
    details: list[str]
    warnings: list[str]
    evidence: dict[str, Any]
    tests: list[dict[str, str]]
    faults: list[FaultVerdict]
    notes: list[str]

    @property
    def outcome(self) -> str:
        """``accepted`` or ``rejected``."""
        return "rejected" if self.reasons else "accepted"

    def to_dict(self) -> dict[str, Any]:
        """The verdict as a validation records it."""
        return {"outcome": self.outcome, **self._asdict(), "faults": [one._asdict() for one in self.faults]}


def grounds(reasons: Sequence[str], details: Sequence[str]) -> list[str]:
    """The reasons as a record holds them: a word with a name where there is one, else the word alone."""
    found = []
    for word in reasons:
        found += [detail for detail in details if detail.startswith(f"{word}: ")] or [word]
    return found


def is_rejected_by_reviewer(manifest: Mapping[str, Any]) -> bool:
    """Whether the reviewer said no. Nothing needs to run then."""
    return not manifest["review"]["accepted"]


def unjudgeable(manifest: Mapping[str, Any], observed: Observation) -> tuple[str, str] | None:
    """Why nothing can be judged by what was observed: a reason of a refusal and a text for people; or nothing."""
    framework = frameworks.framework(manifest["framework"])
    run = observed.original.run
    if not cases.is_complete(framework, run):
        return "original-incomplete", f"the project's own suite did not run to its end: {run.problem or 'no case ran'}"
    ignored = cases.outdated(manifest, observed) | cases.unstable(observed.original)
    red = sorted(cases.failed(run) - ignored)
    if red:
        return "original-failed", f"cases fail in the project as it is: {_named(red)}"
    # Without a whole run, files that no rule on names knows may still be tests.
    after = observed.candidate.run
    if cases.is_complete(framework, after) and not cases.changed_tests(manifest, after):
        return "no-changed-test", "no case of the files that it changes ran, and none is named like a test"
    return None


def _named(found: Sequence[Key], most: int = 5) -> str:
    more = f", and {len(found) - most} more" if len(found) > most else ""
    return ", ".join(f"{name} in {file}" if file else name for name, file in found[:most]) + more


def judge(manifest: Mapping[str, Any], observed: Observation | None) -> Verdict:
    """Judge a candidate by what was observed.

    Args:
        manifest: the candidate's manifest.
        observed: what a validation of this very candidate saw; ``None`` if nothing had to run.
    """
    if observed is None:
        return _verdict([("review-rejected", "")], _counts(None, [], [], 0, complete=False))
    framework = frameworks.framework(manifest["framework"])
    new = cases.new_cases(manifest, observed)
    lost = cases.lost(manifest, observed)
    found = _of_suite(framework, observed, new)
    if cases.is_complete(framework, observed.candidate.run):
        found += _unexecuted(manifest, framework, observed)
        found += [("case-loss", name) for name in sorted(lost)]
    found += [("flaky", one.name) for one in cases.flaky(new, observed)]
    faults = []
    if can_see_faults(framework, observed, new):
        faults = [of_fault(framework, observed, new, one) for one in _faults(manifest, observed)]
        found += _of_faults(manifest, faults)
    complete = all(cases.is_complete(framework, suite.run) for suite in (observed.original, observed.candidate))
    counts = _counts(observed, new, faults, sum(lost.values()), complete=complete)
    return _verdict(found, counts, new, faults, _notes(manifest, observed, new))


def _verdict(
    found: list[tuple[str, str]],
    evidence: dict[str, Any],
    new: Sequence[NewCase] = (),
    faults: Sequence[FaultVerdict] = (),
    notes: Sequence[str] = (),
) -> Verdict:
    reasons = [reason for reason in WARNINGS if any(reason == word for word, _ in found)]
    told = [one for reason in reasons for one in found if one[0] == reason and one[1]]
    details = [f"{word}: {name}"[:_MAX_DETAIL_CHARACTERS] for word, name in told]
    return Verdict(
        reasons=reasons,
        details=details[:_MAX_DETAILS],
        warnings=list(dict.fromkeys(WARNINGS[reason] for reason in reasons)),
        evidence=evidence,
        tests=[{"path": one.file, "name": one.name, "outcome": one.outcome} for one in new][:_MAX_TESTS],
        faults=list(faults),
        notes=[note[:_MAX_DETAIL_CHARACTERS] for note in notes][:_MAX_DETAILS],
    )


def _counts(
    observed: Observation | None,
    new: Sequence[NewCase],
    faults: Sequence[FaultVerdict],
    missing: int,
    *,
    complete: bool,
) -> dict[str, Any]:
    defects = [one for one in faults if one.kind != "mutant" and one.applies]
    mutants = [one for one in faults if one.kind == "mutant" and one.applies]
    undone = [one for one in defects if one.kind == "undone"]
    caught = sum(one.new for one in mutants)
    before, after = (observed.original.run, observed.candidate.run) if observed else (None, None)
    return {
        "originalCases": before.count() if before else 0,
        "candidateCases": after.count() if after else 0,
        "passedCases": after.count("passed") if after else 0,
        "failedCases": after.count("failed") if after else 0,
        "missingCases": missing,
        "demonstratedDefects": sum(bool(one.original) or one.candidate for one in defects),
        "caughtDefects": sum(one.new for one in defects),
        "complete": complete,
        "newCases": len(new),
        "repeats": len(observed.repeats) if observed else 0,
        "closedGaps": sum(one.closes_gap for one in faults if one.applies),
        "mutants": len(mutants),
        "caughtMutants": caught,
        "survivingMutants": len(mutants) - caught,
        "undone": ("caught" if any(one.new for one in undone) else "missed") if undone else "none",
    }


def _of_suite(framework: Framework, observed: Observation, new: Sequence[NewCase]) -> list[tuple[str, str]]:
    """What is wrong with the candidate's suite."""
    run = observed.candidate.run
    if not cases.is_complete(framework, run):
        return [("candidate-incomplete", run.problem)]
    return [("candidate-failed", name) for name, _ in sorted(_red(observed, new))]


def _red(observed: Observation, new: Sequence[NewCase]) -> set[Key]:
    """The cases of the candidate that fail, and not only now and then."""
    return cases.failed(observed.candidate.run) - cases.unstable_old(observed, new)


def can_see_faults(framework: Framework, observed: Observation, new: Sequence[NewCase]) -> bool:
    """Whether it is worth asking who sees a fault: the candidate's suite ended, and is green again and again."""
    if not cases.is_complete(framework, observed.candidate.run):
        return False
    return not _red(observed, new) and not cases.flaky(new, observed)


def _unexecuted(manifest: Mapping[str, Any], framework: Framework, observed: Observation) -> list[tuple[str, str]]:
    """The changed test files of which we cannot say that a case ran."""
    found = []
    for path in cases.changed_tests(manifest, observed.candidate.run):
        alone = observed.changed.get(path)
        # A case that names another file says nothing about this one.
        by_itself = (
            alone is not None and cases.is_complete(framework, alone) and cases.has_run(alone, path, unnamed=True)
        )
        if not cases.has_run(observed.candidate.run, path) and not by_itself:
            found.append(("changed-test-not-run", path))
    return found


def _faults(manifest: Mapping[str, Any], observed: Observation) -> list[FaultRuns]:
    """The faults that were tried. A held-out defect of the manifest that was not is seen by nobody."""
    tried = {one.name: one for one in observed.faults if one.kind == "given"}
    defects = manifest["heldOutDefects"]
    given = [tried.get(one["name"], FaultRuns(one["name"], "given", [])) for one in defects]
    return [*given, *(one for one in observed.faults if one.kind != "given")]


def _of_faults(manifest: Mapping[str, Any], faults: Sequence[FaultVerdict]) -> list[tuple[str, str]]:
    """What is wrong with what the candidate's cases see."""
    found = []
    for one in faults:
        if one.kind == "given" and not one.candidate:
            found.append(("held-out-miss" if one.original else "undemonstrated-defect", one.name))
    tried = [one for one in faults if one.applies]
    if tried and not any(one.new for one in tried) and manifest["purpose"] != "modularization":
        found.append(("adds-nothing", ""))
    return found


def _notes(manifest: Mapping[str, Any], observed: Observation, new: Sequence[NewCase]) -> list[str]:
    outdated = sorted(cases.outdated(manifest, observed))
    return [
        *(f"unstable: {_named([one])}" for one in sorted(cases.unstable_old(observed, new))),
        *(f"outdated: {_named([one])}" for one in outdated),
        *(f"outdated: {path}, which no longer loads" for path in observed.unimportable),
        *(f"unstable-names: {name}" for name in cases.unstable_names(observed)),
    ]
