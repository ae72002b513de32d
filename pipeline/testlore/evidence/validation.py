"""Validates a candidate: runs the original and the proposed suite in disposable copies, and keeps the verdict."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from testlore import digests, programs
from testlore.errors import Refusal
from testlore.evidence import baseline, candidate, observation, staging, state, trial, verdict
from testlore.evidence.bench import Bench
from testlore.evidence.candidate import Candidate
from testlore.evidence.faults import FaultVerdict
from testlore.evidence.observation import Observation
from testlore.evidence.state import ProjectState
from testlore.evidence.verdict import Verdict
from testlore.memory import store
from testlore.progress import Progress, silent
from testlore.project.provenance import Provenance

FRESH_SECONDS = 24 * 3600

#: Why running again may end otherwise though no source changed: something outside of the project may have been mended.
_MAY_END_OTHERWISE = frozenset(["candidate-incomplete", "candidate-failed", "changed-test-not-run", "flaky"])


class Validation(NamedTuple):
    """How a candidate's validation ended.

    Attributes:
        id: the candidate's id.
        outcome: ``accepted`` or ``rejected``.
        reasons: why it was rejected, in stable words; empty when it was accepted.
        details: the reasons with the names of cases, files and defects, for people.
        evidence: the counts, as an episode records them.
        record: the id of the episode in memory; empty when it was not remembered.
        not_remembered: why it was not remembered, or empty.
        output: the end of what incomplete suites printed, for people. It is never stored.
        dropped: the ids of the oldest episodes, which had to leave the full memory for this one, newest first.
        tests: the new cases, each with ``path``, ``name`` and ``outcome``.
        faults: who sees each fault that was tried.
        notes: what is no reason, but good to know.
        files: the paths of the files that it writes, and of those that it deletes.
        reused: when the verdict was made, if nothing had to run for it; else empty.
    """

    id: str
    outcome: str
    reasons: list[str]
    details: list[str]
    evidence: dict[str, Any]
    record: str = ""
    not_remembered: str = ""
    output: str = ""
    dropped: Sequence[str] = ()
    tests: list[dict[str, str]] = []  # noqa: RUF012
    faults: list[FaultVerdict] = []  # noqa: RUF012
    notes: list[str] = []  # noqa: RUF012
    files: list[str] = []  # noqa: RUF012
    reused: str = ""


def run(root: str, name: str, progress: Progress = silent) -> Validation:
    """Validate a candidate, and keep the verdict beside it. Nothing is remembered yet.

    Args:
        progress: told what is read, copied and run.

    Raises:
        Refusal: the candidate is not what was staged, was staged against other files, or nothing can be judged:
            ``sources-unknown``, ``oracle-missing``, ``no-changed-test``, ``original-incomplete``, ``original-failed``,
            ``provenance-changed``, ``runner-missing``, ``no-room``, ``copy-unwritable``.
        Unusable: ``configuration-invalid``.
    """
    staged = candidate.read(root, name)
    now = state.read(root, progress)
    programs.require_trust(root, now.settings, "runner")
    staging.check_base(staged.manifest, now)
    kept = _kept(root, staged, now)
    if kept is not None:
        observed = verdict_input(kept)
        return _ended(staged, verdict.judge(staged.manifest, observed))._replace(reused=kept["createdAt"])
    observed = None
    if not verdict.is_rejected_by_reviewer(staged.manifest):
        require_oracle(staged.manifest)
        observed = _observe(root, staged, now, progress)
        refuse_unjudgeable(staged.manifest, observed)
    judged = verdict.judge(staged.manifest, observed)
    document = {
        "schemaVersion": 2,
        "candidateId": name,
        "createdAt": store.created_at(time.time()),
        "manifestHash": staged.manifest_hash,
        "provenance": now.provenance.to_dict(),
        "code": digests.of("verdict"),
        **judged.to_dict(),
        "observed": observed and observation.to_dict(observed),
    }
    candidate.write_validation(root, name, baseline.signed(candidate.VALIDATION, document))
    return _ended(staged, judged)._replace(output=_output_of_incomplete(observed) if observed else "")


def require_oracle(manifest: dict[str, Any]) -> None:
    """Refuse a candidate whose expectations have no independent source.

    Raises:
        Refusal: ``oracle-missing``.
    """
    if not manifest["review"]["independentOracle"]:
        raise Refusal("oracle-missing", "the review names no independent oracle with a basis")


def refuse_unjudgeable(manifest: dict[str, Any], observed: Observation) -> None:
    """Refuse to judge by what was observed, if that says nothing about the candidate.

    Raises:
        Refusal: ``original-incomplete``, ``original-failed``, ``no-changed-test``.
    """
    why = verdict.unjudgeable(manifest, observed)
    if why is not None:
        raise Refusal(*why, output=_output_of_incomplete(observed))


def verdict_input(validation: dict[str, Any]) -> Observation | None:
    """What a kept validation says was observed."""
    return validation["observed"] and observation.from_dict(validation["observed"])


def judge_again(staged: Candidate, validation: dict[str, Any]) -> Verdict:
    """The verdict that follows from what a kept validation says was observed.

    Raises:
        Refusal: ``validation-tampered``: it says another one; ``oracle-missing``, ``no-changed-test``,
            ``original-incomplete``, ``original-failed``: nothing follows from it.
    """
    observed = verdict_input(validation)
    if (observed is None) != verdict.is_rejected_by_reviewer(staged.manifest):
        raise Refusal("validation-tampered", "it does not say what was observed, or says it though nothing ran")
    if observed is not None:
        require_oracle(staged.manifest)
        refuse_unjudgeable(staged.manifest, observed)
    judged = verdict.judge(staged.manifest, observed)
    said = judged.to_dict()
    if {key: validation[key] for key in said} != said:
        raise Refusal("validation-tampered", "its verdict does not follow from what it says was observed")
    return judged


def _kept(root: str, staged: Candidate, now: ProjectState) -> dict[str, Any] | None:
    """The kept validation of this very candidate on these very sources by this very code on this machine."""
    try:
        found = candidate.read_validation(root, staged.id)
    except Refusal:
        return None
    if found is None or not baseline.is_ours(candidate.VALIDATION, found):
        return None
    same = (
        found["manifestHash"] == staged.manifest_hash
        and found["provenance"] == now.provenance.to_dict()
        and found["code"] == digests.of("verdict")
    )
    age = time.time() - store.moment(found["createdAt"])
    return found if same and 0 <= age <= FRESH_SECONDS and _MAY_END_OTHERWISE.isdisjoint(found["reasons"]) else None


def _observe(root: str, staged: Candidate, now: ProjectState, progress: Progress) -> Observation:
    kept = baseline.read(root, now.provenance)
    with Bench(root, now, list(staged.files), progress).opened() as bench:
        observed = trial.Trial(root, staged, trial.given_faults(staged), bench, now.settings.repeats).observe(kept)
        green = bench.is_green(observed.original.run) and not observed.unimportable
    if _drifted(root, staged, now.provenance, progress):
        raise Refusal("provenance-changed", "the project or the candidate changed while the suites ran")
    if kept is None and green:
        baseline.write(root, now.provenance, observed.original.run)
    return observed


def _drifted(root: str, staged: Candidate, before: Provenance, progress: Progress) -> bool:
    """Whether the project or the candidate has changed since the validation began."""
    try:
        return state.read(root, progress).provenance != before or candidate.read(root, staged.id) != staged
    except Refusal:
        return True


def _ended(staged: Candidate, judged: Verdict) -> Validation:
    return Validation(
        staged.id,
        judged.outcome,
        judged.reasons,
        judged.details,
        judged.evidence,
        tests=judged.tests,
        faults=judged.faults,
        notes=judged.notes,
        files=[*staged.files, *staged.manifest["delete"]],
    )


def _output_of_incomplete(observed: Observation) -> str:
    return "\n".join(
        f"the {name} suite ({suite.run.problem}):\n{suite.run.output.strip()}"
        for name, suite in (("original", observed.original), ("candidate", observed.candidate))
        if suite.run.problem
    )
