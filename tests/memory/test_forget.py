"""Forgetting: episodes go on a person's word, and only those, and stay away."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from episodes import make_episode, make_episode_2
from evidence_helpers import fill, records, tree
from helpers import Json
from testlore import canonical
from testlore.errors import Refusal, Unusable
from testlore.memory import store, tombstones, writer
from testlore.memory.forget import forget
from testlore.memory.merge import merge


def put(root: Path, *episodes: Json) -> None:
    root.mkdir(parents=True, exist_ok=True)
    writer.update(str(root), lambda found: [*found, *episodes])


def forgotten(root: Path) -> list[Json]:
    """The verified tombstones of a project's memory."""
    return store.parse(store.read_bytes(str(root))).forgotten


def test_forgetting_removes_the_named_episodes_and_returns_them(tmp_path: Path) -> None:
    fill(tmp_path, range(4))
    first, second, *others = records(tmp_path)
    removed = forget(tmp_path, [second["id"], first["id"][:4]], "they were of a trial")
    assert removed == [first, second]
    assert records(tmp_path) == others


def test_an_episode_is_named_by_its_candidate_too(tmp_path: Path) -> None:
    names = ["case-1", "case-10", "other", "x"]
    put(tmp_path, *(make_episode(number, candidateId=name) for number, name in enumerate(names)))
    removed = forget(tmp_path, ["case-1", "othe", "x"], "a trial")
    assert [one["candidateId"] for one in removed] == ["x", "other", "case-1"]
    assert [one["candidateId"] for one in records(tmp_path)] == ["case-10"]


@pytest.mark.parametrize("ids", [[], [""], ["f" * 64], ["0"], ["not hex"]])
def test_forgetting_what_is_not_one_episode_removes_nothing(tmp_path: Path, ids: list[str]) -> None:
    fill(tmp_path, range(3))
    before = tree(tmp_path)
    with pytest.raises(Refusal, match="call-invalid"):
        forget(tmp_path, [records(tmp_path)[0]["id"], *ids] if ids else ids, "why not")
    assert tree(tmp_path) == before


@pytest.mark.parametrize("given", ["case", "case-7"])
def test_a_beginning_or_a_candidate_of_several_episodes_is_refused_with_their_ids(tmp_path: Path, given: str) -> None:
    accepted = make_episode(1, candidateId="case-7")
    rejected = make_episode(1, "", outcome="rejected", candidateId="case-7")
    put(tmp_path, accepted, rejected)
    with pytest.raises(Refusal) as caught:
        forget(tmp_path, [given], "why not")
    assert f"{accepted['id']} (accepted, of case-7)" in caught.value.detail
    assert f"{rejected['id']} (rejected, of case-7)" in caught.value.detail
    assert len(records(tmp_path)) == 2


def test_a_beginning_needs_four_characters(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    [one] = records(tmp_path)
    with pytest.raises(Refusal, match="too short"):
        forget(tmp_path, [one["id"][:3]], "why not")
    assert forget(tmp_path, [one["id"][:4]], "why not") == [one]


def test_forgetting_needs_a_reason_and_a_memory(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="no-memory"):
        forget(tmp_path, ["f" * 64], "why not")
    assert tree(tmp_path) == {}
    fill(tmp_path, range(1))
    with pytest.raises(Refusal, match="why is empty"):
        forget(tmp_path, [records(tmp_path)[0]["id"]], " ")
    assert len(records(tmp_path)) == 1


def test_forgetting_leaves_a_tombstone_of_now_and_nothing_else_of_the_episode(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    gone, stays = records(tmp_path)
    before = store.created_at(time.time())
    forget(tmp_path, [gone["id"]], "a reason that is not kept")
    [tombstone] = forgotten(tmp_path)
    assert tombstone["id"] == gone["id"]
    assert before <= tombstone["at"] <= store.created_at(time.time())
    text = (tmp_path / store.INDEX_FILE).read_text()
    assert json.loads(text)["schemaVersion"] == 2
    assert json.loads(text)["records"] == [stays]
    assert "reason" not in text


def test_what_the_future_brought_is_forgotten_a_millisecond_later(tmp_path: Path) -> None:
    ahead = make_episode(1, createdAt="2999-12-31T23:59:59.999Z")
    put(tmp_path, ahead)
    forget(tmp_path, [ahead["id"]], "its clock is wrong")
    assert [one["at"] for one in forgotten(tmp_path)] == ["3000-01-01T00:00:00.000Z"]


def test_what_the_last_moment_of_the_calendar_brought_can_be_forgotten(tmp_path: Path) -> None:
    last = make_episode(1, createdAt="9999-12-31T23:59:59.999Z")
    put(tmp_path, last)
    forget(tmp_path, [last["id"]], "its clock is wrong")
    assert records(tmp_path) == []


@pytest.mark.parametrize("year", ["2100", "2999", "9998"])
def test_a_tombstone_is_younger_than_its_episode_by_a_whole_millisecond(year: str) -> None:
    for millisecond in range(999):
        made = f"{year}-01-01T00:00:00.{millisecond:03d}Z"
        assert tombstones.of({"id": "a", "createdAt": made})["at"] == f"{made[:-4]}{millisecond + 1:03d}Z"


def test_what_an_early_year_brought_is_forgotten_now() -> None:
    assert tombstones.of({"id": "a", "createdAt": "0999-12-31T23:59:59.999Z"})["at"] > "2026"


def test_what_was_forgotten_here_does_not_come_back_with_a_merge(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    fill(here, range(3))
    fill(there, range(3))
    gone = records(here)[1]
    forget(here, [gone["id"]], "why not")
    before = (here / store.INDEX_FILE).read_bytes()
    counts = merge(here, there)
    assert (counts.added, counts.forgotten, counts.total) == (0, 0, 2)
    assert (here / store.INDEX_FILE).read_bytes() == before


def test_what_was_forgotten_there_goes_here_too(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    fill(here, range(3))
    fill(there, range(3))
    forget(there, [records(there)[1]["id"]], "why not")
    counts = merge(here, there)
    assert (counts.added, counts.forgotten, counts.dropped, counts.total) == (0, 1, 0, 2)
    assert (here / store.INDEX_FILE).read_bytes() == (there / store.INDEX_FILE).read_bytes()


def test_what_was_remembered_again_outlives_the_older_tombstone(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    fill(here, range(1))
    fill(there, range(1))
    [gone] = records(here)
    forget(here, [gone["id"]], "why not")
    [tombstone] = forgotten(here)
    again = canonical.seal({**gone, "createdAt": tombstones.creation(gone, [tombstone])})
    assert again["createdAt"] > tombstone["at"]
    put(here, again)
    assert merge(here, there).total == 1
    assert merge(there, here).total == 1
    assert records(there) == records(here) == [again]
    assert forgotten(there) == [tombstone]


def test_of_two_tombstones_of_one_episode_the_younger_stays_and_over_a_thousand_the_oldest_go() -> None:
    old, young = {"id": "a", "at": store.created_at(1)}, {"id": "a", "at": store.created_at(2)}
    assert tombstones.union([old], [young]) == tombstones.union([young], [old]) == [young]
    many = [{"id": f"{number:04}", "at": store.created_at(number)} for number in range(1001)]
    assert tombstones.union(many[500:], many[:500]) == many[:0:-1]


def test_forgetting_works_on_records_of_version_2_too(tmp_path: Path) -> None:
    put(tmp_path, make_episode_2(1), make_episode(2))
    assert [one["schemaVersion"] for one in forget(tmp_path, ["c1"], "why not")] == [2]
    assert [one["schemaVersion"] for one in records(tmp_path)] == [1]
