"""``generate``: an architect, up to twelve authors and an independent reviewer propose tests. They are staged.

::

    requirements, context, memory -> architect -> authors -> reviewer -> candidate
                                     (memory)     (memory)   (no memory)

The memory advises the architect and the authors. The reviewer does not see it, and it never decides what is accepted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

from testlore import canonical, evidence, frameworks, programs
from testlore.agents import context
from testlore.agents.context import Context
from testlore.agents.worker import Transcript, Workers
from testlore.errors import Refusal, Unusable
from testlore.evidence import patch
from testlore.frameworks import Framework
from testlore.project import provenance, settings
from testlore.project.settings import Settings
from testlore.stages.answer import GENERAL_WARNING
from testlore.stages.ask import ask
from testlore.stages.call import MAX_QUERY_CHARACTERS

AUTHORS_AT_A_TIME = 3
MAX_FILES = 50
MAX_FILE_BYTES = 128 << 10

_ARCHITECT = {"limit": 5, "max_chars": 12_000}
_AUTHOR = {"limit": 3, "max_chars": 8_000}

#: The message when no agent is configured.
ASK_FOR_AGENT = (
    f"agent in {settings.CONFIG_FILE} is missing; allowed: the arguments of a command that reads a request from "
    'standard input and writes its answer to standard output, such as ["python3", "tools/worker.py"]'
)

Json = dict[str, Any]
Tell = Callable[[str], None]


class Order(NamedTuple):
    """What a generation starts with.

    Attributes:
        settings: the project's configuration.
        provenance: the project's provenance before any worker is asked.
        requirements: the text from which tests are derived.
        context: the files of the project that workers get to see.
        learning: the memory's answer for the architect.
    """

    settings: Settings
    provenance: dict[str, str]
    requirements: str
    context: Context
    learning: Json

    def work_order(self) -> Json:
        """The architect's request."""
        return request("architect", {**self.shared(), "learning": self.learning})

    def shared(self) -> Json:
        """The keys that every request has."""
        return {"requirements": self.requirements, "context": self.context.files}


class Task(NamedTuple):
    """A task that the architect set, and its author's result.

    Attributes:
        subject: the file of the context that the task is about.
        files: the paths of the tests that its author proposed.
        learning: the memory's answer for its author.
    """

    subject: str
    files: list[str]
    learning: Json


class Generation(NamedTuple):
    """A generation whose candidate is staged.

    Attributes:
        id: the candidate's id.
        tasks: the architect's tasks, in its order.
        review: the reviewer's ``accepted``, ``findings`` and ``oracle``.
        order: what it started with.
    """

    id: str
    tasks: list[Task]
    review: Json
    order: Order


def request(role: str, body: Json) -> Json:
    """A request, as ``schemas/agent-request.schema.json`` describes it."""
    return {"schemaVersion": 1, "role": role, **body}


def prepare(root: str) -> Order:
    """Take the project's provenance, and collect what workers need to know.

    Raises:
        Refusal: ``requirements-missing``, ``context-missing``.
        Unusable: ``configuration-invalid``.
    """
    configured = settings.parse(settings.read(root))
    before = provenance.take(root, configured, frameworks.of_project(root, configured)).to_dict()
    requirements = context.requirements(root)
    shown = context.collect(root, requirements)
    subjects = " ".join(one["file"] for one in shown.files)
    return Order(configured, before, requirements, shown, recall_about(root, requirements, subjects, **_ARCHITECT))


def run(root: str, order: Order, tell: Tell) -> Generation:
    """Ask the workers, and stage what they propose.

    Args:
        order: what :func:`prepare` returned.
        tell: called with a line of progress for each request.

    Raises:
        Refusal: no agent is configured, a worker failed or gave a wrong answer, or the project has changed since
            :func:`prepare`. The text names the role, the field and the rule, and the folder with the answers.
        Unusable: ``configuration-invalid``.
    """
    if not order.settings.agent:
        raise Refusal("agent-missing", ASK_FOR_AGENT)
    programs.require_trust(root, order.settings, "agent")
    transcript = Transcript(root)
    workers = Workers(root, order.settings.agent, transcript)
    try:
        made = _generate(root, order, workers, tell)
    except (Refusal, Unusable) as failure:
        where = f"; what was produced so far is kept in {transcript.folder}" if transcript.used else ""
        raise type(failure)(failure.reason, f"{failure.detail}{where}") from None
    transcript.remove()
    return made


def _generate(root: str, order: Order, workers: Workers, tell: Tell) -> Generation:
    tell(f"architect: {len(order.context.files)} files, {_recalled(order.learning)}")
    tasks = workers.ask("architect", order.work_order())["tasks"]
    shown = {one["file"] for one in order.context.files}
    for position, task in enumerate(tasks):
        if task["subject"] not in shown:
            raise _wrong("architect", f"tasks[{position}].subject is {task['subject']!r}", "a file of the context")
    done = _ask_authors(root, order, workers, tasks, tell)
    files = list(itertools.chain.from_iterable(files for files, _ in done))
    _check_together(done)
    tell(f"reviewer: {len(files)} test files")
    answer = workers.ask("reviewer", request("reviewer", {**order.shared(), "files": files}))
    review: Json = {key: answer[key] for key in ("accepted", "findings", "oracle") if key in answer}
    proposed = {"files": files, "requirements": order.requirements, "review": review, "provenance": order.provenance}
    candidate = evidence.stage(root, proposed)
    made = [
        Task(task["subject"], [file["path"] for file in files], learning)
        for task, (files, learning) in zip(tasks, done, strict=True)
    ]
    return Generation(candidate, made, review, order)


