"""The checks of a proof. Each function is one check; the receipt has its name and the first line of its docstring.

They run in the order of :data:`CHECKS` on one disposable project. Each leaves the project as it found it.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from testlore import recall
from testlore.engines import calls, pool
from testlore.engines.pool import Job
from testlore.memory import store
from testlore.stages.session import Session

from proof import arithmetic
from proof.arithmetic import QUERY
from proof.project import REPOSITORY, Project, ProofError

_TOLERANCE = 1e-5
_ROWS, _DIMENSIONS = 200, 128
_SECONDS = 120

Json = dict[str, Any]


def run(project: Project, tell: Callable[[str], object]) -> list[Json]:
    """Run every check.

    Returns:
        Each check as the receipt has it: its ``name``, and what it ``says``.

    Raises:
        ProofError: one does not hold.
    """
    held = []
    for check in CHECKS:
        name = check.__name__.replace("_", "-")
        tell(f"-- {name}")
        check(project)
        if (project.root / store.INDEX_FILE).read_bytes() != project.memory:
            raise ProofError(f"{name}: the canonical store has changed")
        held.append({"name": name, "says": (check.__doc__ or "").partition("\n")[0]})
    return held


def _hold(condition: object, what: str, seen: object = "") -> None:
    if not condition:
        caller = sys._getframe(1).f_code.co_name.replace("_", "-")
        raise ProofError(f"{caller}: {what}{f'; seen: {seen}' if seen != '' else ''}")


def _ask(project: Project) -> Json:
    return recall(project.root, QUERY).to_dict()


def _ids(answer: Json) -> list[str]:
    return [record["id"] for record in answer["records"]]


def _is_lexical_because_of(answer: Json, word: str) -> bool:
    """Whether an answer is lexical, and names this word as its reason."""
    warnings = [warning.partition(": ")[2].partition(":")[0] for warning in answer.get("warnings", [])]
    return answer.get("retrieval") == "deterministic-lexical" and word in warnings


def candidates_were_executed(project: Project) -> None:
    """One candidate was really executed and accepted, one really executed and rejected for what it loses."""
    accepted, rejected = project.accepted, project.rejected
    _hold(accepted.outcome == "accepted" and accepted.record, "the accepted candidate is accepted", accepted.reasons)
    _hold(accepted.evidence["caughtDefects"] == 1, "its suite catches the held-out defect", accepted.evidence)
    _hold(accepted.evidence["candidateCases"] == 5, "its cases ran", accepted.evidence)
    _hold(rejected.outcome == "rejected" and rejected.record, "the rejected candidate is rejected", rejected.outcome)
    _hold(rejected.reasons == ["case-loss"], "it is rejected for case-loss alone", rejected.reasons)


def index_is_built_then_reused(project: Project) -> None:
    """The first recall builds the native index, the second reuses it, and both name the installed engine."""
    for cache in ("built", "reused"):
        answer = _ask(project)
        _hold(answer.get("retrieval") == "ruvector", "the native engine answers", answer.get("warnings"))
        details = {"engine": project.sdk.name, "mode": "lexical-vector", "version": project.sdk.version, "cache": cache}
        _hold(answer["retrievalDetails"] == details, f"the index is {cache}", answer["retrievalDetails"])


def doors_agree(project: Project) -> None:
    """The testlore command, doit and the Python API give the same answer."""
    expected = _ask(project)
    testlore = ["-m", "testlore", "recall", "--query", QUERY, "--json"]
    doit = ["-m", "doit", "-f", str(REPOSITORY / "dodo.py"), "recall", f"query={QUERY}", "format=json"]
    for argv in (testlore, [*doit, f"root={project.root}"]):
        seen = _command(project, argv)
        _hold(seen == expected, f"{argv[1]} answers as the API does", seen)


def _command(project: Project, argv: list[str], libraries: str | None = None) -> Json:
    """The JSON answer of a Python command that runs in the project.

    Args:
        argv: the command, as after ``python``.
        libraries: the only folder with installed packages; by default those of this interpreter.
    """
    searched = libraries or os.environ.get("PYTHONPATH", "")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [searched, str(REPOSITORY / "pipeline")]))}
    command = [sys.executable, *(["-S"] if libraries else []), *argv]
    done = subprocess.run(command, cwd=project.root, env=env, capture_output=True, timeout=_SECONDS, check=False)
    try:
        answer: Json = json.loads(done.stdout)
    except ValueError:
        raise ProofError(f"{argv[1]} gave no JSON: {done.stderr.decode('utf-8', 'replace').strip()}") from None
    return answer


def accepted_ranks_first(project: Project) -> None:
    """The accepted episode ranks before the rejected one, and carries its tests as patterns."""
    answer = _ask(project)
    _hold(_ids(answer) == project.episodes, "both episodes, the accepted one first", _ids(answer))
    first = answer["records"][0]
    _hold(first["outcome"] == "accepted" and len(first["patterns"]) == 2, "two patterns", first["patterns"])


def rejected_carries_no_pattern(project: Project) -> None:
    """The rejected episode comes back as a warning, without any code."""
    second = _ask(project)["records"][1]
    _hold(second["outcome"] == "rejected" and second["patterns"] == [], "no pattern", second["patterns"])
    _hold(second["warnings"] == ["case-loss"], "its warning", second["warnings"])


def distances_agree_with_numpy(project: Project) -> None:
    """Native distances agree with NumPy's to 1e-5, for the memory and for 200 random rows, and no row is missing."""
    session = Session(str(project.root), QUERY)
    try:
        hits = {hit.id: hit.similarity for hit in session.hits()}
        rows = [np.frombuffer(row, "<f4") for row in session.vectors().rows]
        _compare(hits, dict(zip(session.key().ids, rows, strict=True)), np.frombuffer(session.query_vector(), "<f4"))
    finally:
        session.close()
    source = np.random.default_rng(2026)
    # No component is negative, so no distance is over 1. A similarity is never below 0 and could not tell those apart.
    numbers = np.abs(source.standard_normal((_ROWS + 1, _DIMENSIONS)))
    unit = (numbers / np.linalg.norm(numbers, axis=1, keepdims=True)).astype("<f4")
    with tempfile.TemporaryDirectory(dir=project.root.parent) as folder:
        database = os.path.join(folder, project.engine.DATABASE)
        calls.build(_worker(project), database, _DIMENSIONS, [row.tobytes() for row in unit[1:]])
        found = calls.search(_worker(project), database, _DIMENSIONS, unit[0].tobytes(), _ROWS)
    _compare({hit.row: hit.similarity for hit in found}, dict(enumerate(unit[1:])), unit[0])


