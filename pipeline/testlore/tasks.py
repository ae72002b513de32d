"""The graph for doit, on one page: validate -> key -> embed -> index -> query -> recall.

A project with a dodo.py of its own takes the tasks in with ``from testlore.tasks import *``.

Only what exists before a run is a ``file_dep``. A stage that cannot deliver succeeds for doit, and its value says why;
nothing proves it next time, so a failure is never remembered. What was made is proved by its seal, not by doit's
database: without that database the actions look at the seals and return at once.
"""

from __future__ import annotations

import atexit
import difflib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import doit
from doit.doit_cmd import DoitMain
from doit.exceptions import TaskError, TaskFailed
from doit.reporter import ConsoleReporter

from testlore import cli, doitdb, embedding, engines, stages
from testlore.cache import DOIT_DATABASE, EMBEDDINGS, VALIDATED, Cache
from testlore.commands import recall as recall_command
from testlore.errors import Fallback, Unusable
from testlore.memory import store
from testlore.project import settings
from testlore.stages import Once, Session, call, existing_folder, recall
from testlore.stages.recall import RecallResult

__all__ = ["task_embed", "task_index", "task_key", "task_query", "task_recall", "task_validate"]

_VARIABLES = (
    *("query", "root", "format", "limit", "max_chars", "explain"),
    *("repo", "chart", "source", "validate", "runtime", "sdk_root", "check"),
)
_NO_FAILURE = {"ruvector-disabled", "ruvector-empty-scope-or-query"}

Task = dict[str, Any]
Outcome = Any


def _root() -> str:
    given = doit.get_var("root")
    if given is None:
        return os.getcwd()
    return os.path.join(doit.get_initial_workdir() or os.getcwd(), given)


def _begin() -> Session:
    session = Session(existing_folder(_root()), doit.get_var("query"))
    atexit.register(session.close)  # a run may end before the engine that was started early is asked
    return session


_session = Once(_begin)


def _proved(question: Callable[[Session], bool]) -> Callable[[], bool]:
    """Ask the session whether a seal fits, as an ``uptodate`` condition."""

    def uptodate() -> bool:
        try:
            return question(_session())
        except (Fallback, Unusable):
            return False

    uptodate.__qualname__ = question.__qualname__  # what `doit info` shows
    return uptodate


def _run(stage: Callable[[Session], object]) -> Callable[[], Outcome]:
    """A stage as an action: what it cannot deliver is its value, not its failure."""

    def action() -> Outcome:
        unknown = _unknown_variables(near_misses_only=True)
        if unknown:
            return _refused(unknown)
        try:
            stage(_session())
        except (Fallback, Unusable) as failure:
            return {"reason": failure.word if isinstance(failure, Fallback) else failure.reason}
        return {"reason": None}

    return action


def _existing(*paths: str) -> list[str]:
    """Those that doit can depend on; where one cannot be read, the stage that needs it says so."""
    return [path for path in paths if os.path.isfile(path) and os.access(path, os.R_OK)]


def _inputs() -> list[str]:
    return _existing(os.path.join(_root(), settings.CONFIG_FILE), os.path.join(_root(), store.INDEX_FILE))


def _in_cache(*names: str) -> list[str]:
    """Targets in the derived cache; none where no native index is wanted, since then nothing is made there."""
    try:
        _session().engine()
        return [_session().cache.path(name) for name in names]
    except (Fallback, Unusable):
        return []


def _watched() -> list[str]:
    """The files of the SDK and of the embedding provider: when one changes, there is another key."""
    try:
        session = _session()
        sdk, configured = session.sdk(), session.settings()
        return _existing(*sdk.files, *embedding.provider(configured).files(session.root, configured))
    except (Fallback, Unusable):
        return []


def task_validate() -> Task:
    """Verify the configuration and the canonical store"""
    return {
        "actions": [_run(Session.validate)],
        "file_dep": _inputs(),
        "targets": _in_cache(VALIDATED),
        "uptodate": [_proved(Session.is_validated)],
    }


def task_key() -> Task:
    """Compute the key of all that counts: episodes, settings, SDK, code"""
    return {
        "actions": [_run(lambda session: session.key())],
        "task_dep": ["validate"],
        "file_dep": _inputs() + _watched(),
        "uptodate": [_proved(Session.is_indexed)],
    }


def task_embed() -> Task:
    """Make the vectors that are not kept yet"""
    return {
        "actions": [_run(lambda session: session.is_embedded() or session.vectors())],
        "task_dep": ["key"],
        "file_dep": _inputs() + _watched(),
        "targets": _in_cache(EMBEDDINGS),
        "uptodate": [_proved(Session.is_embedded)],
    }


def task_index() -> Task:
    """Bring the native index up to date; fails when an enabled one cannot be built"""
    return {
        "actions": [_index],
        "task_dep": ["embed"],
        "file_dep": _inputs() + _watched(),
        "targets": _database(),
        "uptodate": [_proved(Session.is_indexed)],
        "clean": [_clean],
    }


