"""The project whose memory it is: safe paths, its files, what runs its tests, and its provenance."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pipeline import canonical
from pipeline.errors import UnsafePath

if TYPE_CHECKING:
    from pipeline.settings import Settings

#: Folders that are never part of a project's sources, at any depth.
IGNORED_FOLDERS = frozenset(
    ".git node_modules .tddswarm .firecrawl coverage dist build .next "
    ".venv venv __pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .tox .nox".split()
)

#: Files beside the sources that decide how tests run.
TOOL_FILES = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb"),
    *("tsconfig.json", "jest.config.js", "jest.config.ts", "vitest.config.js", "vitest.config.ts", "vite.config.ts"),
    *("pyproject.toml", "setup.cfg", "setup.py", "pytest.ini", "tox.ini", "conftest.py", "noxfile.py"),
    *("requirements.txt", "requirements-dev.txt", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"),
)

PYTHON_FRAMEWORKS = frozenset(["pytest", "unittest"])

_GIT_SECONDS = 30


class Provenance(NamedTuple):
    """What an episode was made against; each a digest (64 hex digits)."""

    fingerprint: str
    runner: str
    services_hash: str
    source_hash: str

    def to_dict(self) -> dict[str, str]:
        """As a record holds it."""
        return {
            "fingerprint": self.fingerprint,
            "runner": self.runner,
            "servicesHash": self.services_hash,
            "sourceHash": self.source_hash,
        }


def check_relative(path: str) -> None:
    """Refuse a project path that is absolute, leads upwards, or is written in more than one way.

    Raises:
        UnsafePath: naming the path and what is wrong with it.
    """
    if not path or path.startswith("/") or "\\" in path or "\0" in path or (len(path) > 1 and path[1] == ":"):
        raise UnsafePath(f"{path!r} is not a plain relative path")
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise UnsafePath(f"{path!r} has an empty part, '.' or '..'")


def safe_path(root: str, path: str) -> str:
    """The absolute form of a project path, none of whose existing parts is a symbolic link.

    Raises:
        UnsafePath: the path is not safe.
    """
    check_relative(path)
    current = root
    parts = path.split("/")
    for number, part in enumerate(parts, 1):
        current = os.path.join(current, part)
        try:
            mode = os.lstat(current).st_mode
        except FileNotFoundError:
            break
        except NotADirectoryError:
            break
        if stat.S_ISLNK(mode):
            raise UnsafePath(f"{'/'.join(parts[:number])} is a symbolic link")
        if number < len(parts) and not stat.S_ISDIR(mode):
            raise UnsafePath(f"{'/'.join(parts[:number])} is not a folder")
    return os.path.join(root, *parts)


def read_file(root: str, path: str, limit: int) -> bytes:
    """The bytes of a regular file at a safe path.

    Args:
        limit: the most bytes that are read; a longer file comes back one byte longer than that.

    Raises:
        FileNotFoundError: there is none.
        UnsafePath: the path is not safe, or is no regular file.
        OSError: it cannot be read.
    """
    absolute = safe_path(root, path)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(absolute, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnsafePath(f"{path} is a symbolic link") from None
        raise
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnsafePath(f"{path} is not a regular file")
        return file.read(limit + 1)


class Listing:
    """The listing of a project's files, begun at once and read when it is needed.

    git answers in a process of its own, so the caller can work meanwhile.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._git: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):  # without git the folders are walked
            self._git = subprocess.Popen(
                ["git", "-c", "core.fsmonitor=false", "ls-files", "-z", "-co", "--exclude-standard"],
                cwd=root,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )

    def paths(self) -> list[str]:
        """The project's file paths, relative, in UTF-16 order.

        What git tracks, or does not ignore, where git knows the folder; else every file below the root.
        """
        listed = self._from_git() or _walk(self._root)
        kept = {path for path in listed if not IGNORED_FOLDERS.intersection(path.split("/")[:-1])}
        return sorted(kept, key=_utf16)

    def close(self) -> None:
        """End git if nobody wants the answer any more."""
        if self._git is not None:
            self._git.kill()
            self._git.communicate()
            self._git = None

    def _from_git(self) -> list[str]:
        """What git lists: nothing without git, or where its rules ignore this whole project."""
        process, self._git = self._git, None
        if process is None:
            return []
        try:
            output, _ = process.communicate(timeout=_GIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return []
        if process.returncode:
            return []
        return [os.fsdecode(path) for path in output.split(b"\0") if path]


def _utf16(path: str) -> bytes:
    """A key that sorts paths as JavaScript does, by UTF-16 code units."""
    return path.encode("utf-16-be", "surrogatepass")


def _walk(root: str) -> Iterator[str]:
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            entries = list(os.scandir(os.path.join(root, prefix) if prefix else root))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in IGNORED_FOLDERS:
                    pending.append(f"{prefix}{entry.name}/")
            else:
                yield prefix + entry.name


def snapshot(root: str, listing: Listing | None = None) -> dict[str, str]:
    """The digest of every file of the project's sources.

    Returns:
        ``{path: hexadecimal SHA-256 of the bytes}``, paths in UTF-16 order, without links and what cannot be read.
    """
    digests = {}
    for path in (listing or Listing(root)).paths():
        absolute = os.path.join(root, path)
        try:
            if not stat.S_ISREG(os.lstat(absolute).st_mode):
                continue
            with open(absolute, "rb") as file:
                hasher = hashlib.sha256()
                while chunk := file.read(1 << 20):
                    hasher.update(chunk)
        except OSError:
            continue
        digests[path] = hasher.hexdigest()
    return digests


def provenance(root: str, settings: Settings, listing: Listing | None = None) -> Provenance:
    """Today's provenance of the project: digests of its sources, of what runs its tests, and of its services."""
    return provenance_of(root, settings, snapshot(root, listing))


def provenance_of(root: str, settings: Settings, files: dict[str, str]) -> Provenance:
    """The provenance of a project whose :func:`snapshot` is ``files``."""
    runner = canonical.digest(runner_identity(root, settings, files))
    return Provenance(
        fingerprint=canonical.digest({"files": files, "runner": runner, "services": settings.services}),
        runner=runner,
        services_hash=canonical.digest(settings.services),
        source_hash=canonical.digest(files),
    )


def runner_identity(root: str, settings: Settings, files: dict[str, str]) -> dict[str, object]:
    """What decides how the project's tests run, as a value to digest."""
    return {
        "runner": list(settings.runner),
        "adapter": framework(root, settings),
        "environment": settings.environment,
        "interpreter": _interpreter(root, settings),
        "platform": [sys.platform, _machine()],
        "files": {path: digest for path, digest in files.items() if path in TOOL_FILES},
    }


def _machine() -> str:
    return os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")


def _interpreter(root: str, settings: Settings) -> list[object]:
    """The program that runs the tests, by name and size: asking it for its version costs a process a call."""
    if settings.runner:
        program = settings.runner[0]
        if "/" in program:
            program = os.path.join(root, program)
    else:
        program = sys.executable if framework(root, settings) in PYTHON_FRAMEWORKS else "node"
    for folder in [""] if os.path.isabs(program) else os.get_exec_path():
        found = os.path.realpath(os.path.join(folder, program))
        if os.path.isfile(found) and os.access(found, os.X_OK):
            return [os.path.basename(found), os.path.getsize(found)]
    return [os.path.basename(program), None]


def framework(root: str, settings: Settings) -> str:
    """The test framework: the adapter if given, else told from the runner, else from the project's files."""
    if settings.adapter:
        return settings.adapter
    if settings.runner:
        return _framework_of_runner(settings.runner)
    return _framework_of_files(root)


def _framework_of_runner(runner: tuple[str, ...]) -> str:
    words = [os.path.basename(part).removesuffix(".exe").removesuffix(".js").removesuffix(".mjs") for part in runner]
    for known in ("pytest", "unittest", "vitest", "jest", "playwright"):
        if known in words:
            return known
    if words[0] == "node" and any(part == "--test" or part.startswith("--test-") for part in runner):
        return "node"
    return "custom"


def _framework_of_files(root: str) -> str:
    def has(*names: str) -> bool:
        return any(os.path.isfile(os.path.join(root, name)) for name in names)

    def mentions(name: str, word: bytes) -> bool:
        try:
            return word in read_file(root, name, 1 << 20)
        except OSError:
            return False

    for known in ("vitest", "jest", "playwright"):
        configurations = (f"{known}.config.{ending}" for ending in ("js", "ts", "mjs", "cjs", "mts", "cts", "json"))
        if has(*configurations) or mentions("package.json", f'"{known}"'.encode()):
            return known
    if has("pytest.ini", "conftest.py", "tests/conftest.py") or any(
        mentions(name, b"pytest") for name in ("pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt")
    ):
        return "pytest"
    if has("package.json"):
        return "node"
    if has("pyproject.toml", "setup.cfg", "setup.py"):
        return "unittest"
    return "custom"
