"""The engine of ``runtime: python``: the ``ruvector`` wheel of this interpreter."""

from __future__ import annotations

import os
import sys

from testlore import canonical, libraries
from testlore.engines import Sdk
from testlore.errors import Fallback

DATABASE = "vectors.rvf"
METADATA = "vectors.json"
STAYS = True
ENDS_ALONE = True
CODE = ("engines/wheel_worker.py",)
OPENING_CHANGES = False
OF_PROJECT = False

_PREFIX, _SUFFIX = "ruvector-", ".dist-info"
_AROUND = 1 << 16
_LIFETIME_SECONDS = "300"  # ends a worker whose parent was killed; far longer than any timeoutMs
_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wheel_worker.py")


class Failure(Fallback):
    """Why this engine failed."""

    HELP = {  # noqa: RUF012
        "ruvector-sdk-missing": "Install it: pip install 'testlore-recall[ruvector]'",
        "ruvector-sdk-invalid": "Reinstall the native engine: pip install --force-reinstall --no-deps ruvector==0.1.4",
        "ruvector-native-load-failed": "The engine does not load on this machine: reinstall it, "
        "or check that the platform has a wheel (glibc 2.28 or newer on Linux).",
        "ruvector-sdk-api-mismatch": "The installed engine lacks RvfStore: pip install ruvector==0.1.4",
    }


def locate(root: str) -> Sdk:
    """The first installed ``ruvector`` package. Its digest is that of the RECORD of its wheel.

    A folder of that name in the project's root is not it.

    ``importlib.metadata`` would find it too, but importing that would double the imports of a warm recall.

    Raises:
        Fallback: ``ruvector-sdk-missing``; ``ruvector-sdk-invalid``: parts of its wheel are missing.
    """
    for entry in libraries.folders(root):
        folder = os.path.join(entry, "ruvector")
        if os.path.isdir(folder):
            return _sdk(folder)
    raise Failure("ruvector-sdk-missing", f"no package ruvector for {sys.executable}")


def _sdk(folder: str) -> Sdk:
    site = os.path.dirname(folder)
    try:
        beside, inside = os.listdir(site), os.listdir(folder)
    except OSError as error:
        raise Failure("ruvector-sdk-invalid", f"its folder cannot be read: {error.strerror}") from None
    infos = [name for name in beside if name.startswith(_PREFIX) and name.endswith(_SUFFIX)]
    if len(infos) != 1:
        raise Failure("ruvector-sdk-invalid", f"{len(infos)} descriptions of the package beside it, not one")
    path = os.path.join(site, infos[0], "RECORD")
    try:
        with open(path, "rb") as file:
            record = file.read()
    except OSError:
        raise Failure("ruvector-sdk-invalid", "its RECORD cannot be read") from None
    if not any(name.startswith("_native") for name in inside):
        raise Failure("ruvector-sdk-invalid", "its native module is missing")
    version = infos[0][len(_PREFIX) : -len(_SUFFIX)]
    return Sdk("ruvector", version, canonical.digest(record), folder, (path,))


def worker_argv(sdk: Sdk) -> list[str]:
    """This interpreter, isolated and without site-packages, with the worker script."""
    return [sys.executable, "-I", "-S", "-B", _WORKER, sdk.folder, _LIFETIME_SECONDS]


def room(size: int) -> int:
    """The size of the vectors, and 64 KiB for the rest of the file."""
    return size + _AROUND
