"""The state of the project that an episode was made against, as digests, and how it differs from today's."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from testlore import canonical
from testlore.project import snapshot
from testlore.project.settings import Settings


class Toolchain(Protocol):
    """What provenance needs to know of a test framework.

    Attributes:
        NAME: as the configuration names it.
        TOOL_FILES: paths of files that decide how its tests run, such as ``pyproject.toml``.
    """

    NAME: str
    TOOL_FILES: tuple[str, ...]

    def program(self) -> str:
        """The program that runs the tests if no runner is configured."""


class Provenance(NamedTuple):
    """The state of a project; each attribute is a digest of 64 hex digits.

    Attributes:
        fingerprint: the digest of everything below together.
        runner: the digest of what decides how the tests run; see :func:`runner_identity`.
        services_hash: the digest of the service labels.
        source_hash: the digest of the sources.
    """

    fingerprint: str
    runner: str
    services_hash: str
    source_hash: str

    def to_dict(self) -> dict[str, str]:
        """The provenance as a record holds it."""
        return {
            "fingerprint": self.fingerprint,
            "runner": self.runner,
            "servicesHash": self.services_hash,
            "sourceHash": self.source_hash,
        }


def take(root: str, settings: Settings, framework: Toolchain, scan: snapshot.Scan | None = None) -> Provenance:
    """Today's provenance of the project.

    Args:
        framework: the project's test framework.
        scan: a scan of the sources with the framework's tool files, if one was already started.

    Raises:
        Refusal: ``sources-unknown``.
    """
    scan = scan or snapshot.Scan(root, framework.TOOL_FILES)
    return of_snapshot(root, settings, framework, scan.snapshot())


def of_snapshot(root: str, settings: Settings, framework: Toolchain, sources: snapshot.Snapshot) -> Provenance:
    """The provenance of a project with these sources.

    Args:
        framework: the project's test framework.
        sources: a snapshot whose ``tools`` are the framework's tool files.
    """
    runner = canonical.digest(runner_identity(root, settings, framework, sources.tools))

    def fingerprint(files: dict[str, str]) -> str:
        return canonical.digest({"files": files, "runner": runner, "services": settings.services})

    return Provenance(
        fingerprint=sources.derive(canonical.digest([runner, settings.services]), fingerprint),
        runner=runner,
        services_hash=canonical.digest(settings.services),
        source_hash=sources.digest,
    )


def compatibility_reasons(then: Mapping[str, str], current: Provenance | None) -> list[str]:
    """How an older provenance differs from today's, in stable words; empty when they are the same.

    Args:
        then: the older provenance, as a record holds it.
        current: today's; ``None`` where the sources are unknown.
    """
    if current is None:
        return ["sources-unknown"]
    reasons = []
    if then["runner"] != current.runner:
        reasons.append("runner-or-environment-changed")
    if then["servicesHash"] != current.services_hash:
        reasons.append("service-versions-changed")
    if then["sourceHash"] != current.source_hash or (not reasons and then["fingerprint"] != current.fingerprint):
        reasons.append("source-drift")
    return reasons


def runner_identity(root: str, settings: Settings, framework: Toolchain, tools: dict[str, str]) -> dict[str, object]:
    """What decides how the project's tests run, as a value to digest.

    Args:
        tools: the digest of each existing tool file, by path.
    """
    return {
        "runner": list(settings.runner),
        "adapter": framework.NAME,
        "environment": settings.environment,
        "interpreter": _interpreter(root, settings, framework),
        "platform": [sys.platform, _machine()],
        "files": tools,
    }


def _machine() -> str:
    return os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")


def _interpreter(root: str, settings: Settings, framework: Toolchain) -> list[object]:
    """The name and size of the program that runs the tests. Its version is not asked: that would start a process."""
    program = settings.runner[0] if settings.runner else framework.program()
    if settings.runner and "/" in program:
        program = os.path.join(root, program)
    with contextlib.suppress(ValueError):  # the locale has no such name, so there is no such program
        for folder in [""] if os.path.isabs(program) else os.get_exec_path():
            found = os.path.realpath(os.path.join(folder, program))
            if os.path.isfile(found) and os.access(found, os.X_OK):
                return [os.path.basename(found), os.path.getsize(found)]
    return [os.path.basename(program), None]
