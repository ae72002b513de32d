"""Whatever stands in one place of a document, the document is read or refused by name: no other exception.

The suite has time for a few examples of each reader. For thousands of them, after a change of a reader:
``pytest tests/test_readers.py --hypothesis-profile=thorough``
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from damage import documents, nested, resealed
from doit.dependency import Dependency, SqliteDB
from doit.task import Task
from episodes import make_episode
from evidence_helpers import defect, patch, pytest_project, stage_and_validate
from helpers import QUERY, Json, golden
from hypothesis import example, given, settings
from test_forms import CONFIG
from testlore import canonical, evidence, frameworks, recall, schemas
from testlore.agents import context, generation, tools
from testlore.agents.worker import Workers
from testlore.cache import FOLDER, Cache
from testlore.child import Completion
from testlore.commands import stage
from testlore.doit_host import configuration
from testlore.embedding import command, semantic
from testlore.engines import Sdk, calls, node, wheel
from testlore.engines.pool import Job, Worker
from testlore.errors import Fallback, Refusal, Unusable
from testlore.evidence import candidate, running
from testlore.frameworks import command as framework_command
from testlore.memory import store
from testlore.memory.lessons import learn
from testlore.project import machine, trust
from testlore.project.settings import CONFIG_FILE, Settings, parse
from testlore.stages.configuration import STAMP
from testlore.stages.embed import EMBEDDINGS
from testlore.stages.health import examine
from testlore.stages.terms import TERMS
from testlore.stages.validate import SEALS

Make = Callable[[str, Callable[[Path], object]], Path]
AS_BUILT = ".tddswarm/as-built"


class Reader(NamedTuple):
    """A reader of documents, as a contract sees it.

    Attributes:
        make: makes the folder in which it reads, and returns a valid document.
        read: reads the bytes of a document in that folder.
        dear: how many times as much as the cheapest reader it costs; it gets so many fewer examples.
        found: documents that once ended in another exception.
    """

    make: Callable[[Path, Make], Any]
    read: Callable[[Path, bytes], object]
    dear: int = 1
    found: Callable[[Any], list[Any]] = lambda valid: []


def nothing(valid: Any) -> Callable[[Path, Make], Any]:
    """A reader's folder that needs nothing in it."""
    return lambda root, shared: valid


def answer(root: Path) -> None:
    """Ask a memory: whatever is wrong with the project, there is an answer of the right form."""
    store._parsed.clear()
    result = recall(root, QUERY)
    assert schemas.first_problem("answer", result.to_dict()) is None


def at_once(root: Path, document: Any, *way: Any) -> Any:
    """A copy of a document with another value in one place, the last of the way."""
    *before, key, value = way
    changed = json.loads(json.dumps(document))
    place = changed
    for step in before:
        place = place[step]
    place[key] = value
    return changed


# What a person writes, or git merges: the configuration, the store, patches, decisions


def _till(root: Path, shared: Make) -> None:
    shutil.copytree(
        shared("readers-till", lambda folder: golden("till", folder / "till")) / "till", root, dirs_exist_ok=True
    )


def _configured(root: Path, shared: Make) -> Json:
    _till(root, shared)
    return {**CONFIG, "environment": {"os": "linux"}}


def read_configuration(root: Path, data: bytes) -> None:
    (root / CONFIG_FILE).write_bytes(data)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(trust.VARIABLE, "0")  # so that nothing of what it names is started
        answer(root)
        examine(str(root))
    configured = parse(data)
    framework = frameworks.of_project(str(root), configured)
    assert framework_command.build(framework, str(root), configured.runner, str(root), "report", ["test_a.py"]).argv


def _stored(root: Path, shared: Make) -> Json:
    _till(root, shared)
    (root / CONFIG_FILE).write_text('{"adapter": "node"}')
    rejected = make_episode(2, "", outcome="rejected", warnings=["case-loss"])
    return canonical.seal({"schemaVersion": 1, "records": [make_episode(3), rejected, make_episode(1)]})


def read_store(root: Path, data: bytes) -> None:
    (root / store.INDEX_FILE).write_bytes(data)
    answer(root)
    learn(root)


def _sealed_store(value: Any) -> Any:
    records = value["records"]
    sealed = [{**one, "id": store.record_id(one["manifestHash"], one["outcome"])} for one in records]
    return canonical.seal({**value, "records": list(map(canonical.seal, sealed))})


def _patched(root: Path, shared: Make) -> Json:
    pytest_project(root)
    more: Json = {
        "delete": ["tests/test_calc.py"],
        "allowProtectedPaths": ["pyproject.toml"],
        "purpose": "modularization",
    }
    return patch(heldOutDefects=[defect()], **more)


def read_patch(root: Path, data: bytes) -> None:
    path = root.with_name("patch.json")
    path.write_bytes(data)
    stage._answer(str(root), str(path))


