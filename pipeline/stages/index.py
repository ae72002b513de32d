"""``index``: the native database, built once for a key and reused while its sealed metadata and its bytes agree."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from pipeline import canonical, engines, store
from pipeline.cache import FOLDER, Cache
from pipeline.engines import MAX_DATABASE_BYTES, Engine
from pipeline.errors import Fallback
from pipeline.stages.key import Key
from pipeline.stages.validate import Scope

_PAGE_ALLOWANCE = 1 << 16  # what a database may need beside its vectors


class Index(NamedTuple):
    """A native database whose bytes are those that its metadata was sealed with.

    Attributes:
        ids: the episode of each row.
        state: its file's device, inode, size and modification time when it was checked.
        cache: ``built`` or ``reused``.
    """

    ids: list[str]
    state: tuple[int, ...]
    cache: str


def reuse(cache: Cache, engine: Engine, key: Key, dimensions: int) -> Index | None:
    """The database in the cache if it is the one of this key; ``None`` if there is none, or one of another key.

    Raises:
        Fallback: ``ruvector-cache-corrupt``, ``ruvector-cache-scope-mismatch``, ``ruvector-cache-unsafe``.
    """
    metadata = cache.read_sealed(engine.METADATA)
    if metadata is None or metadata.get("key") != key.key:
        return None
    if metadata.get("ids") != key.ids or metadata.get("dimensions") != dimensions:
        raise Fallback("ruvector-cache-scope-mismatch")
    state = file_state(cache, engine)
    data = cache.read(engine.DATABASE, MAX_DATABASE_BYTES)
    if data is None:
        raise Fallback("ruvector-cache-corrupt", f"{engine.DATABASE} is missing")
    if len(data) != metadata.get("bytes") or canonical.digest(data) != metadata.get("digest"):
        raise Fallback("ruvector-cache-corrupt", f"{engine.DATABASE} is not what its metadata was sealed with")
    return Index(key.ids, state, "reused")


def file_state(cache: Cache, engine: Engine) -> tuple[int, ...]:
    """What changes whenever somebody else puts another database in place; empty when there is none."""
    try:
        found = os.lstat(cache.path(engine.DATABASE))
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def run(root: str, cache: Cache, engine: Engine, scope: Scope, key: Key, vectors: Callable[[], list[bytes]]) -> Index:
    """Reuse the database of this key, or build it, while nobody else builds.

    Args:
        vectors: gives the episodes' vectors; called only when there is something to build.

    Raises:
        Fallback: it is corrupt, busy, unsafe or unwritable, or the worker failed.
    """
    dimensions = scope.settings.dimensions
    found = reuse(cache, engine, key, dimensions)
    if found is not None:
        return found
    with cache.lock(scope.settings.timeout_ms / 1000):
        found = reuse(cache, engine, key, dimensions)
        if found is not None:
            return found
        if not store.is_current(root, scope.store):
            raise Fallback("ruvector-cache-busy", "the store changed meanwhile")
        cache.sweep()
        return _build(root, cache, engine, scope, key, vectors())


def _build(root: str, cache: Cache, engine: Engine, scope: Scope, key: Key, rows: list[bytes]) -> Index:
    configured = scope.settings
    with cache.new_file(engine.DATABASE) as path:
        _check_room(path, sum(map(len, rows)) + _PAGE_ALLOWANCE)
        worker = engines.start_worker(engine, key.sdk, root, configured.timeout_ms)
        engines.build(worker, os.path.relpath(path, root), configured.dimensions, rows)
        if not os.path.isfile(path):
            raise Fallback("ruvector-invalid-worker-output", "the engine made no database")
        with open(path, "rb") as file:
            data = file.read(MAX_DATABASE_BYTES + 1)
        if len(data) > MAX_DATABASE_BYTES:
            raise Fallback("ruvector-request-too-large", f"the database is larger than {MAX_DATABASE_BYTES} bytes")
        cache.remove(engine.METADATA)  # a database without metadata is no index; one with another's would be corrupt
    metadata: dict[str, Any] = {
        "schemaVersion": 1,
        "key": key.key,
        "dimensions": configured.dimensions,
        "sdk": {"name": key.sdk.name, "version": key.sdk.version},
        "ids": key.ids,
        "bytes": len(data),
        "digest": canonical.digest(data),
    }
    cache.write_sealed(engine.METADATA, metadata)
    return Index(key.ids, file_state(cache, engine), "built")


def _check_room(path: str, size: int) -> None:
    """Fail here, with a plain OSError, when the disk has no room: an engine would only say that it failed."""
    with open(path, "wb") as file:
        file.write(bytes(size))
        file.flush()
        os.fsync(file.fileno())
    os.unlink(path)


def relative(engine: Engine) -> str:
    """The database's path from the project's root, which is the worker's working directory."""
    return f"{FOLDER}/{engine.DATABASE}"
