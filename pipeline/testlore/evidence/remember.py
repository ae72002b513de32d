"""``remember``: put the verdict on a candidate into memory, as an episode."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from testlore import canonical
from testlore.errors import Refusal, Unusable
from testlore.evidence import candidate, patterns, staging, state, verdict
from testlore.evidence.candidate import Candidate
from testlore.evidence.patch import MAX_CONTENT_BYTES
from testlore.frameworks import languages
from testlore.memory import store, writer
from testlore.memory.store import Record
from testlore.project import safe_files, settings

_FRESH_SECONDS = 24 * 3600
_CLOCK_SECONDS = 300  # by how much the clock of the machine that validated may be ahead


class StoreEntry(NamedTuple):
    """A remembered episode.

    Attributes:
        record: the episode as the store holds it.
        new: whether this call added it.
    """

    record: Record
    new: bool


def remember(root: str, name: str) -> StoreEntry:
    """Put the verdict on a candidate into memory.

    Raises:
        Refusal: the verdict is missing, is older than a day, is about another candidate or other files than it was
            staged against, or does not follow from the recorded observations; ``sources-unknown``.
        Unusable: ``learning-disabled``, ``configuration-invalid``, ``store-corrupt``, ``store-unsafe``.
    """
    configured = settings.parse(settings.read(root))
    if not configured.learning:
        raise Unusable("learning-disabled")
    staged = candidate.read(root, name)
    validation = candidate.read_validation(root, name)
    if validation is None:
        raise Refusal("validation-missing", f"run `testlore validate {name}` first")
    observed = _check(staged, validation)
    now = state.read(root)
    staging.check_base(staged.manifest, now)
    record = _record(root, staged, validation, observed, now.settings, list(now.sources.files()))

    def with_record(records: list[Record]) -> list[Record]:
        return records if any(one["id"] == record["id"] for one in records) else [*records, record]

    change = writer.update(root, with_record)
    known = next((one for one in change.before if one["id"] == record["id"]), None)
    return StoreEntry(known or record, known is None)


def _check(staged: Candidate, validation: Mapping[str, Any]) -> verdict.Observation:
    """Refuse a validation that is old, was changed, or is about another manifest; return its observation."""
    name = staged.id
    if validation["candidateId"] != name or validation["manifestHash"] != staged.manifest_hash:
        raise Refusal("validation-stale", f"it is of another manifest than the one of {name}; validate again")
    if "base" not in staged.manifest and validation["provenance"] != staged.manifest["provenance"]:
        raise Refusal("validation-stale", "it was made against another state of the project; validate again")
    try:
        age = time.time() - store.moment(validation["createdAt"])
    except ValueError:
        raise Refusal("validation-tampered", "createdAt is not a real date") from None
    if not -_CLOCK_SECONDS <= age <= _FRESH_SECONDS:
        raise Refusal("validation-stale", f"it is from {validation['createdAt']}; allowed: of the last 24 hours")
    observed = verdict.from_dict(validation["observed"])
    judged = verdict.judge(staged.manifest, observed)
    said = {key: validation[key] for key in ("outcome", "reasons", "details", "warnings", "evidence")}
    if said != {**judged._asdict(), "outcome": judged.outcome}:
        raise Refusal("validation-tampered", "its verdict does not follow from what it says was observed")
    if observed.drifted:
        raise Refusal("validation-stale", "the project changed while it was made; validate again")
    return observed


def _record(
    root: str,
    staged: Candidate,
    validation: Mapping[str, Any],
    observed: verdict.Observation,
    configured: settings.Settings,
    paths: Sequence[str],
) -> Record:
    manifest, outcome = staged.manifest, validation["outcome"]
    tests = verdict.changed_tests(manifest, observed.candidate)
    changed = {path: staged.files[path] for path in tests}
    before = _before(root, tests)
    private = patterns.private_names(
        root,
        [*configured.services.values(), *configured.environment.values()],
        [*paths, *staged.files],
    )
    record = canonical.seal(
        {
            "schemaVersion": 1,
            "id": store.record_id(staged.manifest_hash, outcome),
            "candidateId": staged.id,
            "createdAt": validation["createdAt"],
            "manifestHash": staged.manifest_hash,
            "validationHash": canonical.digest(validation),
            "provenance": validation["provenance"],
            "framework": manifest["framework"],
            "outcome": outcome,
            "tags": _tags(manifest, validation["evidence"], patterns.test_texts(changed, before)),
            "warnings": validation["warnings"],
            "context": {
                "language": languages.common_language(tests or list(staged.files)),
                "changedTests": len(tests),
                "deletedFiles": len(manifest["delete"]),
                "purpose": manifest["purpose"],
            },
            "evidence": validation["evidence"],
            "patterns": patterns.collect(changed, before, private) if outcome == "accepted" else [],
        }
    )
    while len(canonical.to_bytes(canonical.dumps(record))) > store.MAX_RECORD_BYTES and record["patterns"]:
        record = patterns.without_last_pattern(record)
    return record


def _before(root: str, paths: Sequence[str]) -> dict[str, bytes]:
    """The project's own contents of those of these files that it has, by path."""
    found = {}
    for path in paths:
        try:
            found[path] = safe_files.read_file(root, path, 8 * MAX_CONTENT_BYTES)
        except OSError:  # a folder, for example, may stand where the candidate has a file
            continue
    return found


def _tags(manifest: Mapping[str, Any], evidence: Mapping[str, Any], texts: Sequence[str]) -> list[str]:
    tags = patterns.tags(texts)
    if manifest["purpose"] == "modularization":
        tags.append("modularization")
    if evidence["demonstratedDefects"]:
        tags.append("held-out-tested")
    if evidence["complete"] and evidence["originalCases"] and not evidence["missingCases"]:
        tags.append("case-preservation")
    return tags
