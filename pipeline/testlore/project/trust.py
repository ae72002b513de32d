"""A person's decisions which programs of a project may be started, kept on this machine.

A decision is for the root's real path and for the very programs that were shown: their digest stands in it.
"""

from __future__ import annotations

import os

from testlore import canonical
from testlore.errors import Refusal
from testlore.project import machine

#: With the value 1 it says that everything is trusted: for CI, containers and tests, which a person has set up.
VARIABLE = "TESTLORE_TRUST"

_FILE = "trusted.json"
_MAX_BYTES = 1 << 20


def covers_everything() -> bool:
    """Whether ``TESTLORE_TRUST`` says that everything is trusted."""
    return os.environ.get(VARIABLE) == "1"


def covers(root: str, programs: str) -> bool:
    """Whether a person trusts these programs of a project.

    Args:
        programs: their digest.
    """
    return covers_everything() or _decisions().get(os.path.realpath(root)) == programs


def keep(root: str, programs: str) -> None:
    """Keep the decision that these programs of a project may be started, in place of an older one.

    Raises:
        Refusal: ``state-unwritable``.
    """
    _write({**_decisions(), os.path.realpath(root): programs})


def revoke(root: str) -> None:
    """Take the decision about a project back.

    Raises:
        Refusal: ``state-unwritable``.
    """
    place = os.path.realpath(root)
    _write({path: programs for path, programs in _decisions().items() if path != place})


def _decisions() -> dict[str, str]:
    """The digests of trusted programs by root; none where they cannot be read."""
    try:
        value = canonical.loads(machine.read_private(_FILE, _MAX_BYTES) or b"{}")
    except ValueError:
        return {}
    if not isinstance(value, dict):
        return {}
    return {place: programs for place, programs in value.items() if isinstance(programs, str)}


def _write(decisions: dict[str, str]) -> None:
    try:
        machine.write_private(_FILE, canonical.to_bytes(canonical.pretty(decisions) + "\n"))
    except OSError as error:
        raise Refusal("state-unwritable", f"{machine.folder()}: {error.strerror or error}") from None
