"""Making an episode: whatever its parts are, the record is one that a store takes."""

from __future__ import annotations

from typing import Any

import pytest
from episodes import make_episode, make_episode_2
from helpers import Json
from hypothesis import given, settings
from hypothesis import strategies as st
from testlore import canonical, schemas
from testlore.memory import store

TEXT = st.text(max_size=400) | st.sampled_from(["\U0001f600" * 300, "漢" * 500, "\ud800", "a\nb\u2028c", "\x1b[31m"])
DIGEST = canonical.digest("")
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "title": TEXT,
        "tests": st.lists(
            st.fixed_dictionaries({"path": TEXT, "name": TEXT, "outcome": st.sampled_from(["passed", "failed"])}),
            max_size=25,
        ),
        "files": st.lists(st.fixed_dictionaries({"path": TEXT, "digest": st.just(DIGEST)}), max_size=25),
        "symbols": st.lists(TEXT, max_size=45),
        "reasons": st.lists(TEXT, max_size=25),
        "patterns": st.lists(
            st.builds(lambda text: {"language": "python", "content": text * 5}, TEXT.filter(bool)), max_size=10
        ),
        "outcome": st.sampled_from(["accepted", "rejected"]),
    },
)


def check(record: Json) -> None:
    sealed = canonical.seal({"schemaVersion": 2, "records": [record], "forgotten": []})
    store.parse(canonical.to_bytes(canonical.dumps(sealed)))
    assert schemas.first_problem("store", record, "record") is None


@given(parts=PARTS)
@settings(deadline=None, max_examples=60)
def test_a_record_of_any_parts_is_one_that_a_store_takes(parts: Json) -> None:
    check(make_episode_2(1, **parts))


def test_a_record_of_its_bare_parts_is_valid_and_says_that_nothing_is_known() -> None:
    bare: dict[str, Any] = {"title": "", "tests": (), "files": (), "symbols": (), "patterns": ()}
    record = make_episode_2(1, **bare, evidence={"originalCases": 1})
    check(record)
    assert record["subject"] == {"files": [], "symbols": []}
    assert record["evidence"]["originalCases"] == 1
    assert (record["evidence"]["complete"], record["evidence"]["undone"]) == (False, "none")
    assert list(record["evidence"])[:8] == list(make_episode(1)["evidence"])


def test_what_is_too_long_is_cut_and_what_is_too_much_is_left_out_from_the_end() -> None:
    record = make_episode_2(
        1,
        title="Zero\n  is \x1b[31mno boundary " + "x" * 200,
        tests=[{"path": "p" * 300, "name": f"{number} " + "n" * 300, "outcome": "passed"} for number in range(30)],
        files=[{"path": f"src/{number}.py", "digest": DIGEST} for number in range(30)],
        symbols=[f"{number} " + "s" * 100 for number in range(50)],
        reasons=[f"{number} " + "r" * 400 for number in range(30)],
        patterns=[{"language": "python", "content": f"{number} " + "c" * 1500} for number in range(10)],
    )
    check(record)
    assert record["title"].startswith("Zero is [31mno boundary xxx")
    assert len(record["title"]) == 160
    assert [one["name"].split()[0] for one in record["tests"]] == [str(number) for number in range(20)]
    assert {len(one["path"]) for one in record["tests"]} | {len(one["name"]) for one in record["tests"]} == {200}
    assert [one["path"] for one in record["subject"]["files"]] == [f"src/{number}.py" for number in range(20)]
    assert {len(one) for one in record["subject"]["symbols"]} == {80}
    assert len(record["subject"]["symbols"]) == 40
    assert {len(one) for one in record["reasons"]} == {300}
    assert [one["content"].split()[0] for one in record["patterns"]] == [
        str(number) for number in range(len(record["patterns"]))
    ]


def test_a_path_that_is_too_long_takes_the_files_with_it() -> None:
    files = [{"path": "a.py", "digest": DIGEST}, {"path": "b" * 201, "digest": DIGEST}]
    assert make_episode_2(1, files=files)["subject"]["files"] == []


WIDE = "漢"  # three bytes
LARGE: Json = {
    "patterns": [{"language": "python", "content": WIDE * 1_200}] * 8,
    "symbols": [WIDE * 80] * 40,
    "tests": [{"path": WIDE * 200, "name": WIDE * 200, "outcome": "passed"}] * 20,
    "reasons": [WIDE * 300] * 20,
    "files": [{"path": WIDE * 200, "digest": DIGEST}] * 20,
}


@pytest.mark.parametrize(
    ("given_parts", "cut"),
    [
        (["patterns", "symbols"], "patterns"),
        (["patterns", "symbols", "tests"], "symbols"),
        (["patterns", "symbols", "tests", "reasons"], "tests"),
        (["patterns", "symbols", "tests", "reasons", "files"], "reasons"),
    ],
)
def test_a_record_that_is_too_large_loses_patterns_then_symbols_tests_and_reasons(
    given_parts: list[str], cut: str
) -> None:
    parts = {name: value if name in given_parts else [] for name, value in LARGE.items()}
    record = make_episode_2(1, **parts)
    check(record)
    left = {**record, **record["subject"]}
    order = ["patterns", "symbols", "tests", "reasons", "files"]
    for name in given_parts:
        if order.index(name) < order.index(cut):
            assert left[name] == []
        elif name == cut:
            assert 0 < len(left[name]) < len(LARGE[name])
        else:
            assert len(left[name]) == len(LARGE[name])
    one_more = len(canonical.dumps(LARGE[cut][0]).encode())
    assert len(canonical.dumps(record).encode()) + one_more > store.MAX_RECORD_BYTES - 100


def test_a_rejected_candidate_leaves_no_pattern() -> None:
    record = make_episode_2(1, outcome="rejected", patterns=[{"language": "python", "content": "assert 1"}])
    assert record["patterns"] == []


def test_every_free_text_is_masked_before_it_is_cut() -> None:
    secret = "s3cret" * 50
    text = f"{'x' * 70}{secret}"
    record = make_episode_2(
        1,
        title=text,
        tests=[{"path": text, "name": text, "outcome": "passed"}],
        files=[{"path": text, "digest": DIGEST}],
        symbols=[text],
        reasons=[text],
        masked=lambda text: text.replace(secret, "<masked>"),
    )
    check(record)
    assert "s3cret" not in canonical.dumps(record)
    assert canonical.dumps(record).count("<masked>") == 5
    assert record["subject"]["files"] == []  # a masked path could not be compared with the sources
