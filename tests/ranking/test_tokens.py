"""Terms and features: what relates texts, and what they are compared by."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from episodes import make_episode
from hypothesis import given
from hypothesis import strategies as st
from testlore.ranking import arabic, documents, tokens

RECORD = make_episode(1, "class TestCart:\n    def test_zero_total(self):\n        assert total([]) == 0")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("zero boundary", {"zero", "boundary"}),
        ("test_zero_boundary", {"zero", "boundary", "zeroboundary"}),
        ("testZeroBoundary", {"zero", "boundary", "zeroboundary"}),
        ("parseHTTPResponse2", {"pars", "http", "resp", "parsehttp", "httpresponse".removesuffix("e")}),
        ("Größe_prüfen", {"gross", "prufen", "grosseprufen"}),
        ("ﬁle", {"fil"}),
        ("rejects rejected rejecting", {"reject"}),
        ("argument arguments args", {"arg"}),
    ],
)
def test_a_text_has_the_terms_of_its_words_and_of_their_parts(written: str, expected: set[str]) -> None:
    assert expected <= set(tokens.terms(written))


@pytest.mark.parametrize("written", ["", "test", "the of and", "a b c", "!?", "\n"])
def test_stop_words_and_single_letters_are_no_terms(written: str) -> None:
    assert tokens.terms(written) == []


def test_unlike_words_have_no_term_in_common() -> None:
    for one, other in (("string", "sting"), ("class", "clas"), ("process", "proceed")):
        assert set(tokens.terms(one)).isdisjoint(tokens.terms(other))


@given(st.text(max_size=60))
def test_what_a_text_shares_with_itself_relates_it(written: str) -> None:
    found = tokens.features(written)
    assert set(tokens.terms(written)) <= set(found)
    assert all(count > 0 for count in found.values())
    wanted = tokens.wanted(written)
    assert len({one.feature for one in wanted}) == len(wanted)
    assert {one.feature for one in wanted if one.relates} >= set(tokens.terms(written))


@given(st.text(st.characters(categories=["Lu", "Ll", "Nd"]), max_size=20))
def test_a_text_in_another_normal_form_has_the_same_terms(written: str) -> None:
    normal = unicodedata.normalize("NFKC", written)
    assert tokens.terms(unicodedata.normalize("NFKD", normal)) == tokens.terms(normal)


def test_two_words_of_a_query_find_the_one_word_that_they_make() -> None:
    wanted = {one.feature for one in tokens.wanted("a file name") if one.relates}
    assert wanted.intersection(tokens.terms("check the filename"))


def test_a_beginning_is_compared_but_relates_nothing() -> None:
    [beginning] = [one for one in tokens.wanted("serializer") if not one.relates]
    assert beginning.feature in tokens.features("serialization")
    assert set(tokens.terms("serializer")).isdisjoint(tokens.terms("serialization"))


def test_what_a_change_does_weighs_less_than_what_it_is_about() -> None:
    weights = {one.feature: one.weight for one in tokens.wanted("add refund")}
    assert weights["add"] < weights["refund"]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("async def test_zero_total():", ["test_zero_total"]),
        ("class TestCart(Base):", ["TestCart"]),
        ("it('adds nothing', () => {", ["adds nothing"]),
        ("test.only(\"adds 'nothing'\", async t => {", ["adds 'nothing'"]),
        ("test.each([1, 2])(`adds %d`, n => {", ["adds %d"]),
        ("describe('cart', function () {", ["cart"]),
        ("attest('no test')", []),
        ("def helper():", []),
    ],
)
def test_names_of_tests_and_classes_are_found(code: str, names: list[str]) -> None:
    assert tokens.names(code).splitlines() == names


def test_a_word_in_a_name_counts_more_than_in_the_code() -> None:
    assert tokens.features("def test_refund(): pass")["refund"] == tokens.NAME_WEIGHT
    assert tokens.features("refund()")["refund"] == 1


def test_a_model_reads_the_names_in_words_first_and_then_the_whole_text() -> None:
    first, _, rest = documents.gist(RECORD).partition("\n")
    assert first.split() == ["cart", "zero", "total"] * 4
    assert rest == documents.episode_text(RECORD)


def test_a_model_reads_an_episode_without_names_as_it_is() -> None:
    bare = make_episode(1, "assert\t☃ == 1")
    assert documents.gist(bare) == documents.episode_text(bare)


def test_what_every_test_holds_tells_nothing() -> None:
    assert tokens.telling_words("def testZeroTotal(self): assert x") == ["zero", "total"]


def test_the_hash_of_a_feature_is_pinned() -> None:
    assert tokens.hashed("boundary") == 6860401778405870309


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("日本語", "日本語テスト"),
        ("テスト", "日本語テスト"),
        ("ecole", "École élémentaire"),
        ("école", "ecole"),
        ("naive", "naïve_bayes"),
        ("cafe", "cafe\u0301"),
        ("一覧", "商品一覧"),
        ("ภาษา", "ภาษาไทย"),
    ],
)
def test_accents_and_missing_spaces_keep_no_two_texts_apart(query: str, text: str) -> None:
    assert set(tokens.terms(query)) & set(tokens.terms(text))


@pytest.mark.parametrize(
    "text", ["كتاب", "الكتاب", "والكتاب", "بالكتاب", "فالكتاب", "وكتاب", "كِتَاب", "كـتاب", "test_الكتاب"]
)
@pytest.mark.parametrize("query", ["كتاب", "الكتاب", "والكتاب"])
def test_an_arabic_word_is_found_with_and_without_its_prefixes(query: str, text: str) -> None:
    assert set(tokens.terms(query)) & set(tokens.terms(text))


@pytest.mark.parametrize(("query", "text"), [("الكتاب", "الباب"), ("والكتاب", "والحدود"), ("القيمة", "الحدود")])
def test_a_prefix_in_common_relates_no_two_arabic_words(query: str, text: str) -> None:
    assert not set(tokens.terms(query)) & set(tokens.terms(text))


def test_only_arabic_letters_bring_in_their_stemmer() -> None:
    code = (
        "import sys; from testlore.ranking import documents, tokens; tokens.terms('école 日本語 ภาษา zero');"
        "seen = 'snowballstemmer' in sys.modules; tokens.terms('الكتاب'); print(seen, 'snowballstemmer' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "False True\n"


def test_another_stemmer_decides_other_terms_of_arabic_episodes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [make_episode(1, "zero naïve boundary"), make_episode(2, "الكتاب")]
    before = [documents.decisive_text(record) for record in records]
    assert before == [documents.decisive_text(record) for record in records]
    monkeypatch.setattr(arabic, "identity", lambda: "0" * 64)
    after = [documents.decisive_text(record) for record in records]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False]


def test_the_identity_of_the_stemmer_is_that_of_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed = arabic.identity.__wrapped__()
    found = importlib.util.find_spec("snowballstemmer")
    assert found
    assert found.origin
    shutil.copytree(Path(found.origin).parent, tmp_path / "snowballstemmer")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "snowballstemmer", raising=False)
    assert arabic.identity.__wrapped__() == installed
    with (tmp_path / "snowballstemmer/arabic_stemmer.py").open("a") as file:
        file.write("# another version\n")
    assert arabic.identity.__wrapped__() != installed


@pytest.mark.parametrize(("query", "text"), [("日本", "中国語"), ("が", "か"), ("語", "日本語")])
def test_other_characters_and_single_ones_relate_nothing(query: str, text: str) -> None:
    assert not set(tokens.terms(query)) & set(tokens.terms(text))
