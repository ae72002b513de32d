"""Every word that a command may end with stands in the pages, as the program has it, and no other one does."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from docs_helpers import code, rows, section
from testlore import engines, schemas
from testlore.errors import FALLBACKS, REFUSALS, REJECTIONS, UNUSABLE, Meaning
from testlore.evidence import verdict

WORDS = "docs/fallback-words.md"
EVIDENCE = "docs/evidence.md"


def table(page: str, heading: str) -> dict[str, list[str]]:
    """The rows under a heading by their word, which stands there once."""
    found = rows(section(page, heading))
    words = [code(row[0])[0] for row in found]
    assert len(words) == len(set(words)), words
    return {word: row[1:] for word, row in zip(words, found, strict=True)}


def plain(cell: str) -> str:
    return cell.replace("`", "")


def test_every_word_of_a_fallback_is_told_with_its_help() -> None:
    told = table(WORDS, "Why recall fell back")
    assert set(told) == {*FALLBACKS, *engines.failure_words()}
    for word, (status, happened, help_text) in told.items():
        assert status == "0", word
        assert happened, word
        if word in FALLBACKS:
            assert plain(help_text) == plain(FALLBACKS[word]), word


@pytest.mark.parametrize("runtime", engines.NAMES)
def test_every_word_of_an_engine_is_told_with_the_help_of_that_engine(runtime: str) -> None:
    told = table(WORDS, "Why recall fell back")
    for word, help_text in engines.engine(runtime).Failure.HELP.items():
        if word not in FALLBACKS:
            assert f"{runtime}: {help_text}" in plain(told[word][2]).split("<br>"), word


@pytest.mark.parametrize(
    ("heading", "meanings"),
    [("Why nothing can be recalled", UNUSABLE), ("Why evidence is refused", REFUSALS)],
    ids=["unusable", "refusals"],
)
def test_every_reason_is_told_with_its_exit_status_and_its_help(heading: str, meanings: Mapping[str, Meaning]) -> None:
    told = table(WORDS, heading)
    assert set(told) == set(meanings)
    for word, (status, happened, help_text) in told.items():
        assert status == str(meanings[word].exit_status), word
        assert happened, word
        assert plain(help_text) == plain(meanings[word].help), word


def test_every_reason_for_a_rejection_is_told_in_order_with_its_warning_and_its_help() -> None:
    told = table(EVIDENCE, "Why a candidate is rejected")
    assert list(told) == list(verdict.WARNINGS) == list(REJECTIONS)
    for word, (happened, warning, help_text) in told.items():
        assert code(warning) == [verdict.WARNINGS[word]], word
        assert happened, word
        assert plain(help_text) == plain(REJECTIONS[word]), word


def test_every_problem_of_a_run_is_told() -> None:
    problems = schemas.load("validation")["$defs"]["run"]["properties"]["problem"]["enum"]
    assert set(table(EVIDENCE, "Runs")) == set(problems) - {""}
