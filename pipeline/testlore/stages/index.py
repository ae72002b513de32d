"""``index``: the native database. It is built once for a key, and reused while its bytes fit its sealed metadata."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from testlore import canonical
from testlore.cache import FOLDER, Cache, Sealed
from testlore.engines import Engine, calls, pool
from testlore.engines.calls import MAX_DATABASE_BYTES
from testlore.engines.pool import Job, Worker
from testlore.errors import Fallback
from testlore.memory import store
from testlore.project import trust
from testlore.stages.key import Key
from testlore.stages.validate import Scope


class Index(NamedTuple):
    """A native database whose bytes fit its sealed metadata.

    Attributes:
        ids: the id of each row's episode.
        data: its bytes.
        state: its file's device, inode, size and modification time when the bytes were read.
        cache: ``built`` or ``reused``.
    """

    ids: list[str]
    data: bytes
    state: tuple[int, ...]
    cache: str


def reuse(cache: Cache, engine: Engine, key: Key, dimensions: int) -> Index | None:
    """The database in the cache, if it was built for this key; else ``None``.

    Raises:
        Fallback: ``ruvector-cache-corrupt``, ``ruvector-cache-scope-mismatch``, ``ruvector-cache-unsafe``.
    """
    sealed = _metadata(cache, engine)
    metadata = sealed.value if sealed else {}
    if metadata.get("key") != key.key:
        return None
    if metadata.get("ids") != key.ids or metadata.get("dimensions") != dimensions:
        raise Fallback("ruvector-cache-scope-mismatch")
    state = file_state(cache, engine)
    data = cache.read(engine.DATABASE, MAX_DATABASE_BYTES)
    if data is not None and len(data) == metadata.get("bytes") and canonical.digest(data) == metadata.get("digest"):
        return Index(key.ids, data, state, "reused")
    if _metadata(cache, engine) != sealed:  # another process replaced the index meanwhile
        return None
    fault = "is missing" if data is None else "does not fit its sealed metadata"
    raise Fallback("ruvector-cache-corrupt", f"{engine.DATABASE} {fault}")


def _metadata(cache: Cache, engine: Engine) -> Sealed | None:
    """The metadata of this machine's index; of another machine's too where everything is trusted, as in CI."""
    return cache.read_sealed(engine.METADATA, foreign=trust.covers_everything())


def file_state(cache: Cache, engine: Engine) -> tuple[int, ...]:
    """Numbers of which one changes when another process replaces the database; empty when there is no database."""
    try:
        found = os.lstat(cache.path(engine.DATABASE))
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def run(cache: Cache, job: Job, scope: Scope, key: Key, vectors: Callable[[], list[bytes]]) -> Index:
    """Build the database of this key, one process at a time, or reuse one that another process built meanwhile.

    Args:
        vectors: returns the episodes' vectors; called only if the database is built.

    Raises:
        Fallback: the cache is corrupt, busy, unsafe or unwritable, or the worker failed.
    """
    configured = scope.settings
    worker = pool.start(job)  # it loads the engine while we wait and embed
    try:
        with cache.lock(configured.timeout_ms / 1000):
            found = reuse(cache, job.engine, key, configured.dimensions)
            if found is not None:
                return found
            if not store.is_current(job.root, scope.store):
                raise Fallback("ruvector-cache-busy", "the store changed meanwhile")
            return _build(cache, worker, configured.dimensions, key, vectors())
    finally:
        worker.child.kill()


def _build(cache: Cache, worker: Worker, dimensions: int, key: Key, rows: list[bytes]) -> Index:
    engine = worker.job.engine
    with cache.new_file(engine.DATABASE) as path:
        _check_room(path, engine.room(sum(map(len, rows))))
        calls.build(worker, os.path.relpath(path, worker.job.root), dimensions, rows)
        if not os.path.isfile(path):
            raise Fallback("ruvector-invalid-worker-output", "the engine made no database")
        with open(path, "rb") as file:
            data = file.read(MAX_DATABASE_BYTES + 1)
        if len(data) > MAX_DATABASE_BYTES:
            raise Fallback("ruvector-request-too-large", f"the database is larger than {MAX_DATABASE_BYTES} bytes")
        cache.remove(engine.METADATA)  # beside the old metadata, the new database would count as corrupt
    metadata: dict[str, Any] = {
        "schemaVersion": 1,
        "key": key.key,
        "dimensions": dimensions,
        "sdk": {"name": key.sdk.name, "version": key.sdk.version},
        "ids": key.ids,
        "bytes": len(data),
        "digest": canonical.digest(data),
    }
    cache.write_sealed(engine.METADATA, metadata)
    return Index(key.ids, data, file_state(cache, engine), "built")


def _check_room(path: str, size: int) -> None:
    """Fail with an OSError when the disk is full, since an engine would not say why it failed."""
    with open(path, "wb") as file:
        file.write(bytes(size))
        file.flush()
        os.fsync(file.fileno())
    os.unlink(path)


@contextlib.contextmanager
def opened(cache: Cache, engine: Engine, found: Index) -> Iterator[str]:
    """The path by which a worker may open the database, from its working directory, the project's root.

    If opening changes the bytes, the worker gets its own copy of the verified bytes. So the sealed file always fits its
    seal, and any number of recalls can ask at once.

    Raises:
        Fallback: ``ruvector-cache-unsafe``, ``ruvector-cache-unwritable``.
    """
    if engine.OPENING_CHANGES:
        with cache.private_copy(engine.DATABASE, found.data) as path:
            yield path
    else:
        yield f"{FOLDER}/{engine.DATABASE}"
