"""The formats of an answer: each has one entry, and no other name is taken for one of them."""

from __future__ import annotations

import re

import pytest
from helpers import Project
from testlore import RecallResult, recall, schemas
from testlore.commands import formats
from testlore.commands.formats import FORMATS, Format
from testlore.errors import Unusable

NOTHING = RecallResult([], reason="no-memory")
ANSWER = RecallResult([], "deterministic-lexical", None, ("a warning",))


def test_a_format_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(Unusable, match="call-invalid: format is 'xml'; allowed: table, json, prompt") as refused:
        formats.render(ANSWER, "xml", 6_000)
    assert refused.value.exit_status == 2


def test_a_format_that_is_not_there_is_refused_by_the_command(project: Project) -> None:
    done = project.testlore("recall", "zero", "--format", "xml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "invalid choice: 'xml'" in done.stderr


def test_only_json_says_on_standard_output_that_nothing_can_be_recalled() -> None:
    printed = {name: formats.render(NOTHING, name, 6_000) for name in FORMATS}
    assert {name: text for name, text in printed.items() if text} == {"json": formats.to_json(NOTHING.to_dict())}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("max_chars", [256, 6_000])
def test_every_format_shows_an_answer_in_lines_that_end(project: Project, name: str, max_chars: int) -> None:
    text = formats.render(recall(project.root, "zero boundary"), name, max_chars)
    assert text.endswith("\n")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", text)


def test_a_format_shows_the_warnings_or_leaves_them_to_standard_error() -> None:
    for name, form in FORMATS.items():
        assert ("a warning" in formats.render(ANSWER, name, 6_000)) == form.has_warnings


def test_a_new_format_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "count", Format(lambda result, _: f"{len(result.records)}\n", has_warnings=False))
    assert formats.render(ANSWER, "count", 6_000) == "0\n"


def test_the_answers_of_json_are_those_of_the_schema(project: Project) -> None:
    answer = project.ask()
    assert schemas.first_problem("answer", answer) is None
