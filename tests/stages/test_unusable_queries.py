"""A query without a usable word is answered with the newest records, and the answer says so."""

from __future__ import annotations

import pytest
from helpers import DOORS, Project


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("query", ["a", "the of and", "☕", "\u0301", "!?", "語"])
def test_records_that_are_merely_new_say_so(project: Project, door: str, query: str) -> None:
    answer = project.ask(door, query)
    assert answer["records"]
    assert all(record["matched"] is False for record in answer["records"])


def test_records_that_match_do_not_say_so(project: Project) -> None:
    assert all("matched" not in record for record in project.ask()["records"])
