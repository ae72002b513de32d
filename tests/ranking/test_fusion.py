"""The fusion of words, likeness and evidence; near-duplicates; and the explanation that adds up."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from episodes import make_episode, pattern, reseal
from helpers import Project
from hypothesis import given, settings
from hypothesis import strategies as st
from testlore import RecallResult, canonical, recall, schemas
from testlore.commands import formats
from testlore.project.provenance import Provenance
from testlore.ranking import bm25, comments, documents, fusion
from testlore.ranking.fusion import RankedEpisode
from testlore.stages.answer import GENERAL_WARNING, cut
from testlore.stages.call import MAX_MAX_CHARS, MIN_MAX_CHARS
from testlore.stages.recall import to_records

Json = dict[str, Any]
NOW = Provenance("", "", "", "")
WORDS = ("zero", "boundary", "refund", "currency", "leap", "year")

memories = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
        st.sampled_from(["accepted", "rejected"]),
        st.integers(0, 12),
        st.floats(0, 1),
    ),
    min_size=1,
    max_size=12,
)


def words_of(records: list[Json], query: str) -> fusion.Words:
    texts, codes = ([text(one) for one in records] for text in (documents.episode_text, comments.code_text))
    return fusion.matched(bm25.statistics(texts, codes), query)


def by_words(records: list[Json], query: str, limit: int = 20) -> list[RankedEpisode]:
    return fusion.by_words(records, words_of(records, query), limit)


def by_features(records: list[Json], query: str, near: list[float], limit: int = 20) -> list[RankedEpisode]:
    similarity = dict(zip((record["id"] for record in records), near, strict=True))
    return fusion.by_features(records, words_of(records, query), similarity, limit)


def by_model(records: list[Json], query: str, near: list[float], limit: int = 20) -> list[RankedEpisode]:
    similarity = dict(zip((record["id"] for record in records), near, strict=True))
    return fusion.by_model(records, words_of(records, query), similarity, limit)


def order(ranked: list[RankedEpisode], records: list[Json]) -> list[int]:
    numbers = {record["id"]: number for number, record in enumerate(records)}
    return [numbers[one.record["id"]] for one in ranked]


def rejected(number: int, **changes: Any) -> Json:
    return make_episode(number, "", outcome="rejected", warnings=["execution-failed"], **changes)


def caught(number: int, defects: int, content: str) -> Json:
    record = make_episode(number, content)
    return reseal(record, evidence={**record["evidence"], "caughtDefects": defects})


@given(memories, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), st.booleans())
@settings(deadline=None)
def test_the_numbers_of_an_explanation_add_up_to_the_score_that_ranks(
    memory: list[tuple[list[str], str, int, float]], asked: list[str], model: bool
) -> None:
    records = []
    for number, (content, outcome, defects, _) in enumerate(memory):
        evidence = {**make_episode(0)["evidence"], "caughtDefects": defects}
        patterns = [pattern(" ".join(content))] if outcome == "accepted" else []
        records.append(make_episode(number, outcome=outcome, evidence=evidence, patterns=patterns, tags=[]))
    ranked = (by_model if model else by_features)(records, " ".join(asked), [near for *_, near in memory])
    for found in (ranked, by_words(records, " ".join(asked))):
        scores = [one.score for one in found]
        assert scores == sorted(scores, reverse=True)
        for one in found:
            why = one.explanation()
            share = why.get("nativeShare", 0.0)
            assert sum(word["weight"] for word in why["words"]) == pytest.approx(why["lexical"], abs=1e-9)
            fused = (1 - share) * why["lexical"] + share * why.get("native", 0.0)
            assert fused == pytest.approx(why["fused"], abs=1e-6)
            assert why["fused"] * why["evidence"] * why["novelty"] == pytest.approx(one.score, abs=1e-6)


def test_closed_gaps_weigh_more_and_evidence_for_which_nothing_was_tried_less() -> None:
    def weight(**counts: Any) -> float:
        return fusion.evidence_weight({"outcome": "accepted", "evidence": {**make_episode(0)["evidence"], **counts}})

    version_2 = {"closedGaps": 0, "mutants": 0, "undone": "none"}
    tried = {**version_2, "demonstratedDefects": 1, "caughtDefects": 1}
    assert weight(demonstratedDefects=1, caughtDefects=1) == weight(**tried) == 1.1
    assert weight(**{**tried, "closedGaps": 1}) == pytest.approx(1.2)
    assert weight(**{**tried, "closedGaps": 99}) == pytest.approx(2.1)
    assert weight() == 1 > weight(**version_2)
    assert weight(**{**version_2, "mutants": 3}) == weight(**{**version_2, "undone": "missed"}) == 1


def test_a_hash_collision_alone_brings_nothing_in() -> None:
    records = [make_episode(1, "zero boundary", tags=[]), make_episode(2, "leap year", tags=[])]
    assert order(by_features(records, "boundary", [0.1, 0.9]), records) == [0]


def test_likeness_settles_what_words_leave_open_and_no_more() -> None:
    records = [
        make_episode(1, "refund one currency"),
        make_episode(2, "refund two currency"),
        make_episode(3, "refund x"),
    ]
    assert order(by_features(records, "refund currency", [0.2, 0.9, 0.9]), records) == [1, 0, 2]


def test_a_model_brings_in_what_shares_no_word_and_says_so() -> None:
    records = [
        make_episode(n, content, tags=[]) for n, content in enumerate(["refund", "payback", "refund sum", "leap"])
    ]
    found = by_model(records, "refund", [0.8, 0.7, 0.0, 0.0])
    assert {number: one.found_by for number, one in zip(order(found, records), found, strict=True)} == {
        0: "both",
        1: "native",
        2: "lexical",
    }


def test_only_the_nearest_count_as_found_by_a_model() -> None:
    records = [make_episode(number, f"word{number}", tags=[]) for number in range(30)]
    found = by_model(records, "refund", [0.5 + number / 100 for number in range(30)], 30)
    assert order(found, records) == list(range(29, 9, -1))


def test_accepted_evidence_outweighs_rejected_and_caught_defects_outweigh_none() -> None:
    accepted, better = make_episode(1, "execution one failed"), caught(2, 5, "execution two failed")
    records = [rejected(3, tags=[]), accepted, better]
    for found in (by_words(records, "execution failed"), by_features(records, "execution failed", [0.5, 0.5, 0.5])):
        assert [one.evidence for one in found] == [1.5, 1.0, 0.5]
        assert order(found, records) == [2, 1, 0]


def test_a_near_duplicate_stands_behind_different_lessons_and_is_not_dropped() -> None:
    records = [
        make_episode(4, "def test_refund_of_zero_currency(): assert refund(0) == 0"),
        make_episode(3, "def test_refund_of_zero_currency(): assert refund(00) == 0"),
        make_episode(2, "leap year, and no refund in a long text about other things"),
        make_episode(1, "def test_refund_of_zero_currency(): assert refund(0)  == 0"),
    ]
    found = by_words(records, "refund zero currency")
    assert order(found, records) == [0, 2, 3, 1]
    assert [bool(one.duplicate_of) for one in found] == [False, False, True, True]
    assert {one.duplicate_of for one in found[2:]} == {records[0]["id"]}
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert order(by_words(records, "refund zero currency", 2), records) == [0, 2]
    assert order(by_words(records, "refund zero currency", 3), records) == [0, 2, 3]


def test_two_lessons_in_other_words_are_no_duplicates() -> None:
    records = [make_episode(1, "def test_refund_zero(): pass"), make_episode(2, "def test_refund_leap(): pass")]
    assert not any(one.duplicate_of for one in by_words(records, "refund"))


def test_rejections_without_a_pattern_are_no_duplicates_of_each_other() -> None:
    found = by_words([rejected(1), rejected(2)], "execution failed")
    assert len(found) == 2
    assert not any(one.duplicate_of for one in found)


def test_equal_scores_come_newest_first() -> None:
    records = [make_episode(number, f"refund {word}", tags=[]) for number, word in enumerate(("one", "two", "six"))]
    assert order(by_words(records, "refund"), records) == [2, 1, 0]


@pytest.mark.parametrize("door", ["testlore", "doit"])
def test_an_answer_explains_itself_when_asked_to(project: Project, door: str) -> None:
    plain = project.ask(door)
    assert not any("explain" in record for record in plain["records"])
    if door == "doit":
        done = project.doit("recall", "query=zero boundary", "format=json", "explain=1")
    else:
        done = project.testlore("recall", "--query", "zero boundary", "--json", "--explain")
    answer = json.loads(done.stdout)
    assert schemas.first_problem("answer", answer) is None
    assert answer["retrieval"] == "ruvector"
    assert [record["id"] for record in answer["records"]] == [record["id"] for record in plain["records"]]
    for record in answer["records"]:
        why = record["explain"]
        assert {word["word"] for word in why["words"]} <= {"zero", "boundary", "zero boundary"}
        assert why["fused"] * why["evidence"] * why["novelty"] == pytest.approx(record["score"], abs=1e-6)


def test_the_table_explains_itself_within_80_columns(project: Project) -> None:
    done = project.testlore("recall", "--query", "zero boundary größe", "--explain")
    assert "by words" in done.stdout
    assert "for the evidence" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("value", ["yes", "2", ""])
def test_another_value_of_explain_is_refused_by_name(project: Project, value: str) -> None:
    done = project.doit("recall", "query=zero", "format=json", f"explain={value}")
    assert done.returncode == 2
    assert "explain is" in json.loads(done.stdout)["reason"]


def test_an_answer_says_what_found_each_record_where_a_model_took_part(project: Project) -> None:
    script = project.root / "embed.py"
    script.write_text(
        "import json, sys\n"
        "texts = json.load(sys.stdin)['texts']\n"
        "def row(text): return [1.0] + [float('nothing' in text or 'gratis' in text)] * 15\n"
        "print(json.dumps({'schemaVersion': 1, 'vectors': [row(text) for text in texts]}))\n"
    )
    command = {"mode": "command", "argv": [sys.executable, "embed.py"], "identity": "toy"}
    project.configure({"dimensions": 16, "embedding": command})
    for query, found_by in (("gratis", {"native"}), ("zero boundary", {"both"})):
        answer = recall(project.root, query, explain=True, limit=20, max_chars=20_000)
        assert answer.details is not None, answer.warnings
        assert answer.details["mode"] == "external-embedding"
        assert {record["foundBy"] for record in answer.records[:1]} == found_by
        assert schemas.first_problem("answer", answer.to_dict()) is None


@given(memories, st.integers(MIN_MAX_CHARS, MAX_MAX_CHARS), st.booleans())
@settings(deadline=None, max_examples=200)
def test_the_budget_holds_with_explanations(
    memory: list[tuple[list[str], str, int, float]], max_chars: int, model: bool
) -> None:
    records = [make_episode(number, " ".join(content) * 9, tags=[]) for number, (content, *_) in enumerate(memory)]
    ranked = (by_model if model else by_features)(records, " ".join(WORDS), [near for *_, near in memory])
    mode = "external-embedding" if model else "lexical-vector"
    details = {"engine": "ruvector", "mode": mode, "version": "0.1.4", "cache": "reused"}
    found = to_records(ranked, ".", lambda: NOW, tell_finder=model, explain=True)
    whole = RecallResult(found, "ruvector", details, (GENERAL_WARNING,))
    answer = cut(whole, max_chars)
    printed = formats.render(answer, "json", max_chars)
    assert canonical.utf16_length(printed) <= max_chars
    assert schemas.first_problem("answer", json.loads(printed)) is None
    for record in answer.records:
        assert record["score"] >= 0
        assert ("foundBy" in record) == model


def test_an_explanation_goes_before_the_patterns_do() -> None:
    ranked = by_words([make_episode(1, "zero boundary " * 40)], "zero")
    [record] = to_records(ranked, ".", lambda: NOW, explain=True)
    bare = {key: value for key, value in record.items() if key != "explain"}
    whole = RecallResult([record], "deterministic-lexical", None, (GENERAL_WARNING,))

    def size(of: Json) -> int:
        return canonical.utf16_length(canonical.dumps(whole._replace(records=[of]).to_dict())) + 1

    assert cut(whole, size(record)).records == [record]
    assert cut(whole, size(record) - 1).records == [bare]
    assert cut(whole, size(bare) - 1).records == [{**record, "patterns": []}]
    assert cut(whole, size({**record, "patterns": []}) - 1).records == [{**bare, "patterns": []}]
    assert cut(whole, size({**bare, "patterns": []})).records == [{**bare, "patterns": []}]
    assert cut(whole, size({**bare, "patterns": []}) - 1).records == []


def test_a_warm_recall_that_explains_brings_in_nothing_heavy(built: Project) -> None:
    script = (
        "import sys\n"
        "from testlore import recall\n"
        "assert recall('.', 'zero boundary', explain=True).details['cache'] == 'reused'\n"
        "print([name for name in ('numpy', 'jsonschema', 'tabulate', 'filelock', 'dataclasses', 'inspect', 'asyncio',"
        " 'importlib.metadata') if name in sys.modules])"
    )
    assert built.ask_natively() in ("built", "reused")
    assert built.python("-c", script).stdout == "[]\n"


def test_the_golden_project_answers_with_the_lesson_that_was_asked_for(project: Project) -> None:
    for query, expected in (("zero boundary", "empty basket"), ("rounding shares", "share")):
        first = recall(Path(project.root), query).records[0]
        assert expected in first["patterns"][0]["content"]