def _worker(project: Project) -> Any:
    return pool.start(Job(project.engine, project.sdk, str(project.root), 30_000))


def _compare(found: dict[Any, float], rows: dict[Any, Any], query: Any) -> None:
    if set(found) != set(rows):
        raise ProofError(f"distances-agree-with-numpy: {len(set(rows) - set(found))} of {len(rows)} rows are missing")
    for name, row in rows.items():
        distance = 1 - float(np.clip(row.astype("f8") @ query.astype("f8"), 0, 1))
        if abs((1 - found[name]) - distance) > _TOLERANCE:
            raise ProofError(f"distances-agree-with-numpy: {1 - found[name]} natively, {distance} by NumPy")


def changed_sources_make_history(project: Project) -> None:
    """Both episodes fit the sources that they were made with; once these change, they come back as history."""
    fits = [(record["historical"], record["sourceCompatible"]) for record in _ask(project)["records"]]
    _hold(fits == [(True, True)] * 2, "both fit the sources", fits)
    source = project.root / arithmetic.SOURCE
    with _restored(source):
        source.write_text(source.read_text("utf-8") + "\n\ndef half(number):\n    return divide(number, 2)\n", "utf-8")
        answer = _ask(project)
    _hold(_ids(answer) == project.episodes, "both come back", _ids(answer))
    for record in answer["records"]:
        seen = [record["historical"], record["sourceCompatible"], record["compatibilityReasons"]]
        _hold(seen == [True, False, ["source-drift"]], "as history", seen)


