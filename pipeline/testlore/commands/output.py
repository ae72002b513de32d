"""The one module that prints: answers to standard output, and everything else to standard error.

It uses the streams with which Python was started, since doit replaces ``sys.stdout`` while a task runs.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import TextIO

from testlore.progress import Reporter

#: The ``errno`` of each error that means: the answer could not be written.
ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})

#: How many digits of an id people are shown.
SHORT_ID = 12

#: The styles of :func:`paint`, and their numbers in a terminal's escape sequences.
STYLES = {"green": 32, "red": 31, "dim": 2}

_BAR_COLUMNS = 40
_COLUMNS = 80  # where standard output is no terminal
_FEWEST_COLUMNS = 40


def write(text: str) -> None:
    """Write an answer to standard output, in UTF-8 whatever the locale is.

    Raises:
        OSError: it cannot be written: standard output is closed, the disk is full, or nobody reads the pipe.
    """
    stream = sys.__stdout__
    if stream is None or stream.closed:
        raise OSError(errno.EBADF, "standard output is closed")
    stream.flush()
    stream.buffer.write(text.encode("utf-8", "replace"))
    stream.buffer.flush()


def tell(message: str) -> None:
    """Write a message to standard error, after the program's name."""
    warn(f"testlore: {message}")


def warn(text: str) -> None:
    """Write lines to standard error, without control characters.

    It never raises, since an answer must not fail because a warning cannot be written.
    """
    from testlore.commands.renderers.terminal import printable

    write_error(f"{printable(text)}\n")


def progress(done: int, of: int) -> None:
    """Show on standard error how much is done: as a bar on a terminal, elsewhere as a line after every tenth."""
    if _is_terminal(sys.__stderr__):
        bar = "#" * (done * _BAR_COLUMNS // of)
        write_error(f"\r[{bar:<{_BAR_COLUMNS}}] {done}/{of}" + ("\n" if done == of else ""))
    elif done * 10 // of > (done - 1) * 10 // of:
        write_error(f"{done}/{of}\n")


def working(*, waits: bool = False) -> Reporter:
    """Shows on standard error how work goes on that takes long: on a terminal one line, elsewhere a line each time.

    Args:
        waits: as in :class:`~testlore.progress.Reporter`.
    """
    return Reporter(_show_work, waits=waits)


def _show_work(line: str) -> None:
    if _is_terminal(sys.__stderr__):
        write_error(f"\r{line}\x1b[K")
    elif line:
        tell(line)


def flush() -> None:
    """Write what standard output has buffered.

    Raises:
        OSError: as in :func:`write`.
    """
    if sys.__stdout__ is not None and not sys.__stdout__.closed:
        sys.__stdout__.flush()


def discard() -> None:
    """Throw away what standard output has buffered. Otherwise Python would try to write it at exit, and fail."""
    if sys.__stdout__ is not None and not sys.__stdout__.closed:
        _discard(sys.__stdout__)


def write_error(text: str) -> None:
    """Write text to standard error as it is. Like :func:`warn`, it never raises."""
    stream = sys.__stderr__  # it escapes the characters that its encoding lacks
    if stream is None or stream.closed:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        _discard(stream)


def _discard(stream: TextIO) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def columns() -> int:
    """How wide a table may be: as wide as the terminal, or 80 columns elsewhere."""
    if not _is_terminal(sys.__stdout__):
        return _COLUMNS
    import shutil

    return max(shutil.get_terminal_size((_COLUMNS, 0)).columns, _FEWEST_COLUMNS)


def paint(text: str, style: str) -> str:
    """``text`` in a style for standard output; as it is where that is no terminal, or its user wants no colours.

    Args:
        style: a key of :data:`STYLES`.
    """
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if text and _has_colors() else text


def _has_colors() -> bool:
    """See https://no-color.org."""
    return _is_terminal(sys.__stdout__) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
