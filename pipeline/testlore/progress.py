"""What long work is doing, how much of it is done, and how long that has taken.

A lower room gets a :data:`Progress` as an argument, and calls it as often as it likes. A :class:`Reporter` shows what
was said last, every two seconds. Work that ends sooner is not shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable

#: Called with what is being done, how many parts of it are done, and of how many; 0 where that is not known.
Progress = Callable[[str, int, int], None]

_SECONDS = 2.0


def silent(what: str, done: int, of: int) -> None:
    """Say nothing."""


class Reporter:
    """Shows how work goes on, as a context whose value is its :data:`Progress`.

    Args:
        show: shows a line in place of the one before; called with an empty text at the end if it has shown any.
        waits: whether the work also waits for others, such as a test suite. Then a thread shows the lines; otherwise
            they are shown as work is done, which costs nothing while nothing takes long.
    """

    def __init__(self, show: Callable[[str], None], *, waits: bool) -> None:
        self._show = show
        self._waits = waits
        self._what, self._done, self._of = "", 0, 0
        self._since = time.monotonic()
        self._due = self._since + _SECONDS
        self._has_shown = False

    def __enter__(self) -> Progress:
        if self._waits:
            import threading

            self._over = threading.Event()
            self._thread = threading.Thread(target=self._tick, daemon=True)
            self._thread.start()
        return self._note

    def __exit__(self, *_: object) -> None:
        if self._waits:
            self._over.set()
            self._thread.join()
        if self._has_shown:
            self._show("")

    def _note(self, what: str, done: int, of: int) -> None:
        now = time.monotonic()
        if what != self._what:
            self._what, self._since = what, now
        self._done, self._of = done, of
        if not self._waits and now >= self._due:
            self._show_line(now)

    def _tick(self) -> None:
        while not self._over.wait(_SECONDS):
            self._show_line(time.monotonic())

    def _show_line(self, now: float) -> None:
        self._due = now + _SECONDS
        if self._what:
            self._has_shown = True
            much = f": {self._done} of {self._of}" if self._of else f": {self._done}" if self._done else ""
            self._show(f"{self._what}{much}, {now - self._since:.0f} s")
