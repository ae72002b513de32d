"""Embedding providers behind one small protocol, chosen by name.

A provider is a module with the functions of :class:`Provider`. One more provider is one more module and one more line
in :data:`PROVIDERS`.
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
    """What an embedding provider can do.

    Attributes:
        MODE: how the answer names it, ``lexical-vector`` or ``external-embedding``.
        IS_MODEL: whether its vectors come from a model, which knows more than words. Then the query is embedded in the
            same call as the episodes, an episode may be found without a shared word, and records say what found them.
    """

    MODE: str
    IS_MODEL: bool

    def identity(self, root: str, settings: Settings) -> dict[str, Any]:
        """What decides the vectors, as a value to digest: when it changes, every vector is made anew."""

    def text_of(self, record: dict[str, Any]) -> str:
        """The text of an episode that is embedded."""

    def files(self, root: str, settings: Settings) -> list[str]:
        """The project's files whose change may change the identity."""

    def query_vector(self, root: str, settings: Settings, query: str, documents: Statistics | None = None) -> bytes:
        """One text as a unit vector: ``dimensions`` little-endian float32.

        Args:
            documents: what the episodes' words tell apart, for a provider that weighs words by it.

        Raises:
            Fallback: the provider cannot deliver, or the query has nothing to embed.
        """

    def vectors(self, root: str, settings: Settings, texts: Sequence[str], query: str | None) -> list[bytes]:
        """Each text as a unit vector, or a zero vector where there is nothing to embed; the query's, if any, last.

        Raises:
            Fallback: the provider cannot deliver.
        """


def provider(settings: Settings) -> Provider:
    """The provider that the settings name."""
    return cast(Provider, importlib.import_module(PROVIDERS[settings.embedding]))
