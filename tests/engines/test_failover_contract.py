"""Whatever an engine does wrong, recall answers without it, says why, and uses it again once it is mended."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from helpers import DOORS, Project, falls_back, ids, is_alive, states, wait_until, word
from node_stand_in import NodeStandIn
from stand_in import StandIn
from wheel_stand_in import WheelStandIn

STAND_INS: tuple[type[StandIn], ...] = (WheelStandIn, NodeStandIn)
# What is ready before an engine is asked. There is no file of the engine, temporary ones included.
WITHOUT_AN_INDEX = {"embeddings.f32", "validated-records.json", "validated.json"}


def faults(kind: str) -> list[Any]:
    """Every fault of a kind, of every engine."""
    return [
        pytest.param(one.RUNTIME, fault.code, fault.word, id=f"{one.RUNTIME}-{name.replace(' ', '-')}")
        for one in STAND_INS
        for name, fault in getattr(one, kind).items()
    ]


def test_every_engine_has_a_stand_in_with_faults_of_each_kind(runtime: str) -> None:
    [one] = [one for one in STAND_INS if runtime == one.RUNTIME]
    assert all((one.LOADING, one.SEARCHING, one.BUILDING))


@pytest.mark.parametrize(("runtime", "code", "expected"), faults("LOADING"))
def test_a_broken_sdk_is_survived_and_neither_makes_nor_changes_an_index(
    unbuilt_of_stand_in: Project,
    built_of_stand_in: Project,
    stand_in: StandIn,
    lexical_ids: list[str],
    code: str,
    expected: str,
) -> None:
    stand_in.break_with(code)
    before = states(unbuilt_of_stand_in.cache)
    falls_back(unbuilt_of_stand_in, expected, lexical_ids, doors=["doit"])
    assert states(unbuilt_of_stand_in.cache) == before

    before = states(built_of_stand_in.cache)
    falls_back(built_of_stand_in, expected, lexical_ids, doors=["testlore"])
    assert states(built_of_stand_in.cache) == before


@pytest.mark.parametrize("door", DOORS)
def test_a_failure_is_not_kept_and_a_mended_sdk_builds_and_answers(
    project_of_stand_in: Project, stand_in: StandIn, lexical_ids: list[str], door: str
) -> None:
    project = project_of_stand_in
    loading, search = (next(iter(kind.values())) for kind in (stand_in.LOADING, stand_in.SEARCHING))
    for code, expected, mended in (
        (loading.code, loading.word, "built"),
        (loading.code, loading.word, "reused"),
        (stand_in.in_search(search.code), search.word, "reused"),
    ):
        stand_in.break_with(code)
        falls_back(project, expected, lexical_ids, doors=[door, door])
        stand_in.mend()
        assert project.ask_natively(door) == mended


@pytest.mark.parametrize(("runtime", "code", "expected"), faults("SEARCHING"))
def test_an_answer_that_cannot_be_true_is_not_used_and_the_index_stays(
    built_of_stand_in: Project,
    stand_in: StandIn,
    lexical_ids: list[str],
    code: str,
    expected: str,
    one_door: list[str],
) -> None:
    before = states(built_of_stand_in.cache)
    stand_in.break_with(stand_in.in_search(code))
    falls_back(built_of_stand_in, expected, lexical_ids, one_door)
    assert states(built_of_stand_in.cache) == before


@pytest.mark.parametrize(("runtime", "code", "expected"), faults("BUILDING"))
def test_an_index_that_was_not_built_whole_is_not_kept(
    unbuilt_of_stand_in: Project, stand_in: StandIn, lexical_ids: list[str], code: str, expected: str
) -> None:
    before = states(unbuilt_of_stand_in.cache)
    stand_in.break_with(code)
    falls_back(unbuilt_of_stand_in, expected, lexical_ids)
    assert states(unbuilt_of_stand_in.cache) == before
    stand_in.mend()
    assert unbuilt_of_stand_in.ask_natively("doit") == "built"


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("where", ["load", "build", "search"])
def test_an_engine_that_hangs_is_killed_with_all_its_children(
    project_of_stand_in: Project, stand_in: StandIn, lexical_ids: list[str], tmp_path: Path, where: str, door: str
) -> None:
    project = project_of_stand_in
    project.configure({"timeoutMs": stand_in.SHORT_MS})
    if where == "search":
        project.ask_natively()
    before = states(project.cache)
    pids = tmp_path / "pids"
    stand_in.break_with(stand_in.hanging(pids, where))
    started = time.monotonic()
    answer = project.ask(door)
    assert time.monotonic() - started < 3
    assert (word(answer), ids(answer)) == ("ruvector-worker-timeout", lexical_ids)
    if where == "search":
        assert states(project.cache) == before
    else:
        assert set(states(project.cache)) == WITHOUT_AN_INDEX
    left = [int(pid) for pid in pids.read_text().split()]
    assert left
    assert wait_until(lambda: not any(map(is_alive, left)))
    stand_in.mend()
    project.ask_natively(door)


def test_an_engine_whose_child_holds_its_output_open_answers_in_time(
    built_of_stand_in: Project, stand_in: StandIn, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    stand_in.break_with(stand_in.leaving_a_child(pids))
    started = time.monotonic()
    assert built_of_stand_in.ask_natively() == "reused"
    assert time.monotonic() - started < 5
    assert wait_until(lambda: not is_alive(int(pids.read_text().split()[1])))
