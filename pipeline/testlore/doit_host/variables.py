"""The variables of doit's command line, and the values by which an action ends doit."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import doit
from doit.exceptions import TaskError, TaskFailed

from testlore.commands import output

#: Every variable of our tasks, and of the tasks in this repository's own dodo.py.
VARIABLES = (
    *("query", "root", "format", "limit", "max_chars", "explain"),
    *("repo", "chart", "source", "validate", "runtime", "sdk_root", "check"),
)

Task = dict[str, Any]
ActionResult = Any


def root() -> str:
    """The project's root: the variable ``root``, relative to where doit was called; by default the current folder."""
    given = doit.get_var("root")
    return os.getcwd() if given is None else from_here(given)


def from_here(path: str) -> str:
    """A path of the command line, which is relative to the folder in which doit was called."""
    return os.path.join(doit.get_initial_workdir() or os.getcwd(), path)


def problem(required: Sequence[str] = (), *, near_misses_only: bool = False) -> str:
    """What is wrong with the variables of the command line, or empty. doit itself does not check their names.

    Args:
        required: the variables that must be given.
        near_misses_only: whether to refuse only unknown names that look like typing errors. A host project may have
            variables of its own.
    """
    for argument in sys.argv[1:]:
        name, equals, _ = argument.partition("=")
        unknown = equals and name.isidentifier() and name not in VARIABLES
        if unknown and (not near_misses_only or _is_near(name)):
            return f"there is no variable {name!r}; allowed: {', '.join(VARIABLES)}"
    for name in required:
        if doit.get_var(name) is None:
            return f"{name} is missing; give it as in: {_EXAMPLES[name]}"
    return ""


def _is_near(name: str) -> bool:
    import difflib  # imported here, since a call with known variables does not need it

    return bool(difflib.get_close_matches(name, VARIABLES))


_EXAMPLES = {
    "query": 'doit recall query="zero boundary"',
    "repo": "doit evaluate repo=DIR",
    "source": "doit merge source=../other-worktree",
}


def refused(why: str) -> TaskError:
    """The value of an action whose call is wrong. doit then ends with 2."""
    output.tell(f"call-invalid: {why}")
    return TaskError("", report=False)


def ended(status: int) -> ActionResult:
    """The value of an action that ends doit with this exit status. Any status but 0 and 2 becomes 1."""
    return {0: None, 2: TaskError("", report=False)}.get(status, TaskFailed("", report=False))
