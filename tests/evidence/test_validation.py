"""Validation: what is accepted, and why everything else is not. Real pytest runs; the verdict by itself as well."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from evidence_helpers import (
    CALC,
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
from hypothesis import given
from hypothesis import strategies as st
from testlore import canonical, evidence, schemas
from testlore.errors import Refusal
from testlore.evidence import verdict
from testlore.evidence.junit import Case
from testlore.evidence.running import Run
from testlore.evidence.verdict import Defect, Observation

WEAK = PYTEST_ORIGINAL.replace("    assert clamp(-1) == 0\n", "")
HARMLESS = CALC.replace("min(10, number)", "min(10, number) + 0")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return pytest_project(tmp_path / "shop")


def rejected(root: Path, proposed: Json) -> list[str]:
    """The reasons of a rejection, which is remembered with its warnings and without any code."""
    ended = stage_and_validate(root, proposed)
    assert ended.outcome == "rejected"
    record = records(root)[0]
    assert (record["id"], record["outcome"], record["patterns"]) == (ended.record, "rejected", [])
    assert record["warnings"] == list(dict.fromkeys(verdict.WARNINGS[reason] for reason in ended.reasons))
    return ended.reasons


def test_a_review_that_did_not_accept_and_names_no_oracle(root: Path) -> None:
    review = {"accepted": False, "findings": ["weak"], "oracle": {"independent": True, "basis": []}}
    assert rejected(root, patch(review=review)) == ["review-rejected", "oracle-missing"]


@pytest.mark.parametrize("oracle", [{"independent": False, "basis": ["the code"]}, {"independent": True}])
def test_an_oracle_that_is_not_independent_or_has_no_basis(root: Path, oracle: Json) -> None:
    assert rejected(root, patch(review={"accepted": True, "oracle": oracle})) == ["oracle-missing"]


def test_a_candidate_that_fails(root: Path) -> None:
    reasons = rejected(root, patch({"tests/test_red.py": "def test_red():\n    assert False\n"}))
    assert reasons == ["candidate-failed"]


def test_an_original_suite_that_fails(root: Path) -> None:
    write(root, {"tests/test_red.py": "def test_red():\n    assert False\n"})
    assert rejected(root, patch()) == ["original-failed", "candidate-failed"]


def test_a_candidate_that_cannot_be_collected(root: Path) -> None:
    ended = stage_and_validate(root, patch({"tests/test_new.py": "import nowhere_at_all\n"}))
    assert ended.reasons == ["candidate-incomplete"]
    assert "nowhere_at_all" in ended.output
    assert records(root)[0]["evidence"]["complete"] is False


@pytest.mark.parametrize(
    "content",
    [
        "import pytest\n@pytest.mark.skip\ndef test_later():\n    pass\n",
        "import pytest\npytest.skip('whole', allow_module_level=True)\n",
        "def helper():\n    pass\n",
    ],
)
def test_a_changed_test_file_of_which_no_case_ran(root: Path, content: str) -> None:
    assert rejected(root, patch({"tests/test_new.py": content})) == ["changed-test-not-run"]


def test_a_patch_that_changes_no_test(root: Path) -> None:
    assert rejected(root, patch({"notes.txt": "nothing"})) == ["no-changed-test"]


@pytest.mark.parametrize(
    ("original", "candidate"),
    [
        (PYTEST_ORIGINAL, PYTEST_ORIGINAL.replace("test_clamp", "test_renamed")),
        (PYTEST_ORIGINAL, PYTEST_ORIGINAL.replace("def test", "import pytest\n@pytest.mark.skip\ndef test")
         + "def test_more():\n    pass\n"),
        (
            "import pytest\n@pytest.mark.parametrize('n', [1, 1], ids=['a', 'b'])\ndef test_p(n):\n    pass\n",
            "import pytest\n@pytest.mark.parametrize('n', [1], ids=['a'])\ndef test_p(n):\n    pass\n",
        ),
    ],
    ids=["renamed", "skipped", "fewer"],
)  # fmt: skip
def test_an_original_case_that_is_gone_or_no_longer_executed(root: Path, original: str, candidate: str) -> None:
    write(root, {"tests/test_calc.py": original})
    assert rejected(root, patch({"tests/test_calc.py": candidate})) == ["case-loss"]
    assert records(root)[0]["evidence"]["missingCases"] == 1


def test_the_same_name_in_two_files_must_stay_two_cases(root: Path) -> None:
    write(root, {"tests/test_a.py": "def test_same():\n    pass\n", "tests/test_b.py": "def test_same():\n    pass\n"})
    write(root, {"tests/__init__.py": ""})
    assert rejected(root, patch({"tests/test_b.py": "def test_other():\n    pass\n"})) == ["case-loss"]


def test_a_test_that_moves_to_another_file_is_no_lost_case(root: Path) -> None:
    moved = patch({"tests/test_moved.py": PYTEST_ORIGINAL}, delete=["tests/test_calc.py"])
    ended = stage_and_validate(root, moved)
    assert (ended.outcome, ended.details) == ("accepted", [])
    record = records(root)[0]
    assert record["context"]["purpose"] == "modularization"
    assert {"modularization", "case-preservation"} <= set(record["tags"])


def test_a_defect_that_the_original_suite_does_not_see(root: Path) -> None:
    reasons = rejected(root, patch(heldOutDefects=[defect(content=HARMLESS)]))
    assert reasons == ["undemonstrated-defect", "held-out-miss"]


def test_a_defect_that_breaks_the_import_is_seen_by_no_named_case(root: Path) -> None:
    assert "undemonstrated-defect" in rejected(root, patch(heldOutDefects=[defect(content="def clamp(:\n")]))


def test_a_candidate_that_weakens_the_test_which_saw_a_defect(root: Path) -> None:
    reasons = rejected(root, patch({"tests/test_calc.py": WEAK}, heldOutDefects=[defect()]))
    assert reasons == ["held-out-miss"]
    counts = records(root)[0]["evidence"]
    assert (counts["demonstratedDefects"], counts["caughtDefects"]) == (1, 0)


def test_a_project_that_changes_while_its_suites_run_is_not_remembered(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    test = f"def test_it():\n    open({str(root / 'calc.py')!r}, 'a').write('# more\\n')\n"
    make_project(root, {"calc.py": CALC, "tests/test_calc.py": test}, {"adapter": "pytest"})
    ended = stage_and_validate(root, patch())
    assert (ended.outcome, ended.reasons, ended.record) == ("rejected", ["provenance-changed"], "")
    assert ended.not_remembered.startswith("validation-stale")
    assert not (root / ".tddswarm/learning").exists()


def test_a_candidate_of_another_state_of_its_files_is_not_run(root: Path) -> None:
    name = evidence.stage(root, patch(heldOutDefects=[defect()]))
    write(root, {"calc.py": CALC + "\n"})
    with pytest.raises(Refusal, match=r"provenance-changed: since it was staged: calc\.py"):
        evidence.validate(root, name)
    assert not validation_file(root, name).exists()


def test_validation_writes_its_verdict_and_the_memory_and_leaves_nothing_else(
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
    }
    assert {path: tree(root)[path] for path in before} == before
    assert list(scratch.iterdir()) == []


def test_the_kept_verdict_is_sealed_and_fits_its_schema(root: Path) -> None:
    name = evidence.stage(root, patch(heldOutDefects=[defect()]))
    evidence.validate(root, name)
    value = json.loads(validation_file(root, name).read_bytes())
    assert canonical.is_sealed(value)
    assert schemas.first_problem("validation", value) is None
    assert value["observed"]["defects"][0]["original"]["cases"] == [
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


# The verdict by itself.

MANIFEST: Json = {
    "framework": "pytest",
    "review": {"accepted": True, "independentOracle": True},
    "files": [{"path": "test_new.py"}],
    "heldOutDefects": [{"name": "d"}],
}


def ran(*cases: tuple[str, str], status: int | None = None, problem: str = "", file: str = "test_new.py") -> Run:
    counted = Counter(Case(name, file, outcome) for name, outcome in cases)
    failed = any(outcome == "failed" for _, outcome in cases)
    return Run(problem, int(failed) if status is None else status, counted)


GREEN = ran(("t", "passed"))
SEEN = ran(("t", "failed"))


def judged(**changes: Any) -> verdict.Verdict:
    observed = Observation(GREEN, GREEN, {}, [Defect("d", SEEN, SEEN)], drifted=False)
    return verdict.judge(MANIFEST, observed._replace(**changes))


def test_the_verdict_accepts_what_has_every_ground() -> None:
    assert judged().outcome == "accepted"


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({"original": GREEN._replace(problem="timed-out")}, ["original-incomplete"]),
        ({"candidate": GREEN._replace(status=1)}, ["candidate-incomplete"]),
        ({"candidate": GREEN._replace(status=None)}, ["candidate-incomplete"]),
        ({"candidate": ran()}, ["candidate-incomplete"]),
        ({"original": SEEN._replace(status=0)}, ["original-incomplete"]),
        ({"defects": []}, ["undemonstrated-defect", "held-out-miss"]),
        ({"defects": [Defect("other", SEEN, SEEN)]}, ["undemonstrated-defect", "held-out-miss"]),
        ({"defects": [Defect("d", SEEN, GREEN)]}, ["held-out-miss"]),
        ({"defects": [Defect("d", GREEN, SEEN)]}, ["undemonstrated-defect"]),
        ({"defects": [Defect("d", SEEN._replace(problem="timed-out"), SEEN)]}, ["undemonstrated-defect"]),
        ({"defects": [Defect("d", ran(("unknown", "failed")), SEEN)]}, ["undemonstrated-defect"]),
        ({"drifted": True}, ["provenance-changed"]),
        ({"candidate": ran(("t", "passed"), file="")}, ["changed-test-not-run"]),
    ],
)
def test_the_verdict_names_what_is_missing(changes: Json, reasons: list[str]) -> None:
    assert judged(**changes).reasons == reasons


def test_a_changed_file_that_the_report_does_not_name_may_be_run_by_itself() -> None:
    nameless = ran(("t", "passed"), file="")
    assert judged(candidate=nameless, changed={"test_new.py": nameless}).outcome == "accepted"
    skipped = ran(("t", "skipped"), file="")
    assert judged(candidate=nameless, changed={"test_new.py": skipped}).reasons == ["changed-test-not-run"]


RUNS = st.builds(
    lambda cases, status, problem: Run(problem, status, Counter(cases)),
    st.dictionaries(
        st.builds(Case, st.text(max_size=5), st.text(max_size=5), st.sampled_from(["passed", "failed", "skipped"])),
        st.integers(1, 5),
        max_size=4,
    ),
    st.none() | st.integers(-9, 5),
    st.sampled_from(["", "no-report"]),
)


@given(RUNS, RUNS, st.lists(st.builds(Defect, st.text(max_size=3), RUNS, RUNS), max_size=2), st.booleans())
def test_what_was_observed_survives_being_written_down(
    original: Run, candidate: Run, defects: list[Defect], drifted: bool
) -> None:
    observed = Observation(original, candidate, {"test_new.py": candidate}, defects, drifted)
    kept = verdict.from_dict(canonical.loads(canonical.dumps(verdict.to_dict(observed))))
    assert kept == observed
    assert verdict.judge(MANIFEST, kept) == verdict.judge(MANIFEST, observed)
