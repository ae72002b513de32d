"""Evidence in: stage a proposed patch, validate it by running it, and remember the outcome.

::

    patch.json -> stage -> candidate -> validate -> validation.json -> remember -> canonical store

Only what was really executed in disposable copies of the project gets into memory. Nothing here is imported when a
memory is asked.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from testlore.errors import Refusal, Unusable
from testlore.evidence import candidate as _candidate
from testlore.evidence import remember as _memory
from testlore.evidence import staging as _staging
from testlore.evidence import validation as _validation
from testlore.evidence.remember import Remembered
from testlore.project.safe_files import existing_folder

__all__ = [
    "CandidateState",
    "Remembered",
    "Validation",
    "candidates",
    "remember",
    "stage",
    "validate",
]

Root = str | os.PathLike[str]


class Validation(NamedTuple):
    """How a candidate's validation ended.

    Attributes:
        id: the candidate.
        outcome: ``accepted`` or ``rejected``.
        reasons: why it was rejected, in stable words; empty when it was accepted.
        details: the reasons with the names of cases, files and defects, for people.
        evidence: the counts that an episode keeps.
        record: the id of the episode in memory; empty when it was not remembered.
        not_remembered: why not, or empty.
        output: what suites that did not run to their end printed last; kept nowhere.
    """

    id: str
    outcome: str
    reasons: list[str]
    details: list[str]
    evidence: dict[str, Any]
    record: str = ""
    not_remembered: str = ""
    output: str = ""


class CandidateState(NamedTuple):
    """A candidate and its state.

    Attributes:
        id: the candidate.
        state: ``staged``, ``accepted``, ``rejected``, or ``unusable`` when it is not what was staged or validated.
        reasons: why it was rejected, or is unusable.
        files: how many files it changes or deletes.
    """

    id: str
    state: str
    reasons: list[str]
    files: int


def _folder(root: Root) -> str:
    """``root`` as an absolute path: suites run elsewhere, and programs are found from it there."""
    return os.path.abspath(existing_folder(root))


def stage(root: Root, patch: Any) -> str:
    """Stage a patch: check it, digest it, and keep it under ``.tddswarm/candidates/``; nothing else is written.

    Args:
        root: the project's folder.
        patch: parsed JSON, as ``schemas/patch.schema.json`` describes it.

    Returns:
        The candidate's id. The same patch on the same sources has the same id.

    Raises:
        Refusal: the patch is not as it must be; the text names the key or path, and what is allowed.
        Unusable: ``configuration-invalid``, ``call-invalid``.
    """
    return _staging.run(_folder(root), patch)


def validate(root: Root, candidate_id: str) -> Validation:
    """Run the original and the proposed suite in disposable copies, keep the verdict, and remember it.

    Raises:
        Refusal: the candidate cannot be validated: it, or the project, is not what it was when it was staged, or
            nothing says how the suite is run.
        Unusable: ``configuration-invalid``, ``call-invalid``; ``store-corrupt``, ``store-unsafe``: the verdict is kept
            beside the candidate, and can be remembered when the store is mended.
    """
    folder = _folder(root)
    made = _validation.run(folder, candidate_id)
    document = made.document
    ended = Validation(
        candidate_id, document["outcome"], document["reasons"], document["details"], document["evidence"]
    )._replace(output=made.output)
    try:
        return ended._replace(record=_memory.remember(folder, candidate_id).record["id"])
    except Refusal as refused:
        if refused.reason in ("memory-busy", "memory-unwritable"):
            raise
        return ended._replace(not_remembered=str(refused))
    except Unusable as unusable:
        if unusable.reason != "learning-disabled":
            raise
        return ended._replace(not_remembered=str(unusable))


def remember(root: Root, candidate_id: str) -> Remembered:
    """Take the kept validation of a candidate into memory; the same manifest and outcome once.

    Raises:
        Refusal: there is none, or it is not the fresh, untampered one of the candidate and the project as they are.
        Unusable: ``learning-disabled``, ``configuration-invalid``, ``store-corrupt``, ``store-unsafe``.
    """
    return _memory.remember(_folder(root), candidate_id)


def candidates(root: Root) -> list[CandidateState]:
    """What is staged, and its state.

    Raises:
        Refusal: ``candidate-unsafe``.
    """
    folder = _folder(root)
    return [_state(folder, name) for name in _candidate.names(folder)]


def _state(root: str, name: str) -> CandidateState:
    try:
        staged = _candidate.read(root, name)
        files = len(staged.files) + len(staged.manifest["delete"])
        validation = _candidate.read_validation(root, name)
    except Refusal as refused:
        return CandidateState(name, "unusable", [str(refused)], 0)
    if validation is None:
        return CandidateState(name, "staged", [], files)
    return CandidateState(name, validation["outcome"], validation["reasons"], files)
