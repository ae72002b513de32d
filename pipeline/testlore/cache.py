"""The derived cache, ``.tddswarm/learning/ruvector/``: how it is read, written, locked and removed.

No other module writes it. It may be deleted at any time. The name of each file is defined in the module that makes the
file. Another tool, TestLore, keeps its own files in the same folder; we never touch them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from testlore import canonical, libraries
from testlore.errors import Fallback, UnsafePath
from testlore.project import machine, safe_files

FOLDER = ".tddswarm/learning/ruvector"

LOCK = "testlore.lock"
_TEMPORARY = ".testlore-tmp"

_MAX_SEALED_BYTES = 1 << 20
_MARK = b',"mark":"'
_EMPTY = canonical.digest(b"")


class Sealed(NamedTuple):
    """A sealed object of the cache, and the bytes that stand after it."""

    value: dict[str, Any]
    body: bytes


class Cache:
    """The derived cache of one project. It makes its folder only when something is written.

    Args:
        root: the project's root.

    Attributes:
        has_foreign: whether a file was ignored because it has no mark of this machine.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self.has_foreign = False

    def path(self, name: str) -> str:
        """The path of our file ``name``, whether or not it exists.

        Raises:
            Fallback: ``ruvector-cache-unsafe``; ``ruvector-cache-unwritable`` when the folder may not be entered.
        """
        return self._safe(f"{FOLDER}/{name}")

    def _safe(self, path: str) -> str:
        try:
            return safe_files.safe_path(self._root, path)
        except UnsafePath as error:
            raise Fallback("ruvector-cache-unsafe", str(error)) from None
        except OSError as error:
            raise Fallback("ruvector-cache-unwritable", f"{FOLDER}: {error.strerror}") from None

    def read(self, name: str, limit: int) -> bytes | None:
        """The first ``limit`` + 1 bytes of a file, or ``None`` when there is none.

        Raises:
            Fallback: ``ruvector-cache-unsafe``; ``ruvector-cache-unwritable`` when permissions are in the way;
                ``ruvector-cache-corrupt`` when it cannot be read.
        """
        try:
            return safe_files.read_file(self._root, f"{FOLDER}/{name}", limit)
        except FileNotFoundError:
            return None
        except UnsafePath as error:
            raise Fallback("ruvector-cache-unsafe", str(error)) from None
        except PermissionError as error:
            raise Fallback("ruvector-cache-unwritable", safe_files.why_unread(name, error)) from None
        except OSError as error:
            raise Fallback("ruvector-cache-corrupt", safe_files.why_unread(name, error)) from None

    def read_sealed(self, name: str, limit: int = _MAX_SEALED_BYTES, *, foreign: bool = False) -> Sealed | None:
        """A sealed object and the bytes after it, or ``None`` when there is nothing that may be believed.

        What this machine wrote has its mark. What has none came with a clone, or from another machine's cache: anybody
        can make its seal.

        Args:
            foreign: whether to believe a seal without this machine's mark too.

        Raises:
            Fallback: ``ruvector-cache-corrupt``: neither mark nor seal fits; ``ruvector-cache-unsafe``.
        """
        data = self.read(name, limit)
        if data is None:
            return None
        head, newline, body = data.partition(b"\n")
        before, _, after = head.rpartition(_MARK)
        if before and machine.is_marked(name, before + newline + body, after[:64].decode("ascii", "replace")):
            return Sealed(canonical.loads(before + b"}"), body)  # byte for byte what this machine wrote
        try:
            value = canonical.loads(head)
        except ValueError:
            value = None
        if not canonical.is_sealed(value) or value.get("bodyDigest", _EMPTY) != canonical.digest(body):
            raise Fallback("ruvector-cache-corrupt", f"{name} does not fit its seal")
        if foreign:
            return Sealed(value, body)
        self.has_foreign = True
        return None

    def write(self, name: str, data: bytes) -> None:
        """Write a new file, and rename it to its name: a reader never sees half of it.

        Raises:
            Fallback: ``ruvector-cache-unsafe``, ``ruvector-cache-unwritable``.
        """
        with self.new_file(name) as temporary, open(temporary, "wb") as file:
            file.write(data)

    def write_sealed(self, name: str, value: dict[str, Any], body: bytes = b"") -> None:
        """Seal and mark an object, and :meth:`write` it as a line of compact JSON, with bytes after it.

        Args:
            body: what the object describes; its digest becomes part of the object.
        """
        described = {**value, "bodyDigest": canonical.digest(body)} if body else value
        text = canonical.to_bytes(canonical.dumps(described))
        mark = machine.mark(name, text.removesuffix(b"}") + b"\n" + body)
        sealed = canonical.seal({**described, "mark": mark} if mark else described)
        self.write(name, canonical.to_bytes(canonical.dumps(sealed)) + b"\n" + body)

    @contextlib.contextmanager
    def new_file(self, name: str) -> Iterator[str]:
        """A path for a new file. It replaces the file ``name`` if the block ends without an exception.

        Raises:
            Fallback: ``ruvector-cache-unsafe``, ``ruvector-cache-unwritable``.
        """
        final = self.path(name)
        with self._temporary_folder(name) as folder:
            temporary = os.path.join(folder, name)
            with self._writing():
                yield temporary
                with open(temporary, "rb") as file:
                    os.fsync(file.fileno())
                os.replace(temporary, final)

    @contextlib.contextmanager
    def private_copy(self, name: str, data: bytes) -> Iterator[str]:
        """The path of a private file with these bytes, which is removed when the block ends.

        It is made in the cache. If that cannot be written, such as one that was restored read-only, it is made in the
        system's folder of temporary files. What a killed process left is removed by the next one.

        Raises:
            Fallback: ``ruvector-cache-unsafe``, ``ruvector-cache-unwritable``.
        """
        with contextlib.ExitStack() as held:
            try:
                folder = held.enter_context(self._temporary_folder(name))
            except Fallback as fallback:
                if fallback.word != "ruvector-cache-unwritable":
                    raise
                from testlore.project import temporary

                with self._writing():
                    folder = held.enter_context(temporary.in_system())
            path = os.path.join(folder, name)
            with self._writing(), open(path, "wb") as file:
                file.write(data)
            yield path

    @contextlib.contextmanager
    def _temporary_folder(self, name: str) -> Iterator[str]:
        """A new folder in the cache, removed at the end; what killed writers left there is removed first."""
        from testlore.project import temporary

        final = self.path(name)
        within = os.path.dirname(final)
        with self._writing():
            os.makedirs(within, exist_ok=True)
            temporary.sweep(within, lambda left: left.endswith(_TEMPORARY), _remove_folder)
            folder = temporary.make(lambda: f"{final}.{os.getpid()}-{os.urandom(4).hex()}{_TEMPORARY}")
        try:
            yield folder.path
        finally:
            _remove_folder(folder.path)
            folder.release()

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with self._writing(), contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(name))

    @contextlib.contextmanager
    def lock(self, seconds: float) -> Iterator[None]:
        """Hold the cache's lock, as every process that builds an index does.

        Raises:
            Fallback: ``ruvector-cache-busy`` when another process holds it longer than ``seconds``;
                ``ruvector-cache-unsafe``, ``ruvector-cache-unwritable``.
        """
        with libraries.installed():
            import filelock

        path = self.path(LOCK)
        with self._writing():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            lock = filelock.FileLock(path, timeout=seconds)
            try:
                lock.acquire()
            except filelock.Timeout:
                raise Fallback("ruvector-cache-busy") from None
        try:
            yield
        finally:
            lock.release()

    def clean(self, ours: Collection[str], *, dry_run: bool = False) -> list[str]:
        """Remove what is ours in the folder, and the folder when nothing else is left in it.

        Args:
            ours: the names of our files. A name that begins with one of them and a hyphen is ours too: a database's
                journal has such a name.
            dry_run: whether to only return the names.

        Returns:
            The names that were removed, or would be.

        Raises:
            Fallback: ``ruvector-cache-unsafe``: the folder is a link or no folder, so nothing in it is ours.
            OSError: something could not be removed.
        """
        folder = self._safe(FOLDER)

        def is_ours(name: str) -> bool:
            return name == LOCK or name.endswith(_TEMPORARY) or any(f"{name}-".startswith(f"{one}-") for one in ours)

        try:
            names = sorted(name for name in os.listdir(folder) if is_ours(name))
        except FileNotFoundError:
            return []
        except NotADirectoryError:
            raise Fallback("ruvector-cache-unsafe", f"{FOLDER} is not a folder") from None
        if not dry_run:
            for name in names:
                with contextlib.suppress(FileNotFoundError):  # another process may clean at the same time
                    _remove(os.path.join(folder, name))
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        return names

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except UnsafePath as error:
            raise Fallback("ruvector-cache-unsafe", str(error)) from None
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise Fallback("ruvector-cache-unsafe", f"{FOLDER} is not a folder") from None
        except OSError as error:
            raise Fallback("ruvector-cache-unwritable", error.strerror or str(error)) from None


def _remove(path: str) -> None:
    """Remove a file, a folder with everything in it, or a link but not what it leads to."""
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil

        shutil.rmtree(path)
    else:
        os.unlink(path)


def _remove_folder(folder: str) -> None:
    """Remove one of our temporary folders. They hold only files."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            os.unlink(entry.path)
        os.rmdir(folder)
