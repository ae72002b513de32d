"""The programs that only a project's own configuration names, and whether they may be started.

Whoever wrote a repository chose what its configuration names: an embedding command, an engine under ``node_modules``, a
runner, an agent. None of these is started until a person has said on this machine that it may be.
"""

from __future__ import annotations

from typing import Any

from testlore import canonical, engines
from testlore.errors import Refusal
from testlore.project import trust
from testlore.project.settings import CONFIG_FILE, OWN_EMBEDDING_COMMAND, Settings

#: The purposes for which a recall starts programs.
RECALL = ("embedding", "engine")


def named(settings: Settings) -> dict[str, Any]:
    """The programs that the configuration names, by purpose: ``embedding``, ``engine``, ``runner``, ``agent``.

    What a person has installed beside this package does not count: ``testlore-embed``, and an engine that is not the
    project's own.
    """
    found: dict[str, Any] = {}
    if settings.argv and settings.argv != (OWN_EMBEDDING_COMMAND,):
        found["embedding"] = list(settings.argv)
    if settings.is_native and engines.engine(settings.runtime).OF_PROJECT:
        found["engine"] = settings.runtime
    if settings.runner:
        found["runner"] = list(settings.runner)
    if settings.agent:
        found["agent"] = list(settings.agent)
    return found


def digest(settings: Settings) -> str:
    """The digest of all programs that the configuration names."""
    return canonical.digest(named(settings))


def are_trusted(root: str, settings: Settings, *purposes: str) -> bool:
    """Whether the programs for these purposes may be started; true when the configuration names none for them."""
    return named(settings).keys().isdisjoint(purposes) or trust.covers(root, digest(settings))


def require_trust(root: str, settings: Settings, purpose: str) -> None:
    """Refuse to start the program of a purpose that nobody has trusted yet.

    Raises:
        Refusal: ``program-untrusted``.
    """
    if not are_trusted(root, settings, purpose):
        program = named(settings)[purpose]
        raise Refusal("program-untrusted", f"{purpose} in {CONFIG_FILE} is {program}; `testlore trust` lets it start")
