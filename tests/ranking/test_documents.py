"""What of an episode is searched: of version 1 as ever, of version 2 also what it says it is about."""

from __future__ import annotations

from typing import Any

import pytest
from episodes import make_episode, reseal
from testlore import canonical
from testlore.ranking import bm25, documents, fusion

Json = dict[str, Any]


def about(
    number: int,
    title: str,
    test: str,
    source: str,
    symbols: list[str],
    outcome: str = "rejected",
    reason: str = "case-loss",
) -> Json:
    """A record with the keys of version 2, which say what it is about."""
    code = f"def {test}():\n    assert {symbols[0]}(1)\n"
    return reseal(
        make_episode(number, code if outcome == "accepted" else "", language="python", outcome=outcome),
        schemaVersion=2,
        title=title,
        tests=[{"path": f"tests/{test}.py", "name": f"{test}[{case}]", "outcome": "passed"} for case in ("one", "two")],
        subject={"files": [{"path": source, "digest": canonical.digest(source)}], "symbols": symbols},
        reasons=[] if outcome == "accepted" else [f"{reason}: {test}"],
        warnings=[] if outcome == "accepted" else ["case-loss"],
    )


DISCOUNT = about(
    1,
    "A negative percent is refused",
    "test_discount_below_zero",
    "shop/prices.py",
    ["apply_discount", "Till.round"],
    reason="flaky",
)
MEMORY = [
    DISCOUNT,
    about(2, "Refunds keep the currency", "test_refund", "shop/refunds.py", ["refund"], "accepted"),
    about(3, "A percent of nothing", "test_share_of_nothing", "shop/shares.py", ["share"], "accepted"),
    about(4, "Leap years", "test_leap", "shop/calendar/discount.py", ["is_leap"]),
    make_episode(5, "def test_zero_boundary(): assert clamp(0) == 0"),
]


def found(query: str) -> list[int]:
    """The numbers of the records that a query finds by words, best first."""
    words = fusion.matched(bm25.statistics([*map(documents.episode_text, MEMORY)]), query)
    return [MEMORY.index(one.record) + 1 for one in fusion.by_words(MEMORY, words, 5)]


def test_a_rejected_attempt_is_found_by_what_it_was_about() -> None:
    assert DISCOUNT["patterns"] == []
    assert found("discount negative percent")[0] == 1


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("refused", 1),  # the title
        ("below", 1),  # the name of a test
        ("prices", 1),  # a source
        ("till", 1),  # a function of it
        ("apply_discount", 1),
        ("flaky", 1),  # a reason
        ("calendar", 4),
        ("currency", 2),
    ],
)
def test_each_thing_that_an_episode_says_it_is_about_finds_it(query: str, number: int) -> None:
    assert found(query)[0] == number


def test_a_word_of_the_title_or_of_a_tests_name_counts_more_than_one_of_a_path() -> None:
    counts = bm25.statistics([documents.episode_text(DISCOUNT)]).holders(["percent", "below", "pric"])
    told = {feature: held[0] for feature, held in counts.items()}
    assert told == {"percent": 3, "below": 3 + 1 + 1, "pric": 1}  # the test's path and the reason have its name, too
    assert found("discount") == [1, 4]  # a test's name, and a path


def test_many_cases_of_one_test_count_as_one() -> None:
    once = reseal(DISCOUNT, tests=[{**DISCOUNT["tests"][0], "name": "test_discount_below_zero[one two]"}])
    assert documents.episode_text(once) == documents.episode_text(DISCOUNT)


def test_an_episode_of_version_1_has_the_text_that_it_always_had() -> None:
    first = make_episode(1, "def test_zero(): pass", warnings=["case-loss"], tags=["boundary", "error"])
    assert documents.episode_text(first) == "boundary error case-loss\ndef test_zero(): pass"
    assert documents.gist(first) == "zero zero zero zero\nboundary error case-loss\ndef test_zero(): pass"


def test_a_model_reads_title_and_names_first_and_the_rest_once() -> None:
    first, _, rest = documents.gist(DISCOUNT).partition("\n")
    named = first.split()
    assert named[: len(named) // 4] * 4 == named
    assert {"negative", "percent", "refused", "discount", "below"} <= set(named)
    assert rest.splitlines() == [
        "boundary case-loss",
        "A negative percent is refused",
        "test_discount_below_zero one two",
        "apply_discount Till round",
        "shop prices py tests test_discount_below_zero",
        "flaky test_discount_below_zero",
    ]
