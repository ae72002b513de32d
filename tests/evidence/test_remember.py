"""Remembering, forgetting and merging: what gets into memory, and what never does."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from episodes import make_episode
from evidence_helpers import (
    CALC,
    Json,
    defect,
    fill,
    make_project,
    patch,
    pytest_project,
    records,
    reseal,
    stage_and_validate,
    tree,
    validation_file,
    write,
)
from testlore import canonical, evidence, recall, schemas
from testlore.errors import Refusal, Unusable
from testlore.memory import store


@pytest.fixture(scope="module")
def _validated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    root = pytest_project(tmp_path_factory.mktemp("validated") / "shop")
    accepted = evidence.stage(root, patch(heldOutDefects=[defect()]))
    red = evidence.stage(root, patch({"tests/test_red.py": "def test_red():\n    assert 1 == 2\n"}))
    for name in (accepted, red):
        evidence.validate(root, name)
    (root / store.INDEX_FILE).unlink()
    return root, accepted, red


class Validated:
    """A copy of a project with an accepted and a rejected candidate, of which nothing is remembered yet."""

    def __init__(self, root: Path, accepted: str, rejected: str) -> None:
        self.root, self.accepted, self.rejected = root, accepted, rejected

    def forge(self, name: str, change: Callable[[Json], object]) -> None:
        reseal(validation_file(self.root, name), change)

    def refusal(self, name: str) -> str:
        with pytest.raises(Refusal) as caught:
            evidence.remember(self.root, name)
        assert not (self.root / store.INDEX_FILE).exists()
        return caught.value.reason


@pytest.fixture
def validated(_validated: tuple[Path, str, str], tmp_path: Path) -> Validated:
    root, accepted, rejected = _validated
    return Validated(Path(shutil.copytree(root, tmp_path / "shop")), accepted, rejected)


def test_an_accepted_candidate_is_remembered_with_its_tests(validated: Validated) -> None:
    made = evidence.remember(validated.root, validated.accepted)
    assert made.new
    assert records(validated.root) == [made.record]
    assert made.record["tags"] == ["boundary", "error", "held-out-tested", "case-preservation"]
    assert [pattern["content"] for pattern in made.record["patterns"]] == [
        "def test_division_by_zero_is_an_error():\n    with pytest.raises(ZeroDivisionError):\n        divide(1, 0)"
    ]
    assert recall(validated.root, "division by zero").records[0]["id"] == made.record["id"]


def test_a_rejected_candidate_is_remembered_with_its_warnings_and_no_code(validated: Validated) -> None:
    record = evidence.remember(validated.root, validated.rejected).record
    assert (record["outcome"], record["warnings"], record["patterns"]) == ("rejected", ["execution-failed"], [])


def test_the_same_manifest_and_outcome_are_remembered_once(validated: Validated) -> None:
    first = evidence.remember(validated.root, validated.accepted)
    before = (validated.root / store.INDEX_FILE).read_bytes()
    again = evidence.remember(validated.root, validated.accepted)
    assert (again.new, again.record) == (False, first.record)
    assert evidence.validate(validated.root, validated.accepted).record == first.record["id"]
    assert (validated.root / store.INDEX_FILE).read_bytes() == before


def test_what_was_not_validated_is_not_remembered(validated: Validated) -> None:
    validation_file(validated.root, validated.accepted).unlink()
    assert validated.refusal(validated.accepted) == "validation-missing"


def accept(value: Json) -> None:
    value.update(outcome="accepted", reasons=[], details=[], warnings=[])


def drop_the_failure(value: Json) -> None:
    accept(value)
    value["observed"]["candidate"]["cases"][-1]["outcome"] = "passed"


FORGERIES: dict[str, Callable[[Json], object]] = {
    "outcome": lambda value: value.update(outcome="accepted"),
    "outcome, reasons and warnings": accept,
    "outcome and one case": drop_the_failure,
    "warnings": lambda value: value.update(warnings=[]),
    "evidence": lambda value: value["evidence"].update(passedCases=2, failedCases=0),
    "status": lambda value: value["observed"]["candidate"].update(status=0),
    "an unknown key": lambda value: value.update(forged=True),
    "an unknown reason": lambda value: value.update(reasons=["because"]),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_flipped_flag_with_a_recomputed_seal_is_refused(validated: Validated, forgery: str) -> None:
    validated.forge(validated.rejected, FORGERIES[forgery])
    assert validated.refusal(validated.rejected) == "validation-tampered"


def test_counts_of_an_accepted_validation_are_not_improved_upon(validated: Validated) -> None:
    validated.forge(validated.accepted, lambda value: value["evidence"].update(caughtDefects=10))
    assert validated.refusal(validated.accepted) == "validation-tampered"


def test_an_edit_without_a_new_seal_is_refused(validated: Validated) -> None:
    file = validation_file(validated.root, validated.rejected)
    file.write_bytes(file.read_bytes().replace(b'"rejected"', b'"accepted"'))
    assert validated.refusal(validated.rejected) == "validation-tampered"


def test_the_validation_of_another_candidate_is_refused(validated: Validated) -> None:
    other = validation_file(validated.root, validated.accepted).read_bytes()
    validation_file(validated.root, validated.rejected).write_bytes(other)
    assert validated.refusal(validated.rejected) == "validation-stale"
    reseal(
        validation_file(validated.root, validated.rejected),
        lambda value: value.update(candidateId=validated.rejected),
    )
    assert validated.refusal(validated.rejected) == "validation-stale"


@pytest.mark.parametrize("seconds", [-25 * 3600, 3600])
def test_a_validation_of_another_day_is_refused(validated: Validated, seconds: int) -> None:
    moment = store.created_at(time.time() + seconds)
    validated.forge(validated.accepted, lambda value: value.update(createdAt=moment))
    assert validated.refusal(validated.accepted) == "validation-stale"


def test_a_moment_that_no_calendar_has_is_refused(validated: Validated) -> None:
    validated.forge(validated.accepted, lambda value: value.update(createdAt="2026-02-31T00:00:00.000Z"))
    assert validated.refusal(validated.accepted) == "validation-tampered"


def test_the_validation_of_another_state_of_the_sources_is_refused(validated: Validated) -> None:
    write(validated.root, {"calc.py": CALC + "\n"})
    assert validated.refusal(validated.accepted) == "provenance-changed"


def test_a_candidate_that_changed_after_its_validation_is_refused(validated: Validated) -> None:
    write(validated.root / ".tddswarm/candidates" / validated.accepted, {"files/tests/test_divide.py": "x = 1\n"})
    assert validated.refusal(validated.accepted) == "candidate-changed"


def test_a_linked_validation_is_refused(validated: Validated, tmp_path: Path) -> None:
    file = validation_file(validated.root, validated.accepted)
    file.rename(tmp_path / "elsewhere.json")
    file.symlink_to(tmp_path / "elsewhere.json")
    assert validated.refusal(validated.accepted) == "candidate-unsafe"


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"schemaVersion": 1}'])
def test_a_corrupt_memory_is_left_as_it_is(validated: Validated, damage: bytes) -> None:
    (validated.root / store.INDEX_FILE).write_bytes(damage)
    with pytest.raises(Unusable, match="store-corrupt"):
        evidence.remember(validated.root, validated.accepted)
    assert (validated.root / store.INDEX_FILE).read_bytes() == damage


def test_a_linked_memory_is_left_as_it_is(validated: Validated, tmp_path: Path) -> None:
    fill(tmp_path / "other", range(1))
    target = tmp_path / "other" / store.INDEX_FILE
    (validated.root / store.INDEX_FILE).symlink_to(target)
    before = target.read_bytes()
    with pytest.raises(Unusable, match="store-unsafe"):
        evidence.remember(validated.root, validated.accepted)
    assert target.read_bytes() == before


def test_the_memory_is_readable_by_its_owner_alone(validated: Validated) -> None:
    evidence.remember(validated.root, validated.accepted)
    assert (validated.root / store.INDEX_FILE).stat().st_mode & 0o777 == 0o600


def test_no_marker_of_what_memory_must_not_hold_gets_in(tmp_path: Path) -> None:
    marks = {
        part: f"zq{part}mark"
        for part in (
            "source",
            "path",
            "test",
            "requirement",
            "finding",
            "basis",
            "output",
            "service",
            "label",
            "defect",
        )
    }
    source = f"# {marks['source']}\n{CALC}"
    root = make_project(
        tmp_path / "shop",
        {
            f"{marks['path']}.py": source,
            f"tests/test_{marks['path']}.py": f"def test_old():\n    print('{marks['output']}')\n",
        },
        {
            "adapter": "pytest",
            "services": {"database": marks["service"]},
            "environment": {"region": marks["label"]},
        },
    )
    (root / "tests/test_old.py").write_text(
        f"from {marks['path']} import clamp\ndef test_clamp():\n    assert clamp(-1) == 0, '{marks['output']}'\n",
        encoding="utf-8",
    )
    test = f"""\
