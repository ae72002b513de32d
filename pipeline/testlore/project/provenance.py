"""What an episode is made against: the project's sources, what runs its tests, and its services."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from testlore import canonical
from testlore.project import safe_files, snapshot
from testlore.project.settings import Settings

#: Files beside the sources that decide how tests run.
TOOL_FILES = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb"),
    *("tsconfig.json", "jest.config.js", "jest.config.ts", "vitest.config.js", "vitest.config.ts", "vite.config.ts"),
    *("pyproject.toml", "setup.cfg", "setup.py", "pytest.ini", "tox.ini", "conftest.py", "noxfile.py"),
    *("requirements.txt", "requirements-dev.txt", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"),
)


class Provenance(NamedTuple):
    """What an episode was made against; each a digest (64 hex digits)."""

    fingerprint: str
    runner: str
    services_hash: str
    source_hash: str

    def to_dict(self) -> dict[str, str]:
        """As a record holds it."""
        return {
            "fingerprint": self.fingerprint,
            "runner": self.runner,
            "servicesHash": self.services_hash,
            "sourceHash": self.source_hash,
        }


def take(root: str, settings: Settings, framework: object = None, taking: snapshot.Scan | None = None) -> Provenance:
    """Today's provenance of the project: digests of its sources, of what runs its tests, and of its services.

    Args:
        taking: a taking of the project's snapshot that was begun before.
    """
    return of_snapshot(root, settings, (taking or snapshot.Scan(root, TOOL_FILES)).snapshot())


def of_snapshot(root: str, settings: Settings, snapshot: snapshot.Snapshot) -> Provenance:
    """The provenance of a project with these sources."""
    runner = canonical.digest(runner_identity(root, settings, snapshot.tools))

    def fingerprint(files: dict[str, str]) -> str:
        return canonical.digest({"files": files, "runner": runner, "services": settings.services})

    return Provenance(
        fingerprint=snapshot.derive(canonical.digest([runner, settings.services]), fingerprint),
        runner=runner,
        services_hash=canonical.digest(settings.services),
        source_hash=snapshot.digest,
    )


def runner_identity(root: str, settings: Settings, tools: dict[str, str]) -> dict[str, object]:
    """What decides how the project's tests run, as a value to digest."""
    return {
        "runner": list(settings.runner),
        "adapter": safe_files.framework(root, settings),
        "environment": settings.environment,
        "interpreter": _interpreter(root, settings),
        "platform": [sys.platform, _machine()],
        "files": tools,
    }


def _machine() -> str:
    return os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")


def _interpreter(root: str, settings: Settings) -> list[object]:
    """The program that runs the tests, by name and size: asking it for its version costs a process a call."""
    if settings.runner:
        program = settings.runner[0]
        if "/" in program:
            program = os.path.join(root, program)
    else:
        program = sys.executable if safe_files.framework(root, settings) in safe_files.PYTHON_FRAMEWORKS else "node"
    for folder in [""] if os.path.isabs(program) else os.get_exec_path():
        found = os.path.realpath(os.path.join(folder, program))
        if os.path.isfile(found) and os.access(found, os.X_OK):
            return [os.path.basename(found), os.path.getsize(found)]
    return [os.path.basename(program), None]


def compatibility_reasons(then: dict[str, str], current: Provenance) -> list[str]:
    """Why an episode's provenance is not today's, in stable words; empty when it is."""
    reasons = []
    if then["runner"] != current.runner:
        reasons.append("runner-or-environment-changed")
    if then["servicesHash"] != current.services_hash:
        reasons.append("service-versions-changed")
    if then["sourceHash"] != current.source_hash or (not reasons and then["fingerprint"] != current.fingerprint):
        reasons.append("source-drift")
    return reasons