def task_query() -> Task:
    """Ask the native index: query="zero boundary" """
    return {
        "actions": [_run(lambda session: session.query is None or session.hits())],
        "task_dep": ["index"],
        "uptodate": [False],
    }


def task_recall() -> Task:
    """Answer: query="zero boundary" [root=DIR format=table|json|prompt limit=N max_chars=N explain=1]"""
    return {"actions": [_recall], "task_dep": ["query"], "uptodate": [False], "verbosity": 2}


def task_evaluate() -> Task:
    """Measure recall on a git history: repo=DIR [root=DIR format=table|json chart=FILE]; not part of a host's tasks"""
    return {"actions": [_evaluate], "uptodate": [False], "verbosity": 2}


def _evaluate() -> Outcome:
    repo, form, chart = doit.get_var("repo"), doit.get_var("format", "table"), doit.get_var("chart")
    unknown = _unknown_variables(near_misses_only=False)
    if unknown:
        return _refused(unknown)
    if repo is None:
        return _refused("repo is missing; give it as in: doit evaluate repo=DIR")
    if form not in ("table", "json"):
        return _refused(f"format is {form!r}; allowed: table, json")
    here = doit.get_initial_workdir() or os.getcwd()
    words = ["evaluate", f"--repo={os.path.join(here, repo)}", f"--root={_root()}"]
    if chart is not None:
        words.append(f"--chart={os.path.join(here, chart)}")
    return _failed(cli.main([*words, *(["--json"] if form == "json" else [])]))


def task_learn() -> Task:
    """What episodes have in common: tentative, never a rule"""
    return {"actions": [_evidence("learn")], "uptodate": [False], "verbosity": 2}


def task_export() -> Task:
    """Counts of the memory: no code, path, id, digest or time"""
    return {"actions": [_evidence("export")], "uptodate": [False], "verbosity": 2}


def task_merge() -> Task:
    """Take another worktree's memory in: source=DIR"""
    return {"actions": [_evidence("merge")], "uptodate": [False], "verbosity": 2}


def _evidence(command: str) -> Callable[[], Outcome]:
    """A command of ``testlore`` as an action."""

    def action() -> Outcome:
        form, source = doit.get_var("format", "table"), doit.get_var("source")
        wrong = _unknown_variables(near_misses_only=False)
        if form not in ("table", "json"):
            wrong = f"format is {form!r}; allowed: table, json"
        if command == "merge" and source is None:
            wrong = wrong or "source is missing; give it as in: doit merge source=../other-worktree"
        if wrong:
            return _refused(wrong)
        words = [command, f"--root={_root()}", *(["--json"] if form == "json" else [])]
        if command == "merge":
            words.append(f"--from={os.path.join(doit.get_initial_workdir() or os.getcwd(), source)}")
        return _failed(cli.main(words))

    return action


def task_generate() -> Task:
    """Let the configured workers propose tests, and stage them: [validate=1]"""
    return {"actions": [_generate], "uptodate": [False], "verbosity": 2}


def _generate() -> Outcome:
    form, validate = doit.get_var("format", "table"), doit.get_var("validate", "0")
    wrong = _unknown_variables(near_misses_only=False)
    if form not in ("table", "json"):
        wrong = f"format is {form!r}; allowed: table, json"
    if validate not in ("0", "1"):
        wrong = wrong or f"validate is {validate!r}; allowed: 1 or 0"
    if wrong:
        return _refused(wrong)
    words = ["generate", f"--root={_root()}", *(["--json"] if form == "json" else [])]
    return _failed(cli.main([*words, *(["--validate"] if validate == "1" else [])]))


def of_checkout(*argv: str, options: Sequence[str] = ()) -> Callable[[], Outcome]:
    """A Python command of the checkout that this is run from, as an action: its exit status ends doit.

    Args:
        argv: the command's arguments, as after ``python``.
        options: the variables that it takes, each as an option of that name.
    """

    def action() -> Outcome:
        unknown = _unknown_variables(near_misses_only=False)
        if unknown:
            return _refused(unknown)
        given = {name: doit.get_var(name) for name in options}
        if given.get("sdk_root") is not None:
            given["sdk_root"] = os.path.join(doit.get_initial_workdir() or os.getcwd(), given["sdk_root"])
        words = [f"--{name.replace('_', '-')}={value}" for name, value in given.items() if value is not None]
        sys.stdout.flush()
        ended = subprocess.run([sys.executable, *argv, *words], check=False)
        return _failed(ended.returncode if ended.returncode in (0, 2) else 1)

    return action