from {marks["path"]} import divide

# {marks["test"]}
def test_zero(tmp_path):  # {marks["test"]}
    print("{marks["output"][:4]}" + "{marks["output"][4:]}")
    connect = "https://{marks["service"]}/{marks["label"]}"
    data = open("{marks["path"]}.py").read(), "./{marks["path"]}/x"
    assert divide(0, 1) == 0
"""
    broken = defect(f"{marks['path']}.py", source.replace("max(0, ", "max(-9, ") + f"# {marks['defect']}\n")
    review = {
        "accepted": True,
        "findings": [marks["finding"]],
        "oracle": {"independent": True, "basis": [marks["basis"]]},
    }
    ended = stage_and_validate(
        root,
        patch(
            {f"tests/test_{marks['path']}_zero.py": test},
            requirements=marks["requirement"],
            review=review,
            heldOutDefects=[broken],
        ),
    )
    assert (ended.outcome, ended.details) == ("accepted", [])
    red = test.replace("== 0\n", f"== 7, '{marks['output']}'\n")
    assert (
        stage_and_validate(root, patch({"tests/test_red.py": red}, requirements=marks["requirement"])).outcome
        == "rejected"
    )
    written = {path: data for path, data in tree(root).items() if path.startswith(".tddswarm/learning/")}
    assert len(records(root)) == 2
    assert records(root)[1]["patterns"]
    for part, mark in marks.items():
        assert [path for path, data in written.items() if mark.encode() in data] == [], part
    kept = {path: data for path, data in tree(root).items() if path.endswith("validation.json")}
    for part in ("requirement", "finding", "basis", "output", "service", "label", "defect"):
        assert [path for path, data in kept.items() if marks[part].encode() in data] == [], part


def test_forgetting_removes_the_named_episodes_and_returns_them(tmp_path: Path) -> None:
    fill(tmp_path, range(4))
    first, second, *others = records(tmp_path)
    removed = evidence.forget(tmp_path, [second["id"], first["id"][:8]], "they were of a trial")
    assert removed == [first, second]
    assert records(tmp_path) == others


@pytest.mark.parametrize("ids", [[], [""], ["f" * 64], ["0"], ["not hex"]])
def test_forgetting_what_is_not_one_episode_removes_nothing(tmp_path: Path, ids: list[str]) -> None:
    fill(tmp_path, range(3))
    before = tree(tmp_path)
    with pytest.raises(Refusal, match="call-invalid"):
        evidence.forget(tmp_path, [records(tmp_path)[0]["id"], *ids] if ids else ids, "why not")
    assert tree(tmp_path) == before


def test_forgetting_needs_a_reason_and_a_memory(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="no-memory"):
        evidence.forget(tmp_path, ["f" * 64], "why not")
    assert tree(tmp_path) == {}
    fill(tmp_path, range(1))
    with pytest.raises(Refusal, match="why is empty"):
        evidence.forget(tmp_path, [records(tmp_path)[0]["id"]], " ")
    assert len(records(tmp_path)) == 1


def test_merging_takes_what_is_new_and_leaves_the_source_alone(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    fill(here, range(3))
    fill(there, range(2, 6))
    before = tree(there)
    assert evidence.merge(here, there) == evidence.MergeCounts(added=3, known=1, dropped=0, total=6)
    assert [record["candidateId"] for record in records(here)] == ["c5", "c4", "c3", "c2", "c1", "c0"]
    assert tree(there) == before
    bytes_before = (here / store.INDEX_FILE).read_bytes()
    assert evidence.merge(here, there).added == 0
    assert (here / store.INDEX_FILE).read_bytes() == bytes_before


def test_merging_into_nothing_makes_a_memory_and_merging_both_ways_makes_the_same(tmp_path: Path) -> None:
    here, there, new = tmp_path / "here", tmp_path / "there", tmp_path / "new"
    fill(here, range(3))
    fill(there, range(1, 4))
    twin = canonical.seal({**make_episode(1), "createdAt": store.created_at(1_800_000_000)})
    store.update(str(there), lambda found: [twin, *(one for one in found if one["id"] != twin["id"])])
    new.mkdir()
    for one, other in ((here, there), (there, here), (new, here)):
        evidence.merge(one, other)
    assert (here / store.INDEX_FILE).read_bytes() == (there / store.INDEX_FILE).read_bytes()
    assert (here / store.INDEX_FILE).read_bytes() == (new / store.INDEX_FILE).read_bytes()


@pytest.mark.parametrize("corrupt", ["here", "there"])
def test_a_corrupt_source_or_destination_leaves_both_untouched(tmp_path: Path, corrupt: str) -> None:
    for name in ("here", "there"):
        fill(tmp_path / name, range(2 if name == "here" else 4))
    file = tmp_path / corrupt / store.INDEX_FILE
    file.write_bytes(file.read_bytes().replace(b'"accepted"', b'"rejected"', 1))
    before = tree(tmp_path)
    with pytest.raises(Unusable, match="store-corrupt"):
        evidence.merge(tmp_path / "here", tmp_path / "there")
    assert tree(tmp_path) == before


def test_a_source_without_a_memory_is_refused_by_name(tmp_path: Path) -> None:
    fill(tmp_path / "here", range(1))
    with pytest.raises(Refusal, match="call-invalid: source is"):
        evidence.merge(tmp_path / "here", tmp_path / "nowhere")


def test_lessons_are_what_recurred_and_name_their_episodes(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    fill(tmp_path, range(10, 12), accepted=False)
    fill(tmp_path, range(20, 21), accepted=False)
    lessons = evidence.learn(tmp_path)
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
    assert evidence.learn(tmp_path) == []


def test_an_export_holds_counts_and_words_of_the_format_alone(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    fill(tmp_path, range(10, 12), accepted=False)
    counts = evidence.export(tmp_path)
    assert counts["episodes"] == 5
    assert counts["outcomes"] == {"accepted": 3, "rejected": 2}
    assert counts["evidence"]["candidateCases"] == 10
    words = json.loads(Path(schemas.path("store")).read_text("utf-8"))
    known = json.dumps(words)
    for key, value in counts.items():
        inner = value if isinstance(value, dict) else {}
        assert all(f'"{word}"' in known and isinstance(number, int) for word, number in inner.items()), key
        assert isinstance(value, (dict, int))


@pytest.mark.parametrize("ask", [evidence.learn, evidence.export])
def test_counting_a_memory_that_is_not_there_writes_nothing(tmp_path: Path, ask: Callable[[Path], Any]) -> None:
    with pytest.raises(Unusable, match="no-memory"):
        ask(tmp_path)
    assert os.listdir(tmp_path) == []
