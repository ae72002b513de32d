"""What a stand-in for an engine's SDK is: the real SDK behind a module that a fault can change.

One more engine brings one more class, with its faults in tables; the contract in ``engines/`` then runs over it too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, NamedTuple

from helpers import Project

FAILED = "ruvector-worker-failed"
INVALID = "ruvector-invalid-worker-output"
NOT_LOADED = "ruvector-native-load-failed"
NOT_THE_API = "ruvector-sdk-api-mismatch"
NOTHING_FOUND = "ruvector-no-valid-hits"
CORRUPT = "ruvector-cache-corrupt"


class Fault(NamedTuple):
    """What an SDK does wrong.

    Attributes:
        code: in the engine's language; it runs when the SDK is loaded.
        word: what recall then says.
    """

    code: str
    word: str


class StandIn(ABC):
    """An SDK that does what the real one does until it is broken.

    A fault changes no digest of the SDK, and so no key of an index.

    Args:
        fault: the file whose code runs when the SDK is loaded.

    Attributes:
        RUNTIME: the engine's ``plugins.ruvector.runtime``.
        LOADING: faults while the SDK is loaded, by name.
        SEARCHING: faults of one search; their code changes ``found``, which is what the real engine found.
        BUILDING: faults while an index is built.
        SEALED: the words for what stands in place of the database while the metadata fits it: ``half`` of it,
            ``nothing``, or ``garbage``.
        SHORT_MS: a time limit within which a whole engine still answers.
    """

    RUNTIME: ClassVar[str]
    LOADING: ClassVar[dict[str, Fault]]
    SEARCHING: ClassVar[dict[str, Fault]]
    BUILDING: ClassVar[dict[str, Fault]]
    SEALED: ClassVar[dict[str, str]]
    SHORT_MS: ClassVar[int]

    def __init__(self, fault: Path) -> None:
        self._fault = fault

    @abstractmethod
    def project(self, root: Path) -> Project:
        """A fresh copy of the small project that is answered by this stand-in."""

    @abstractmethod
    def answering(self, project: Project) -> Project:
        """The same project, answered by this stand-in."""

    @staticmethod
    @abstractmethod
    def in_search(code: str) -> str:
        """The code of a fault of the search alone."""

    @staticmethod
    @abstractmethod
    def hanging(pids: Path, where: str) -> str:
        """The code of an engine that starts a child and hangs, deaf to SIGTERM.

        Args:
            pids: where it writes its process id and that of its child.
            where: ``load``, ``build`` or ``search``.
        """

    @staticmethod
    @abstractmethod
    def leaving_a_child(pids: Path) -> str:
        """The code of an engine that works, while a child of it holds its output open."""

    def break_with(self, code: str) -> None:
        self._fault.write_text(code)

    def mend(self) -> None:
        self._fault.unlink()
