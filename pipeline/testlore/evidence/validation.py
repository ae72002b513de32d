"""Validates a candidate: runs the original and the proposed suite in disposable copies, and keeps the verdict."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any, NamedTuple

from testlore import canonical, programs
from testlore.errors import Refusal
from testlore.evidence import candidate, room, running, staging, state, verdict
from testlore.evidence.candidate import Candidate
from testlore.evidence.running import Place, Run
from testlore.evidence.state import ProjectState
from testlore.evidence.verdict import Defect, Observation
from testlore.evidence.working_copy import WorkingCopy
from testlore.memory import store
from testlore.progress import Progress, silent
from testlore.project import temporary
from testlore.project.provenance import Provenance


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
    """

    id: str
    outcome: str
    reasons: list[str]
    details: list[str]
    evidence: dict[str, Any]
    record: str = ""
    not_remembered: str = ""
    output: str = ""


def run(root: str, name: str, progress: Progress = silent) -> Validation:
    """Validate a candidate, and keep the verdict beside it. Nothing is remembered yet.

    Args:
        progress: told what is read, copied and run.

    Raises:
        Refusal: the candidate is not what was staged, or was staged against other files;
            ``sources-unknown``, ``runner-missing``, ``no-room``, ``copy-unwritable``.
        Unusable: ``configuration-invalid``.
    """
    staged = candidate.read(root, name)
    now = state.read(root, progress)
    programs.require_trust(root, now.settings, "runner")
    current = now.provenance
    staging.check_base(staged.manifest, now)
    observed = _observe_in_copy(root, now, staged, progress)
    observed = observed._replace(drifted=_drifted(root, staged, current, progress))
    judged = verdict.judge(staged.manifest, observed)
    document = canonical.seal(
        {
            "schemaVersion": 1,
            "candidateId": name,
            "createdAt": store.created_at(time.time()),
            "manifestHash": staged.manifest_hash,
            "provenance": current.to_dict(),
            "outcome": judged.outcome,
            "reasons": judged.reasons,
            "details": judged.details,
            "warnings": judged.warnings,
            "evidence": judged.evidence,
            "observed": verdict.to_dict(observed),
        }
    )
    candidate.write_validation(root, name, document)
    return Validation(
        name, judged.outcome, judged.reasons, judged.details, judged.evidence, output=_output_of_incomplete(observed)
    )


def _observe_in_copy(root: str, now: ProjectState, staged: Candidate, progress: Progress) -> Observation:
    sources = now.sources.files()
    where = "the folder for temporary files"
    try:
        where = temporary.place()
        with temporary.in_system() as folder:
            place = Place(root, now.settings, now.framework, [*sources, *staged.files], folder)
            observed = _observe(place, WorkingCopy(root, folder, sources, progress), staged, progress)
            progress("removing the copy", 0, 0)
        return observed
    except OSError as error:
        need = f"a copy of the sources has {room.size(root, sources)} bytes, and a run needs more"
        raise room.refusal(error, where, need) from None


def _observe(place: Place, copy: WorkingCopy, staged: Candidate, progress: Progress) -> Observation:
    def execute(name: str, *, proposed: bool, defect: int | None = None, only: str = "") -> Run:
        files = dict(staged.files) if proposed else {}
        deleted = staged.manifest["delete"] if proposed else []
        if defect is not None:
            files[staged.manifest["heldOutDefects"][defect]["path"]] = staged.defects[defect]
        prepared = copy.prepare(name, files, deleted)
        progress(f"running the suite, {name}", 0, 0)
        ran = running.run(place, name, prepared, only)
        if not verdict.is_green(place.framework, ran):
            room.check(place.folder, ran.output, copy.size)
        return ran

    original = execute("original", proposed=False)
    proposal = execute("candidate", proposed=True)
    changed = {}
    defects = []
    if verdict.is_complete(place.framework, proposal):
        for number, path in enumerate(verdict.unattributed(staged.manifest, proposal)):
            changed[path] = execute(f"changed-{number}", proposed=True, only=path)
    if verdict.is_green(place.framework, original) and verdict.is_green(place.framework, proposal):
        for number, defect in enumerate(staged.manifest["heldOutDefects"]):
            before = execute(f"defect-{number}-original", proposed=False, defect=number)
            after = execute(f"defect-{number}-candidate", proposed=True, defect=number)
            defects.append(Defect(defect["name"], _failures(before), _failures(after)))
    return Observation(original, proposal, changed, defects, drifted=False)


def _failures(run: Run) -> Run:
    """A run with only its failed cases. Of a run with a defect in the source, nothing else is used."""
    return run._replace(cases=Counter({case: n for case, n in run.cases.items() if case.outcome == "failed"}))


def _drifted(root: str, staged: Candidate, before: Provenance, progress: Progress) -> bool:
    """Whether the project or the candidate has changed since the validation began."""
    try:
        return state.read(root, progress).provenance != before or candidate.read(root, staged.id) != staged
    except Refusal:
        return True


def _output_of_incomplete(observed: Observation) -> str:
    return "\n".join(
        f"the {name} suite ({run.problem}):\n{run.output.strip()}"
        for name, run in (("original", observed.original), ("candidate", observed.candidate))
        if run.problem
    )
