"""How it is measured which functions of a project its tests run.

A measure is a module that has everything in :class:`Measure`. Each framework names the one for it; to add one, write
such a module and add its name to :data:`NAMES`.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol, cast

from testlore.evidence.junit import Case

#: The modules, by the names that frameworks give.
NAMES = {"coverage": "python_coverage", "v8": "v8_coverage", "imports": "imports"}

#: The measure for every language, which needs no measured run.
BY_IMPORTS = "imports"

#: For each source file, by whom each of its functions was run. A function without a name is the empty text.
Calls = dict[str, dict[str, set[str]]]


class Measure(Protocol):
    """A way to tell which functions tests run.

    Attributes:
        IS_RUN: whether it tells what was run, and not only what may have been.
    """

    IS_RUN: bool

    def environment(self, folder: str) -> dict[str, str]:
        """The environment variables with which a run is measured. It may write into the folder."""

    def calls(self, folder: str, copy: str, tests: Sequence[str], sources: Collection[str]) -> Calls:
        """What was run.

        Args:
            folder: where the measured run left its data.
            copy: the copy that was tested, as the run left it.
            tests: the test files of the cases that are asked about.
            sources: the files to tell of.
        """

    def runners_of(self, cases: Iterable[Case], runners: Collection[str]) -> set[str]:
        """Those of the names by whom functions were run that are names of these cases.

        Args:
            cases: the cases. One without a name stands for all cases of its file.
            runners: all names that occur.
        """


def measure(name: str) -> Measure:
    """The measure of this name. Only its module is imported."""
    return cast(Measure, importlib.import_module(f"{__name__}.{NAMES[name]}"))
