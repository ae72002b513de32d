"""The actions of our tasks, and the session that they share in a run of doit."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import doit

from testlore.commands import explained, formats, output
from testlore.commands.recall import show
from testlore.doit_host import variables
from testlore.doit_host.variables import ActionResult, Task
from testlore.errors import Fallback, Unusable
from testlore.memory import store
from testlore.project import settings
from testlore.project.safe_files import existing_folder
from testlore.stages import call
from testlore.stages.answer import RecallResult
from testlore.stages.ask import ask
from testlore.stages.clean import clean as clean_cache
from testlore.stages.once import Once
from testlore.stages.session import Session

#: The tasks of the graph, in their order.
GRAPH = ("validate", "key", "embed", "index", "query", "recall")

_BEFORE = "before"  # the argument by which an action gets the values of the task before it
_OURS = "testlore"  # the key in a task's values by which we know that it is ours
_NO_FAILURE = {"ruvector-disabled", "ruvector-empty-scope-or-query"}
_DEFAULTS = {"limit": call.DEFAULT_LIMIT, "max_chars": call.DEFAULT_MAX_CHARS, "explain": 0}


def _begin() -> Session:
    """The session of this run of doit.

    Raises:
        Unusable: ``call-invalid``: a wrong call is refused before anything is started.
    """
    query = doit.get_var("query")
    wrong = variables.problem(near_misses_only=query is None)
    if wrong:
        raise Unusable("call-invalid", wrong)
    if query is not None:
        _asked()
    begun = Session(existing_folder(variables.root()), query)
    atexit.register(begun.close)  # a run may end before it asks the engine that was started early
    return begun


session = Once(_begin)


def _asked() -> call.Call:
    """The call of the command line, checked.

    Raises:
        Unusable: ``call-invalid``.
    """
    formats.get(doit.get_var("format", formats.DEFAULT))
    numbers = (call.number(doit.get_var(name, default)) for name, default in _DEFAULTS.items())
    return call.check(doit.get_var("query"), *numbers)


def after(name: str) -> Task:
    """The keys that order a task after another one, and pass the other one's values to its action."""
    return {"task_dep": [name], "getargs": {_BEFORE: (name, None)}}


def stage(name: str, work: Callable[[Session], object]) -> Callable[..., ActionResult]:
    """A stage as an action. When the stage fails, the action succeeds and its value says why."""

    def action(before: Mapping[str, Any] | None = None) -> ActionResult:
        wrong = variables.problem(near_misses_only=True) or _foreign(name, before)
        if wrong:
            return variables.refused(wrong)
        reason = None
        try:
            work(session())
        except (Fallback, Unusable) as failure:
            reason = failure.word if isinstance(failure, Fallback) else failure.reason
        return {_OURS: name, "reason": reason}

    return action


def _foreign(name: str, before: Mapping[str, Any] | None) -> str:
    """The message when a host's own task has replaced the one before this; empty when it has not."""
    if name == GRAPH[0] or (before or {}).get(_OURS):
        return ""
    replaced = GRAPH[GRAPH.index(name) - 1]
    return (
        f"the task {replaced!r} of this dodo.py is not testlore's; rename it, "
        'or take the graph in by globals().update(testlore.tasks.creators(prefix="memory_"))'
    )


def proved(question: Callable[[Session], bool]) -> Callable[[], bool]:
    """Ask the session whether a seal fits, as an ``uptodate`` condition."""

    def uptodate() -> bool:
        try:
            return question(session())
        except (Fallback, Unusable):
            return False

    uptodate.__qualname__ = question.__qualname__  # what `doit info` shows
    return uptodate


def _existing(*paths: str) -> list[str]:
    """Those of these files that doit can depend on. If one cannot be read, the stage that needs it reports it."""
    return [path for path in paths if os.path.isfile(path) and os.access(path, os.R_OK)]


def inputs() -> list[str]:
    """The files that every stage depends on: the configuration and the canonical store, if they exist."""
    root = variables.root()
    return _existing(os.path.join(root, settings.CONFIG_FILE), os.path.join(root, store.INDEX_FILE))


def in_cache(*names: str) -> list[str]:
    """Targets in the derived cache; none if no native index is wanted, since nothing is made there then."""
    try:
        session().engine()
        return [session().cache.path(name) for name in names]
    except (Fallback, Unusable):
        return []


def index_files() -> list[str]:
    """The two files of the native database, as targets."""
    try:
        engine = session().engine()
    except (Fallback, Unusable):
        return []
    return in_cache(engine.DATABASE, engine.METADATA)


