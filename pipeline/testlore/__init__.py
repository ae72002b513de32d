"""A project's test memory: ask what was already tried before you write the next test.

>>> from testlore import recall
>>> answer = recall(".", "zero boundary")
>>> answer.records, answer.retrieval, answer.warnings  # doctest: +SKIP
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from testlore.stages.call import DEFAULT_LIMIT, DEFAULT_MAX_CHARS

if TYPE_CHECKING:
    from testlore.stages.answer import RecallResult

__all__ = ["RecallResult", "recall"]
__version__ = "0.1.0"


def recall(
    root: str | os.PathLike[str],
    query: str,
    limit: int = DEFAULT_LIMIT,
    max_chars: int = DEFAULT_MAX_CHARS,
    *,
    explain: bool = False,
) -> RecallResult:
    """Recall the episodes of a project that fit a query. Advice only: nothing is accepted, selected or changed.

    Args:
        root: the project's folder, which holds ``.tddswarm/``.
        query: what the next test is about, at most 4,096 characters.
        limit: the most records that come back, 1–20.
        max_chars: the most UTF-16 code units that the JSON answer may take, with its newline, 256–20,000.
        explain: whether each record says why it stands where it stands: matched words with their weights, native
            similarity, evidence weight, fused score.

    Returns:
        The answer. It never raises for what is wrong with the memory or the call: ``reason`` then says what it is, and
        ``exit_status`` how the command would end. When the native engine cannot deliver, the answer is lexical and one
        of its ``warnings`` says why.
    """
    from testlore.stages.ask import ask  # what costs time is imported when it is asked for

    return ask(root, query, limit, max_chars, explain=explain, long_lived=True)


def __getattr__(name: str) -> Any:
    if name == "RecallResult":
        from testlore.stages.answer import RecallResult

        return RecallResult
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
