"""The staged candidates: which one a person means, what is known of it, and how it is removed."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import Any

from testlore.errors import Refusal
from testlore.evidence import candidate
from testlore.memory import find
from testlore.project import safe_files


def named(root: str, given: str) -> str:
    """The id of the one candidate that an id, or a beginning of one, names.

    Raises:
        Refusal: ``call-invalid``, ``candidate-unsafe``.
    """
    return find.one(given, candidate.names(root), "candidates", lambda name: (name,), str)


def whole_id(root: str, given: str) -> str:
    """The whole id of the candidate that a beginning names. What fits none stays as it is: reading it says why.

    Raises:
        Refusal: ``call-invalid``: several candidates fit; ``candidate-unsafe``.
    """
    fits = isinstance(given, str) and len(given) >= find.FEWEST_CHARACTERS
    return named(root, given) if fits and any(name.startswith(given) for name in candidate.names(root)) else given


def describe(root: str, given: str) -> dict[str, Any]:
    """Everything that is known of a candidate, without the contents of its files.

    Returns:
        ``id``, ``state`` (``staged``, ``accepted``, ``rejected`` or ``unusable``), ``purpose``, ``files``, ``delete``,
        ``heldOutDefects`` (their names), ``reasons``, ``details``, and ``evidence`` once it was validated.

    Raises:
        Refusal: ``call-invalid``, ``candidate-unsafe``.
    """
    name = named(root, given)
    shown: dict[str, Any] = {"id": name, "state": "unusable", "purpose": ""}
    shown |= {key: [] for key in ("files", "delete", "heldOutDefects", "reasons", "details")}
    try:
        staged = candidate.read(root, name)
        validation = candidate.read_validation(root, name)
    except Refusal as refused:
        return {**shown, "reasons": [refused.reason], "details": [str(refused)]}
    shown |= {
        "state": "staged",
        "purpose": staged.manifest["purpose"],
        "files": list(staged.files),
        "delete": staged.manifest["delete"],
        "heldOutDefects": [one["name"] for one in staged.manifest["heldOutDefects"]],
    }
    if validation is not None:
        shown |= {"state": validation["outcome"]}
        shown |= {key: validation[key] for key in ("reasons", "details", "evidence")}
    return shown


def drop(root: str, given: str) -> str:
    """Remove a candidate. It goes at once: whoever reads it meanwhile finds all of it or nothing.

    Returns:
        Its id.

    Raises:
        Refusal: ``call-invalid``, ``candidate-unsafe``, ``candidate-unwritable``.
    """
    name = named(root, given)
    with safe_files.refusing(candidate.FOLDER, unsafe="candidate-unsafe", unwritable="candidate-unwritable"):
        folder = safe_files.safe_path(root, f"{candidate.FOLDER}/{name}")
        going = f"{folder}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
        with contextlib.suppress(FileNotFoundError):  # another process dropped it just now
            os.rename(folder, going)
            try:
                shutil.rmtree(going)
            except OSError:
                os.rename(going, folder)  # what is left of it can be seen, and dropped again
                raise
    return name
