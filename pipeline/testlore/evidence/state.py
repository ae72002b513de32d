"""The state of a project. A candidate is staged, validated and remembered against it."""

from __future__ import annotations

from typing import NamedTuple

from testlore import frameworks
from testlore.frameworks import Framework
from testlore.progress import Progress, silent
from testlore.project import provenance, settings
from testlore.project.provenance import Provenance
from testlore.project.settings import Settings
from testlore.project.snapshot import Scan, Snapshot


class ProjectState(NamedTuple):
    """A project as it is now.

    Attributes:
        settings: its configuration.
        framework: its test framework.
        sources: its source files.
        provenance: the digests of this state, as an episode records them.
    """

    settings: Settings
    framework: Framework
    sources: Snapshot
    provenance: Provenance


def read(root: str, progress: Progress = silent) -> ProjectState:
    """The state of a project. This reads every source file.

    Args:
        progress: told how many were read.

    Raises:
        Unusable: ``configuration-invalid``.
    """
    configured = settings.parse(settings.read(root))
    framework = frameworks.of_project(root, configured)
    sources = Scan(root, framework.TOOL_FILES, progress=progress).snapshot()
    return ProjectState(configured, framework, sources, provenance.of_snapshot(root, configured, framework, sources))