def read_decisions(root: Path, data: bytes) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(root))
        patched.setenv(trust.VARIABLE, "0")
        trust.keep(str(root), {"runner": "1"})
        (root / "testlore/trusted.json").write_bytes(data)
        trust.covers(str(root), {"runner": "1"})
        trust.keep(str(root), {"runner": "2"})
        assert trust.covers(str(root), {"runner": "2"})


# What we wrote, and somebody changed: the derived cache, candidates, doit's database


def _built(folder: Path) -> None:
    answer(golden("till", folder / "till"))
    shutil.copytree(folder / "till" / FOLDER, folder / "till" / AS_BUILT)


def _cached(name: str, root: Path, shared: Make) -> Json:
    shutil.copytree(shared("readers-built", _built) / "till", root, symlinks=True, dirs_exist_ok=True)
    path = root / FOLDER / name
    value: Json = json.loads(path.read_bytes().partition(b"\n")[0]) if path.exists() else {"code": "", "watched": {}}
    return {key: item for key, item in value.items() if key not in ("mark", "integrity")}


def read_cached(name: str, root: Path, data: bytes, *, ours: bool) -> None:
    """Read a file of the cache with the seal that fits it; one of ours also has this machine's mark."""
    shutil.rmtree(root / FOLDER)
    shutil.copytree(root / AS_BUILT, root / FOLDER)
    path = root / FOLDER / name
    body = path.read_bytes().partition(b"\n")[2] if path.exists() else b""
    try:
        value = canonical.loads(data)
        if ours:
            Cache(str(root)).write_sealed(name, value, body)
        else:
            path.write_bytes(canonical.to_bytes(canonical.dumps(canonical.seal(value))) + b"\n" + body)
    except (ValueError, TypeError, AttributeError):  # it cannot be sealed
        path.write_bytes(data + b"\n" + body)
    if name == SEALS:
        (root / FOLDER / STAMP).unlink()  # as after a change of the store, when the seals are read
    answer(root)


def _other_version(name: str, root: Path, data: bytes) -> None:
    """Read a file of the cache as another version of this package may have written it: made by other code."""
    with contextlib.suppress(ValueError):
        value = canonical.loads(data)
        if isinstance(value, dict) and "code" in value:
            data = json.dumps({**value, "code": "other"}).encode()
    read_cached(name, root, data, ours=True)


def _judged(folder: Path) -> None:
    stage_and_validate(pytest_project(folder / "calc"), patch(heldOutDefects=[defect()]))


def _candidate(file: str, root: Path, shared: Make) -> Json:
    shutil.copytree(shared("readers-judged", _judged) / "calc", root, dirs_exist_ok=True)
    [folder] = (root / candidate.FOLDER).iterdir()
    value: Json = json.loads((folder / file).read_bytes())
    return value


def read_candidate(file: str, root: Path, data: bytes) -> None:
    """Read a candidate's file with the seal, and the manifest under the id, that fit it."""
    [folder] = (root / candidate.FOLDER).iterdir()
    sealed, name = resealed(data), folder.name
    if file == "manifest.json":
        with contextlib.suppress(ValueError):
            name = canonical.digest(canonical.loads(sealed))[:24]
    (folder / file).write_bytes(sealed)
    folder.rename(folder.with_name(name))
    [state] = evidence.candidates(root)
    assert state.state in ("staged", "accepted", "rejected") or state.reasons
    evidence.remember(root, name)


def _kept_by_doit(root: Path, shared: Make) -> Json:
    source = root / "source"
    source.write_text("")
    [task] = [Task("validate", None, file_dep=[str(source)])]
    database = Dependency(SqliteDB, str(root / "doit.sqlite3"))
    task.values = {"testlore": "validate", "reason": None}
    database.save_success(task)
    database.close()
    with contextlib.closing(sqlite3.connect(root / "doit.sqlite3")) as connection:
        [[text]] = connection.execute("select task_data from doit").fetchall()
    row: Json = json.loads(text)
    return row


def read_row_of_doit(root: Path, data: bytes) -> None:
    """What we call readable, doit can use."""
    path = str(root / "doit.sqlite3")
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update doit set task_data = ?", (data.decode("utf-8", "replace"),))
    if configuration._is_readable(path):
        with contextlib.closing(Dependency(SqliteDB, path)) as database:
            task = Task("validate", None, file_dep=[str(root / "source")])
            database.get_status(task, {})
            assert isinstance(database.get_values("validate"), dict)
            database.save_success(task)


# What programs answer, and what is installed


class _Answering:
    """Stands for a child process that answers with these bytes."""

    def __init__(self, stdout: bytes) -> None:
        self._done = Completion(0, stdout, b"", timed_out=False, flooded=False)

    def ask(self, request: bytes) -> Completion:
        return self._done


