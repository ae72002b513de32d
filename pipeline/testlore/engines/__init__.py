"""Native engines behind one small protocol, chosen by name.

An engine is a module that has everything in :class:`Engine`: its files in the derived cache, the SDK that it needs, and
the words that it fails with. To add one, write such a module and add its name to :data:`NAMES`.

Every native call runs in a *worker*: a child process that reads one JSON object and answers with one. A worker gets row
numbers, vectors and a path, and never a text. :mod:`testlore.engines.pool` starts and keeps workers, and
:mod:`testlore.engines.calls` asks them.
"""

from __future__ import annotations

import importlib
from typing import NamedTuple, Protocol, cast

from testlore.errors import Fallback

#: Each value of ``plugins.ruvector.runtime``, and the module of its engine.
NAMES = {"python": "testlore.engines.wheel", "node": "testlore.engines.node"}


class Sdk(NamedTuple):
    """An installed native engine.

    Attributes:
        name, version: as an answer names them.
        digest: a digest that changes whenever the installed files change.
        folder: where it is installed.
        files: files of which at least one changes when the SDK is installed again.
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
        ENDS_ALONE: whether a worker ends by itself when nobody is left to ask it, so that it needs no guard.
        CODE: the source files of ours that decide the database's bytes.
        OPENING_CHANGES: whether opening a database changes its bytes.
        OF_PROJECT: whether the SDK is part of the project's own files, so that a person must trust it.
        Failure: its subclass of :class:`~testlore.errors.Fallback`, whose ``HELP`` says what a person can do about
            ``ruvector-sdk-missing``, ``ruvector-sdk-invalid``, ``ruvector-native-load-failed`` and
            ``ruvector-sdk-api-mismatch``.
    """

    DATABASE: str
    METADATA: str
    STAYS: bool
    ENDS_ALONE: bool
    CODE: tuple[str, ...]
    OPENING_CHANGES: bool
    OF_PROJECT: bool
    Failure: type[Fallback]

    def locate(self, root: str) -> Sdk:
        """Find the SDK without loading it.

        Raises:
            Fallback: ``ruvector-sdk-missing``, ``ruvector-sdk-invalid``.
        """

    def worker_argv(self, sdk: Sdk) -> list[str]:
        """The command of a worker, which loads the SDK at once and then reads its request."""

    def room(self, size: int) -> int:
        """The most bytes that a database may take whose vectors have ``size`` bytes in all."""


def engine(runtime: str) -> Engine:
    """The engine of a ``plugins.ruvector.runtime``.

    Raises:
        Fallback: ``ruvector-invalid-settings``: there is no such engine.
    """
    if runtime not in NAMES:
        raise Fallback("ruvector-invalid-settings", f"runtime is {runtime!r}; allowed: {', '.join(NAMES)}")
    return cast(Engine, importlib.import_module(NAMES[runtime]))


def cache_files() -> list[str]:
    """The names of all engines' files in the derived cache."""
    return [name for known in map(engine, NAMES) for name in (known.DATABASE, known.METADATA)]


def failure_words() -> dict[str, str]:
    """The words that only engines use, each with the help of the first engine that has it."""
    found: dict[str, str] = {}
    for known in map(engine, NAMES):
        found = {**known.Failure.HELP, **found}
    return {word: found[word] for word in found if word not in Fallback.HELP}
