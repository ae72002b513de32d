"""Version 2 of the store: which records and tombstones it holds, and how a store of version 1 becomes one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from episodes import make_episode, make_episode_2
from evidence_helpers import fill, records
from helpers import DATA, Json, Project, ids, word
from testlore import canonical
from testlore.errors import Unusable
from testlore.memory import store, writer

AT = "2026-01-31T23:59:59.000Z"
ID = "a" * 64


def data(records: list[Json], forgotten: list[Json] | None = None) -> bytes:
    body = {"schemaVersion": 2, "records": records, "forgotten": forgotten or []}
    return canonical.to_bytes(json.dumps(canonical.seal(body)))


def problem(records: list[Json], forgotten: list[Json] | None = None) -> str:
    with pytest.raises(Unusable) as caught:
        store.parse(data(records, forgotten))
    assert caught.value.reason == "store-corrupt"
    return caught.value.detail


def changed(**changes: Any) -> Json:
    """A record of version 2 whose keys were changed after it was made, sealed again."""
    return canonical.seal({**make_episode_2(1, outcome="rejected"), **changes})


def file(path: str = "a.py", digest: str = ID) -> Json:
    return {"path": path, "digest": digest}


def case(path: str = "", name: str = "", outcome: str = "passed") -> Json:
    return {"path": path, "name": name, "outcome": outcome}


FACE = "\U0001f600"  # two UTF-16 code units

AT_THE_LIMIT: list[Json] = [
    {"title": "x" * 160},
    {"title": FACE * 80},
    {"title": ""},
    {"tests": [case("x" * 200, "y" * 200)] * 20},
    {"tests": [case(outcome=outcome) for outcome in ("passed", "failed", "skipped")]},
    {"subject": {"files": [file("x" * 200)] * 20, "symbols": ["x" * 80] * 40}},
    {"subject": {"files": [], "symbols": []}},
    {"reasons": ["x" * 300] * 20},
    {"warnings": ["adds-nothing", "flaky", "other-rejection"]},
    *({"evidence": {**make_episode_2(1)["evidence"], "undone": one}} for one in ("caught", "missed", "none")),
]
BEYOND: list[tuple[str, Json]] = [
    ("title", {"title": "x" * 161}),
    ("title is longer than 160", {"title": FACE * 81}),
    *(("title", {"title": f"a{mark}b"}) for mark in "\n\r\u2028\u2029"),
    ("title", {"title": None}),
    ("tests", {"tests": [case()] * 21}),
    ("tests[0].path", {"tests": [case(path="x" * 201)]}),
    ("tests[0].name", {"tests": [case(name="x" * 201)]}),
    ("path is longer than 200", {"tests": [case(path=FACE * 101)]}),
    ("name is longer than 200", {"tests": [case(name=FACE * 101)]}),
    ("tests[0].outcome", {"tests": [case(outcome="broken")]}),
    ("tests[0]", {"tests": [{**case(), "output": "x"}]}),
    ("subject.files", {"subject": {"files": [file()] * 21, "symbols": []}}),
    ("subject.files[0].path", {"subject": {"files": [file("x" * 201)], "symbols": []}}),
    ("path is longer than 200", {"subject": {"files": [file(FACE * 101)], "symbols": []}}),
    ("subject.files[0].digest", {"subject": {"files": [file(digest="x")], "symbols": []}}),
    ("subject.symbols", {"subject": {"files": [], "symbols": ["x"] * 41}}),
    ("subject.symbols[0]", {"subject": {"files": [], "symbols": ["x" * 81]}}),
    ("symbol is longer than 80", {"subject": {"files": [], "symbols": [FACE * 41]}}),
    ("subject", {"subject": {"files": []}}),
    ("reasons", {"reasons": ["x"] * 21}),
    ("reasons[0]", {"reasons": ["x" * 301]}),
    ("reason is longer than 300", {"reasons": [FACE * 151]}),
    ("evidence.undone", {"evidence": {**make_episode_2(1)["evidence"], "undone": "maybe"}}),
    ("evidence.mutants", {"evidence": {**make_episode_2(1)["evidence"], "mutants": -1}}),
    ("evidence", {"evidence": make_episode(1)["evidence"]}),
    ("patterns", {"patterns": make_episode(1)["patterns"]}),
    ("larger than 32768", {"tests": [case("x" * 200, "\u0001" * 200)] * 20, "reasons": ["漢" * 300] * 20}),
]


@pytest.mark.parametrize("changes", AT_THE_LIMIT)
def test_what_is_at_a_limit_is_read(changes: Json) -> None:
    record = changed(**changes)
    assert store.parse(data([record])).records == [record]
    assert store.is_intact(record)


@pytest.mark.parametrize(("named", "changes"), BEYOND)
def test_what_is_beyond_a_limit_is_refused_by_name(named: str, changes: Json) -> None:
    assert named in problem([changed(**changes)])


@pytest.mark.parametrize("key", list(make_episode_2(1)))
def test_a_record_of_version_2_without_a_key_is_named(key: str) -> None:
    left = {name: value for name, value in make_episode_2(1).items() if name != key}
    found = problem([left if key == "integrity" else canonical.seal(left)])
    assert "records[0]" in found
    assert key in found or "title" in found  # without its version it would be one of version 1


@pytest.mark.parametrize(
    ("named", "forgotten"),
    [
        ("forgotten", [{"id": f"{number:064x}", "at": AT} for number in range(1001)]),
        ("forgotten[0].id", [{"id": "x", "at": AT}]),
        ("forgotten[0].at", [{"id": ID, "at": "yesterday"}]),
        ("forgotten[0]: at is not a real date", [{"id": ID, "at": "2026-02-30T00:00:00.000Z"}]),
        ("forgotten[0]", [{"id": ID, "at": AT, "why": "x"}]),
        ("forgotten[1]: its id comes twice", [{"id": ID, "at": AT}] * 2),
        ("records[0]: it was forgotten after it was made", [{"id": make_episode(1)["id"], "at": AT}]),
    ],
)
def test_a_tombstone_that_breaks_a_rule_is_named(named: str, forgotten: list[Json]) -> None:
    assert named in problem([make_episode(1)], forgotten)


def test_tombstones_are_read_newest_first_and_a_thousand_of_them_are() -> None:
    found = store.parse(data([], [{"id": f"{number:064x}", "at": store.created_at(number)} for number in range(1000)]))
    assert [int(one["id"], 16) for one in found.forgotten] == list(range(999, -1, -1))


def test_a_store_holds_records_of_both_versions_and_is_answered_from(project: Project) -> None:
    project.store.write_bytes(data([make_episode_2(2), make_episode(1)], [{"id": ID, "at": AT}]))
    for door in ("testlore", "doit"):
        answer = project.ask(door)
        assert word(answer) == ""
        assert sorted(ids(answer)) == sorted(one["id"] for one in (make_episode(1), make_episode_2(2)))


def test_a_store_of_version_1_becomes_one_of_version_2_when_it_must_and_its_records_keep_their_bytes(
    tmp_path: Path,
) -> None:
    target = tmp_path / store.INDEX_FILE
    target.parent.mkdir(parents=True)
    target.write_bytes((DATA / "twelve" / store.INDEX_FILE).read_bytes())
    before = json.loads(target.read_bytes())
    writer.update(str(tmp_path), lambda found: [*found, make_episode(1)])
    assert json.loads(target.read_bytes())["schemaVersion"] == 1
    writer.update(str(tmp_path), lambda found: [*found, make_episode_2(2)])
    after = json.loads(target.read_bytes())
    assert list(after) == ["schemaVersion", "records", "forgotten", "integrity"]
    assert (after["schemaVersion"], after["forgotten"]) == (2, [])
    text = target.read_text("utf-8")
    for record in before["records"]:
        assert canonical.pretty([record])[2:-2] in text.replace("\n  ", "\n")


def test_a_write_that_changes_nothing_leaves_a_store_of_version_2_that_holds_nothing_new(tmp_path: Path) -> None:
    target = tmp_path / store.INDEX_FILE
    target.parent.mkdir(parents=True)
    target.write_bytes(data([make_episode(1)]))
    before = target.read_bytes()
    writer.update(str(tmp_path), lambda found: found)
    assert target.read_bytes() == before


def test_an_update_of_the_records_brings_back_nothing_that_was_forgotten(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    gone = records(tmp_path)[0]
    tombstone = {"id": gone["id"], "at": AT}
    writer.rewrite(str(tmp_path), lambda content: content._replace(forgotten=[tombstone]))
    writer.update(str(tmp_path), lambda found: [*found, gone])
    assert [one["candidateId"] for one in records(tmp_path)] == ["c0"]
