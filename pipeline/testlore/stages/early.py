"""Start the native worker before the rest of the program is imported: loading the engine takes as long as that."""

from __future__ import annotations

import os
from typing import Any

from testlore import canonical, engines
from testlore.cache import VALIDATED, Cache
from testlore.errors import Fallback
from testlore.project import safe_files, settings


def start(root: str) -> None:
    """Let a worker wait that a recall in ``root`` is likely to ask; do nothing where anything is unusual.

    Nothing is decided here: a receipt says that this very configuration was verified, and wants native recall; the
    recall itself sees to the rest, and takes the worker only if it is the one that it would start.
    """
    try:
        path = os.path.abspath(root)
        plugin = _verified_plugin(path)
        timeout_ms = int(plugin.get("timeoutMs", 10_000))
        engine = engines.engine(plugin.get("runtime", "python"))
        sdk = engine.locate(path)
        engines.let_wait(engines.start_worker(engine, sdk, path, timeout_ms), sdk, path, timeout_ms)
    except (Fallback, OSError, ValueError, AttributeError, KeyError, TypeError):
        return


def _verified_plugin(root: str) -> dict[str, Any]:
    """The plugin's part of the configuration.

    Raises:
        ValueError: these bytes were not verified before, or learning is disabled.
    """
    data = safe_files.read_file(root, settings.CONFIG_FILE, settings.MAX_BYTES)
    receipt = Cache(root).read_sealed(VALIDATED) or {}
    config = canonical.loads(data)
    if receipt.get("config") != canonical.digest(data) or config.get("learning", {}).get("enabled") is False:
        raise ValueError("not verified, or disabled")
    plugin: dict[str, Any] = config["plugins"]["ruvector"]
    return plugin
