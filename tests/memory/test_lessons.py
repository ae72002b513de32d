"""Lessons and counts: what a memory tells about itself."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from episodes import make_episode
from evidence_helpers import fill, records
from helpers import Project
from testlore import schemas
from testlore.errors import Unusable
from testlore.memory.counts import export
from testlore.memory.lessons import learn, lessons_of


def told(number: int, *, files: str = "", symbols: str = "", gaps: int = 0, **keys: Any) -> dict[str, Any]:
    """A record of version 2, as far as lessons read it."""
    subject = {"files": [{"path": path, "digest": "0" * 64} for path in files.split()], "symbols": symbols.split()}
    plain = make_episode(number, **{"tags": ["assertion"], "title": f"title {number}", "subject": subject, **keys})
    return {**plain, "evidence": {**plain["evidence"], "closedGaps": gaps}}


def rejected(number: int, *reasons: str, **keys: Any) -> dict[str, Any]:
    return told(number, outcome="rejected", reasons=list(reasons), **keys)


def test_a_lesson_tells_of_a_file_what_was_rejected_and_why_and_what_closed_gaps() -> None:
    records = [
        told(1, files="src/a.py", gaps=2),
        told(2, files="src/a.py src/b.py"),
        rejected(3, "adds-nothing", files="src/a.py"),
        rejected(4, "case-loss: test_x", "adds-nothing", files="src/a.py"),
    ]
    [lesson] = lessons_of(records)
    assert (lesson.kind, lesson.subject) == ("file", "src/a.py")
    assert lesson.text == (
        "src/a.py: 2 of 4 candidates were rejected (adds-nothing 2, case-loss 1); "
        "1 of 4 closed gaps that the old tests had left."
    )
    assert [(one.id, one.title, one.outcome, one.why) for one in lesson.episodes] == [
        (records[0]["id"], "title 1", "accepted", []),
        (records[2]["id"], "title 3", "rejected", ["adds-nothing"]),
        (records[3]["id"], "title 4", "rejected", ["case-loss", "adds-nothing"]),
    ]


def test_what_all_were_accepted_for_and_what_acceptance_implies_is_no_lesson() -> None:
    implied = ["assertion", "case-preservation", "held-out-tested"]
    assert lessons_of([told(number, files="a.py", tags=["boundary", *implied]) for number in range(9)]) == []
    assert lessons_of([rejected(number, "adds-nothing", tags=implied) for number in range(9)]) == []


def test_two_episodes_are_no_lesson() -> None:
    assert lessons_of([rejected(number, "adds-nothing", files="a.py") for number in range(2)]) == []
    assert lessons_of([rejected(number, "adds-nothing", files="a.py") for number in range(3)])


def test_of_subjects_with_the_same_episodes_the_narrowest_is_told_and_the_most_rejected_comes_first() -> None:
    records = [rejected(number, "flaky", files="a.py", symbols="f", tags=["mock"]) for number in range(3)]
    records += [rejected(number, "flaky", files="b.py", tags=["mock"]) for number in range(3, 7)]
    assert [(one.kind, one.subject) for one in lessons_of(records)] == [
        ("kind", "mock"),
        ("file", "b.py"),
        ("symbol", "f"),
    ]


def test_episodes_of_version_1_are_told_by_their_kind_and_their_warnings(tmp_path: Path) -> None:
    fill(tmp_path, range(10, 13), accepted=False)
    [lesson] = learn(tmp_path)
    assert (lesson.kind, lesson.subject) == ("kind", "error")
    assert lesson.text == "error: 3 of 3 candidates were rejected (case-loss 3)."


def test_nothing_to_tell_is_said_in_one_line(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    done = Project(tmp_path).testlore("learn")
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    assert done.stdout.startswith("No lesson yet")


def test_a_lesson_names_its_episodes_by_short_id_and_title(tmp_path: Path) -> None:
    fill(tmp_path, range(10, 13), accepted=False)
    lines = Project(tmp_path).testlore("learn").stdout.splitlines()
    assert lines[0].startswith("error: 3 of 3")
    assert [line.split()[:3] for line in lines[1:4]] == [
        [record["id"][:12], "rejected", "(case-loss)"] for record in records(tmp_path)
    ]


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
