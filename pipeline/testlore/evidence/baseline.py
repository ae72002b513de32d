"""The kept run of a project's own suite, ``.tddswarm/baseline/``: derived, and may be deleted at any time.

It is believed only on the very sources, runner and labels that it was made with, by this very code, and with this
machine's mark: anybody can make a seal, so what came with a clone is made anew. Only a green run is kept.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any

from testlore import canonical, digests, schemas
from testlore.errors import UnsafePath
from testlore.evidence import observation
from testlore.evidence.running import Run
from testlore.project import machine, safe_files
from testlore.project.provenance import Provenance

FOLDER = ".tddswarm/baseline"
FILE = f"{FOLDER}/original.json"

_MAX_BYTES = 8 << 20


def read(root: str, current: Provenance) -> Run | None:
    """The run of the project's own suite on today's sources, if it is kept."""
    try:
        data = safe_files.read_file(root, FILE, _MAX_BYTES)
        value = canonical.loads(data)
    except (OSError, ValueError):
        return None
    if not is_ours(FILE, value) or value.get("key") != _key(current):
        return None
    if schemas.first_problem("validation", value.get("run"), "run") is not None:
        return None
    return observation.run_from_dict(value["run"])


def write(root: str, current: Provenance, run: Run) -> None:
    """Keep a green run. Where that is not possible, nothing is kept, and nobody is told: it only costs a run."""
    document = signed(FILE, {"schemaVersion": 1, "key": _key(current), "run": observation.run_to_dict(run)})
    data = canonical.to_bytes(canonical.dumps(document))
    if len(data) > _MAX_BYTES or "mark" not in document:
        return
    with contextlib.suppress(UnsafePath, OSError):
        target = safe_files.safe_path(root, FILE)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        safe_files.write_whole(target, data, ".tmp", mode=0o666)


def _key(current: Provenance) -> str:
    return canonical.digest([current.to_dict(), digests.of("verdict")])


def signed(name: str, value: dict[str, Any]) -> dict[str, Any]:
    """A sealed object with this machine's mark, so that it can be believed here without a run.

    Args:
        name: what it is, so that no file can pass for another one.
    """
    mark = machine.mark(name, canonical.to_bytes(canonical.dumps(value)))
    return canonical.seal({**value, "mark": mark} if mark else value)


def is_ours(name: str, value: Any) -> bool:
    """Whether an object is sealed, and has this machine's mark."""
    if not canonical.is_sealed(value) or not isinstance(value.get("mark"), str):
        return False
    marked = {key: inner for key, inner in value.items() if key not in ("mark", "integrity")}
    return machine.is_marked(name, canonical.to_bytes(canonical.dumps(marked)), value["mark"])
