"""``embed``: a unit vector for every episode in scope, and for the query.

Vectors are kept under the digests of their text and of the provider, so only new texts are embedded. The file is one
line of sealed JSON, then the vectors as little-endian float32, row after row.
"""

from __future__ import annotations

from typing import NamedTuple

from testlore.cache import Cache
from testlore.embedding import Provider
from testlore.errors import Fallback
from testlore.project import trust
from testlore.stages.key import Key
from testlore.stages.validate import Scope

EMBEDDINGS = "embeddings.f32"

_MAX_BYTES = 4 << 20


class Vectors(NamedTuple):
    """The vectors of the episodes, in the order of the key, and that of the query; ``None`` if it was not wanted."""

    rows: list[bytes]
    query: bytes | None


def read_kept(cache: Cache, key: Key, dimensions: int) -> dict[str, bytes]:
    """The kept vectors of this provider, by the digest of their text; empty when the file does not fit its seal."""
    try:
        sealed = cache.read_sealed(EMBEDDINGS, _MAX_BYTES, foreign=trust.covers_everything())
    except Fallback:
        return {}
    if sealed is None or sealed.value.get("provider") != key.provider:
        return {}
    size, names = 4 * dimensions, sealed.value.get("texts")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):  # another machine wrote it
        return {}
    if len(sealed.body) != size * len(names):
        return {}
    return {name: sealed.body[at * size : (at + 1) * size] for at, name in enumerate(names)}


def covers(kept: dict[str, bytes], key: Key) -> bool:
    """Whether every episode's vector is kept."""
    return all(name in kept for name in key.texts)


def run(root: str, cache: Cache, scope: Scope, key: Key, provider: Provider, query: str | None) -> Vectors:
    """Embed the texts without a kept vector, and the query, in one call of the provider. Keep the new vectors.

    Args:
        query: ``None`` when its vector is not wanted.

    Raises:
        Fallback: the provider failed, or the cache cannot be written.
    """
    configured = scope.settings
    kept = read_kept(cache, key, configured.dimensions)
    wanted = dict(zip(key.texts, scope.eligible, strict=True))
    missing = [name for name in wanted if name not in kept]
    texts = [provider.text_of(wanted[name]) for name in missing]
    vectors = provider.vectors(root, configured, texts, query)
    asked = vectors.pop() if query is not None else None
    kept.update(zip(missing, vectors, strict=True))
    if missing or len(kept) > len(wanted):
        _keep(cache, key, {name: kept[name] for name in wanted})
    return Vectors([kept[name] for name in key.texts], asked)


def _keep(cache: Cache, key: Key, vectors: dict[str, bytes]) -> None:
    body = b"".join(vectors.values())
    cache.write_sealed(EMBEDDINGS, {"schemaVersion": 1, "provider": key.provider, "texts": list(vectors)}, body)
