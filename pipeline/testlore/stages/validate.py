"""``validate``: verifies the configuration and the canonical store, and finds the episodes in scope."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

from testlore import canonical, digests
from testlore.cache import Cache
from testlore.errors import Fallback
from testlore.memory import store
from testlore.memory.store import Record, Store
from testlore.project.settings import Settings
from testlore.stages.configuration import STAMP, Stamp, read_checked

#: The file with the seals of the records that were verified, so that only new records of a store are verified.
SEALS = "validated-records.json"


class Scope(NamedTuple):
    """The verified memory of a project.

    Attributes:
        settings: the project's configuration.
        framework: the name of the project's test framework.
        store: the canonical store.
        eligible: the episodes in scope: its records of that framework, newest first.
    """

    settings: Settings
    framework: str
    store: Store
    eligible: list[Record]


def run(cache: Cache, configured: Settings, framework: str, stamp: Stamp, data: bytes) -> Scope:
    """Verify the store's bytes, and find the episodes in scope.

    Raises:
        Unusable: ``store-corrupt``.
    """
    known = canonical.digest(data) == stamp.store
    read = store.parse(data, known_valid=known, known_seals=() if known else _known_seals(cache))
    return Scope(configured, framework, read, [record for record in read.records if record["framework"] == framework])


def keep_stamp(cache: Cache, scope: Scope, stamp: Stamp) -> None:
    """Keep a stamp in the cache: the configuration and the store were verified. A stamp that is there already stays.

    A disabled plugin makes no cache. Without a stamp everything is verified again next time.
    """
    passed = Stamp(scope.settings.config_digest, scope.store.digest, digests.of("validation"))
    if scope.settings.is_native and passed != stamp:
        with contextlib.suppress(Fallback):
            if passed.store != stamp.store:
                seals = [record["integrity"] for record in scope.store.records]
                cache.write_sealed(SEALS, {"schemaVersion": 1, "checker": passed.checker, "seals": seals})
            cache.write_sealed(STAMP, {"schemaVersion": 1, **passed._asdict()})


def _known_seals(cache: Cache) -> frozenset[str]:
    """The seals of the records that today's code verified before."""
    seals = read_checked(cache, SEALS).get("seals")
    return frozenset(one for one in seals if isinstance(one, str)) if isinstance(seals, list) else frozenset()
