"""The project's configuration, and the stamp that says what was verified before.

Once verified, the configuration and the store are not verified again until a byte of them changes. The derived cache
holds a sealed *stamp* with the digests of the configuration, of the store, and of the code and schemas that checked
them.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from testlore import canonical, digests, programs
from testlore.cache import Cache
from testlore.engines import Sdk, engine, pool
from testlore.errors import Fallback, Unusable
from testlore.project import settings
from testlore.project.settings import Settings

STAMP = "validated.json"


class Stamp(NamedTuple):
    """Digests of what passed every check: the configuration's bytes, the store's, and the code that checked them."""

    config: str = ""
    store: str = ""
    checker: str = ""


class Opening(NamedTuple):
    """What a recall reads of the project before its first stage.

    Attributes:
        stamp: what was verified before.
        settings: the project's configuration.
        sdk: the installed native engine, if it was located already.
    """

    stamp: Stamp
    settings: Settings
    sdk: Sdk | None = None


def read_stamp(cache: Cache) -> Stamp:
    """The sealed stamp of the last verification; empty if there is none, or other code or schemas made it."""
    value = read_checked(cache, STAMP)
    found = [one for key in Stamp._fields if isinstance(one := value.get(key), str)]
    return Stamp(*found) if len(found) == len(Stamp._fields) else Stamp()


def read_checked(cache: Cache, name: str) -> dict[str, Any]:
    """What a file of the cache says of an earlier verification by today's code and schemas; empty if there is none."""
    try:
        sealed = cache.read_sealed(name)
    except Fallback:
        return {}
    return sealed.value if sealed is not None and sealed.value.get("checker") == digests.of("validation") else {}


def open_project(root: str) -> Opening:
    """Read the stamp and the configuration.

    Raises:
        Unusable: ``configuration-invalid``.
    """
    stamp, data = read_stamp(Cache(root)), settings.read(root)
    return Opening(stamp, settings.parse(data, known_valid=canonical.digest(data) == stamp.config))


def start_early(root: str) -> Opening | None:
    """Open the project, and let a native worker load its engine while the caller imports the rest of the program.

    A worker is started only if the stamp says that this very configuration was verified, and it wants native recall.
    The recall uses this worker only if it would start the same one.

    Args:
        root: the project's root.

    Returns:
        What was read; ``None`` when something is wrong. The recall will then find the same problem, and report it.
    """
    try:
        root = os.path.abspath(root)
        opening = open_project(root)
        configured = opening.settings
        verified = opening.stamp.config == configured.config_digest
        if not (verified and configured.learning and configured.is_native):
            return opening
        if not programs.are_trusted(root, configured, *programs.RECALL):
            return opening
        native = engine(configured.runtime)
        sdk = native.locate(root)
        pool.keep(pool.start(pool.Job(native, sdk, root, configured.timeout_ms)))
        return opening._replace(sdk=sdk)
    except (Fallback, Unusable, OSError):
        return None
