"""What an answer shows of a record of version 2: a few short texts, those nearest to the question first."""

from __future__ import annotations

import json

import pytest
from episodes import make_episode, make_episode_2
from helpers import Json, Project
from testlore import canonical, schemas
from testlore.ranking import tokens
from testlore.stages import excerpt


def shown(record: Json, query: str) -> Json:
    return excerpt.of(record, frozenset(tokens.terms(query)))


def case(name: str, path: str = "tests/a.py") -> Json:
    return {"path": path, "name": name, "outcome": "passed"}


def file(path: str) -> Json:
    return {"path": path, "digest": canonical.digest(path)}


def test_nothing_is_shown_of_a_record_of_version_1() -> None:
    assert shown(make_episode(1), "zero") == {}


def test_what_shares_words_with_the_question_comes_first_and_the_rest_in_its_own_order() -> None:
    record = make_episode_2(
        1,
        tests=[case("one"), case("two"), case("three"), case("test_zeroBoundary"), case("x", "tests/negative.py")],
        files=[file(f"src/{name}.py") for name in ("a", "b", "c", "d", "e", "negatives")],
        symbols=["a1", "b1", "c1", "d1", "e1", "größe", "is_negative_boundary"],
        reasons=["case-loss: a", "case-loss: b", "case-loss: c", "case-loss: a negative one"],
    )
    found = shown(record, "negative boundary Grösse")
    assert [one["name"] for one in found["tests"]] == ["test_zeroBoundary", "x", "one"]
    assert found["subject"]["files"] == [f"src/{name}.py" for name in ("negatives", "a", "b", "c", "d")]
    assert found["subject"]["symbols"][:3] == ["is_negative_boundary", "größe", "a1"]
    assert found["reasons"] == ["case-loss: a negative one", "case-loss: a", "case-loss: b"]
    assert [one["name"] for one in shown(record, "")["tests"]] == ["one", "two", "three"]


@pytest.mark.parametrize("query", ["config", "configuration", "deletes", "größe", "テスト設定"])
def test_a_word_is_shared_by_its_stem_its_long_form_and_without_its_accents(query: str) -> None:
    symbols = ["a", "b", "c", "d", "e", "configurations", "deleted", "GRÖSSE größe", "設定"]
    first = shown(make_episode_2(1, symbols=symbols), query)["subject"]["symbols"][0]
    assert first not in "abcde"


def test_each_text_has_at_most_120_characters() -> None:
    face = "\U0001f600"
    record = make_episode_2(
        1,
        title="t" * 160,
        tests=[case("n" * 200, "p" * 200)],
        files=[file("f" * 200)],
        symbols=["s" * 80],
        reasons=[face * 140],
    )
    found = shown(record, "zero")
    texts = [found["title"], found["tests"][0]["path"], found["tests"][0]["name"], found["subject"]["files"][0]]
    assert {len(text) for text in texts} == {120}
    assert all(text.endswith("…") for text in texts)
    assert canonical.utf16_length(found["reasons"][0]) <= 120
    assert found["subject"]["symbols"] == ["s" * 80]


@pytest.mark.parametrize("door", ["testlore", "doit"])
def test_an_answer_holds_it_and_fits_its_schema_and_budget(project: Project, door: str) -> None:
    large: Json = {
        "tests": [case(f"{number} zero " + "n" * 200) for number in range(20)],
        "symbols": [f"{number} zero " + "s" * 70 for number in range(40)],
        "reasons": ["zero " + "r" * 300] * 20,
    }
    episodes = [make_episode_2(number, "zero boundary " + "x" * 900, **large) for number in range(5)]
    project.store.write_bytes(
        canonical.to_bytes(canonical.pretty(canonical.seal({"schemaVersion": 2, "records": episodes, "forgotten": []})))
    )
    answer = project.ask(door)
    assert list(answer["records"][0])[-5:] == ["advisoryOnly", "title", "tests", "subject", "reasons"]
    assert [len(answer["records"][0][key]) for key in ("tests", "reasons")] == [3, 3]
    assert len(canonical.dumps(answer)) + 1 <= 6_000
    assert [bool(record["patterns"]) for record in answer["records"]].count(True) < 5  # the patterns go first
    for form in ("table", "prompt"):
        done = project.testlore("recall", "zero boundary", "--format", form)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr


def test_a_question_without_a_usable_word_shows_the_newest_and_says_that_it_did_not_match(project: Project) -> None:
    episodes = [make_episode_2(2), make_episode(1)]
    project.store.write_bytes(
        canonical.to_bytes(canonical.pretty(canonical.seal({"schemaVersion": 2, "records": episodes, "forgotten": []})))
    )
    done = project.recall(query="the test")
    answer = json.loads(done.stdout)
    assert schemas.first_problem("answer", answer) is None
    assert [(record["matched"], "title" in record) for record in answer["records"]] == [(False, True), (False, False)]