def watched() -> list[str]:
    """The files of the SDK and of the embedding provider. A change in one may change the key."""
    try:
        begun = session()
        return _existing(*begun.sdk().files, *begun.provider().files(begun.root, begun.settings()))
    except (Fallback, Unusable):
        return []


def index(before: Mapping[str, Any] | None = None) -> ActionResult:
    """Build the index. Without a question, as in CI, the action fails when the index cannot be built."""
    outcome = stage("index", Session.index)(before)
    if not isinstance(outcome, dict) or doit.get_var("query") is not None:
        return outcome
    try:
        session().index()
    except Unusable as unusable:
        output.warn(explained(str(unusable), unusable.advice))
        return variables.ended(unusable.exit_status) or outcome
    except Fallback as fallback:
        problem = f"no native index: {fallback}"
        if fallback.word not in _NO_FAILURE:
            output.warn(explained(problem, fallback.advice))
            return variables.ended(1)
        output.tell(problem)
    return outcome


def clean(dryrun: bool) -> None:
    """Remove the derived cache, and nothing else. It ends the process when that fails; doit would end with 0."""
    try:
        names = clean_cache(variables.root(), dry_run=dryrun)
    except (Fallback, Unusable) as failure:
        output.warn(explained(f"not cleaned: {failure}", failure.advice))
        sys.exit(failure.exit_status if isinstance(failure, Unusable) else 1)
    except OSError as error:
        output.tell(f"not cleaned: {error}")
        sys.exit(1)
    for name in names:
        output.tell(f"{'would remove' if dryrun else 'removed'} {name}")


def recall(task: Any, before: Mapping[str, Any] | None = None) -> ActionResult:
    """Answer the question, and print the answer."""
    if doit.get_var("query") is None and task.name not in sys.argv:
        return None  # a host's plain `doit` runs every task without asking a question
    wrong = variables.problem(["query"]) or _foreign("recall", before)
    form, budget = doit.get_var("format", formats.DEFAULT), call.DEFAULT_MAX_CHARS
    try:
        if wrong:
            raise Unusable("call-invalid", wrong)
        asked = _asked()
        budget = asked.max_chars
        result = ask(variables.root(), *asked[:3], explain=asked.explain, session=session)
    except Unusable as unusable:
        result = RecallResult([], reason=str(unusable))
    try:
        show(result, form if form in formats.FORMATS else formats.DEFAULT, budget)
    except OSError as error:
        output.tell(f"the answer cannot be written: {error.strerror}")
        return variables.ended(1)
    return variables.ended(result.exit_status)


def command(name: str, **options: str) -> Task:
    """A command of ``testlore`` as a task.

    Args:
        options: the variables that the task takes, and the command's option for each.
    """

    def action() -> ActionResult:
        from testlore import cli

        required = [variable for variable in options if variable in ("repo", "source")]
        form, validate = doit.get_var("format", "table"), doit.get_var("validate", "0")
        wrong = variables.problem(required)
        if form not in ("table", "json"):
            wrong = wrong or f"format is {form!r}; allowed: table, json"
        if validate not in ("0", "1"):
            wrong = wrong or f"validate is {validate!r}; allowed: 1 or 0"
        if wrong:
            return variables.refused(wrong)
        argv = [name, f"--root={variables.root()}", *(["--json"] if form == "json" else [])]
        for variable, option in options.items():
            value = doit.get_var(variable)
            if variable == "validate":
                argv += [option] if value == "1" else []
            elif value is not None:
                argv.append(f"{option}={variables.from_here(value)}")
        return variables.ended(cli.main(argv))

    return {"actions": [action], "uptodate": [False], "verbosity": 2}


def of_checkout(*argv: str, options: Sequence[str] = ()) -> Callable[[], ActionResult]:
    """A Python command in this repository as an action. Its exit status ends doit.

    Args:
        argv: the command, as after ``python``.
        options: the variables that the task takes. Each is passed on as the option of that name.
    """

    def action() -> ActionResult:
        wrong = variables.problem()
        if wrong:
            return variables.refused(wrong)
        given = {name: doit.get_var(name) for name in options}
        if given.get("sdk_root") is not None:
            given["sdk_root"] = variables.from_here(given["sdk_root"])
        words = [f"--{name.replace('_', '-')}={value}" for name, value in given.items() if value is not None]
        output.flush()
        done = subprocess.run([sys.executable, *argv, *words], check=False)
        return variables.ended(done.returncode if done.returncode in (0, 2) else 1)

    return action
