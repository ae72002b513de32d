"""Validation: what is accepted, what is rejected, and what cannot be judged. Real pytest and ``node --test`` runs."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from evidence_helpers import (
    BROKEN_CLAMP,
    BROKEN_DIVIDE,
    CALC,
    NODE_ORIGINAL,
    NODE_SOURCE,
    PYTEST_CANDIDATE,
    PYTEST_ORIGINAL,
    Json,
    defect,
    make_project,
    patch,
    pytest_project,
    records,
    stage_and_validate,
    tree,
    validation_file,
    write,
)
from testlore import canonical, evidence, schemas
from testlore.errors import Refusal
from testlore.evidence import baseline, bench, running, verdict

WEAK = PYTEST_ORIGINAL.replace("    assert clamp(-1) == 0\n", "")
HARMLESS = CALC.replace("min(10, number)", "min(10, number) + 0")
IDLE = "def test_idle():\n    assert 1 + 1 == 2\n"
RED = "def test_red():\n    assert False\n"
CLAMP, DIVIDE = defect(content=BROKEN_CLAMP), defect(content=BROKEN_DIVIDE, name="zero divides")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return pytest_project(tmp_path / "shop")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The files of each run that is made, in order; nothing for a whole suite."""
    made: list[tuple[str, ...]] = []
    run = running.run

    def counting(place: running.Place, name: str, copy: str, only: tuple[str, ...] = (), **more: object) -> running.Run:
        made.append(tuple(only))
        return run(place, name, copy, only, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(running, "run", counting)
    return made


def rejected(root: Path, proposed: Json) -> list[str]:
    """The reasons of a rejection, which is remembered without any code."""
    ended = stage_and_validate(root, proposed)
    assert ended.outcome == "rejected"
    record = records(root)[0]
    assert (record["id"], record["outcome"], record["patterns"]) == (ended.record, "rejected", [])
    assert {verdict.WARNINGS[reason] for reason in ended.reasons} <= {*record["warnings"], "flaky", "adds-nothing"}
    return ended.reasons


def refused(root: Path, proposed: Json) -> Refusal:
    """The refusal of a candidate that cannot be judged, of which nothing is remembered."""
    name = evidence.stage(root, proposed)
    with pytest.raises(Refusal) as caught:
        evidence.validate(root, name)
    assert caught.value.exit_status == 2
    assert not validation_file(root, name).exists()
    assert not (root / ".tddswarm/learning").exists()
    assert caught.value.reason == "no-changed-test" or not (root / baseline.FOLDER).exists()
    return caught.value


# Credit.


@pytest.fixture(scope="module")
def gap(tmp_path_factory: pytest.TempPathFactory) -> evidence.Validation:
    """A candidate that sees what the old suite misses, beside a defect that only the old suite sees."""
    root = pytest_project(tmp_path_factory.mktemp("gap") / "shop")
    return stage_and_validate(root, patch(heldOutDefects=[DIVIDE, CLAMP]))


def test_a_candidate_that_closes_a_gap_is_accepted(gap: evidence.Validation) -> None:
    assert (gap.outcome, gap.reasons) == ("accepted", [])
    assert [(one.original, one.new) for one in gap.faults] == [(False, True), (True, False)]
    assert [one.closes_gap for one in gap.faults] == [True, False]


def test_it_is_credited_only_with_what_its_new_case_sees(gap: evidence.Validation) -> None:
    counts = gap.evidence
    assert (counts["demonstratedDefects"], counts["caughtDefects"], counts["closedGaps"]) == (2, 1, 1)
    name = "test_division_by_zero_is_an_error"
    assert gap.tests == [{"path": "tests/test_divide.py", "name": name, "outcome": "passed"}]


def test_what_only_the_old_suite_sees_is_no_merit(root: Path) -> None:
    proposed = patch({"tests/test_idle.py": IDLE}, heldOutDefects=[CLAMP])
    assert rejected(root, proposed) == ["adds-nothing"]


def test_a_stronger_case_of_an_old_name_is_new_and_gets_the_credit(root: Path) -> None:
    stronger = "from calc import divide\n" + PYTEST_ORIGINAL + "    assert divide(4, 2) == 2\n"
    ended = stage_and_validate(
        root,
        patch({"tests/test_calc.py": stronger}, heldOutDefects=[defect(content=CALC.replace("a / b", "a * b"))]),
    )
    assert (ended.outcome, ended.evidence["newCases"], ended.evidence["closedGaps"]) == ("accepted", 1, 1)


def test_a_defect_that_nobody_sees_is_not_demonstrated(root: Path) -> None:
    reasons = rejected(root, patch(heldOutDefects=[defect(content=HARMLESS)]))
    assert reasons == ["undemonstrated-defect", "adds-nothing"]


def test_a_defect_that_breaks_the_import_is_seen_by_no_case(root: Path) -> None:
    assert "undemonstrated-defect" in rejected(root, patch(heldOutDefects=[defect(content="def clamp(:\n")]))


def test_a_candidate_that_weakens_the_case_which_saw_a_defect(root: Path) -> None:
    reasons = rejected(root, patch({"tests/test_calc.py": WEAK}, heldOutDefects=[CLAMP]))
    assert reasons == ["held-out-miss", "adds-nothing"]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
@pytest.mark.parametrize(
    ("more", "broken", "reasons", "gaps"),
    [
        ("\ntest('top', () => { assert.equal(clamp(11), 10); });", "Math.min(99,", [], 1),
        (" // why\n", "Math.max(-9,", ["adds-nothing"], 0),
        ("\ntest('idle', () => {});", "Math.max(-9,", ["adds-nothing"], 0),
    ],
    ids=["a gap is closed", "nothing new", "a new case that sees nothing"],
)
def test_node_cases_are_credited_by_their_names(
    tmp_path: Path, more: str, broken: str, reasons: list[str], gaps: int
) -> None:
    files = {"package.json": '{"type": "module"}', "src/calc.js": NODE_SOURCE, "test/calc.test.js": NODE_ORIGINAL}
    root = make_project(tmp_path / "shop", files, {"adapter": "node"})
    old = "Math.min(10," if "min" in broken else "Math.max(0,"
    wrong = defect("src/calc.js", NODE_SOURCE.replace(old, broken))
    ended = stage_and_validate(root, patch({"test/calc.test.js": NODE_ORIGINAL + more}, heldOutDefects=[wrong]))
    assert (ended.reasons, ended.evidence["closedGaps"]) == (reasons, gaps)


# Rejected, and remembered.


def test_what_the_reviewer_rejected_is_remembered_and_nothing_runs(root: Path, runs: list[tuple[str, ...]]) -> None:
    review = {"accepted": False, "findings": ["weak"], "oracle": {"independent": True, "basis": []}}
    assert rejected(root, patch(review=review)) == ["review-rejected"]
    assert runs == []


def test_a_candidate_that_cannot_be_collected(root: Path) -> None:
    ended = stage_and_validate(root, patch({"tests/test_new.py": "import nowhere_at_all\n"}))
    assert ended.reasons == ["candidate-incomplete"]
    assert "nowhere_at_all" in ended.output
    assert records(root)[0]["evidence"]["complete"] is False


@pytest.mark.parametrize(
    ("files", "reasons"),
    [
        ({"tests/test_new.py": RED}, ["candidate-failed"]),
        ({"tests/test_new.py": f"import pytest\n@pytest.mark.skip\n{IDLE}"}, ["changed-test-not-run"]),
        ({"tests/test_new.py": "import pytest\npytest.skip('x', allow_module_level=True)\n"}, ["changed-test-not-run"]),
        ({"tests/test_new.py": "def helper():\n    pass\n"}, ["changed-test-not-run"]),
        ({"tests/test_calc.py": "def test_other():\n    assert 2\n"}, ["case-loss"]),
        ({"tests/test_calc.py": PYTEST_ORIGINAL.replace("def", "import pytest\n@pytest.mark.skip\ndef") + IDLE},
         ["case-loss"]),
    ],
    ids=["red", "skipped", "skipped as a whole", "no case", "gone", "skipped old case"],
)  # fmt: skip
def test_a_candidate_with_a_fault_of_its_own_is_rejected(root: Path, files: dict[str, str], reasons: list[str]) -> None:
    assert rejected(root, patch(files)) == reasons


@pytest.mark.parametrize("proposed", [PYTEST_ORIGINAL.replace("test_clamp", "test_renamed"), PYTEST_ORIGINAL])
def test_a_function_that_moves_or_gets_another_name_is_neither_lost_nor_new(root: Path, proposed: str) -> None:
    moved = patch({"tests/test_moved.py": proposed}, delete=["tests/test_calc.py"], heldOutDefects=[CLAMP])
    ended = stage_and_validate(root, moved)
    assert (ended.outcome, ended.details, ended.evidence["newCases"]) == ("accepted", [], 0)
    record = records(root)[0]
    assert record["context"]["purpose"] == "modularization"
    assert {"modularization", "case-preservation"} <= set(record["tags"])


def counting_test(counter: Path, condition: str) -> str:
    """A test that knows how often it ran before, whichever copy it runs in."""
    return (
        "import pathlib\n\n\ndef test_now_and_then():\n"
        f"    counter = pathlib.Path({str(counter)!r})\n"
        "    before = len(counter.read_text()) if counter.exists() else 0\n"
        "    counter.write_text('x' * (before + 1))\n"
        f"    assert {condition}\n"
    )


@pytest.mark.parametrize("condition", ["before < 1", "before != 0"], ids=["later", "at first"])
def test_a_new_case_that_passes_and_fails_is_flaky(root: Path, tmp_path: Path, condition: str) -> None:
    proposed = patch({"tests/test_new.py": counting_test(tmp_path / "counter", condition)})
    assert "flaky" in rejected(root, proposed)


# What fails in the project already.


def test_an_old_case_that_fails_now_and_then_is_named_and_no_ground_for_anything(root: Path, tmp_path: Path) -> None:
    write(root, {"tests/test_old.py": counting_test(tmp_path / "counter", "before % 2")})
    ended = stage_and_validate(root, patch(heldOutDefects=[DIVIDE]))
    assert (ended.outcome, ended.evidence["closedGaps"]) == ("accepted", 1)
    assert any(note == "unstable: test_now_and_then in tests/test_old.py" for note in ended.notes)


def test_red_cases_that_the_candidate_changes_or_removes_are_outdated(root: Path) -> None:
    write(
        root, {"tests/test_wrong.py": RED, "tests/test_gone.py": "import calc_that_was\n\n\ndef test_it():\n    pass\n"}
    )
    green = RED.replace("False", "4 == 2 + 2")
    proposed = patch({"tests/test_wrong.py": green, "tests/test_divide.py": PYTEST_CANDIDATE})
    ended = stage_and_validate(root, {**proposed, "delete": ["tests/test_gone.py"], "heldOutDefects": [DIVIDE]})
    assert (ended.outcome, ended.details) == ("accepted", [])
    assert sorted(ended.notes) == [
        "outdated: test_red in tests/test_wrong.py",
        "outdated: tests/test_gone.py, which no longer loads",
    ]
    assert not (root / baseline.FOLDER).exists()


def test_a_red_original_is_refused_and_named(root: Path) -> None:
    write(root, {"tests/test_red.py": RED})
    found = refused(root, patch())
    assert str(found) == "original-failed: cases fail in the project as it is: test_red in tests/test_red.py"


def test_an_original_that_does_not_end_is_refused_with_what_it_printed(root: Path) -> None:
    write(root, {"tests/test_broken.py": "import nowhere_at_all\n"})
    found = refused(root, patch())
    assert str(found) == "original-incomplete: the project's own suite did not run to its end: collection-failed"
    assert "nowhere_at_all" in found.output


def test_a_project_that_changes_while_its_suites_run_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    test = f"def test_it():\n    open({str(root / 'calc.py')!r}, 'a').write('# more\\n')\n"
    make_project(root, {"calc.py": CALC, "tests/test_calc.py": test}, {"adapter": "pytest"})
    assert refused(root, patch()).reason == "provenance-changed"


def test_a_file_like_a_test_that_is_none_is_refused_after_the_run(root: Path) -> None:
    found = refused(root, patch({"tests/helper.py": "def test_it():\n    pass\n"}))
    assert found.reason == "no-changed-test"


def test_a_candidate_of_another_state_of_the_project_is_not_run(root: Path, runs: list[tuple[str, ...]]) -> None:
    name = evidence.stage(root, patch(heldOutDefects=[defect()]))
    write(root, {"calc.py": CALC + "\n"})
    with pytest.raises(Refusal, match=r"provenance-changed: since it was staged: calc\.py"):
        evidence.validate(root, name)
    assert runs == []


# What runs.

NEW = ("tests/test_divide.py",)
OLD = ("tests/test_calc.py",)


@pytest.fixture
def one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the order of runs is certain."""
    monkeypatch.setattr(bench, "_processors", lambda: 1)


@pytest.mark.usefixtures("one_processor")
def test_only_what_can_change_the_verdict_is_run(root: Path, runs: list[tuple[str, ...]]) -> None:
    stage_and_validate(root, patch(heldOutDefects=[DIVIDE]))
    assert runs == [(), (), NEW, NEW, NEW, ()]
    runs.clear()
    stage_and_validate(root, patch(heldOutDefects=[CLAMP]))
    assert runs == [(), NEW, NEW, NEW, (), OLD, OLD, ()]


@pytest.mark.usefixtures("one_processor")
def test_the_run_of_the_project_as_it_is_is_kept_and_a_second_validation_runs_nothing(
    root: Path, runs: list[tuple[str, ...]]
) -> None:
    name = evidence.stage(root, patch(heldOutDefects=[DIVIDE]))
    first = evidence.validate(root, name)
    runs.clear()
    again = evidence.validate(root, name)
    assert again.reused
    assert (again._replace(reused=""), runs) == (first, [])
    stage_and_validate(root, patch({"tests/test_idle.py": IDLE}))
    assert runs == [(), ("tests/test_idle.py",), ("tests/test_idle.py",)]
    runs.clear()
    write(root, {"notes.txt": "other sources\n"})
    stage_and_validate(root, patch({"tests/test_idle.py": IDLE}))
    assert runs[:2] == [(), ()]


def reseal_file(path: Path, change: Callable[[Json], object]) -> None:
    value = json.loads(path.read_bytes())
    change(value)
    path.write_text(canonical.dumps(canonical.seal(value)), "utf-8")


@pytest.mark.usefixtures("one_processor")
@pytest.mark.parametrize("change", ["run", "key", "mark", "link", "bytes"])
def test_a_kept_run_that_this_machine_did_not_make_is_not_believed(
    root: Path, tmp_path: Path, runs: list[tuple[str, ...]], change: str
) -> None:
    stage_and_validate(root, patch({"tests/test_idle.py": IDLE}))
    kept = root / baseline.FILE
    if change == "run":
        reseal_file(kept, lambda value: value["run"]["cases"][0].update(name="test_other"))
    elif change == "key":
        reseal_file(kept, lambda value: value.update(key="0" * 64))
    elif change == "mark":
        reseal_file(kept, lambda value: value.pop("mark"))
    elif change == "bytes":
        kept.write_bytes(b"[" * 100_000)
    else:
        kept.rename(tmp_path / "elsewhere.json")
        kept.symlink_to(tmp_path / "elsewhere.json")
    runs.clear()
    stage_and_validate(root, patch())
    assert runs[:2] == [(), ()]


@pytest.mark.usefixtures("one_processor")
def test_a_verdict_that_this_machine_did_not_make_is_made_again(root: Path, runs: list[tuple[str, ...]]) -> None:
    name = evidence.stage(root, patch({"tests/test_idle.py": IDLE}))
    evidence.validate(root, name)
    path = validation_file(root, name)
    for code in (None, "0" * 64):
        value = json.loads(path.read_bytes())
        value = {**value, "code": code} if code else {key: value[key] for key in value if key != "mark"}
        path.write_text(canonical.pretty(canonical.seal(value)), "utf-8")
        runs.clear()
        assert not evidence.validate(root, name).reused
        assert runs


def test_what_may_have_been_mended_outside_of_the_project_is_run_again(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "there"
    test = f"import os\n\n\ndef test_it():\n    assert os.path.exists({str(outside)!r})\n"
    name = evidence.stage(root, patch({"tests/test_new.py": test}))
    assert evidence.validate(root, name).reasons == ["candidate-failed"]
    outside.touch()
    assert evidence.validate(root, name).outcome == "accepted"


def test_a_threshold_that_holds_for_each_run_makes_new_cases_run_with_the_whole_suite(root: Path) -> None:
    strict = (
        "def pytest_sessionfinish(session, exitstatus):\n"
        "    session.exitstatus = 3 if session.testscollected < 2 else exitstatus\n"
    )
    write(root, {"conftest.py": strict, "tests/test_more.py": IDLE})
    ended = stage_and_validate(root, patch(heldOutDefects=[DIVIDE]))
    assert (ended.outcome, ended.evidence["closedGaps"], ended.evidence["repeats"]) == ("accepted", 1, 1)


PORT = """\
import socket, time


def test_{name}():
    with socket.socket() as server:
        server.bind(("127.0.0.1", {port}))
        time.sleep(1.5)
"""


def test_suites_that_are_in_each_others_way_run_one_after_another(root: Path) -> None:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    write(root, {"tests/test_port.py": PORT.format(name="old", port=port)})
    ended = stage_and_validate(root, patch({"tests/test_new.py": PORT.format(name="new", port=port)}))
    assert (ended.outcome, ended.details, ended.notes) == ("accepted", [], [])


def test_a_long_validation_says_which_run_of_how_many_it_is_at(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_TELL_SECONDS", 0.05)
    told: list[str] = []
    evidence.validate(root, evidence.stage(root, patch()), lambda what, done, of: told.append(what))
    assert any(re.fullmatch(r"run 1 of \d+: the project's own suite(; run 2 .*)?", line) for line in told), told


# What is kept.


def test_validation_writes_its_verdict_the_memory_and_the_kept_run_and_leaves_nothing_else(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    name = evidence.stage(root, patch(heldOutDefects=[defect()]))
    before = tree(root)
    evidence.validate(root, name)
    added = tree(root).keys() - before.keys()
    assert {path for path in added if not path.endswith(".lock")} == {
        f".tddswarm/candidates/{name}/validation.json",
        ".tddswarm/learning/index.json",
        baseline.FILE,
    }
    assert {path: tree(root)[path] for path in before} == before
    assert list(scratch.iterdir()) == []


def test_the_kept_verdict_is_sealed_and_fits_its_schema(root: Path) -> None:
    name = evidence.stage(root, patch(heldOutDefects=[defect()]))
    evidence.validate(root, name)
    value = json.loads(validation_file(root, name).read_bytes())
    assert canonical.is_sealed(value)
    assert schemas.first_problem("validation", value) is None
    assert value["observed"]["faults"][0]["original"]["run"]["cases"] == [
        {"name": "test_clamp", "file": "tests/test_calc.py", "outcome": "failed", "count": 1}
    ]


def test_learning_that_is_switched_off_keeps_the_verdict_and_remembers_nothing(tmp_path: Path) -> None:
    config = {"adapter": "pytest", "learning": {"enabled": False}}
    root = make_project(tmp_path / "shop", {"calc.py": CALC, "tests/test_calc.py": PYTEST_ORIGINAL}, config)
    ended = stage_and_validate(root, patch())
    assert (ended.outcome, ended.record, ended.not_remembered) == ("accepted", "", "learning-disabled")
    assert not (root / ".tddswarm/learning").exists()


def test_an_outer_test_run_does_not_leak_into_ours(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k no_such_test")
    names = ["GIT_DIR", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG_COUNT", "GIT_NAMESPACE"]
    for name in (*names, "GIT_AUTHOR_NAME"):
        monkeypatch.setenv(name, os.devnull)
    kept = f"[name for name in {names} if name in os.environ] == [] and 'GIT_AUTHOR_NAME' in os.environ"
    test = f"import os\ndef test_git():\n    assert {kept}\n"
    assert stage_and_validate(root, patch({"tests/test_git.py": test})).outcome == "accepted"


FLAKY = """\
import os
from calc import divide


def test_now_and_then(number=0):
    while os.path.exists(f"{folder}/{{number}}"):
        number += 1
    open(f"{folder}/{{number}}", "x").close()
    assert divide(0, 1) == 0
    assert number not in (3, 4)
"""


def test_a_case_that_fails_in_two_of_its_repeats_is_flaky_whatever_runs_beside_it(root: Path, tmp_path: Path) -> None:
    write(root, {"tddswarm.config.json": json.dumps({"adapter": "pytest", "evidence": {"repeats": 3}})})
    counts = tmp_path / "counts"
    counts.mkdir()
    ended = stage_and_validate(root, patch({"tests/test_flaky.py": FLAKY.format(folder=counts)}))
    assert ended.reasons == ["flaky"]
