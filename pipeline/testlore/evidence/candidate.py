"""A staged candidate on disk: ``.tddswarm/candidates/<id>/``, written once as a whole, and checked at every read.

::

    manifest.json    sealed: digests of the files below, and the provenance that the candidate was staged against
    files/PATH       the proposed files
    defects/N        the held-out defects, numbered as in the manifest
    review.json      sealed: the requirements and the reviewer's words
    validation.json  sealed: what a validation observed

A manifest holds no time and nothing random, so the same patch on the same sources has the same id.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from typing import Any, NamedTuple

from testlore import canonical, schemas
from testlore.errors import Refusal, UnsafePath
from testlore.evidence import room
from testlore.evidence.patch import MAX_CONTENT_BYTES
from testlore.project import safe_files

FOLDER = ".tddswarm/candidates"
VALIDATION = "validation.json"

_ID = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_-]{0,127}\Z")
_ID_DIGITS = 24
_MAX_MANIFEST_BYTES = 4 << 20
_MAX_REVIEW_BYTES = 8 << 20
MAX_VALIDATION_BYTES = 64 << 20
_OLD_VALIDATIONS = (1,)  # they credit a candidate with what the old suite sees


class Candidate(NamedTuple):
    """A staged candidate that has not changed since it was staged.

    Attributes:
        id: the name of its folder.
        manifest: the sealed manifest.
        manifest_hash: the digest of the manifest.
        files: the proposed contents, by path.
        defects: the content of each held-out defect, in the manifest's order.
        title: the first line of the requirements: what was to be shown.
    """

    id: str
    manifest: dict[str, Any]
    manifest_hash: str
    files: dict[str, bytes]
    defects: list[bytes]
    title: str


def write(root: str, manifest: dict[str, Any], review: dict[str, Any], files: list[str], defects: list[str]) -> str:
    """Write a candidate, whole or not at all.

    Args:
        manifest, review: both sealed.
        files, defects: the contents, in the manifest's order.

    Returns:
        The candidate's id.

    Raises:
        Refusal: ``candidate-unsafe``, ``candidate-unwritable``.
    """
    manifest_hash = canonical.digest(manifest)
    name = manifest_hash[:_ID_DIGITS]
    with _disk():
        final = safe_files.safe_path(root, f"{FOLDER}/{name}")
        os.makedirs(os.path.dirname(final), exist_ok=True)
        if os.path.lexists(final) and _is_intact(root, name):
            return name
        temporary = f"{final}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
        os.mkdir(temporary, 0o700)
        try:
            for file, content in zip(manifest["files"], files, strict=True):
                _write_file(temporary, f"files/{file['path']}", content)
            for number, content in enumerate(defects):
                _write_file(temporary, f"defects/{number}", content)
            _write_file(temporary, "review.json", canonical.pretty(review))
            _write_file(temporary, "manifest.json", canonical.pretty(manifest))
            _take_place(root, name, temporary, final)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return name


def _take_place(root: str, name: str, temporary: str, final: str) -> None:
    try:
        os.rename(temporary, final)
    except OSError:
        if _is_intact(root, name):  # another process staged the same patch
            return
        old = f"{temporary}.old"
        os.rename(final, old)
        os.rename(temporary, final)
        shutil.rmtree(old, ignore_errors=True)


def _is_intact(root: str, name: str) -> bool:
    try:
        read(root, name)
    except Refusal:
        return False
    return True


def _write_file(folder: str, path: str, content: str) -> None:
    target = os.path.join(folder, *path.split("/"))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "xb") as file:
        file.write(content.encode("utf-8"))


def read(root: str, name: str) -> Candidate:
    """Read a candidate, and check that nothing in it has changed since it was staged.

    Raises:
        Refusal: ``candidate-unknown``, ``candidate-changed``, ``candidate-unsafe``.
    """
    check_id(root, name)
    manifest = _staged(root, name, "manifest.json", _MAX_MANIFEST_BYTES, "manifest")
    manifest_hash = canonical.digest(manifest)
    if name != manifest_hash[:_ID_DIGITS]:
        raise Refusal("candidate-changed", f"{name}/manifest.json is not the manifest that was staged under this id")
    review = _staged(root, name, "review.json", _MAX_REVIEW_BYTES)
    if canonical.digest(review) != manifest["review"]["hash"]:
        raise Refusal("candidate-changed", f"{name}/review.json is not what was staged")
    _check_paths(name, manifest)
    files = {}
    for file in manifest["files"]:
        files[file["path"]] = _content(root, name, f"files/{file['path']}", file["hash"])
    defects = []
    for number, defect in enumerate(manifest["heldOutDefects"]):
        defects.append(_content(root, name, f"defects/{number}", defect["hash"]))
    _check_nothing_more(root, name, files, len(defects))
    return Candidate(name, manifest, manifest_hash, files, defects, _title(review["requirements"]))


def _title(requirements: str) -> str:
    """The first line that says something, without the marks of a heading or a list."""
    lines = (line.strip().lstrip("#*-").strip() for line in requirements.splitlines())
    return next(filter(None, lines), "")


def _check_paths(name: str, manifest: dict[str, Any]) -> None:
    """Refuse a manifest with a path that leads out of the project: whoever wrote it may have sealed it anew.

    Raises:
        Refusal: ``candidate-unsafe``.
    """
    changed = [one["path"] for one in (*manifest["files"], *manifest["heldOutDefects"])]
    for path in [*changed, *manifest["delete"]]:
        try:
            safe_files.check_relative(path)
        except UnsafePath as error:
            raise Refusal("candidate-unsafe", f"{name}/manifest.json: {error}") from None


def check_id(root: str, name: str) -> None:
    """Refuse an id that is malformed or unknown.

    Raises:
        Refusal: ``candidate-unknown``, ``candidate-unsafe``.
    """
    if not isinstance(name, str) or not _ID.match(name):
        raise Refusal("candidate-unknown", f"{name!r:.150} is no id; allowed: 1 to 128 letters, digits, '_' and '-'")
    with _disk():
        if not os.path.isdir(safe_files.safe_path(root, f"{FOLDER}/{name}")):
            raise Refusal("candidate-unknown", f"there is no candidate {name}")


def names(root: str) -> list[str]:
    """The ids of all staged candidates, sorted.

    Raises:
        Refusal: ``candidate-unsafe``.
    """
    with _disk():
        folder = safe_files.safe_path(root, FOLDER)
        if not os.path.isdir(folder):
            return []
        return sorted(entry.name for entry in os.scandir(folder) if _ID.match(entry.name) and entry.is_dir())


def write_validation(root: str, name: str, validation: dict[str, Any]) -> None:
    """Write a sealed validation. It replaces an older one.

    Raises:
        Refusal: ``candidate-unsafe``, ``candidate-unwritable``, ``no-room``.
    """
    data = canonical.to_bytes(canonical.pretty(validation))
    with _disk(f"{VALIDATION} of {name} has {len(data)} bytes"):
        final = safe_files.safe_path(root, f"{FOLDER}/{name}/{VALIDATION}")
        safe_files.write_whole(final, data, ".tmp", mode=0o666)


def read_validation(root: str, name: str) -> dict[str, Any] | None:
    """The validation of a candidate; ``None`` if there is none, or only one that was made by an older version of ours.

    Raises:
        Refusal: ``validation-tampered``, ``candidate-unsafe``.
    """
    try:
        found = _sealed(root, name, VALIDATION, MAX_VALIDATION_BYTES, "", "validation-tampered")
    except FileNotFoundError:
        return None
    if found.get("schemaVersion") in _OLD_VALIDATIONS:
        return None
    problem = schemas.first_problem("validation", found)
    if problem is not None:
        raise Refusal("validation-tampered", f"{name}/{VALIDATION}: {problem.text}")
    return found


def _staged(root: str, name: str, file: str, limit: int, schema: str = "") -> dict[str, Any]:
    """A sealed file that was written when the candidate was staged."""
    try:
        return _sealed(root, name, file, limit, schema, "candidate-changed")
    except FileNotFoundError:
        raise Refusal("candidate-changed", f"{name}/{file} is missing") from None


def _sealed(root: str, name: str, file: str, limit: int, schema: str, reason: str) -> dict[str, Any]:
    """A file that holds a sealed object exactly as we write it, byte for byte.

    Args:
        schema: the schema that it must fit, too; empty for none.
        reason: why it is refused otherwise.

    Raises:
        FileNotFoundError: there is none.
    """
    data = _read(root, name, file, limit)
    try:
        value = canonical.loads(data)
    except ValueError:
        value = None
    if not canonical.is_sealed(value) or canonical.to_bytes(canonical.pretty(value)) != data:
        raise Refusal(reason, f"{name}/{file} does not fit its seal")
    problem = schemas.first_problem(schema, value) if schema else None
    if problem is not None:
        raise Refusal(reason, f"{name}/{file}: {problem.text}")
    sealed: dict[str, Any] = value
    return sealed


def _content(root: str, name: str, file: str, digest: str) -> bytes:
    try:
        data = _read(root, name, file, MAX_CONTENT_BYTES)
    except FileNotFoundError:
        raise Refusal("candidate-changed", f"{name}/{file} is missing") from None
    if canonical.digest(data) != digest:
        raise Refusal("candidate-changed", f"{name}/{file} is not what was staged")
    return data


def _read(root: str, name: str, file: str, limit: int) -> bytes:
    try:
        return safe_files.read_file(root, f"{FOLDER}/{name}/{file}", limit)
    except FileNotFoundError:
        raise
    except UnsafePath as error:
        raise Refusal("candidate-unsafe", str(error)) from None
    except OSError as error:
        raise Refusal("candidate-changed", safe_files.why_unread(f"{name}/{file}", error)) from None


def _check_nothing_more(root: str, name: str, files: dict[str, bytes], defects: int) -> None:
    """Refuse a candidate with a file that was not staged."""
    expected = {f"files/{path}" for path in files} | {f"defects/{number}" for number in range(defects)}
    with _disk():
        base = safe_files.safe_path(root, f"{FOLDER}/{name}")
        for part in ("files", "defects"):
            for folder, _, found in os.walk(os.path.join(base, part)):
                for file in found:
                    path = os.path.relpath(os.path.join(folder, file), base).replace(os.sep, "/")
                    if path not in expected:
                        raise Refusal("candidate-changed", f"{name}/{path} was not staged")


@contextlib.contextmanager
def _disk(need: str = "") -> Iterator[None]:
    """Turn what the disk refuses into a refusal of ours; where it is full, one that says how much was needed."""
    with safe_files.refusing(FOLDER, unsafe="candidate-unsafe", unwritable="candidate-unwritable"):
        try:
            yield
        except OSError as error:
            if need and error.errno in room.FULL:
                raise Refusal("no-room", f"{FOLDER} is full: {need}") from None
            raise
