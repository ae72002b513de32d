"""``python -m testlore``: the ``testlore`` command of this interpreter."""

import contextlib
import os
import sys

# Python puts the working folder first. A project may have a folder named like a library that we import, and it is not
# ours to run. (The folder that this package itself stands in must stay.)
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
with contextlib.suppress(OSError):  # the working folder is gone
    if sys.path[0] == os.getcwd() and not os.path.samefile(sys.path[0], _OURS):
        del sys.path[0]

from testlore.cli import command  # noqa: E402

command()
