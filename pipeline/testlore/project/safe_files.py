"""Safe paths in the project: relative, inside the root, and without symbolic links."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

from testlore.errors import Refusal, UnsafePath, Unusable

#: A folder, as a caller gives it.
Root = str | os.PathLike[str]


def check_relative(path: str) -> None:
    """Refuse a project path that is absolute, leads upwards, or is not written in the one plain way.

    Raises:
        UnsafePath: naming the path and what is wrong with it.
    """
    if not path or path.startswith("/") or "\\" in path or "\0" in path or (len(path) > 1 and path[1] == ":"):
        raise UnsafePath(f"{path!r} is not a plain relative path")
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise UnsafePath(f"{path!r} has an empty part, '.' or '..'")
    try:
        path.encode("utf-8", "surrogateescape")  # so that a name of other bytes passes, as the system names it
    except UnicodeEncodeError:
        raise UnsafePath(f"{path!r} has half a character") from None


def safe_path(root: str, path: str) -> str:
    """A project path as an absolute path. No part of it that exists is a symbolic link.

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
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            raise UnsafePath(f"{part[:40]!r}… is too long for a file's name") from None
        if stat.S_ISLNK(mode):
            raise UnsafePath(f"{'/'.join(parts[:number])} is a symbolic link")
        if number < len(parts) and not stat.S_ISDIR(mode):
            raise UnsafePath(f"{'/'.join(parts[:number])} is not a folder")
    return os.path.join(root, *parts)


def read_file(root: str, path: str, limit: int) -> bytes:
    """The bytes of a regular file at a safe path.

    Args:
        limit: the greatest size in bytes. Of a longer file, ``limit`` + 1 bytes are returned.

    Raises:
        FileNotFoundError: there is no file.
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


def write_whole(
    path: str, data: bytes, ending: str, *, mode: int = 0o600, keep_mode: bool = False, replace: bool = True
) -> None:
    """Put a file in place. A reader, and whoever comes after a crash, finds the old one or the new one, whole.

    Args:
        path: an absolute path in a folder that exists.
        ending: how the name of the temporary file beside it ends.
        mode: its permissions, of which the process's mask takes some away.
        keep_mode: whether the permissions of an older one stay instead.
        replace: whether it may take the place of an older one.

    Raises:
        FileExistsError: there is one, and it must not be replaced.
        OSError: it cannot be written.
    """
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}{ending}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(temporary, flags, mode), "wb") as file:
            if keep_mode and os.path.isfile(path) and hasattr(os, "fchmod"):  # not on every Windows
                os.fchmod(file.fileno(), stat.S_IMODE(os.stat(path).st_mode) & 0o777)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        (os.replace if replace else os.link)(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def why_unread(path: str, error: OSError) -> str:
    """Why :func:`read_file` could not read a file, for people."""
    return str(error) if isinstance(error, UnsafePath) else f"{path} cannot be read: {error.strerror}"


@contextlib.contextmanager
def refusing(folder: str, *, unsafe: str, unwritable: str) -> Iterator[None]:
    """Refuse when the block meets an unsafe path or cannot write.

    Args:
        folder: the project path that the message names.
        unsafe, unwritable: the reasons of the refusal.

    Raises:
        Refusal: with one of these reasons.
    """
    try:
        yield
    except UnsafePath as error:
        raise Refusal(unsafe, str(error)) from None
    except OSError as error:
        raise Refusal(unwritable, f"{folder}: {error.strerror or error}") from None


def existing_folder(root: object, name: str = "root") -> str:
    """``root`` as a path, if it is an existing folder.

    Args:
        name: the argument's name in the message.

    Raises:
        Unusable: ``call-invalid``: it is no folder.
    """
    try:
        path = os.fspath(root)  # type: ignore[call-overload]
        if isinstance(path, str) and os.path.isdir(os.path.abspath(path)):
            return path
    except (TypeError, ValueError, OSError):  # OSError: the working directory does not exist any more
        pass
    raise Unusable("call-invalid", f"{name} is {root!r:.200}; allowed: an existing folder")
