"""For coding agents: ``generate`` asks them for tests, and an MCP server answers their questions from memory.

A recall imports none of this.
"""

from __future__ import annotations

import os
from typing import Any

from testlore.agents import generation as _generation
from testlore.agents.generation import Generation
from testlore.project.safe_files import Root, existing_folder

__all__ = ["Generation", "generate", "work_order"]


def generate(root: Root) -> Generation:
    """Let the configured worker propose tests, and stage them. :func:`testlore.evidence.validate` then runs them.

    Args:
        root: the project's folder, with ``tddswarm.requirements.md`` and an ``agent`` in its configuration.

    Raises:
        Refusal: something is missing, a worker failed or gave a wrong answer, or the project changed meanwhile. The
            text names the role, the field and the rule, and the folder with the workers' answers.
        Unusable: ``configuration-invalid``, ``call-invalid``.
    """
    folder = os.path.abspath(existing_folder(root))
    return _generation.run(folder, _generation.prepare(folder), lambda line: None)


def work_order(root: Root) -> dict[str, Any]:
    """The request that the architect would get. No worker is started.

    Raises:
        Refusal: ``requirements-missing``, ``context-missing``.
        Unusable: ``configuration-invalid``, ``call-invalid``.
    """
    folder = os.path.abspath(existing_folder(root))
    return _generation.prepare(folder).work_order()
