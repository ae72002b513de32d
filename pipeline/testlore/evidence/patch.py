"""Checks a patch: its schema, its contents, and the paths that it may change."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Container
from typing import Any

from testlore import canonical, schemas
from testlore.errors import Refusal
from testlore.frameworks import union
from testlore.project import listing, safe_files

MAX_CONTENT_BYTES = 512 << 10

#: Folders in which a patch may only change what is a source already, at any depth: a new file would be none there.
_FORBIDDEN = listing.IGNORED_FOLDERS | frozenset(["site-packages"])

#: Names of files that a patch may change only if it says so. Those of the test frameworks come on top.
_PROTECTED = frozenset("tddswarm.config.json tddswarm.requirements.md .gitignore .gitattributes .gitmodules".split())


def check(root: str, patch: Any, files: dict[str, str]) -> dict[str, Any]:
    """Refuse a patch that breaks a rule.

    Args:
        patch: parsed JSON.
        files: the project's snapshot.

    Returns:
        The patch with its optional keys filled in.

    Raises:
        Refusal: ``patch-invalid``, ``path-refused``, ``path-protected``. It names the key or path, and what is allowed.
    """
    problem = schemas.first_problem("patch", patch)
    if problem is not None:
        raise Refusal("patch-invalid", problem.text)
    whole = {"delete": [], "allowProtectedPaths": [], "heldOutDefects": [], **patch}
    for position, file in enumerate(whole["files"]):
        check_content(f"files[{position}]", file["content"])
    for key, paths in (("files", [file["path"] for file in whole["files"]]), ("delete", whole["delete"])):
        for position, path in enumerate(paths):
            check_path(root, f"{key}[{position}]", path, files)
            if is_protected(path) and path not in whole["allowProtectedPaths"]:
                raise Refusal(
                    "path-protected",
                    f"{key}[{position}] is {path}, a lock file, manifest or configuration; "
                    "allowed: only when allowProtectedPaths names it",
                )
    for position, path in enumerate(whole["delete"]):
        if path not in files:
            raise Refusal("patch-invalid", f"delete[{position}] is {path!r}; allowed: a file of the project's sources")
    check_duplicates([*(file["path"] for file in whole["files"]), *whole["delete"]])
    _check_targets(root, whole)
    _check_defects(root, whole, files)
    return whole


def is_protected(path: str) -> bool:
    """Whether a file decides how tests run. A patch may change such a file only if it says so."""
    name = os.path.basename(path)
    return (
        union.is_protected(name)
        or name in _PROTECTED
        or (name.startswith("requirements") and name.endswith((".txt", ".in")))
        or name.endswith(".lock")
    )


def check_content(where: str, content: str, most: int = MAX_CONTENT_BYTES) -> None:
    """Refuse a file's content that has no UTF-8, or takes more than ``most`` bytes.

    Raises:
        Refusal: ``patch-invalid``.
    """
    try:
        size = len(content.encode("utf-8"))
    except UnicodeEncodeError:
        raise Refusal("patch-invalid", f"{where}.content has lone surrogates; allowed: text that has UTF-8") from None
    if size > most:
        raise Refusal("patch-invalid", f"{where}.content is {size} bytes long; allowed: at most {most} bytes of UTF-8")


def check_path(root: str, where: str, path: str, files: Container[str] = ()) -> None:
    """Refuse a path that is not safe, lies in a folder that holds no sources, or looks like an option.

    Args:
        files: the project's source files, which may lie anywhere.

    Raises:
        Refusal: ``path-refused``.
    """
    try:
        path.encode("utf-8")
        safe_files.safe_path(root, path)
    except (OSError, UnicodeEncodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Refusal("path-refused", f"{where}: {why}; allowed: a plain relative path without links") from None
    if path.startswith("-"):
        raise Refusal("path-refused", f"{where} is {path!r}; allowed: no '-' first, which a runner reads as an option")
    if path in files:
        return
    parts = path.split("/")
    forbidden = [part for part in parts if _plain(part) in _FORBIDDEN]
    folder = root
    for part in parts[:-1]:
        folder = os.path.join(folder, part)
        if not forbidden and os.path.lexists(os.path.join(folder, listing.ENVIRONMENT_MARK)):
            forbidden = [part]
    if forbidden:
        raise Refusal(
            "path-refused",
            f"{where} is {path!r}; allowed: not in {forbidden[0]!r}, which is no part of the project's sources",
        )


def _plain(part: str) -> str:
    """A name without its case, and without dots and spaces at its end, which some file systems ignore."""
    return unicodedata.normalize("NFC", part).casefold().rstrip(". ")


def check_duplicates(paths: list[str]) -> None:
    """Refuse paths that are the same file on some file system, and a file inside another file.

    Raises:
        Refusal: ``patch-invalid``.
    """
    seen: dict[str, str] = {}
    for path in paths:
        plain = "/".join(_plain(part) for part in path.split("/"))
        if plain in seen:
            raise Refusal("patch-invalid", f"{path!r} and {seen[plain]!r} are one path; allowed: each path once")
        seen[plain] = path
    for plain, path in seen.items():
        parents = plain.split("/")
        for length in range(1, len(parents)):
            if "/".join(parents[:length]) in seen:
                above = seen["/".join(parents[:length])]
                raise Refusal("patch-invalid", f"{path!r} lies in {above!r}; allowed: no file inside another")


def _check_targets(root: str, patch: dict[str, Any]) -> None:
    """Refuse a file that would replace a folder or anything else that is not a file."""
    for position, file in enumerate(patch["files"]):
        target = os.path.join(root, file["path"])
        if os.path.lexists(target) and not os.path.isfile(target):
            raise Refusal("path-refused", f"files[{position}] is {file['path']!r}; allowed: a file, new or existing")


def _check_defects(root: str, patch: dict[str, Any], files: dict[str, str]) -> None:
    touched = {file["path"] for file in patch["files"]} | set(patch["delete"])
    names = set()
    for position, defect in enumerate(patch["heldOutDefects"]):
        where, path = f"heldOutDefects[{position}]", defect["path"]
        check_content(where, defect["content"])
        check_path(root, where, path, files)
        if defect["name"] in names:
            raise Refusal("patch-invalid", f"{where}.name is {defect['name']!r} again; allowed: each name once")
        names.add(defect["name"])
        wrong = ""
        if path not in files:
            wrong = "an existing source file"
        elif path in touched:
            wrong = "a source file that the patch does not touch"
        elif is_protected(path) or union.decides_runs(os.path.basename(path)) or union.is_test_file(path):
            wrong = "a source file, no test and no configuration"
        elif canonical.digest(defect["content"]) == files[path]:
            wrong = "content that differs from what the file holds now"
        if wrong:
            raise Refusal("patch-invalid", f"{where} is {path!r}; allowed: {wrong}")
