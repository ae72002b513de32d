"""Native engines behind one small protocol, chosen by name, and the talk with their worker processes.

An engine is a module with what :class:`Engine` lists. One more engine is one more module and one more line in
:data:`ENGINES`. Every native call runs in a worker: a child process that gets one JSON object on its standard input and
answers with one on its standard output. A worker is given row numbers, vectors and a path; never a text.
"""

from __future__ import annotations

import atexit
import binascii
import importlib
import os
from typing import Any, NamedTuple, Protocol, cast

from testlore import canonical
from testlore.child import Child
from testlore.errors import HELP, Fallback

#: ``plugins.ruvector.runtime`` -> the module of its engine.
ENGINES = {
    "python": "testlore.engines.wheel",
    "node": "testlore.engines.node",
}

MAX_REQUEST_BYTES = 4 << 20
MAX_ANSWER_BYTES = 1 << 20
MAX_DATABASE_BYTES = 16 << 20
_TOLERANCE = 1e-5


class Sdk(NamedTuple):
    """An installed native engine.

    Attributes:
        name, version: as the answer names them.
        digest: changes whenever the installed files do.
        folder: where it lies.
        files: one of them changes when the SDK is installed anew.
    """

    name: str
    version: str
    digest: str
    folder: str
    files: tuple[str, ...]


class Engine(Protocol):
    """What a native engine is.

    Attributes:
        DATABASE, METADATA: the names of its two files in the derived cache.
        STAYS: whether a worker can answer one question after another.
        CODE: the source files of ours that decide the database's bytes.
        OPENING_CHANGES: whether opening a database changes its bytes.
        HELP: what a person can do, by fallback word, where this engine knows it better than
            :data:`testlore.errors.HELP`.
    """

    DATABASE: str
    METADATA: str
    STAYS: bool
    CODE: tuple[str, ...]
    OPENING_CHANGES: bool
    HELP: dict[str, str]

    def locate(self, root: str) -> Sdk:
        """Find the SDK without loading it.

        Raises:
            Fallback: ``ruvector-sdk-missing``, ``ruvector-sdk-invalid``.
        """

    def worker_argv(self, sdk: Sdk) -> list[str]:
        """The command of a worker, which loads the SDK at once and then reads its request."""

    def room(self, size: int) -> int:
        """How many bytes a database of vectors of ``size`` bytes in all may take."""


class Hit(NamedTuple):
    """A row that a search found, and its cosine similarity to the query, 0 to 1."""

    row: int
    similarity: float


def engine(runtime: str) -> Engine:
    """The engine of a ``plugins.ruvector.runtime``.

    Raises:
        Fallback: ``ruvector-sdk-missing``: this package has none for it.
    """
    if runtime not in ENGINES:
        raise Fallback("ruvector-sdk-missing", f"no engine for the runtime {runtime}")
    return cast(Engine, importlib.import_module(ENGINES[runtime]))


def advice(runtime: str, fallback: Fallback) -> str:
    """What a person can do about a fallback under a ``plugins.ruvector.runtime``."""
    special = engine(runtime).HELP if runtime in ENGINES else {}
    return fallback.advice or special.get(fallback.word) or HELP[fallback.word]


def start_worker(engine: Engine, sdk: Sdk, root: str, timeout_ms: int) -> Child:
    """Start a worker, or take the one that waits; it loads the SDK while the caller goes on.

    Raises:
        Fallback: ``ruvector-worker-failed``: it could not be started.
    """
    waiting = _waiting.pop((sdk, root, timeout_ms), None)
    if waiting is not None:
        if waiting.is_waiting():
            return waiting
        waiting.kill()
    # What steers Node from outside, such as NODE_OPTIONS, steers no worker; Python's is told so by its -I.
    env = {name: value for name, value in os.environ.items() if not name.startswith("NODE_")}
    seconds = timeout_ms / 1000
    try:
        return Child(engine.worker_argv(sdk), cwd=root, env=env, seconds=seconds, max_output=MAX_ANSWER_BYTES)
    except OSError as error:
        raise Fallback("ruvector-worker-failed", error.strerror or str(error)) from None


