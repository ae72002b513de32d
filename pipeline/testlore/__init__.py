"""A project's test memory: ask what was already tried before you write the next test.

>>> from testlore import recall
>>> answer = recall(".", "zero boundary")
>>> answer.records, answer.retrieval, answer.warnings  # doctest: +SKIP
"""

from __future__ import annotations

TYPE_CHECKING = False  # whatever is imported here, a command imports before it can be interrupted quietly
if TYPE_CHECKING:
    import os
    from typing import Any

    from testlore.stages.answer import RecallResult

__all__ = ["RecallResult", "recall"]
__version__ = "0.1.0"


def recall(
    root: str | os.PathLike[str],
    query: str,
    limit: int = 5,
    max_chars: int = 6_000,
    *,
    explain: bool = False,
) -> RecallResult:
    """Recall the episodes of a project that match a query. They are advice: nothing is accepted, selected or changed.

    Args:
        root: the project's folder, which holds ``.tddswarm/``.
        query: what the next test is about, at most 4,096 characters.
        limit: the most records to return, 1–20.
        max_chars: the greatest length of the JSON answer with its newline, in UTF-16 code units, 256–20,000.
        explain: whether each record explains its rank: matched words with their weights, native similarity, evidence
            weight, fused score.

    Returns:
        The answer. When something is wrong with the memory or the call, no exception is raised: ``reason`` says what
        is wrong, and ``exit_status`` is that of the command. When the native engine fails, the answer is lexical, and
        one of its ``warnings`` says why.
    """
    from testlore.stages.ask import ask  # imported here, since it takes time

    return ask(root, query, limit, max_chars, explain=explain, long_lived=True)


def __getattr__(name: str) -> Any:
    if name == "RecallResult":
        from testlore.stages.answer import RecallResult

        return RecallResult
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
