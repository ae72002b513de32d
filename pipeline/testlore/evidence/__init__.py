"""Evidence: stage a proposed patch, validate it by running its tests, and remember the outcome.

::

    patch.json -> stage -> candidate -> validate -> validation.json -> remember -> canonical store

Only what was really executed, in disposable copies of the project, gets into memory. A recall imports none of this.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from testlore.errors import Refusal, Unusable
from testlore.evidence import application as _application
from testlore.evidence import candidate as _candidate
from testlore.evidence import remember as _remember
from testlore.evidence import staged as _staged
from testlore.evidence import staging as _staging
from testlore.evidence import validation as _validation
from testlore.evidence.application import Application
from testlore.evidence.remember import StoreEntry
from testlore.evidence.validation import Validation
from testlore.progress import Progress, silent
from testlore.project.safe_files import Root, existing_folder

__all__ = [
    "Application",
    "CandidateState",
    "StoreEntry",
    "Validation",
    "apply",
    "candidates",
    "describe",
    "drop",
    "remember",
    "stage",
    "validate",
]


class CandidateState(NamedTuple):
    """A staged candidate and how far it has come.

    Attributes:
        id: the candidate.
        state: ``staged``, ``accepted``, ``rejected``, or ``unusable`` when one of its files has changed.
        reasons: why it was rejected, or is unusable.
        files: how many files it changes or deletes.
    """

    id: str
    state: str
    reasons: list[str]
    files: int


def _folder(root: Root) -> str:
    """``root`` as an absolute path, since suites run in other folders."""
    return os.path.abspath(existing_folder(root))


def stage(root: Root, patch: Any, progress: Progress = silent) -> str:
    """Check a patch, digest it, and keep it as a candidate in ``.tddswarm/candidates/``. Nothing else is written.

    Args:
        root: the project's folder.
        patch: parsed JSON, as ``schemas/patch.schema.json`` describes it.
        progress: told how far it is.

    Returns:
        The candidate's id. The same patch on the same sources has the same id.

    Raises:
        Refusal: the patch breaks a rule; the text names the key or path, and what is allowed.
        Unusable: ``configuration-invalid``, ``call-invalid``.
    """
    return _staging.run(_folder(root), patch, progress)


def validate(root: Root, candidate_id: str, progress: Progress = silent) -> Validation:
    """Run the original and the proposed suite in disposable copies, keep the verdict, and remember it.

    Args:
        candidate_id: its id, or a beginning of at least 4 characters that no other candidate's has.
        progress: told how far it is.

    Raises:
        Refusal: the candidate or the project has changed since it was staged, or nothing can be judged. Nothing is
            remembered then.
        Unusable: ``configuration-invalid``, ``call-invalid``. With ``store-corrupt``, ``store-conflicted`` and
            ``store-unsafe`` the verdict is kept beside the candidate; :func:`remember` puts it into memory once the
            store is repaired.
    """
    folder = _folder(root)
    candidate_id = _staged.whole_id(folder, candidate_id)
    ended = _validation.run(folder, candidate_id, progress)
    try:
        entry = _remember.remember(folder, candidate_id, progress)
        if entry.record["id"] in entry.dropped:
            return ended._replace(not_remembered="the memory is full of newer episodes")
        return ended._replace(record=entry.record["id"], dropped=entry.dropped)
    except Refusal as refused:
        if refused.reason in ("memory-busy", "memory-unwritable"):
            raise
        return ended._replace(not_remembered=str(refused))
    except Unusable as unusable:
        if unusable.reason != "learning-disabled":
            raise
        return ended._replace(not_remembered=str(unusable))


def remember(root: Root, candidate_id: str) -> StoreEntry:
    """Put the verdict on a candidate into memory. A manifest with the same outcome is remembered only once.

    Raises:
        Refusal: there is no verdict, it is older than a day or was changed, or the candidate or the project has
            changed.
        Unusable: ``learning-disabled``, ``configuration-invalid``, ``store-corrupt``, ``store-conflicted``,
            ``store-unsafe``.
    """
    folder = _folder(root)
    return _remember.remember(folder, _staged.whole_id(folder, candidate_id))


def apply(root: Root, candidate_id: str) -> Application:
    """Write the files of an accepted candidate into the work tree.

    Raises:
        Refusal: it was not accepted, or a file there is not what it was staged against. Nothing was written then.
    """
    folder = _folder(root)
    return _application.run(folder, _staged.whole_id(folder, candidate_id))


def candidates(root: Root) -> list[CandidateState]:
    """All staged candidates with their states, in the order of their ids.

    Raises:
        Refusal: ``candidate-unsafe``.
    """
    folder = _folder(root)
    return [_state(folder, name) for name in _candidate.names(folder)]


def describe(root: Root, given: str) -> dict[str, Any]:
    """Everything that is known of a candidate, without the contents of its files. See :func:`staged.describe`.

    Args:
        given: its id, or a beginning of it that no other candidate's has.

    Raises:
        Refusal: ``call-invalid``, ``candidate-unsafe``.
    """
    return _staged.describe(_folder(root), given)


def drop(root: Root, given: str) -> str:
    """Remove a candidate; what was remembered of it stays. Returns its id.

    Args:
        given: its id, or a beginning of it that no other candidate's has.

    Raises:
        Refusal: ``call-invalid``, ``candidate-unsafe``, ``candidate-unwritable``.
    """
    return _staged.drop(_folder(root), given)


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
