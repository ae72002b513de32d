"""The words with which recall and evidence end: each is used somewhere, and the answer's schema has the same ones."""

from __future__ import annotations

import re

import pytest
from helpers import REPOSITORY
from testlore import schemas
from testlore.errors import FALLBACKS, REFUSALS, UNUSABLE


@pytest.mark.parametrize("words", [UNUSABLE, REFUSALS, FALLBACKS], ids=["unusable", "refusals", "fallbacks"])
def test_every_word_is_used_outside_of_the_table_that_explains_it(words: dict[str, object]) -> None:
    package = REPOSITORY / "pipeline/testlore"
    sources = [path.read_text("utf-8") for path in package.rglob("*.py") if path.name != "errors.py"]
    used = {word for source in sources for word in re.findall(r'"([a-z]+(?:-[a-z]+)+)"', source)}
    assert set(words) - used == set()


def test_the_schema_of_an_answer_has_every_reason() -> None:
    valid = {
        reason: schemas.first_problem("answer", {"records": [], "advisoryOnly": True, "reason": reason}) is None
        for reason in (*UNUSABLE, "another-word")
    }
    assert valid == {**dict.fromkeys(UNUSABLE, True), "another-word": False}
