"""The disposable project of a proof, and the error that ends one."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from testlore.cache import FOLDER
from testlore.engines import Engine, Sdk
from testlore.evidence import Validation

REPOSITORY = Path(__file__).resolve().parent.parent


class ProofError(Exception):
    """Something does not hold, so nothing is written: neither a receipt nor an episode."""


class Project(NamedTuple):
    """The disposable project that the checks examine.

    Attributes:
        root: its folder.
        runtime, engine, sdk: the native engine that answers its recalls.
        accepted, rejected: the validations of its two candidates.
        memory: the bytes of its canonical store.
    """

    root: Path
    runtime: str
    engine: Engine
    sdk: Sdk
    accepted: Validation
    rejected: Validation
    memory: bytes

    @property
    def database(self) -> Path:
        """The native database."""
        return self.root / FOLDER / self.engine.DATABASE

    @property
    def episodes(self) -> list[str]:
        """The ids of both episodes, in the order in which a recall must return them."""
        return [self.accepted.record, self.rejected.record]
