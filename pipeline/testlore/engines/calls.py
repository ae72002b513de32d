"""The two calls of a worker, build and search, and the checks of its answers."""

from __future__ import annotations

import binascii
from typing import Any, NamedTuple

from testlore import canonical
from testlore.engines.pool import MAX_ANSWER_BYTES, Worker
from testlore.errors import Fallback

MAX_REQUEST_BYTES = 4 << 20
MAX_DATABASE_BYTES = 16 << 20
_TOLERANCE = 1e-5
_MOST_DETAIL = 200


class Neighbor(NamedTuple):
    """A row that a search found, and its cosine similarity to the query, 0 to 1."""

    row: int
    similarity: float


def build(worker: Worker, path: str, dimensions: int, vectors: list[bytes]) -> None:
    """Let a worker make a new database of these rows, numbered from 0.

    A row of zeros has no direction, and engines disagree about its distance. It is replaced by the unit vector along
    the first axis.

    Args:
        path: the database's path; there is no file yet.
        vectors: each ``dimensions`` little-endian float32.

    Raises:
        Fallback: the worker failed, or the database does not hold all rows.
    """
    request = {
        "operation": "build",
        "path": path,
        "dimensions": dimensions,
        "vectors": _base64(b"".join(vector if any(vector) else _first_axis(dimensions) for vector in vectors)),
    }
    answer = _ask(worker, request)
    if answer.get("count") != len(vectors):
        raise Fallback("ruvector-invalid-worker-output", "the database does not hold all rows")


def search(
    worker: Worker, path: str, dimensions: int, vector: bytes, rows: int, *, stay: bool = False
) -> list[Neighbor]:
    """Ask a worker for all rows of a database, nearest first.

    Args:
        vector: the query, ``dimensions`` little-endian float32.
        rows: how many rows the database must hold; the answer must have every one.
        stay: whether the worker must wait for another question. Only an engine with ``STAYS`` can do that.

    Raises:
        Fallback: the worker failed, or its answer is impossible.
    """
    request = {
        "operation": "search",
        "path": path,
        "dimensions": dimensions,
        "vector": _base64(vector),
        "count": rows,
    }
    answer = _ask(worker, request, stay=stay)
    if answer.get("count") != rows:
        raise Fallback("ruvector-cache-corrupt", f"the database holds {answer.get('count')!r} rows, not {rows}")
    hits = answer.get("hits")
    if not isinstance(hits, list):
        raise Fallback("ruvector-invalid-worker-output", "no list of hits")
    return _check_hits(hits, rows)


def _first_axis(dimensions: int) -> bytes:
    """The unit vector along the first axis."""
    return b"\0\0\x80\x3f" + bytes(4 * (dimensions - 1))


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def _check_hits(hits: list[Any], rows: int) -> list[Neighbor]:
    found: dict[int, float] = {}
    for hit in hits:
        if not (isinstance(hit, list) and len(hit) == 2 and type(hit[0]) is int and type(hit[1]) in (int, float)):
            raise Fallback("ruvector-invalid-worker-output", "a hit is not a row and a distance")
        row, distance = hit
        if not 0 <= row < rows:
            raise Fallback("ruvector-invalid-worker-output", "a row that nobody asked about")
        if row in found:
            raise Fallback("ruvector-invalid-worker-output", "a row comes twice")
        if not -_TOLERANCE <= distance <= 2 + _TOLERANCE:  # also false for NaN
            raise Fallback("ruvector-invalid-worker-output", "a distance that cannot be")
        found[row] = min(1.0, max(0.0, 1.0 - distance))
    if len(found) != rows:
        word = "ruvector-invalid-worker-output" if found else "ruvector-no-valid-hits"
        raise Fallback(word, f"the engine left out {rows - len(found)} of {rows} rows")
    return [Neighbor(row, similarity) for row, similarity in found.items()]


def _ask(worker: Worker, request: dict[str, Any], *, stay: bool = False) -> dict[str, Any]:
    data = canonical.to_bytes(canonical.dumps(request) + "\n")
    if len(data) > MAX_REQUEST_BYTES:
        worker.child.kill()
        raise Fallback("ruvector-request-too-large", f"{len(data)} bytes")
    done = worker.child.ask_to_stay(data) if stay else worker.child.ask(data)
    if done.timed_out:
        raise Fallback("ruvector-worker-timeout")
    if done.flooded:
        raise Fallback("ruvector-invalid-worker-output", f"more than {MAX_ANSWER_BYTES} bytes")
    if done.bad_status:
        raise Fallback("ruvector-worker-failed", done.bad_status)
    try:
        answer = canonical.loads(done.stdout)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise Fallback("ruvector-invalid-worker-output", "not one JSON object")
    if "error" in answer:
        raise _failure(worker, answer)
    return answer


def _failure(worker: Worker, answer: dict[str, Any]) -> Fallback:
    """The failure that a worker reports, with a word of its engine or a shared one."""
    word, detail = f"ruvector-{answer['error']}", str(answer.get("detail", ""))[:_MOST_DETAIL]
    for kind in (worker.job.engine.Failure, Fallback):
        if word in kind.HELP:
            return kind(word, detail)
    return Fallback("ruvector-worker-failed", detail)
