"""The ``testlore`` command, also as ``python -m testlore``.

It is interrupted quietly from its first line on. What takes time to import is imported after that.
"""

from __future__ import annotations

import os
import sys

from testlore import signals

TYPE_CHECKING = False  # importing it from typing takes 2 ms
if TYPE_CHECKING:
    from typing import NoReturn


def command() -> NoReturn:
    """Run the command line, and end the process with its exit status."""
    signals.end_at_once()
    _forget_working_folder()
    from testlore import cli

    cli.command()


def _forget_working_folder() -> None:
    """Take the working folder off the search path, where ``python -m`` puts it first.

    A project may have a folder named like a library that we import, and it is not ours to run. (The folder that this
    package itself stands in must stay.)
    """
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        if sys.path[0] == os.getcwd() and not os.path.samefile(sys.path[0], ours):
            del sys.path[0]
    except OSError:  # the working folder is gone
        return


if __name__ == "__main__":
    command()
