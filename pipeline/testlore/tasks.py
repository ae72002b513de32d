"""The graph for doit, on one page: validate -> key -> embed -> index -> query -> recall.

A project with a dodo.py of its own imports the tasks by ``from testlore.tasks import *``, or under other names by
``globals().update(testlore.tasks.creators(prefix="memory_"))``.

Only files that exist before a run are a ``file_dep``. When a stage fails, its task succeeds for doit and its value says
why. No seal proves such a task, so it runs again next time: a failure is never remembered. What was made is proved by
seals, not by doit's database. Without that database, the actions look at the seals and return at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testlore.doit_host import actions, configuration
from testlore.doit_host.actions import of_checkout as of_checkout
from testlore.doit_host.variables import Task as Task
from testlore.stages.configuration import STAMP
from testlore.stages.embed import EMBEDDINGS
from testlore.stages.session import Session

__all__ = ["task_embed", "task_index", "task_key", "task_query", "task_recall", "task_validate"]


def task_validate() -> Task:
    """Verify the configuration and the canonical store"""
    return {
        "actions": [actions.stage("validate", Session.validated)],
        "file_dep": actions.inputs(),
        "targets": actions.in_cache(STAMP),
        "uptodate": [actions.proved(Session.is_validated)],
    }


def task_key() -> Task:
    """Compute the key of the index: a digest of episodes, settings, SDK and code"""
    return {
        "actions": [actions.stage("key", Session.key)],
        **actions.after("validate"),
        "file_dep": actions.inputs() + actions.watched(),
        "uptodate": [actions.proved(Session.is_indexed)],
    }


def task_embed() -> Task:
    """Embed the episodes that have no vector yet"""
    return {
        "actions": [actions.stage("embed", lambda session: session.is_embedded() or session.vectors())],
        **actions.after("key"),
        "file_dep": actions.inputs() + actions.watched(),
        "targets": actions.in_cache(EMBEDDINGS),
        "uptodate": [actions.proved(Session.is_embedded)],
    }


def task_index() -> Task:
    """Bring the native index up to date; fails when an enabled one cannot be built"""
    return {
        "actions": [actions.index],
        **actions.after("embed"),
        "file_dep": actions.inputs() + actions.watched(),
        "targets": actions.index_files(),
        "uptodate": [actions.proved(Session.is_indexed)],
        "clean": [actions.clean],
    }


def task_query() -> Task:
    """Ask the native index: query="zero boundary" """
    return {
        "actions": [actions.stage("query", lambda session: session.query is None or session.hits())],
        **actions.after("index"),
        "uptodate": [False],
    }


def task_recall() -> Task:
    """Answer: query="zero boundary" [root=DIR format=table|json|prompt limit=N max_chars=N explain=1]"""
    return {"actions": [actions.recall], **actions.after("query"), "uptodate": [False], "verbosity": 2}


def creators(prefix: str = "") -> dict[str, Callable[[], Task]]:
    """The creators of the graph, for ``globals().update(...)`` in a dodo.py that has tasks of the same names.

    Args:
        prefix: the beginning of each task's name.
    """

    def renamed(create: Callable[[], Task]) -> Callable[[], Task]:
        def creator() -> Task:
            task = create()
            return {**task, **(actions.after(prefix + task["task_dep"][0]) if "task_dep" in task else {})}

        creator.__doc__ = create.__doc__
        return creator

    own = globals()
    return {f"task_{prefix}{name}": renamed(own[f"task_{name}"]) for name in actions.GRAPH}


# Further tasks. A dodo.py that wants them imports them by name.


def task_evaluate() -> Task:
    """Measure recall on a git history: repo=DIR [root=DIR format=table|json chart=FILE]"""
    return actions.command("evaluate", repo="--repo", chart="--chart")


def task_learn() -> Task:
    """Show what was rejected and what closed gaps, by file, symbol and kind of test"""
    return actions.command("learn")


def task_export() -> Task:
    """Count what is in the memory: no code, path, id, digest or time"""
    return actions.command("export")


def task_merge() -> Task:
    """Add another worktree's memory to this one's: source=DIR"""
    return actions.command("merge", source="--from")


def task_generate() -> Task:
    """Let the configured workers propose tests, and stage them: [validate=1]"""
    return actions.command("generate", validate="--validate")


def doit_config() -> dict[str, Any]:
    """The ``DOIT_CONFIG`` of a dodo.py that holds nothing but these tasks."""
    return configuration.doit_config(actions.session, default_tasks=["index"])
