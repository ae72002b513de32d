"""Embedding providers behind one small protocol, chosen by name.

A provider is a module that has everything in :class:`Provider`. To add one, write such a module and add a line to
:data:`PROVIDERS`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol, cast

from testlore.project.settings import Settings
from testlore.ranking.bm25 import Statistics

#: ``plugins.ruvector.embedding.mode`` -> the module that provides it.
PROVIDERS = {
    "feature-vectors": "testlore.embedding.features",
    "command": "testlore.embedding.command",
}


class Provider(Protocol):
    """What an embedding provider is.

    Attributes:
        MODE: its name in an answer, ``lexical-vector`` or ``external-embedding``.
        IS_MODEL: whether its vectors come from a model, which knows more than words. Then the query is embedded in the
            same call as the episodes, an episode may be found without a shared word, and records say what found them.
    """

    MODE: str
    IS_MODEL: bool

    def identity(self, root: str, settings: Settings) -> dict[str, Any]:
        """What decides the vectors, as a value to digest. When it changes, every vector is made again."""

    def text_of(self, record: dict[str, Any]) -> str:
        """The text of an episode to embed."""

    def files(self, root: str, settings: Settings) -> list[str]:
        """The project's files whose change may change the identity."""

    def query_vector(self, root: str, settings: Settings, query: str, documents: Statistics | None = None) -> bytes:
        """One text as a unit vector: ``dimensions`` little-endian float32.

        Args:
            documents: how often each word occurs in the episodes, for a provider that weights words by it.

        Raises:
            Fallback: the provider failed, or the query has nothing to embed.
        """

    def vectors(self, root: str, settings: Settings, texts: Sequence[str], query: str | None) -> list[bytes]:
        """Each text as a unit vector, or as a zero vector if it has nothing to embed; the query's, if any, comes last.

        Raises:
            Fallback: the provider failed.
        """


def provider(settings: Settings) -> Provider:
    """The provider that the settings name."""
    return cast(Provider, importlib.import_module(PROVIDERS[settings.embedding]))
