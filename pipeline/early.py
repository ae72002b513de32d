"""Start the native worker before the rest of the program is imported: loading the engine takes as long as that."""

from __future__ import annotations

import os
from typing import Any

from pipeline import canonical, engines, project, settings
from pipeline.errors import Fallback


def start(root: str) -> None:
    """Let a worker wait that a recall in ``root`` is likely to ask; do nothing where anything is unusual.

    Nothing is decided here: the recall reads and verifies the configuration itself, and takes the worker only if it is
    the one that it would start.
    """
    plugin = _plugin(root)
    if plugin.get("enabled") is not True or type(timeout_ms := plugin.get("timeoutMs", 10_000)) is not int:
        return
    try:
        engine = engines.engine(plugin.get("runtime", "python"))
        path = os.path.abspath(root)
        sdk = engine.locate(path)
        engines.let_wait(engines.start_worker(engine, sdk, path, timeout_ms), sdk, path, timeout_ms)
    except (Fallback, KeyError, OSError, TypeError):
        return


def _plugin(root: str) -> dict[str, Any]:
    try:
        config = canonical.loads(project.read_file(root, settings.CONFIG_FILE, settings.MAX_BYTES))
        if config.get("learning", {}).get("enabled", True) is not True:
            return {}
        plugin = config["plugins"]["ruvector"]
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return {}
    return plugin if isinstance(plugin, dict) else {}