def other_framework_sees_none(project: Project) -> None:
    """Asked as a project of another framework, the memory has nothing to say."""
    with _configured(project, adapter="unittest"):
        answer = _ask(project)
    _hold(answer["records"] == [] and "retrieval" in answer, "no episode", _ids(answer))


def appended_byte_is_noticed(project: Project) -> None:
    """A byte at the end of the native database gives lexical recall with ruvector-cache-corrupt."""
    with _restored(project.database):
        with project.database.open("ab") as file:
            file.write(b"\0")
        answer = _ask(project)
    _hold(_is_lexical_because_of(answer, "ruvector-cache-corrupt"), "the reason", answer.get("warnings"))
    _hold(_ids(answer) == project.episodes, "both episodes, lexically", _ids(answer))
    _hold(_ask(project)["retrieval"] == "ruvector", "natively again without that byte")


def learning_disabled_wins(project: Project) -> None:
    """learning.enabled: false wins over the enabled plugin."""
    with _configured(project, learning={"enabled": False}):
        answer = _ask(project)
    expected = {"records": [], "advisoryOnly": True, "reason": "learning-disabled"}
    _hold(answer == expected, "nothing is recalled", answer)


def missing_sdk_falls_back(project: Project) -> None:
    """Without the SDK recall is lexical, with ruvector-sdk-missing, and finds both episodes."""
    argv = ["-m", "testlore", "recall", "--query", QUERY, "--json"]
    if project.runtime == "node":
        modules = project.root / "node_modules"
        target = os.readlink(modules)
        modules.unlink()
        try:
            answer = _command(project, argv)
        finally:
            modules.symlink_to(target)
    else:
        with tempfile.TemporaryDirectory() as folder:
            _link_all_but("ruvector", Path(folder))
            answer = _command(project, argv, folder)
    _hold(_is_lexical_because_of(answer, "ruvector-sdk-missing"), "the reason", answer.get("warnings"))
    _hold(_ids(answer) == project.episodes, "both episodes, lexically", _ids(answer))


def _link_all_but(package: str, folder: Path) -> None:
    """Link every installed package but one into a folder."""
    for entry in map(Path, sys.path):
        if entry.name in ("site-packages", "dist-packages") and entry.is_dir():
            for path in entry.iterdir():
                link = folder / path.name
                if not path.name.startswith((package, f"{package}-")) and not os.path.lexists(link):
                    link.symlink_to(path)


def store_is_byte_identical(project: Project) -> None:
    """The canonical store is byte for byte what it was after the two candidates were remembered, after every check."""
    _hold((project.root / store.INDEX_FILE).read_bytes() == project.memory, "the same bytes")


@contextlib.contextmanager
def _restored(path: Path) -> Iterator[None]:
    data = path.read_bytes()
    try:
        yield
    finally:
        path.write_bytes(data)


@contextlib.contextmanager
def _configured(project: Project, **changes: Any) -> Iterator[None]:
    arithmetic.configure(project.root, project.runtime, **changes)
    try:
        yield
    finally:
        arithmetic.configure(project.root, project.runtime)


CHECKS: tuple[Callable[[Project], None], ...] = (
    candidates_were_executed,
    index_is_built_then_reused,
    doors_agree,
    accepted_ranks_first,
    rejected_carries_no_pattern,
    distances_agree_with_numpy,
    changed_sources_make_history,
    other_framework_sees_none,
    appended_byte_is_noticed,
    learning_disabled_wins,
    missing_sdk_falls_back,
    store_is_byte_identical,
)
