"""BM25, by hand; and the sealed statistics that it counts from."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import pytest
from helpers import Project
from hypothesis import given
from hypothesis import strategies as st
from testlore.ranking import bm25, tokens
from testlore.ranking.bm25 import K1, B

DOCUMENTS = ["zero one", "zero zero two", "six"]

documents = st.lists(st.text("abc defg_T\n", max_size=40), max_size=8)


def score(query: str, found: list[str]) -> list[float]:
    return [sum(match.words.values()) for match in bm25.bm25(tokens.wanted(query), bm25.statistics(found))]


def test_the_score_is_the_formula_of_robertson_and_zaragoza() -> None:
    average = (2 + 3 + 1) / 3
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))

    def part(frequency: int, length: int) -> float:
        return idf * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / average))

    assert score("zero", DOCUMENTS) == pytest.approx([part(1, 2), part(2, 3), 0])


def test_a_rare_word_tells_more_than_a_common_one() -> None:
    first, second, third = score("zero six", DOCUMENTS)
    assert third > second > first > 0


def test_the_name_of_a_test_tells_more_than_its_code() -> None:
    named, used = score("refund", ["def test_refund(): pay(cash)", "def test_cash(): pay(refund)"])
    assert named > used


def test_each_word_of_the_query_says_what_it_adds() -> None:
    [match] = bm25.bm25(tokens.wanted("zero boundaries of nothing"), bm25.statistics(["zero boundary"]))
    assert list(match.words) == ["zero", "boundaries"]
    assert match.related


def test_beginnings_alone_relate_nothing() -> None:
    [match] = bm25.bm25(tokens.wanted("serializer"), bm25.statistics(["serialization"]))
    assert match.words
    assert not match.related


@given(documents, st.text("abc defg_T", max_size=20))
def test_a_document_is_related_exactly_when_it_shares_a_term(found: list[str], query: str) -> None:
    wanted = {one.feature for one in tokens.wanted(query) if one.relates}
    matches = bm25.bm25(tokens.wanted(query), bm25.statistics(found))
    assert [match.related for match in matches] == [not wanted.isdisjoint(tokens.terms(one)) for one in found]
    assert all(value > 0 for match in matches for value in match.words.values())


@given(documents)
def test_statistics_survive_their_bytes(found: list[str]) -> None:
    made = bm25.statistics(found, [text[: len(text) // 2] for text in found])
    assert bm25.from_bytes(made.to_bytes(), made.starts) == made


@pytest.mark.parametrize("starts", [[], [1], [0, 2, 1], [0, 9], [0]])
def test_bytes_that_do_not_fit_are_refused(starts: list[int]) -> None:
    data = bm25.statistics(["zero"]).to_bytes()
    with pytest.raises(ValueError, match="do not fit"):
        bm25.from_bytes(data, starts)


def test_statistics_hold_hashes_that_are_pinned() -> None:
    made = bm25.statistics(["zero"])
    assert made.hashes == array("Q", [tokens.hashed("zero")])
    assert made.to_bytes() == tokens.hashed("zero").to_bytes(8, "little") + b"\1\0" + b"\1"


@pytest.fixture
def kept(project: Project) -> Path:
    assert project.ask_natively() in ("built", "reused")
    return project.cache / "terms.bin"


def test_a_warm_recall_counts_no_word_of_an_episode(project: Project, kept: Path) -> None:
    script = (
        "from testlore import recall\nfrom testlore.ranking import bm25\n"
        "def statistics(*texts): raise AssertionError('an episode was tokenized')\n"
        "bm25.statistics = statistics\n"
        "print(recall('.', 'zero boundary').details['cache'])"
    )
    done = project.python("-c", script)
    assert done.stdout == "reused\n", done.stderr


def test_the_kept_statistics_hold_no_word(project: Project, kept: Path) -> None:
    for word in (b"boundary", b"zero", b"basket"):
        assert word not in kept.read_bytes()


@pytest.mark.parametrize("damage", ["empty", "cut", "appended", "flipped", "of another store", "gone"])
def test_statistics_that_do_not_fit_are_made_anew(project: Project, kept: Path, damage: str) -> None:
    before = project.ask()
    data = kept.read_bytes()
    if damage == "gone":
        kept.unlink()
    elif damage == "of another store":
        kept.write_bytes(data.replace(b'"store":"', b'"store":"0', 1))
    else:
        broken = {"empty": b"", "cut": data[:-1], "appended": data + b"\0", "flipped": data[:-1] + b"\7"}
        kept.write_bytes(broken[damage])
    assert project.ask() == before
    assert kept.read_bytes() == data
    assert project.ask() == before


def test_a_disabled_plugin_keeps_no_statistics(project: Project) -> None:
    project.configure({"enabled": False})
    before = set(project.root.rglob("*"))
    assert project.ask()["records"]
    assert set(project.root.rglob("*")) == before
