"""The budget of an answer: whatever it is, the JSON fits it, is whole, and is valid."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from episodes import pattern
from hypothesis import given, settings
from hypothesis import strategies as st
from testlore import RecallResult, canonical, schemas
from testlore.commands import formats
from testlore.commands.renderers import terminal
from testlore.errors import FALLBACKS, UNUSABLE, Fallback
from testlore.project.provenance import Provenance
from testlore.ranking.fusion import RankedEpisode
from testlore.stages.answer import GENERAL_WARNING, cut, fallback_warning
from testlore.stages.call import MAX_MAX_CHARS, MIN_MAX_CHARS
from testlore.stages.recall import to_records

STORE = Path(__file__).parents[1] / "data" / "two-hundred" / ".tddswarm" / "learning" / "index.json"

budgets = st.integers(MIN_MAX_CHARS, MAX_MAX_CHARS)
texts = st.text(st.characters(exclude_categories=[]), max_size=300) | st.text("`\n \x1b\u202e", max_size=40)


@cache
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schemas.load("answer"))


@cache
def stored() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(STORE.read_text("utf-8"))["records"]
    return found


@st.composite
def records(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Records of a real store, a few of them with other patterns."""
    chosen = draw(st.lists(st.sampled_from(stored()), max_size=20, unique_by=lambda record: record["id"]))
    ranked = []
    for record in chosen:
        content = draw(st.none() | texts)
        if content is not None:
            record = {**record, "patterns": [pattern(content, "python")]}
        ranked.append(RankedEpisode(record, draw(st.floats(0, 50))))
    nothing = Provenance("", "", "", "")
    return to_records(ranked, ".", lambda: nothing)


details = st.fixed_dictionaries(
    {
        "engine": st.sampled_from(["ruvector", "@ruvector/core"]),
        "mode": st.sampled_from(["lexical-vector", "external-embedding"]),
        "version": st.just("0.1.4"),
        "cache": st.sampled_from(["built", "reused"]),
    }
)


@st.composite
def answers(draw: st.DrawFn) -> RecallResult:
    found = draw(records())
    if draw(st.booleans()):
        return RecallResult(found, "ruvector", draw(details), (GENERAL_WARNING,))
    fallback = Fallback(draw(st.sampled_from(sorted(FALLBACKS))), draw(texts))
    return RecallResult(found, "deterministic-lexical", None, (GENERAL_WARNING, *fallback_warning(fallback)))


@given(answers(), budgets)
@settings(max_examples=300, deadline=None)
def test_the_json_fits_is_valid_and_keeps_what_must_stay(whole: RecallResult, max_chars: int) -> None:
    answer = cut(whole, max_chars)
    text = formats.render(answer, "json", max_chars)
    assert canonical.utf16_length(text) <= max_chars
    assert text.endswith("}\n")
    value = canonical.loads(text)
    validator().validate(value)
    assert value["retrieval"] == whole.retrieval
    assert value["advisoryOnly"] is True
    assert [record["id"] for record in value["records"]] == [r["id"] for r in whole.records[: len(value["records"])]]
    for warning in whole.warnings[1:]:
        word = ": ".join(warning.split(": ")[:2])
        assert any(kept.startswith(word) for kept in value["warnings"])
    if whole.details is not None:
        assert value["retrievalDetails"].items() >= {k: whole.details[k] for k in ("engine", "mode")}.items()


@given(answers(), budgets)
@settings(max_examples=100, deadline=None)
def test_a_larger_budget_never_shows_less(whole: RecallResult, max_chars: int) -> None:
    small, large = cut(whole, max_chars), cut(whole, MAX_MAX_CHARS)
    assert len(small.records) <= len(large.records)
    assert set(small.warnings) <= set(large.warnings) or len(small.warnings) <= len(large.warnings)


@given(answers(), budgets)
@settings(max_examples=150, deadline=None)
def test_a_prompt_block_fits_the_same_budget_and_stays_fenced(whole: RecallResult, max_chars: int) -> None:
    text = formats.render(cut(whole, max_chars), "prompt", max_chars)
    assert canonical.utf16_length(text) <= max_chars
    first, last = text.splitlines()[0], text.splitlines()[-1]
    assert first.startswith("BEGIN UNTRUSTED TEST HISTORY ")
    assert last == first.replace("BEGIN", "END")
    assert text.splitlines().count(last) == 1
    longest = max((run for run in re.findall("`+", text)), key=len, default="```")
    assert sum(line.startswith(longest) for line in text.split("\n")) % 2 == 0


@given(answers())
@settings(max_examples=150, deadline=None)
def test_the_table_fits_80_columns_and_moves_no_cursor(whole: RecallResult) -> None:
    text = formats.render(cut(whole, MAX_MAX_CHARS), "table", MAX_MAX_CHARS)
    assert not any(char in text for char in "\x1b\u202e\r")
    assert max(map(terminal.width, text.splitlines())) <= 80


@pytest.mark.parametrize("reason", sorted(UNUSABLE))
@given(detail=texts, max_chars=budgets)
@settings(max_examples=30, deadline=None)
def test_a_reason_fits_too(reason: str, detail: str, max_chars: int) -> None:
    answer = cut(RecallResult([], reason=f"{reason}: {detail * 9}"), max_chars)
    text = formats.render(answer, "json", max_chars)
    assert canonical.utf16_length(text) <= max_chars
    value = canonical.loads(text)
    validator().validate(value)
    assert value["reason"].startswith(reason)
    assert answer.exit_status == UNUSABLE[reason].exit_status


def test_a_record_that_does_not_fit_loses_its_patterns_before_it_goes() -> None:
    nothing = Provenance("", "", "", "")
    [record] = to_records([RankedEpisode(next(r for r in stored() if r["patterns"]), 1.0)], ".", lambda: nothing)
    whole = RecallResult([record], "ruvector", None, (GENERAL_WARNING,))
    size = canonical.utf16_length(canonical.dumps(whole.to_dict())) + 1
    assert cut(whole, size).records == [record]
    assert cut(whole, size - 1).records == [{**record, "patterns": []}]
    assert cut(whole, 300).records == []
