"""Applies an accepted candidate: writes its files into the work tree, if that is still what it was staged against."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from testlore import canonical
from testlore.errors import Refusal, UnsafePath
from testlore.evidence import baseline, candidate, patch, state, validation
from testlore.evidence.candidate import Candidate
from testlore.project import listing, safe_files, trust
from testlore.project.provenance import compatibility_reasons

_NEW_FILE_MODE = 0o666


class Application(NamedTuple):
    """What an application did.

    Attributes:
        written: the paths of the files that it wrote.
        deleted: the paths of the files that it deleted.
        there: the paths that were already as the candidate wants them.
    """

    written: list[str]
    deleted: list[str]
    there: list[str]


def run(root: str, name: str) -> Application:
    """Write the files of an accepted candidate into the work tree, and delete those that it deletes.

    Each file is put in place as a whole. Nothing is written unless each of them is what it was staged against.

    Raises:
        Refusal: ``candidate-rejected``: it was not accepted; ``validation-missing``; ``validation-stale``: this machine
            did not make the verdict; ``sources-unknown``; ``provenance-changed``: a file is not what it was staged
            against; ``path-refused``, ``path-protected``, ``files-unwritable``; the candidate is not what was staged.
        Unusable: ``configuration-invalid``.
    """
    staged = candidate.read(root, name)
    _require_accepted(root, staged)
    _require_allowed(root, staged)
    wanted: dict[str, bytes | None] = {**staged.files, **dict.fromkeys(staged.manifest["delete"])}
    now = {path: _content(root, path) for path in wanted}
    there = [path for path in wanted if now[path] == wanted[path]]
    left = {path: content for path, content in wanted.items() if path not in there}
    if left:
        _require_base(root, staged, {path: now[path] for path in left}, partly=bool(there))
    _write(root, left)
    return Application(
        [path for path, content in left.items() if content is not None],
        [path for path, content in left.items() if content is None],
        there,
    )


def _require_accepted(root: str, staged: Candidate) -> None:
    found = candidate.read_validation(root, staged.id)
    if found is None:
        raise Refusal("validation-missing", f"{staged.id} was not validated yet")
    if found["manifestHash"] != staged.manifest_hash:
        raise Refusal("validation-stale", "it is of another manifest")
    if not (baseline.is_ours(candidate.VALIDATION, found) or trust.covers_everything()):
        raise Refusal("validation-stale", "it was not made on this machine")
    if validation.judge_again(staged, found).outcome != "accepted":
        raise Refusal("candidate-rejected", f"{staged.id} was rejected: {', '.join(found['reasons'])}")


def _require_allowed(root: str, staged: Candidate) -> None:
    """Refuse paths that a patch may not change: whoever wrote the manifest may have sealed it anew."""
    sources = listing.paths(root)
    for path in (*staged.files, *staged.manifest["delete"]):
        patch.check_path(root, "the candidate's manifest", path, sources)
        if patch.is_protected(path) and path not in staged.manifest["allowProtectedPaths"]:
            raise Refusal("path-protected", f"{staged.id} changes {path}, and its manifest does not allow that")


def _content(root: str, path: str) -> bytes | None:
    """A file's content; ``None`` when there is none."""
    try:
        return safe_files.read_file(root, path, 8 * patch.MAX_CONTENT_BYTES)
    except FileNotFoundError:
        return None
    except UnsafePath as error:
        raise Refusal("path-refused", str(error)) from None
    except OSError as error:
        raise Refusal("files-unwritable", safe_files.why_unread(path, error)) from None


def _require_base(root: str, staged: Candidate, now: Mapping[str, bytes | None], *, partly: bool) -> None:
    """Refuse to overwrite what the candidate was not staged against.

    Args:
        now: the content of the files that must still be written or deleted.
        partly: whether others are already as the candidate wants them.
    """
    if "base" in staged.manifest:
        base = {one["path"]: one["hash"] for one in staged.manifest["base"]}
        differing = sorted(path for path, content in now.items() if base.get(path) != _digest(content))
        if differing:
            raise Refusal("provenance-changed", f"not what it was staged against: {', '.join(differing)}")
        return
    # A manifest of version 1 only tells whether the whole project is what it was.
    reasons = compatibility_reasons(staged.manifest["provenance"], state.read(root).provenance)
    if reasons or partly:
        raise Refusal("provenance-changed", f"nobody knows whether these files changed: {', '.join(sorted(now))}")


def _digest(content: bytes | None) -> str | None:
    return None if content is None else canonical.digest(content)


def _write(root: str, left: Mapping[str, bytes | None]) -> None:
    done: list[str] = []
    for path, content in left.items():
        try:
            _put(root, path, content)
        except OSError as error:
            why = str(error) if isinstance(error, UnsafePath) else error.strerror or str(error)
            before = f"; written before: {', '.join(done)}" if done else "; nothing was written"
            raise Refusal("files-unwritable", f"{path}: {why}{before}") from None
        done.append(path)


def _put(root: str, path: str, content: bytes | None) -> None:
    target = safe_files.safe_path(root, path)
    if content is None:
        os.unlink(target)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    safe_files.write_whole(target, content, ".testlore-tmp", mode=_NEW_FILE_MODE, keep_mode=True)