def read_vectors(root: Path, data: bytes) -> None:
    plugin = {"enabled": True, "dimensions": 16, "embedding": {"mode": "command", "argv": ["e"], "identity": "e"}}
    configured = parse(json.dumps({"plugins": {"ruvector": plugin}}).encode())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "_start", lambda *_: _Answering(data))
        assert [len(one) for one in command.vectors(str(root), configured, ["one"], "two")] == [64, 64]


def read_texts(root: Path, data: bytes) -> None:
    with contextlib.suppress(semantic.InvalidRequest):
        semantic._parse(data)


def _worker(root: Path, engine: Any, data: bytes) -> Worker:
    return Worker(Job(engine, Sdk("", "", "", "", ()), str(root), 1000), _Answering(data))  # type: ignore[arg-type]


def read_hits(root: Path, data: bytes) -> None:
    for engine in (wheel, node):
        found = calls.search(_worker(root, engine, data), "database", 16, bytes(64), 3)
        assert sorted(one.row for one in found) == [0, 1, 2]


def read_count(root: Path, data: bytes) -> None:
    calls.build(_worker(root, wheel, data), "database", 16, [bytes(64)] * 3)


def _installed(root: Path, shared: Make) -> Json:
    folder = root / "node_modules" / node.NAME
    folder.mkdir(parents=True)
    (folder / "index.js").touch()
    return {"name": node.NAME, "version": "0.1.32", "main": "index.js"}


def read_package(root: Path, data: bytes) -> None:
    (root / "node_modules" / node.NAME / "package.json").write_bytes(data)
    node.locate(str(root))


ROLES: dict[str, Any] = {
    "architect": {"tasks": [{"subject": "calc.py", "instructions": "Try to divide by zero."}]},
    "author": {"schemaVersion": 1, "files": [{"path": "tests/test_divide.py", "content": "def test_a(): pass\n"}]},
    "reviewer": {"accepted": True, "findings": [], "oracle": {"independent": True, "basis": ["what is expected"]}},
}


def _with_agent(role: str, root: Path, shared: Make) -> Any:
    pytest_project(root, **{"tddswarm.requirements.md": "Division by zero is an error."})
    (root / CONFIG_FILE).write_text(json.dumps({"adapter": "pytest", "agent": ["agent"]}))
    return ROLES[role]


_prepared = cache(generation.prepare)


def read_answer(role: str, root: Path, data: bytes) -> None:
    answers = {**{name: json.dumps(value).encode() for name, value in ROLES.items()}, role: data}

    def asked(workers: Workers, request: bytes) -> Completion:
        return _Answering(answers[json.loads(request)["role"]]).ask(request)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Workers, "_run", asked)
        generation.run(str(root), _prepared(str(root)), lambda line: None)


def _served(root: Path, shared: Make) -> Json:
    _till(root, shared)
    (root / CONFIG_FILE).write_text('{"adapter": "node"}')
    return {"query": QUERY, "limit": 5, "max_chars": 300}


def read_arguments(root: Path, data: bytes) -> None:
    try:
        arguments = json.loads(data)
    except (ValueError, RecursionError):  # so no message can hold it
        return
    served = tools.ServedProject(str(root))
    for tool in tools.TOOLS.values():
        result = tools.run(served, tool, arguments)
        assert canonical.dumps(result.value)
        assert result.is_error == ("reason" in result.value)


