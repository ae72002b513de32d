"""``key``: the cache key, a digest of everything that decides the native database."""

from __future__ import annotations

from typing import NamedTuple

from testlore import canonical, digests
from testlore.embedding import Provider
from testlore.engines import Engine, Sdk
from testlore.errors import Fallback
from testlore.stages.validate import Scope

_FORMAT = 1


class Key(NamedTuple):
    """The cache key and what went into it.

    Attributes:
        key: 64 hex digits.
        ids: the eligible episodes, in the order of the database's rows.
        texts: the digest of each one's text.
        provider: the digest of the embedding provider's identity, the dimensions, and the code that finds words.
        sdk: the native engine.
    """

    key: str
    ids: list[str]
    texts: list[str]
    provider: str
    sdk: Sdk


def run(root: str, scope: Scope, texts: list[str], provider: Provider, engine: Engine, sdk: Sdk) -> Key:
    """Compute the key for today's episodes, settings and SDK.

    Args:
        texts: the digest of what decides each eligible episode's terms and vector.

    Raises:
        Fallback: ``ruvector-empty-scope-or-query``: no episode is in scope.
    """
    if not scope.eligible:
        raise Fallback("ruvector-empty-scope-or-query", f"no episode of the framework {scope.framework}")
    configured = scope.settings
    embedded_by = canonical.digest(
        {
            "dimensions": configured.dimensions,
            "identity": provider.identity(root, configured),
            "words": digests.of("words"),
        }
    )
    ids = [record["id"] for record in scope.eligible]
    key = canonical.digest(
        {
            "format": _FORMAT,
            "framework": scope.framework,
            "provider": embedded_by,
            "sdk": [sdk.name, sdk.version, sdk.digest],
            "code": digests.of("index", *engine.CODE),
            "episodes": list(zip(ids, texts, strict=True)),
        }
    )
    return Key(key, ids, texts, embedded_by, sdk)
