"""Remembering: what gets into memory, and what never does."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

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
from testlore import evidence, recall
from testlore.commands.validate import answer_of
from testlore.errors import Refusal, Unusable
from testlore.memory import store, writer
from testlore.memory.forget import forget


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
        "import pytest\nfrom calc import divide\n\n"
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
    value["observed"]["candidate"]["run"]["cases"][-1]["outcome"] = "passed"


FORGERIES: dict[str, Callable[[Json], object]] = {
    "outcome": lambda value: value.update(outcome="accepted"),
    "outcome, reasons and warnings": accept,
    "outcome and one case": drop_the_failure,
    "warnings": lambda value: value.update(warnings=[]),
    "evidence": lambda value: value["evidence"].update(passedCases=2, failedCases=0),
    "status": lambda value: value["observed"]["candidate"]["run"].update(status=0),
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


def test_a_verdict_is_remembered_once_a_conflict_in_the_memory_is_resolved(validated: Validated) -> None:
    fill(validated.root, range(1))
    file = validated.root / store.INDEX_FILE
    text = file.read_text()
    file.write_text(f"<<<<<<< HEAD\n{text}\n=======\n{text}\n>>>>>>> other\n")
    with pytest.raises(Unusable, match="store-conflicted"):
        evidence.remember(validated.root, validated.accepted)
    file.write_text(text)
    assert evidence.remember(validated.root, validated.accepted).new


def test_a_linked_memory_is_left_as_it_is(validated: Validated, tmp_path: Path) -> None:
    fill(tmp_path / "other", range(1))
    target = tmp_path / "other" / store.INDEX_FILE
    (validated.root / store.INDEX_FILE).symlink_to(target)
    before = target.read_bytes()
    with pytest.raises(Unusable, match="store-unsafe"):
        evidence.remember(validated.root, validated.accepted)
    assert target.read_bytes() == before


def test_a_new_episode_is_of_version_2_and_says_why_it_was_rejected(validated: Validated) -> None:
    for name in (validated.accepted, validated.rejected):
        evidence.remember(validated.root, name)
    rejected, accepted = sorted(records(validated.root), key=lambda one: one["outcome"], reverse=True)
    assert (accepted["schemaVersion"], accepted["reasons"]) == (2, [])
    assert rejected["schemaVersion"] == 2
    assert [reason.partition(": ")[0] for reason in rejected["reasons"]] == ["candidate-failed"]
    assert "test_red" in rejected["reasons"][0]


def test_what_was_forgotten_can_be_remembered_again_and_is_younger_than_its_tombstone(validated: Validated) -> None:
    first = evidence.remember(validated.root, validated.accepted).record
    forget(validated.root, [validated.accepted], "too soon")
    assert records(validated.root) == []
    again = evidence.remember(validated.root, validated.accepted)
    assert again.new
    [tombstone] = store.parse(store.read_bytes(str(validated.root))).forgotten
    assert again.record["createdAt"] > tombstone["at"] > first["createdAt"]
    assert records(validated.root) == [again.record]
    assert not evidence.remember(validated.root, validated.accepted).new


def test_over_two_hundred_episodes_validating_says_which_one_left(validated: Validated) -> None:
    fill(validated.root, range(200))
    oldest = records(validated.root)[-1]["id"]
    validation = evidence.validate(validated.root, validated.accepted)
    assert list(validation.dropped) == [oldest]
    answer = answer_of(validation)
    assert f"for lack of room these left: {oldest[:12]}" in answer.text
    assert answer.value["dropped"] == [oldest]
    assert len(records(validated.root)) == 200


def test_an_episode_that_is_older_than_a_full_memory_is_not_said_to_be_remembered(validated: Validated) -> None:
    future = [make_episode(number, createdAt=f"2999-01-01T00:00:00.{number:03d}Z") for number in range(200)]
    writer.update(str(validated.root), lambda found: future)
    validation = evidence.validate(validated.root, validated.rejected)
    assert (validation.record, validation.not_remembered) == ("", "the memory is full of newer episodes")


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_memory_gets_the_mode_of_the_mask_and_an_old_one_keeps_its_own(validated: Validated, mask: int) -> None:
    file = validated.root / store.INDEX_FILE
    before = os.umask(mask)
    try:
        evidence.remember(validated.root, validated.accepted)
        assert file.stat().st_mode & 0o777 == 0o666 & ~mask
        file.chmod(0o664)
        evidence.remember(validated.root, validated.rejected)
        assert file.stat().st_mode & 0o777 == 0o664
    finally:
        os.umask(before)


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
    broken = defect(f"{marks['path']}.py", source.replace("return a / b", "return 1") + f"# {marks['defect']}\n")
    review = {
        "accepted": True,
        "findings": [marks["finding"]],
        "oracle": {"independent": True, "basis": [marks["basis"]]},
    }
    ended = stage_and_validate(
        root,
        patch(
            {f"tests/test_{marks['path']}_zero.py": test},
            requirements=f"Division ends in zero.\n{marks['requirement']}",
            review=review,
            heldOutDefects=[broken],
        ),
    )
    assert (ended.outcome, ended.details) == ("accepted", [])
    red = test.replace("== 0\n", f"== 7, '{marks['output']}'\n")
    requirements = f"Red.\n{marks['requirement']}"
    assert stage_and_validate(root, patch({"tests/test_red.py": red}, requirements=requirements)).outcome == "rejected"
    written = {path: data for path, data in tree(root).items() if path.startswith(".tddswarm/learning/")}
    imported = f"from {marks['path']} import divide".encode()  # a pattern has the imports that it needs
    written = {path: data.replace(imported, b"") for path, data in written.items()}
    assert len(records(root)) == 2
    assert records(root)[1]["patterns"]
    named = [json.dumps(record["patterns"]).replace(imported.decode(), "") for record in records(root)]
    assert not any(marks["path"] in one for one in named)  # the paths of its tests and sources are told elsewhere
    for part, mark in marks.items():
        if part == "path":
            continue
        assert [path for path, data in written.items() if mark.encode() in data] == [], part
    kept = {path: data for path, data in tree(root).items() if path.endswith("validation.json")}
    for part in ("requirement", "finding", "basis", "output", "service", "label", "defect"):
        assert [path for path, data in kept.items() if marks[part].encode() in data] == [], part
