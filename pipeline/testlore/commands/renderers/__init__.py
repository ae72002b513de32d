"""How a recall's answer becomes text: one renderer in each module, and what they need to know of a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from testlore.stages.answer import RecallResult


def source(result: RecallResult) -> str:
    """The retrieval that answered, in a few words."""
    if result.details is None:
        return result.retrieval
    return "{engine} {version} ({mode}, index {cache})".format(**{"version": "", "cache": "used", **result.details})
