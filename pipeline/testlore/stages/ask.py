"""Asks a memory: checks the call, lets the stages answer it, and cuts the answer to its budget."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from testlore.errors import Fallback, Unusable
from testlore.memory import store
from testlore.progress import Progress, silent
from testlore.project.safe_files import existing_folder
from testlore.stages import answer, call, recall
from testlore.stages.answer import RecallResult
from testlore.stages.configuration import Opening
from testlore.stages.session import Session

_MORE_ATTEMPTS = 2  # how often a recall starts again when the store changes while it is at work


def ask(
    root: object,
    query: object,
    limit: object = call.DEFAULT_LIMIT,
    max_chars: object = call.DEFAULT_MAX_CHARS,
    *,
    explain: object = False,
    session: Callable[[], Session] | None = None,
    opening: Opening | None = None,
    long_lived: bool = False,
    progress: Progress = silent,
) -> RecallResult:
    """Recall the episodes that match a query. It never raises; see ``reason`` and ``exit_status`` of the result.

    Args:
        root: the project's folder.
        query, limit, max_chars, explain: as in :class:`~testlore.stages.call.Call`.
        session: returns a session of this root and query, which may have run some stages already.
        opening, long_lived, progress: as in :class:`~testlore.stages.session.Session`.
    """
    budget = call.DEFAULT_MAX_CHARS
    try:
        asked = call.check(query, limit, max_chars, explain)
        budget = asked.max_chars
        folder = existing_folder(root)
        anew = partial(Session, folder, asked.query, long_lived=long_lived, progress=progress)
        first = session or partial(anew, opening=opening)
        result = _answer([first, *[anew] * _MORE_ATTEMPTS], asked)
    except Unusable as unusable:
        result = RecallResult([], reason=str(unusable))
    return answer.cut(result, budget)


def _answer(attempts: list[Callable[[], Session]], asked: call.Call) -> RecallResult:
    for begin in attempts:
        session = begin()
        try:
            result = recall.run(session, asked.limit, explain=asked.explain)
            if not _overtaken(session):
                break
        finally:
            session.close()
    return result


def _overtaken(session: Session) -> bool:
    """Whether native recall failed because the store changed while it was at work."""
    try:
        session.hits()
    except Fallback as fallback:
        return fallback.word == "ruvector-cache-busy" and not store.is_current(session.root, session.scope().store)
    return False