def _index() -> Outcome:
    """Build the index. When nobody asks a question, as in CI, what prevents it is a failure to be seen."""
    outcome = _run(lambda session: session.index())()
    if not isinstance(outcome, dict) or doit.get_var("query") is not None:
        return outcome
    try:
        _session().index()
    except Unusable as unusable:
        _tell(str(unusable))
        return _failed(unusable.exit_status)
    except Fallback as fallback:
        _tell(f"no native index: {fallback}")
        if fallback.word not in _NO_FAILURE:
            _tell(engines.advice(_session().settings().runtime, fallback))
            return _failed(1)
    return outcome


def _recall() -> Outcome:
    query, form = doit.get_var("query"), doit.get_var("format", "table")
    if query is None and "recall" not in sys.argv:  # a host's plain `doit` runs every task, and asked nothing
        return None
    limit = recall_command.whole_number(doit.get_var("limit", call.DEFAULT_LIMIT))
    max_chars = recall_command.whole_number(doit.get_var("max_chars", call.DEFAULT_MAX_CHARS))
    unknown = _unknown_variables(near_misses_only=False)
    if form not in call.FORMATS:
        wrong, form = f"format is {form!r}; allowed: {', '.join(call.FORMATS)}", "table"
    elif query is None:
        wrong = 'query is missing; give it as in: doit recall query="zero boundary"'
    else:
        wrong = unknown
    if wrong:
        result = recall.cut(RecallResult([], reason=f"call-invalid: {wrong}"), call.DEFAULT_MAX_CHARS)
    else:
        explain = recall_command.whole_number(doit.get_var("explain", 0))
        result = stages.answer(_root(), query, limit, max_chars, session=_session, explain=explain)
    try:
        recall_command.show(result, form, max_chars)
    except OSError as error:
        _tell(f"the answer cannot be written: {error.strerror}")
        return _failed(1)
    return _failed(result.exit_status)


def _database() -> list[str]:
    try:
        engine = _session().engine()
    except (Fallback, Unusable):
        return []
    return _in_cache(engine.DATABASE, engine.METADATA)


def _clean(dryrun: bool) -> None:
    """Remove the derived cache, and nothing else; doit itself would end with 0 whatever happens here."""
    try:
        names = Cache(existing_folder(_root())).clean(dry_run=dryrun)
    except (Fallback, Unusable, OSError) as failure:
        _tell(f"not cleaned: {failure}")
        sys.exit(failure.exit_status if isinstance(failure, Unusable) else 1)
    for name in names:
        _tell(f"{'would remove' if dryrun else 'removed'} {name}")


def _unknown_variables(*, near_misses_only: bool) -> str:
    """What is wrong with the names of the command line's variables, which doit itself does not check.

    A host project may have variables of its own, so that most tasks refuse only what looks like a slip of the pen.
    """
    for argument in sys.argv[1:]:
        name, equals, _ = argument.partition("=")
        unknown = equals and name.isidentifier() and name not in _VARIABLES
        if unknown and (not near_misses_only or difflib.get_close_matches(name, _VARIABLES)):
            return f"there is no variable {name!r}; allowed: {', '.join(_VARIABLES)}"
    return ""


def _refused(why: str) -> TaskError:
    _tell(f"call-invalid: {why}")
    return TaskError("", report=False)


def _failed(status: int) -> Outcome:
    """What an action returns to end doit with this exit status."""
    return {0: None, 1: TaskFailed("", report=False), 2: TaskError("", report=False)}[status]


def _tell(message: str) -> None:
    print(f"testlore: {message}", file=sys.__stderr__)


class Reporter(ConsoleReporter):  # type: ignore[misc]
    """doit's console reporter on standard error: standard output is the answer's."""

    def write(self, text: str) -> None:
        """Write progress where it does not mix with the answer."""
        (sys.stderr if self.outstream is sys.stdout else self.outstream).write(text)


def doit_config() -> dict[str, Any]:
    """The ``DOIT_CONFIG`` of a dodo.py that holds nothing but these tasks."""
    return {
        "backend": "sqlite3",
        "dep_file": _dep_file(),
        "default_tasks": ["index"],
        "reporter": Reporter,
        "sort": "definition",
        "verbosity": 2,
    }


def _dep_file() -> str:
    """Find doit's own database: in the project's derived cache, or in memory where none can or should be there."""
    commands = {command.get_name() for command in DoitMain.DOIT_CMDS} - {"run"}
    try:
        session = _session()
        session.engine()
        path = session.cache.path(DOIT_DATABASE)
        remembered = os.path.exists(os.path.join(_root(), store.INDEX_FILE)) and session.settings().learning
        if not remembered or "clean" in sys.argv[1:]:
            return ":memory:"
        if commands.isdisjoint(sys.argv[1:]):
            doitdb.make_room(path)
        elif not os.path.exists(path):
            return ":memory:"
        if doitdb.is_readable(path):
            return path
        _tell(f"doit's own database is unreadable, and left as it is: {DOIT_DATABASE}; `doit clean` removes it")
    except (Fallback, Unusable, OSError):
        pass
    return ":memory:"