def _ask_authors(
    root: str, order: Order, workers: Workers, tasks: list[Json], tell: Tell
) -> list[tuple[list[Json], Json]]:
    """For each task its author's files, and the memory's answer for the author.

    After a failure no further author is asked. Those at work still finish.
    """
    framework = frameworks.of_project(root, order.settings)

    def author(number: int, task: Json) -> tuple[list[Json], Json]:
        name = f"author {number}"
        learning = recall_about(root, task["subject"], task["instructions"], order.requirements, **_AUTHOR)
        tell(f"{name} of {len(tasks)}: {task['subject']}, {_recalled(learning)}")
        asked = request("author", {**order.shared(), "task": task, "learning": learning})
        files = workers.ask(name, asked)["files"]
        for position, file in enumerate(files):
            _check_file(root, framework, name, position, file)
        return files, learning

    with ThreadPoolExecutor(AUTHORS_AT_A_TIME) as pool:
        futures: list[Future[tuple[list[Json], Json]]] = []
        try:
            futures += [pool.submit(author, number, task) for number, task in enumerate(tasks, 1)]
            wait(futures, return_when=FIRST_EXCEPTION)
        except BaseException:
            workers.stop()
            raise
        finally:
            for future in futures:
                future.cancel()
    failed = next((future for future in futures if not future.cancelled() and future.exception()), None)
    return [future.result() for future in ([failed] if failed else futures)]


def _check_file(root: str, framework: Framework, name: str, position: int, file: Json) -> None:
    where, path = f"files[{position}]", file["path"]
    try:
        patch.check_content(where, file["content"], MAX_FILE_BYTES)
        patch.check_path(root, f"{where}.path", path)
    except Refusal as refused:
        raise Refusal("worker-answer-invalid", f"{name}: {refused.detail}") from None
    if not context.is_test(path, framework) or patch.is_protected(path):
        raise _wrong(name, f"{where}.path is {path!r}", "the path of a test file")


def _check_together(done: list[tuple[list[Json], Json]]) -> None:
    """Refuse files that do not fit together. The message names the first author whose files do not fit earlier ones."""
    paths: list[str] = []
    for number, (files, _) in enumerate(done, 1):
        for position, file in enumerate(files):
            paths.append(file["path"])
            try:
                patch.check_duplicates(paths)
            except Refusal as refused:
                where = f"author {number}: files[{position}].path"
                raise Refusal("worker-answer-invalid", f"{where}: {refused.detail}") from None
        if len(paths) > MAX_FILES:
            raise _wrong(f"author {number}", f"files of all authors are {len(paths)}", f"at most {MAX_FILES} in all")
    if not paths:
        raise _wrong("author", "files of all authors are 0", f"1 to {MAX_FILES} in all")


def _wrong(name: str, was: str, allowed: str) -> Refusal:
    return Refusal("worker-answer-invalid", f"{name}: {was}; allowed: {allowed}")


def recall_about(root: str, *about: str, limit: int, max_chars: int) -> Json:
    """The memory's answer about several texts, as ``schemas/answer.schema.json`` describes it. It never raises."""
    try:
        return ask(root, query_of(*about), limit, max_chars).to_dict()
    except Exception as error:  # memory is advice, so no failure of it stops a generation
        warnings = [GENERAL_WARNING, f"Recall failed: {type(error).__name__}"]
        return {"records": [], "advisoryOnly": True, "retrieval": "deterministic-lexical", "warnings": warnings}


def query_of(*about: str) -> str:
    """One query made of several texts. Long texts are cut, so that each gets its share of the query's length."""
    room = MAX_QUERY_CHARACTERS - (len(about) - 1)
    cut = dict.fromkeys(range(len(about)), "")
    by_length = sorted(cut, key=lambda at: canonical.utf16_length(about[at]))
    for left, at in zip(range(len(about), 0, -1), by_length, strict=True):
        encoded = about[at].encode("utf-16-le", "surrogatepass")[: 2 * (room // left)]
        cut[at] = encoded.decode("utf-16-le", "ignore")
        room -= canonical.utf16_length(cut[at])
    return "\n".join(cut.values())


def _recalled(learning: Json) -> str:
    """The memory's answer for a worker, in a few words."""
    if "reason" in learning:
        return f"nothing recalled: {learning['reason']}"
    count = len(learning["records"])
    return f"{count} episode{'' if count == 1 else 's'} recalled by {learning['retrieval']}"


def to_dict(made: Generation) -> Json:
    """A generation as JSON, as ``generate --json`` prints it."""
    return {
        "id": made.id,
        "tasks": [
            {"subject": one.subject, "files": one.files, "learning": _summary(one.learning)} for one in made.tasks
        ],
        "review": made.review,
        "learning": _summary(made.order.learning),
        "context": {
            "files": len(made.order.context.files),
            "masked": made.order.context.masked,
            "secret": made.order.context.secret,
            "dropped": made.order.context.dropped,
        },
    }


def _summary(learning: Json) -> Json:
    """The memory's answer for a worker in short: the episodes' ids, and how they were found or why there are none."""
    ids = [record["id"] for record in learning["records"]]
    return {"records": ids, **{key: learning[key] for key in ("retrieval", "reason") if key in learning}}
