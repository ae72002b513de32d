"""The programs that only a project's own files name, and whether they may be started.

Whoever wrote a repository chose what its files name: an embedding command, an engine under ``node_modules``, a runner,
an agent. None of these is started until a person has said on this machine that it may be.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from testlore import canonical, engines
from testlore.errors import Refusal
from testlore.project import trust
from testlore.project.settings import CONFIG_FILE, OWN_EMBEDDING_COMMAND, Settings

#: The purposes for which a recall starts programs.
RECALL = ("embedding", "engine")

_MAX_BYTES = 1 << 20  # of a program, what lies beyond does not count


def _embedding(root: str, settings: Settings) -> Any:
    """The embedding command. ``testlore-embed`` is not the project's: a person has installed it beside this package."""
    return list(settings.argv) if settings.argv != (OWN_EMBEDDING_COMMAND,) else None


def _engine(root: str, settings: Settings) -> Any:
    """The name of the engine that stands in the project."""
    return settings.runtime if settings.is_native and engines.engine(settings.runtime).OF_PROJECT else None


def _runner(root: str, settings: Settings) -> Any:
    """The configured runner; without one, the framework's usual one where that is a program of the project's."""
    if settings.runner:
        return list(settings.runner)
    from testlore import frameworks  # imported here, since a recall starts its engine before it needs them
    from testlore.frameworks import command

    argv = frameworks.of_project(root, settings).default_runner()
    if not argv or os.path.isabs(argv[0]) or "/" not in argv[0]:  # a person's own: this interpreter, or one on PATH
        return None
    return {"argv": argv, "digest": _digest(command.installed(root, argv[0]))}


def _agent(root: str, settings: Settings) -> Any:
    return list(settings.agent)


_PURPOSES: dict[str, Callable[[str, Settings], Any]] = {
    "embedding": _embedding,
    "engine": _engine,
    "runner": _runner,
    "agent": _agent,
}


def _digest(path: str) -> str | None:
    """The digest of a program; ``None`` where there is none yet."""
    try:
        with open(path, "rb") as file:
            return canonical.digest(file.read(_MAX_BYTES))
    except OSError:
        return None


def named(root: str, settings: Settings, *purposes: str) -> dict[str, Any]:
    """The programs that the project's files name for these purposes, or for all of them.

    Returns:
        By purpose: the arguments of ``embedding``, ``runner`` and ``agent``, the name of the ``engine``. A ``runner``
        that the configuration does not name is an object with ``argv`` and the ``digest`` of the program.
    """
    found = {purpose: _PURPOSES[purpose](root, settings) for purpose in purposes or _PURPOSES}
    return {purpose: program for purpose, program in found.items() if program}


def digests(programs: Mapping[str, Any]) -> dict[str, str]:
    """The digest of each program by its purpose, for :mod:`testlore.project.trust`."""
    return {purpose: canonical.digest(program) for purpose, program in programs.items()}


def are_trusted(root: str, settings: Settings, *purposes: str) -> bool:
    """Whether the programs for these purposes may be started; true when the project's files name none for them."""
    found = named(root, settings, *purposes)
    return not found or trust.covers(root, digests(found))


def require_trust(root: str, settings: Settings, purpose: str) -> None:
    """Refuse to start the program of a purpose that nobody has trusted yet.

    Raises:
        Refusal: ``program-untrusted``.
    """
    if are_trusted(root, settings, purpose):
        return
    program = named(root, settings, purpose)[purpose]
    what = f"in {CONFIG_FILE} is {program}"
    if isinstance(program, dict):
        what = f"is {program['argv']}, a program in the project's folder"
    raise Refusal("program-untrusted", f"{purpose} {what}")
