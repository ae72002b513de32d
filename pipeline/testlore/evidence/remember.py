"""``remember``: put the verdict on a candidate into memory, as an episode."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from testlore import canonical
from testlore.errors import Refusal, Unusable
from testlore.evidence import candidate, cases, patterns, staging, state
from testlore.evidence.candidate import Candidate
from testlore.evidence.observation import Observation
from testlore.evidence.patch import MAX_CONTENT_BYTES
from testlore.evidence.running import Run
from testlore.evidence.subject import Subject
from testlore.evidence.validation import FRESH_SECONDS, judge_again, verdict_input
from testlore.evidence.verdict import grounds
from testlore.frameworks import languages
from testlore.memory import episode, store, texts, tombstones, writer
from testlore.memory.store import Record
from testlore.memory.writer import Content
from testlore.progress import Progress, silent
from testlore.project import safe_files, settings

_DAY = 24 * 3600
_CLOCK_SECONDS = 300  # by how much the clock of the machine that validated may be ahead


class StoreEntry(NamedTuple):
    """A remembered episode.

    Attributes:
        record: the episode as the store holds it.
        new: whether this call added it.
        dropped: the ids of the oldest episodes, which had to leave the full store for it, newest first.
    """

    record: Record
    new: bool
    dropped: list[str]


def remember(root: str, name: str, progress: Progress = silent) -> StoreEntry:
    """Put the verdict on a candidate into memory.

    Args:
        progress: told how many sources were read.

    Raises:
        Refusal: the verdict is missing, is older than a day, is about another candidate or other files than it was
            staged against, or does not follow from the recorded observations; ``sources-unknown``.
        Unusable: ``learning-disabled``, ``configuration-invalid``, ``store-corrupt``, ``store-conflicted``,
            ``store-unsafe``.
    """
    configured = settings.parse(settings.read(root))
    if not configured.learning:
        raise Unusable("learning-disabled")
    staged = candidate.read(root, name)
    validation = candidate.read_validation(root, name)
    if validation is None:
        raise Refusal("validation-missing", f"{name} was not validated yet")
    observed = _check(staged, validation)
    now = state.read(root, progress)
    staging.check_base(staged.manifest, now)
    made = [_record(root, staged, validation, observed, now.settings, list(now.sources.files()))]

    def with_record(content: Content) -> Content:
        [record] = made
        if any(one["id"] == record["id"] for one in content.records):
            return content
        created_at = tombstones.creation(record, content.forgotten)
        made[0] = record if created_at == record["createdAt"] else canonical.seal({**record, "createdAt": created_at})
        kept = [one for one in content.records if not _is_replaced(one, made[0])]
        return content._replace(records=[*kept, made[0]])

    change = writer.rewrite(root, with_record)
    known = next((one for one in change.before if one["id"] == made[0]["id"]), None)
    return StoreEntry(known or made[0], known is None, change.dropped)


def _check(staged: Candidate, validation: dict[str, Any]) -> Observation | None:
    """Refuse a validation that is old, was changed, or is about another manifest; return its observation."""
    name = staged.id
    if validation["candidateId"] != name or validation["manifestHash"] != staged.manifest_hash:
        raise Refusal("validation-stale", f"it is of another manifest than the one of {name}")
    if "base" not in staged.manifest and validation["provenance"] != staged.manifest["provenance"]:
        raise Refusal("validation-stale", "it was made against another state of the project")
    try:
        age = time.time() - store.moment(validation["createdAt"])
    except ValueError:
        raise Refusal("validation-tampered", "createdAt is not a real date") from None
    if not -_CLOCK_SECONDS <= age <= FRESH_SECONDS:
        raise Refusal("validation-stale", f"it is from {validation['createdAt']}; allowed: of the last 24 hours")
    judge_again(staged, validation)
    return verdict_input(validation)


def _record(
    root: str,
    staged: Candidate,
    validation: Mapping[str, Any],
    observed: Observation | None,
    configured: settings.Settings,
    paths: Sequence[str],
) -> Record:
    manifest, outcome = staged.manifest, validation["outcome"]
    tests = cases.changed_tests(manifest, observed.candidate.run if observed else Run("", None, Counter()))
    changed = {path: staged.files[path] for path in tests}
    before = _before(root, tests)
    private = patterns.private_names(
        root,
        [*configured.services.values(), *configured.environment.values()],
        [*paths, *staged.files],
    )
    return episode.make(
        candidate_id=staged.id,
        created_at=validation["createdAt"],
        manifest_hash=staged.manifest_hash,
        validation_hash=canonical.digest(validation),
        provenance=validation["provenance"],
        framework=manifest["framework"],
        outcome=outcome,
        tags=_tags(manifest, validation["evidence"], patterns.test_texts(changed, before)),
        warnings=validation["warnings"],
        title=staged.title,
        tests=validation["tests"],
        files=_named_files(observed.subject) if observed else (),
        symbols=observed.subject.symbols if observed else (),
        reasons=grounds(validation["reasons"], validation["details"]),
        context={
            "language": languages.common_language(tests or list(staged.files)),
            "changedTests": len(tests),
            "deletedFiles": len(manifest["delete"]),
            "purpose": manifest["purpose"],
        },
        evidence=validation["evidence"],
        patterns=patterns.collect(changed, before, private) if outcome == "accepted" else [],
        masked=partial(patterns.mask, private=private._replace(paths=frozenset())),
    )


def _named_files(found: Subject) -> list[dict[str, str]]:
    """The files that the new cases ran; none where a record cannot name all, but has room for more.

    A record that names so many that it has no room counts as one that does not name all.
    """
    if found.many and len(found.files) < texts.FILES:
        return []
    return [{"path": path, "digest": digest} for path, digest in found.files]


def _is_replaced(old: Record, new: Record) -> bool:
    """Whether an attempt was only a round of editing: the same new cases were rejected again within a day."""
    if not (old["outcome"] == new["outcome"] == "rejected" and old["schemaVersion"] == new["schemaVersion"] == 2):
        return False
    same = new["tests"] and _names(old) == _names(new) and old["framework"] == new["framework"]
    return bool(same) and 0 <= store.seconds_of(new["createdAt"]) - store.seconds_of(old["createdAt"]) < _DAY


def _names(record: Record) -> set[tuple[str, str]]:
    return {(test["path"], test["name"]) for test in record["tests"]}


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