READERS = {
    CONFIG_FILE: Reader(_configured, read_configuration, 5),
    "index.json": Reader(_stored, read_store, 5),
    "index.json, resealed": Reader(_stored, lambda root, data: read_store(root, resealed(data, _sealed_store)), 5),
    "patch.json": Reader(_patched, read_patch, 5),
    "trusted.json": Reader(
        nothing({"/a/project": "0" * 64}),
        read_decisions,
        2,
        lambda valid: [{"/a": json.loads(nested("[", depth, "]"))} for depth in range(500, 900, 20)],
    ),
    **{
        f"{name}, resealed": Reader(partial(_cached, name), partial(read_cached, name, ours=False), 20)
        for name in ("vectors.json", EMBEDDINGS)
    },
    STAMP: Reader(
        partial(_cached, STAMP),
        partial(read_cached, STAMP, ours=True),
        20,
        lambda valid: [{}, {**valid, "store": 7}, {"checker": valid["checker"]}],
    ),
    SEALS: Reader(
        partial(_cached, SEALS),
        partial(read_cached, SEALS, ours=True),
        20,
        lambda valid: [{}, {**valid, "seals": 7}, {**valid, "seals": [[]]}],
    ),
    **{
        name: Reader(partial(_cached, name), partial(_other_version, name), 20, lambda valid: [{}])
        for name in (TERMS, "snapshot.json")
    },
    "manifest.json": Reader(
        partial(_candidate, "manifest.json"),
        partial(read_candidate, "manifest.json"),
        5,
        lambda valid: [at_once(Path(), valid, "files", 0, "path", "\ud800")],
    ),
    "validation.json": Reader(partial(_candidate, "validation.json"), partial(read_candidate, "validation.json"), 5),
    "review.json": Reader(
        partial(_candidate, "review.json"),
        partial(read_candidate, "review.json"),
        10,
    ),
    "a row of doit": Reader(
        _kept_by_doit,
        read_row_of_doit,
        1,
        lambda valid: [
            *({key: 7} for key in valid),
            {**valid, "deps:": [[]]},
            {**{key: [] for key in valid}, "checker:": ""},
            json.loads(nested("[", 900, "]")),
        ],
    ),
    "vectors": Reader(nothing({"schemaVersion": 1, "vectors": [[0.5] * 16, [1] * 16]}), read_vectors),
    "texts": Reader(nothing({"schemaVersion": 1, "dimensions": 64, "texts": ["a", "b"]}), read_texts),
    "hits": Reader(nothing({"count": 3, "hits": [[0, 0.5], [1, 1], [2, 1.5]]}), read_hits),
    "failure": Reader(nothing({"error": "worker-failed", "detail": "it broke"}), read_hits),
    "count": Reader(nothing({"count": 3}), read_count),
    "package.json": Reader(
        _installed, read_package, 1, lambda valid: [{**valid, "main": "\0"}, {**valid, "main": "\ud800"}]
    ),
    **{role: Reader(partial(_with_agent, role), partial(read_answer, role), 10) for role in ROLES},
    "arguments": Reader(_served, read_arguments, 2),
}


@pytest.mark.parametrize("name", READERS)
def test_whatever_stands_in_a_document_it_is_read_or_refused_by_name(
    name: str, tmp_path: Path, shared_folder: Make
) -> None:
    reader = READERS[name]
    root = tmp_path / "project"
    root.mkdir()
    valid = reader.make(root, shared_folder)

    def check(document: bytes) -> None:
        try:
            reader.read(root, document)
        except (Refusal, Unusable) as refused:
            if not refused.detail:
                raise
        except Fallback:
            pass

    for found in reader.found(valid):
        check = example(json.dumps(found).encode())(check)
    settings(deadline=None, max_examples=max(4, settings().max_examples // (4 * reader.dear)))(
        given(documents(valid))(check)
    )()


# What is no file

#: Where something else may stand in a file's place, and who reads it.
FILES: dict[str, Callable[[Path, str], object]] = {
    **{
        f"{candidate.FOLDER}/{{name}}/{file}": evidence.remember
        for file in ("manifest.json", "review.json", "validation.json", "files/tests/test_divide.py", "defects/0")
    },
    "tests/test_divide.py": evidence.remember,
    store.INDEX_FILE: lambda root, name: recall(root, QUERY),
    CONFIG_FILE: lambda root, name: examine(str(root)),
    "tddswarm.requirements.md": lambda root, name: context.requirements(str(root)),
    "package.json": lambda root, name: frameworks.of_project(str(root), Settings()),
    f"node_modules/{node.NAME}/package.json": lambda root, name: node.locate(str(root)),
    f"node_modules/{node.NAME}/index.js": lambda root, name: node.locate(str(root)),
    "state/testlore/key": lambda root, name: machine.mark("name", b""),
    "state/testlore/trusted.json": lambda root, name: trust.keep(str(root), {"runner": "0"}),
    "report.xml": lambda root, name: running._read_report(str(root / "report.xml"), str(root)),
}


@pytest.mark.parametrize("kind", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_is_no_file_is_refused_and_nobody_waits_for_it(
    tmp_path: Path, shared_folder: Make, monkeypatch: pytest.MonkeyPatch, kind: Callable[[Path], None]
) -> None:
    _candidate("manifest.json", tmp_path, shared_folder)
    package = _installed(tmp_path, shared_folder)
    (tmp_path / f"node_modules/{node.NAME}/package.json").write_text(json.dumps(package))
    [name] = os.listdir(tmp_path / candidate.FOLDER)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with within(30):
        for file, read in FILES.items():
            path = tmp_path / file.format(name=name)
            path.parent.mkdir(parents=True, exist_ok=True)
            kept = path.read_bytes() if path.exists() else None
            path.unlink(missing_ok=True)
            kind(path)
            with contextlib.suppress(Refusal, Unusable, Fallback):
                read(tmp_path, name)
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            if kept is not None:
                path.write_bytes(kept)


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fail where the block takes longer, by an exception that nothing in it catches."""

    def too_long(*_: object) -> None:
        pytest.fail(f"it waited for {seconds} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
