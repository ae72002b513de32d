"""What a signal that asks a process to end does to ours: end it at once, or interrupt it, so that it can tidy up.

The first module that a command imports. So it imports as little as possible: while Python imports, an interrupt would
show a traceback.
"""

from __future__ import annotations

import os
from _signal import (  # type: ignore[import-not-found]  # the module signal takes longer
    SIG_DFL,
    SIG_IGN,
    SIGHUP,
    SIGINT,
    SIGTERM,
    getsignal,
    signal,
)

TYPE_CHECKING = False  # importing it from typing takes 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

_ENDING = (SIGINT, SIGTERM, SIGHUP)


def end_at_once() -> None:
    """Let each of these signals end this process quietly, with 128 and the signal's number.

    Its child processes end by themselves: a guard watches them, or their input ends. A signal that is ignored stays so.
    """
    _handle(lambda handler: handler != SIG_IGN, _end)


def interrupt() -> None:
    """Let each of these signals raise ``KeyboardInterrupt`` with its number, unless somebody else handles it.

    So SIGTERM and SIGHUP end a command as Ctrl-C does, which leaves no child process and no copy behind.
    """
    _handle(lambda handler: handler in (SIG_DFL, _end), _raise)


def exit_status(interruption: KeyboardInterrupt) -> int:
    """The exit status of a command that was interrupted: 128 and the signal's number."""
    number: int = interruption.args[0] if interruption.args else SIGINT
    return 128 + number


def _handle(is_ours: Callable[[object], bool], handler: Callable[[int, object], NoReturn]) -> None:
    try:
        for number in _ENDING:
            if is_ours(getsignal(number)):
                signal(number, handler)
    except ValueError:  # only the main thread may set handlers
        return


def _end(number: int, _: object) -> NoReturn:
    os._exit(128 + number)


def _raise(number: int, _: object) -> NoReturn:
    raise KeyboardInterrupt(number)
