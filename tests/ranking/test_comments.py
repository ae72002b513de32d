"""Comments do not tell one lesson from another, but their words still find it."""

from __future__ import annotations

import pytest
from episodes import Json, make_episode
from testlore.ranking import bm25, comments, documents, fusion
from testlore.ranking.fusion import RankedEpisode

JAVASCRIPT = """\
{0}
test('refund of zero is zero', () => {{
  const basket = new Basket(); {1}

  expect(basket.refund(0)).toBe(0);
}});
"""
PYTHON = """\
def test_refund_of_zero(basket):
    '''{0}'''
    basket.add("milk", 1)  # {1}

    assert basket.refund(0) == 0
"""
SAID = (
    "the first of the reports, from a customer of the northern branch, who had returned nothing at all",
    "an empty return once charged a fee; accounting found it while closing the quarter",
    "see ticket 4711: rounding, currencies, and a cashier who pressed the key twice",
)


def ranked(records: list[Json], limit: int = 20) -> list[RankedEpisode]:
    made = bm25.statistics(list(map(documents.episode_text, records)), list(map(comments.code_text, records)))
    return fusion.by_words(records, fusion.matched(made, "refund zero"), limit)


@pytest.mark.parametrize("language", ["javascript", "typescript", "python"])
def test_one_lesson_with_other_comments_takes_one_place_of_an_answer(language: str) -> None:
    code, mark = (PYTHON, "{}") if language == "python" else (JAVASCRIPT, "/* {}\n*/")
    texts = [code.format(mark.format(said), said if language == "python" else f"// {said}") for said in SAID * 2]
    records = [make_episode(number, text, language=language) for number, text in enumerate(texts, 10)]
    others = [
        make_episode(number, f"refund {word} zero") for number, word in enumerate(("in euros", "twice", "by card"))
    ]
    found = ranked([*records, *others], 5)
    assert [bool(one.duplicate_of) for one in found] == [False, False, False, False, True]


def test_the_words_of_a_comment_still_find_the_lesson() -> None:
    record = make_episode(1, JAVASCRIPT.format("// a cashier", ""))
    made = bm25.statistics([documents.episode_text(record)], [comments.code_text(record)])
    assert fusion.matched(made, "cashier").matches[0].related


@pytest.mark.parametrize(
    ("language", "text", "code"),
    [
        ("python", 'a = "#no"  # yes', 'a = "#no"   '),
        ("python", "a = 7 // 2", "a = 7 // 2"),
        ("python", "x = 1 # it's \"so", "x = 1  "),
        ("python", "def f():\n    '''Say.'''\n    g('''kept''')", "def f():\n \n    g('''kept''')"),
        ("javascript", "f('http://a/b'); // c", "f('http://a/b');  "),
        ("javascript", "f(`/* no */`) /* yes\nit is */ + 1", "f(`/* no */`)   + 1"),
        ("javascript", "this.#hidden = 1", "this.#hidden = 1"),
        ("javascript", "f() /* cut", "f()  "),
    ],
)
def test_comments_and_nothing_else_go(language: str, text: str, code: str) -> None:
    assert comments.without_comments(text, language) == code


@pytest.mark.parametrize(
    ("language", "text"), [("python", "# a licence"), ("javascript", "/* a licence\n * of many lines */")]
)
def test_a_text_of_comments_alone_is_told_by_them(language: str, text: str) -> None:
    assert comments.without_comments(text, language) == text
