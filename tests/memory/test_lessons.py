"""Lessons and counts: what a memory tells about itself."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evidence_helpers import fill, records
from testlore import schemas
from testlore.errors import Unusable
from testlore.memory.counts import export
from testlore.memory.lessons import learn


def test_lessons_are_what_recurred_and_name_their_episodes(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    fill(tmp_path, range(10, 12), accepted=False)
    fill(tmp_path, range(20, 21), accepted=False)
    lessons = learn(tmp_path)
    ids: dict[str, list[Any]] = {"accepted": [], "rejected": []}
    for record in records(tmp_path):
        ids[record["outcome"]].append(record["id"])
    assert [(one.kind, one.subject, one.episodes) for one in lessons] == [
        ("warning", "case-loss", ids["rejected"]),
        ("success", "assertion", ids["accepted"]),
        ("success", "boundary", ids["accepted"]),
    ]
    assert lessons[0].text == "3 of 3 rejected candidates met case-loss."


def test_what_happened_once_is_no_lesson(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    assert learn(tmp_path) == []


def test_an_export_holds_counts_and_words_of_the_format_alone(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    fill(tmp_path, range(10, 12), accepted=False)
    counts = export(tmp_path)
    assert counts["episodes"] == 5
    assert counts["outcomes"] == {"accepted": 3, "rejected": 2}
    assert counts["evidence"]["candidateCases"] == 10
    words = json.loads(Path(schemas.path("store")).read_text("utf-8"))
    known = json.dumps(words)
    for key, value in counts.items():
        inner = value if isinstance(value, dict) else {}
        assert all(f'"{word}"' in known and isinstance(number, int) for word, number in inner.items()), key
        assert isinstance(value, (dict, int))


@pytest.mark.parametrize("ask", [learn, export])
def test_counting_a_memory_that_is_not_there_writes_nothing(tmp_path: Path, ask: Callable[[Path], Any]) -> None:
    with pytest.raises(Unusable, match="no-memory"):
        ask(tmp_path)
    assert os.listdir(tmp_path) == []
