"""``query``: asks the native database for the episodes nearest to the query."""

from __future__ import annotations

from typing import NamedTuple

from testlore.cache import Cache
from testlore.engines import calls
from testlore.engines.pool import Worker
from testlore.errors import Fallback
from testlore.stages import index
from testlore.stages.index import Index


class Hit(NamedTuple):
    """An episode that the engine found. Its id means nothing until it is joined to an intact record."""

    id: str
    similarity: float


def run(cache: Cache, worker: Worker, found: Index, dimensions: int, vector: bytes, *, stay: bool = False) -> list[Hit]:
    """All rows of the database by similarity, nearest first.

    Args:
        stay: whether the worker must wait for another question once it has answered.

    Raises:
        Fallback: the worker failed, its answer is impossible, the database was replaced meanwhile, or the private copy
            that it needs cannot be written.
    """
    engine = worker.job.engine
    answered = False
    try:
        with index.opened(cache, engine, found) as path:
            rows = calls.search(worker, path, dimensions, vector, len(found.ids), stay=stay)
        answered = True
    finally:  # whatever the worker answered may be about another database
        if not (answered and stay):
            worker.child.kill()
        if index.file_state(cache, engine) != found.state:
            raise Fallback("ruvector-cache-busy", "the database was replaced meanwhile")
    return [Hit(found.ids[row.row], row.similarity) for row in rows]
