"""The canonical store is believed whole or not at all, and never touched."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from episodes import make_episode, make_episode_2, pattern, reseal
from helpers import DOORS, Json, Project, ids, states, without_powers, word
from hypothesis import given
from hypothesis import strategies as st
from testlore import canonical, recall
from testlore.errors import Unusable
from testlore.memory import store


def _text(records: list[Json], **others: Any) -> str:
    return json.dumps(canonical.seal({"schemaVersion": 1, "records": records, **others}))


def _doubled_with_another_candidate() -> list[Json]:
    return [make_episode(1), reseal(make_episode(1), candidateId="another")]


BAD_BYTES = {
    "empty": b"",
    "not JSON": b"{",
    "a list": b"[]",
    "null": b"null",
    "a text": b'"store"',
    "cut short": _text([make_episode(1)]).encode()[:-1],
    "with something after it": _text([make_episode(1)]).encode() + b"x",
    "with a byte order mark": b"\xef\xbb\xbf" + _text([make_episode(1)]).encode(),
    "in UTF-16": _text([make_episode(1)]).encode("utf-16"),
    "not UTF-8": _text([make_episode(1)]).encode().replace(b"zero", b"\xffero"),
    "with NaN": b'{"schemaVersion": NaN, "records": [], "integrity": ""}',
    "with infinity": b'{"schemaVersion": 1e999, "records": [], "integrity": ""}',
    "with a number of 5000 digits": b'{"schemaVersion": ' + b"1" * 5000 + b', "records": [], "integrity": ""}',
    **{
        f"nested {depth} deep": b'{"schemaVersion": 1, "records": ' + b"[" * depth + b"]" * depth + b"}"
        for depth in (900, 950, 970, 980, 990, 5_000)
    },
    "nested too deeply": b"[" * 100_000,
    "with deep tags": _text([{**make_episode(1), "tags": 0}])
    .encode()
    .replace(b'"tags": 0', b'"tags": [' + b"[" * 900 + b"]" * 900 + b", " + b"[" * 900 + b"]" * 900 + b"]"),
    "with a long unknown key": _text([], **{"x" * 100_000: 1}).encode(),
    "with an unknown key": _text([], more=1).encode(),
    "of another version": _text([], schemaVersion=3).encode(),
    "of version 2 without its tombstones": _text([], schemaVersion=2).encode(),
    "of version 1 with tombstones": _text([], forgotten=[]).encode(),
    "of version 1 with a record of version 2": _text([make_episode_2(1)]).encode(),
    "of a version that is true": _text([], schemaVersion=True).encode(),
    "without records": json.dumps(canonical.seal({"schemaVersion": 1})).encode(),
    "without a version": json.dumps(canonical.seal({"records": []})).encode(),
    "with records that are no list": json.dumps(canonical.seal({"schemaVersion": 1, "records": {}})).encode(),
    "without a seal": json.dumps({"schemaVersion": 1, "records": []}).encode(),
    "with a seal of something else": json.dumps({"schemaVersion": 1, "records": [], "integrity": "0" * 64}).encode(),
    "with a seal that is a number": json.dumps({"schemaVersion": 1, "records": [], "integrity": 0}).encode(),
    "of 201 records": _text([make_episode(number) for number in range(201)]).encode(),
    "with one record twice": _text([make_episode(1), make_episode(1)]).encode(),
    "with one id twice": _text(_doubled_with_another_candidate()).encode(),
    "with a record that is null": json.dumps(canonical.seal({"schemaVersion": 1, "records": [None]})).encode(),
    "too large": _text([make_episode(1)]).encode() + b" " * (4 << 20),
}


@pytest.mark.parametrize("data", [pytest.param(data, id=name.replace(" ", "-")) for name, data in BAD_BYTES.items()])
def test_a_store_with_anything_off_is_refused_whole(project: Project, data: bytes) -> None:
    project.store.write_bytes(data)
    before = states(project.store.parent)
    result = recall(project.root, "zero boundary")
    assert result.exit_status == 1
    assert result.records == []
    assert result.reason.startswith("store-corrupt: ")
    assert states(project.store.parent) == before


@pytest.mark.parametrize("name", ["not JSON", "with one id twice", "with deep tags", "nested 970 deep", "too large"])
def test_a_refused_store_ends_both_commands_with_1(project: Project, name: str) -> None:
    project.store.write_bytes(BAD_BYTES[name])
    before = states(project.store.parent)
    for door in DOORS:
        answer = project.ask(door, status=1)
        assert answer["records"] == []
        assert answer["reason"].startswith("store-corrupt: ")
    assert states(project.store.parent) == before


BAD_RECORDS: list[tuple[str, Json]] = [
    ("unknown", {"unknown": 1}),
    ("schemaVersion", {"schemaVersion": 3}),
    ("schemaVersion", {"schemaVersion": "1"}),
    ("id", {"id": "0" * 64}),
    ("id", {"id": make_episode(1)["id"].upper()}),
    ("id", {"id": make_episode(1)["id"] + "\n"}),
    *(("candidateId", {"candidateId": wrong}) for wrong in ("", "-a", "a/b", "a" * 129, "a\n", "ä", None)),
    *(
        ("createdAt", {"createdAt": wrong})
        for wrong in (
            *("", "2026-01-01", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000", "2026-01-01T00:00:00.000+00:00"),
            *("2026-13-01T00:00:00.000Z", "2026-02-30T00:00:00.000Z", "2026-01-01T24:00:00.000Z", 0),
            *("2026-01-01T23:60:00.000Z", "2026-01-01T23:59:60.000Z", "2026-01-01T00:00:00.000Z\n"),
            *("+012026-01-01T00:00:00.000Z", "２026-01-01T00:00:00.000Z"),
        )
    ),
    *(("manifestHash", {"manifestHash": wrong}) for wrong in ("", "0" * 63, "0" * 65, "G" * 64)),
    *(("validationHash", {"validationHash": wrong}) for wrong in ("", "0" * 63, "A" * 64, None)),
    ("provenance", {"provenance": {}}),
    ("provenance", {"provenance": {**make_episode(1)["provenance"], "host": "0" * 64}}),
    ("provenance.runner", {"provenance": {**make_episode(1)["provenance"], "runner": "node"}}),
    ("framework", {"framework": "mocha"}),
    ("outcome", {"outcome": "pending"}),
    ("tags", {"tags": ["unheard"]}),
    ("tags", {"tags": ["boundary", "boundary"]}),
    ("tags", {"tags": "boundary"}),
    ("warnings", {"warnings": ["unheard"]}),
    ("warnings", {"warnings": ["case-loss", "case-loss"]}),
    ("context", {"context": {**make_episode(1)["context"], "path": "src"}}),
    ("context.language", {"context": {**make_episode(1)["context"], "language": "ruby"}}),
    ("context.purpose", {"context": {**make_episode(1)["context"], "purpose": "fun"}}),
    *(
        (f"context.{key}", {"context": {**make_episode(1)["context"], key: wrong}})
        for key in ("changedTests", "deletedFiles")
        for wrong in (-1, 101, 1.5, "1", True, None)
    ),
    ("evidence", {"evidence": {**make_episode(1)["evidence"], "output": "text"}}),
    ("evidence.complete", {"evidence": {**make_episode(1)["evidence"], "complete": 1}}),
    *(
        (f"evidence.{key}", {"evidence": {**make_episode(1)["evidence"], key: wrong}})
        for key in make_episode(1)["evidence"]
        if key != "complete"
        for wrong in (-1, 10_000_001, 0.5)
    ),
    ("patterns", {"patterns": [pattern(str(number)) for number in range(9)]}),
    ("patterns", {"outcome": "rejected", "patterns": [pattern("text")]}),
    ("patterns[0]", {"patterns": [{**pattern("text"), "path": "src"}]}),
    ("patterns[0].language", {"patterns": [{**pattern("text"), "language": "ruby"}]}),
    ("patterns[0].content", {"patterns": [pattern("x" * 1_201)]}),
    ("longer than 1200", {"patterns": [pattern("\U0001f600" * 601)]}),
    ("hash", {"patterns": [{**pattern("text"), "hash": canonical.digest("other")}]}),
    ("hash", {"patterns": [{**pattern("text"), "hash": ""}]}),
    ("larger than 32768", {"patterns": [pattern("\1" * 1_200)] * 8}),
    ("seal", {"integrity": "0" * 64}),
    ("integrity", {"integrity": ""}),
]


def _refusal(value: Any) -> str:
    with pytest.raises(Unusable) as caught:
        store.parse(canonical.to_bytes(json.dumps(value)))
    assert caught.value.reason == "store-corrupt"
    return caught.value.detail


@pytest.mark.parametrize(("named", "changes"), BAD_RECORDS)
def test_a_record_that_breaks_a_rule_is_named(named: str, changes: Json) -> None:
    record = {
        **reseal(make_episode(1), **changes),
        **({"integrity": changes["integrity"]} if "integrity" in changes else {}),
    }
    refusal = _refusal(canonical.seal({"schemaVersion": 1, "records": [make_episode(2), record]}))
    assert "records[1]" in refusal
    assert named in refusal


@pytest.mark.parametrize("key", list(make_episode(1)))
def test_a_record_without_a_key_is_named(key: str) -> None:
    record = {name: value for name, value in make_episode(1).items() if name != key}
    refusal = _refusal(
        canonical.seal({"schemaVersion": 1, "records": [canonical.seal(record) if key != "integrity" else record]})
    )
    assert f"records[0] lacks the key '{key}'" == refusal


def test_an_id_of_another_manifest_or_outcome_is_refused() -> None:
    for changes in ({"manifestHash": "0" * 64}, {"outcome": "rejected", "patterns": []}):
        record = canonical.seal({**make_episode(1), **changes})
        assert "the id" in _refusal(canonical.seal({"schemaVersion": 1, "records": [record]}))


UNUSUAL: dict[str, list[Json]] = {
    "200 records": [make_episode(number) for number in range(200)],
    "eight long patterns": [make_episode(1, patterns=[pattern("zero " + "x" * 1_195)] * 8)],
    "lone surrogates": [make_episode(1, "zero \ud800 boundary \udfff")],
    "control characters": [make_episode(1, "zero \0\1\x1b[31m boundary \u2028\u202e")],
    "characters beyond the basic plane": [make_episode(1, "zero boundary " + "\U0001f600" * 500)],
    "nothing but warnings": [make_episode(1, "", outcome="rejected", tags=["boundary"], warnings=["case-loss"])],
    "whole numbers written as fractions": [
        make_episode(1, context={**make_episode(1)["context"], "changedTests": 1.0}),
    ],
    "one moment for all": [make_episode(number, createdAt="2026-01-01T00:00:00.000Z") for number in range(9)],
    "first and last years": [
        make_episode(1, createdAt="0001-01-01T00:00:00.000Z"),
        make_episode(2, createdAt="9999-12-31T23:59:59.999Z"),
    ],
}


@pytest.mark.parametrize("records", [pytest.param(value, id=name.replace(" ", "-")) for name, value in UNUSUAL.items()])
def test_a_store_that_is_unusual_but_valid_is_answered_from(project: Project, records: list[Json]) -> None:
    project.write_store(records)
    for door in DOORS:
        answer = project.ask(door)
        assert word(answer) == ""
        assert set(ids(answer)) <= {record["id"] for record in records}
        assert answer["records"]
    assert project.testlore("recall", "--query", "zero boundary", "--format", "prompt").returncode == 0


def test_an_empty_store_has_nothing_to_recall(project: Project) -> None:
    project.write_store([])
    for door in DOORS:
        answer = project.ask(door)
        assert word(answer) == "ruvector-empty-scope-or-query"
        assert answer["records"] == []
    assert project.doit().returncode == 0


def _link(at: str) -> Callable[[Project], None]:
    def make(project: Project) -> None:
        path = project.root / at
        moved = project.root.with_name("moved")
        path.rename(moved)
        path.symlink_to(moved)

    return make


def _dangling(at: str) -> Callable[[Project], None]:
    def make(project: Project) -> None:
        path = project.root / at
        path.rename(project.root.with_name("moved"))
        path.symlink_to("nowhere")

    return make


def _file(at: str) -> Callable[[Project], None]:
    def make(project: Project) -> None:
        path = project.root / at
        path.rename(project.root.with_name("moved"))
        path.write_text("mine")

    return make


def _folder(project: Project) -> None:
    project.store.unlink()
    project.store.mkdir()


def _pipe(project: Project) -> None:
    project.store.unlink()
    os.mkfifo(project.store)


UNSAFE = {
    "a link at .tddswarm": _link(".tddswarm"),
    "a link at learning": _link(".tddswarm/learning"),
    "a link at the store": _link(store.INDEX_FILE),
    "a dangling link at .tddswarm": _dangling(".tddswarm"),
    "a dangling link at learning": _dangling(".tddswarm/learning"),
    "a dangling link at the store": _dangling(store.INDEX_FILE),
    "a file at .tddswarm": _file(".tddswarm"),
    "a file at learning": _file(".tddswarm/learning"),
    "a folder": _folder,
    "a pipe": _pipe,
}


@pytest.mark.parametrize("spoil", [pytest.param(spoil, id=name.replace(" ", "-")) for name, spoil in UNSAFE.items()])
def test_a_store_that_is_no_plain_file_is_not_read(project: Project, spoil: Callable[[Project], None]) -> None:
    spoil(project)
    before = states(project.root.parent)
    for door in DOORS:
        answer = project.ask(door, status=1)
        assert answer["records"] == []
        assert answer["reason"].startswith("store-unsafe: ")
    assert project.doit().returncode == 1
    assert states(project.root.parent) == before


def test_a_store_that_may_not_be_read_is_unsafe(project: Project) -> None:
    bound = project.confined(without_powers)
    for path in (project.store, project.store.parent, project.root / ".tddswarm"):
        mode = path.stat().st_mode
        path.chmod(0)
        for door in DOORS:
            done = bound.recall(door)
            assert done.returncode == 1, done.stderr
            assert json.loads(done.stdout)["reason"].startswith("store-unsafe: ")
            assert "Traceback" not in done.stderr
        path.chmod(mode)
    assert bound.ask_natively("doit") == "built"


@pytest.mark.parametrize("missing", [".tddswarm", ".tddswarm/learning", store.INDEX_FILE])
def test_without_a_store_there_is_no_memory_yet_and_how_to_begin_is_said(project: Project, missing: str) -> None:
    path = project.root / missing
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    for door in DOORS:
        done = project.recall(door)
        assert done.returncode == 0
        assert json.loads(done.stdout)["reason"].startswith("no-memory: ")
        assert "begins" in done.stderr
    assert project.testlore("recall", "--query", "zero").stdout == ""


def test_a_corrupt_store_is_not_covered_by_an_index_that_was_built_before(built: Project) -> None:
    before = states(built.cache)
    built.store.write_bytes(built.store.read_bytes().replace(b"accepted", b"rejected", 1))
    for door in DOORS:
        assert built.ask(door, status=1)["reason"].startswith("store-corrupt: ")
    plain = built.doit()
    assert plain.returncode == 1
    assert "store-corrupt" in plain.stderr
    assert states(built.cache) == before


def test_a_receipt_vouches_for_the_very_bytes_only(built: Project) -> None:
    data = built.store.read_bytes()
    built.store.write_bytes(data.replace(b'"score"', b'"score"') + b"\n")
    assert built.ask_natively() == "reused"
    built.store.write_bytes(data[:-10] + b"x" + data[-9:])
    assert built.ask(status=1)["reason"].startswith("store-corrupt: ")


def test_the_api_tells_the_same_as_the_commands(project: Project) -> None:
    project.store.write_bytes(b"{")
    result = recall(project.root, "zero boundary")
    assert result.exit_status == 1
    assert result.to_dict() == project.ask(status=1)
    assert recall(Path(project.root), "zero").reason.startswith("store-corrupt")


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(timezone.utc)))
def test_seconds_are_counted_as_the_calendar_counts_them(at: datetime) -> None:
    text = at.strftime("%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"
    text = f"{at.year:04}-{text}"
    assert store.seconds_of(text) == store.moment(text)