def let_wait(worker: Child, sdk: Sdk, root: str, timeout_ms: int) -> None:
    """Keep a worker for the next question of a long-lived process; one waits at most, and ends itself after a while."""
    if worker.is_waiting():
        let_go()
        _waiting[sdk, root, timeout_ms] = worker


def let_go() -> None:
    """End the worker that waits, if there is one."""
    while _waiting:
        _waiting.popitem()[1].kill()


_waiting: dict[tuple[Sdk, str, int], Child] = {}
atexit.register(let_go)


def build(worker: Child, path: str, dimensions: int, vectors: list[bytes]) -> None:
    """Let a worker make a new database of these rows, numbered from 0.

    A row of zeros has no direction, and engines differ in how far they call it from a query; it is given one.

    Args:
        path: where there is no file yet.
        vectors: each ``dimensions`` little-endian float32.

    Raises:
        Fallback: the worker failed, or the database does not hold all rows.
    """
    request = {
        "operation": "build",
        "path": path,
        "dimensions": dimensions,
        "vectors": _base64(b"".join(vector if any(vector) else _direction(dimensions) for vector in vectors)),
    }
    answer = _ask(worker, request)
    if answer.get("count") != len(vectors):
        raise Fallback("ruvector-invalid-worker-output", "the database does not hold all rows")


def search(worker: Child, path: str, dimensions: int, vector: bytes, rows: int, *, stay: bool = False) -> list[Hit]:
    """Ask a worker for all rows of a database, nearest first.

    Args:
        vector: the query, ``dimensions`` little-endian float32.
        rows: how many the database must hold; each must come back.
        stay: whether the worker shall wait for another question, as those of an engine with ``STAYS`` can.

    Raises:
        Fallback: the worker failed, or its answer cannot be true.
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


def _direction(dimensions: int) -> bytes:
    """The unit vector along the first axis."""
    return b"\0\0\x80\x3f" + bytes(4 * (dimensions - 1))


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def _check_hits(hits: list[Any], rows: int) -> list[Hit]:
    found: dict[int, float] = {}
    for hit in hits:
        if not (isinstance(hit, list) and len(hit) == 2 and type(hit[0]) is int and type(hit[1]) in (int, float)):
            raise Fallback("ruvector-invalid-worker-output", "a hit is not a row and a distance")
        row, distance = hit
        if not 0 <= row < rows:
            raise Fallback("ruvector-invalid-worker-output", "a row that nobody asked about")
        if row in found:
            raise Fallback("ruvector-invalid-worker-output", "a row comes twice")
        if not -_TOLERANCE <= distance <= 2 + _TOLERANCE:  # false for NaN, and for whole numbers beyond all floats
            raise Fallback("ruvector-invalid-worker-output", "a distance that cannot be")
        found[row] = min(1.0, max(0.0, 1.0 - distance))
    if len(found) != rows:
        word = "ruvector-invalid-worker-output" if found else "ruvector-no-valid-hits"
        raise Fallback(word, f"the engine left out {rows - len(found)} of {rows} rows")
    return [Hit(row, similarity) for row, similarity in found.items()]


def _ask(worker: Child, request: dict[str, Any], *, stay: bool = False) -> dict[str, Any]:
    data = canonical.to_bytes(canonical.dumps(request) + "\n")
    if len(data) > MAX_REQUEST_BYTES:
        worker.kill()
        raise Fallback("ruvector-request-too-large", f"{len(data)} bytes")
    done = worker.ask_to_stay(data) if stay else worker.ask(data)
    if done.timed_out:
        raise Fallback("ruvector-worker-timeout")
    if done.flooded:
        raise Fallback("ruvector-invalid-worker-output", f"more than {MAX_ANSWER_BYTES} bytes")
    if done.status:
        how = f"signal {-done.status}" if done.status < 0 else f"exit status {done.status}"
        raise Fallback("ruvector-worker-failed", how)
    try:
        answer = canonical.loads(done.stdout)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise Fallback("ruvector-invalid-worker-output", "not one JSON object")
    if "error" in answer:
        word = f"ruvector-{answer['error']}"
        raise Fallback(word if word in HELP else "ruvector-worker-failed", str(answer.get("detail", ""))[:200])
    return answer
