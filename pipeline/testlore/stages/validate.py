"""``validate``: the configuration, the canonical store, and which of its episodes are in scope.

What was verified once, and has not changed by a byte, is not verified again: the cache holds a sealed receipt of it.
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple

from testlore import canonical, digests
from testlore.cache import VALIDATED, VALIDATED_RECORDS, Cache
from testlore.errors import Fallback
from testlore.memory import store
from testlore.memory.store import Record, Store
from testlore.project.settings import Settings


class Scope(NamedTuple):
    """The verified memory of a project.

    Attributes:
        settings: the project's configuration.
        framework: the test framework of the project.
        store: the canonical store.
        eligible: its records of that framework, newest first.
    """

    settings: Settings
    framework: str
    store: Store
    eligible: list[Record]


class Receipt(NamedTuple):
    """Digests of what passed every check: the configuration's bytes, the store's, and the code that checked them."""

    config: str = ""
    store: str = ""
    checker: str = ""


def _checker() -> str:
    return digests.of("validation")


def read_receipt(cache: Cache) -> Receipt:
    """The sealed receipt of the last verification; an empty one when there is none that today's code wrote."""
    try:
        value = cache.read_sealed(VALIDATED)
    except Fallback:
        return Receipt()
    if value is None or value.get("checker") != _checker():
        return Receipt()
    return Receipt(str(value.get("config")), str(value.get("store")), str(value["checker"]))


def run(cache: Cache, configured: Settings, framework: str, receipt: Receipt, data: bytes) -> Scope:
    """Verify the store's bytes, and find the episodes in scope.

    Args:
        framework: the name of the project's.

    Raises:
        Unusable: ``store-corrupt``.
    """
    known = canonical.digest(data) == receipt.store
    read = store.parse(data, known_valid=known, known_seals=() if known else _known_seals(cache))
    return Scope(configured, framework, read, [record for record in read.records if record["framework"] == framework])


def keep_receipt(cache: Cache, scope: Scope, receipt: Receipt) -> None:
    """Seal in the cache that configuration and store were verified, unless that very receipt is there.

    A disabled plugin makes no cache; without a receipt everything is verified again next time.
    """
    configured = scope.settings
    passed = Receipt(configured.config_digest, scope.store.digest, _checker())
    if configured.enabled and not configured.plugin_problem and passed != receipt:
        with contextlib.suppress(Fallback):
            if passed.store != receipt.store:
                seals = [record["integrity"] for record in scope.store.records]
                cache.write_sealed(VALIDATED_RECORDS, {"schemaVersion": 1, "checker": passed.checker, "seals": seals})
            cache.write_sealed(VALIDATED, {"schemaVersion": 1, **passed._asdict()})


def _known_seals(cache: Cache) -> frozenset[str]:
    """The seals of the records that today's code verified before."""
    try:
        value = cache.read_sealed(VALIDATED_RECORDS) or {}
    except Fallback:
        return frozenset()
    seals = value.get("seals") if value.get("checker") == _checker() else None
    return frozenset(seal for seal in seals if isinstance(seal, str)) if isinstance(seals, list) else frozenset()
