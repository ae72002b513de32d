"""The verdict by itself: every word, its order, and who gets the credit, by what was observed and without any run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testlore import canonical
from testlore.evidence import observation, verdict
from testlore.evidence.functions import Comparison
from testlore.evidence.junit import Case
from testlore.evidence.observation import FaultRuns, Observation, SuiteRun
from testlore.evidence.running import Run
from testlore.evidence.subject import Subject

NEW = "test_new.py"


def manifest(*defects: str, **more: Any) -> dict[str, Any]:
    return {
        "framework": "pytest",
        "purpose": "candidate-tests",
        "review": {"accepted": True, "independentOracle": True},
        "files": [{"path": NEW}],
        "delete": [],
        "heldOutDefects": [{"name": name} for name in defects],
        **more,
    }


def run(*reported: str, problem: str = "", status: int | None = -1) -> Run:
    """A run of cases: ``new`` stands in the new file, ``name!`` failed, ``name?`` was skipped."""
    counted: Counter[Case] = Counter()
    for one in reported:
        name = one.rstrip("!?")
        outcome = {"!": "failed", "?": "skipped"}.get(one[-1], "passed")
        counted[Case(name, NEW if name.startswith("new") else "test_old.py", outcome)] += 1
    failed = any(case.outcome == "failed" for case in counted)
    return Run(problem, int(failed) if status == -1 else status, counted)


def suite(*reported: str, reruns: Sequence[Run] = (), **more: Any) -> SuiteRun:
    return SuiteRun(run(*reported, **more), reruns)


OLD, BOTH = suite("old"), suite("old", "new")
SEES, MISSES = run("new!"), run("new")
OLD_SEES, OLD_MISSES = suite("old!", reruns=[run("old!"), run("old!")]), suite("old")


def fault(name: str = "d", kind: str = "given", **more: Any) -> FaultRuns:
    return FaultRuns(name, kind, ["calc.py"], **more)


def seen(*faults: FaultRuns, **changes: Any) -> Observation:
    return Observation(OLD, BOTH, repeats=[run("new")] * 3, faults=list(faults))._replace(**changes)


def judged(*faults: FaultRuns, of: Any = None, **changes: Any) -> verdict.Verdict:
    given_names = [one.name for one in faults if one.kind == "given"]
    return verdict.judge(of or manifest(*given_names), seen(*faults, **changes))


def test_a_candidate_for_which_nothing_was_tried_is_accepted() -> None:
    found = judged()
    assert (found.outcome, found.evidence["newCases"], found.evidence["repeats"]) == ("accepted", 1, 3)
    assert found.tests == [{"path": NEW, "name": "new", "outcome": "passed"}]


@pytest.mark.parametrize(
    ("runs", "reasons", "counts"),
    [
        ({"new": SEES, "original": OLD_MISSES}, [], (1, 1, 1)),
        ({"new": SEES, "original": OLD_SEES}, [], (1, 1, 0)),
        ({"new": MISSES, "original": OLD_SEES, "candidate": suite("old!", "new")}, ["adds-nothing"], (1, 0, 0)),
        ({"new": MISSES, "original": OLD_SEES, "candidate": BOTH}, ["held-out-miss", "adds-nothing"], (1, 0, 0)),
        ({"new": MISSES, "original": OLD_MISSES}, ["undemonstrated-defect", "adds-nothing"], (0, 0, 0)),
        ({"new": SEES}, [], (1, 1, 0)),
        ({}, ["undemonstrated-defect", "adds-nothing"], (0, 0, 0)),
        (
            {"new": SEES._replace(problem="timed-out"), "original": OLD_MISSES},
            ["undemonstrated-defect", "adds-nothing"],
            (0, 0, 0),
        ),
        (
            {"new": SEES._replace(status=2), "original": OLD_MISSES},
            ["undemonstrated-defect", "adds-nothing"],
            (0, 0, 0),
        ),
    ],
    ids=[
        *("a gap is closed", "both see it", "only the old suite sees it", "the candidate lost sight of it"),
        *("nobody sees it", "the old suite was not asked", "it was not tried", "broken off", "a wrong status"),
    ],
)
def test_credit_for_a_held_out_defect_goes_to_the_new_cases(
    runs: dict[str, Any], reasons: list[str], counts: tuple[int, int, int]
) -> None:
    found = judged(fault(**runs))
    assert found.reasons == reasons
    keys = ("demonstratedDefects", "caughtDefects", "closedGaps")
    assert tuple(found.evidence[key] for key in keys) == counts


def test_one_caught_defect_among_others_is_enough_not_to_add_nothing() -> None:
    caught = fault("upper", new=SEES, original=OLD_MISSES)
    other = fault("lower", new=MISSES, original=OLD_SEES, candidate=suite("old!", "new"))
    found = judged(caught, other)
    assert (found.outcome, found.evidence["demonstratedDefects"], found.evidence["caughtDefects"]) == ("accepted", 2, 1)
    assert [one.closes_gap for one in found.faults] == [True, False]


def test_modularization_need_not_add_anything() -> None:
    runs = fault(new=MISSES, original=OLD_SEES, candidate=suite("old!", "new"))
    assert judged(runs, of=manifest("d", purpose="modularization")).outcome == "accepted"


def test_a_case_that_may_be_old_is_credited_only_with_what_its_name_misses() -> None:
    redecorated = Comparison(known=frozenset([NEW]), redecorated=frozenset([(NEW, "new")]))
    changes = {"original": suite("old", "new"), "functions": redecorated}
    assert judged(fault(new=SEES, original=suite("old", "new!")), **changes).reasons == ["adds-nothing"]
    assert judged(fault(new=SEES, original=suite("old!", "new")), **changes).outcome == "accepted"
    assert judged(fault(new=SEES), **changes).reasons == ["adds-nothing"]


def test_an_unstable_old_case_sees_nothing() -> None:
    now_and_then = suite("old!", reruns=[run("old")])
    found = judged(fault(new=SEES, original=now_and_then))
    assert found.evidence["closedGaps"] == 1
    known = {"original": suite("old", "older!", reruns=[run("older")]), "candidate": suite("old", "older", "new")}
    found = judged(fault(new=SEES, original=suite("older!", reruns=[run("older!")])), **known)
    assert (found.outcome, found.evidence["closedGaps"]) == ("accepted", 1)
    assert found.notes == ["unstable: older in test_old.py"]


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({"candidate": suite("old", "new", problem="timed-out")}, ["candidate-incomplete"]),
        ({"candidate": suite("old", "new", status=1)}, ["candidate-incomplete"]),
        ({"candidate": suite("old", "new", status=None)}, ["candidate-incomplete"]),
        ({"candidate": suite()}, ["candidate-incomplete"]),
        ({"candidate": suite("old", "new!"), "repeats": [SEES]}, ["candidate-failed"]),
        ({"candidate": suite("old!", "new")}, ["candidate-failed"]),
        ({"candidate": suite("old!", "new", reruns=[run("old")])}, []),
        ({"candidate": suite("old", "new?")}, ["changed-test-not-run", "undemonstrated-defect", "adds-nothing"]),
        ({"candidate": suite("old")}, ["changed-test-not-run", "undemonstrated-defect", "adds-nothing"]),
        ({"candidate": suite("new")}, ["case-loss"]),
        ({"candidate": suite("old?", "new")}, ["case-loss"]),
        ({"repeats": [run("new"), run("new!")]}, ["flaky"]),
        ({"candidate": suite("old!", "new!"), "repeats": [run("new")]}, ["candidate-failed", "flaky"]),
        ({"candidate": suite("new", "new_too?"), "repeats": [run("new!")]}, ["case-loss", "flaky"]),
    ],
)
def test_every_word_that_applies_is_listed_in_order(changes: dict[str, Any], reasons: list[str]) -> None:
    defect = fault(new=SEES, original=OLD_MISSES)
    assert judged(defect, **changes).reasons == reasons


def test_the_words_carry_the_names_of_cases_and_defects() -> None:
    found = judged(fault("lower", new=MISSES, original=OLD_SEES, candidate=BOTH))
    assert found.details == ["held-out-miss: lower"]
    assert verdict.grounds(found.reasons, found.details) == ["held-out-miss: lower", "adds-nothing"]
    assert found.warnings == ["held-out-miss", "adds-nothing"]


def test_what_the_reviewer_rejected_needs_no_run() -> None:
    found = verdict.judge(manifest(review={"accepted": False, "independentOracle": False}), None)
    assert (found.reasons, found.evidence["complete"], found.evidence["newCases"]) == (["review-rejected"], False, 0)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"original": suite("old", problem="timed-out")}, "original-incomplete"),
        ({"original": suite("old!", status=0)}, "original-incomplete"),
        ({"original": suite("old!", reruns=[run("old!"), run("old!")])}, "original-failed"),
        ({"original": suite("old!", reruns=[run("old")])}, None),
        ({"candidate": suite("old")}, "no-changed-test"),
        ({}, None),
    ],
)
def test_what_says_nothing_about_the_candidate_is_not_judged(changes: dict[str, Any], word: str | None) -> None:
    files = [{"path": "calc.py" if word == "no-changed-test" else NEW}]
    found = verdict.unjudgeable(manifest(files=files), seen(**changes))
    assert (found and found[0]) == word


def test_mutants_and_the_change_undone_are_counted_by_their_kinds() -> None:
    tried = [
        fault("m1", "mutant", new=SEES, original=OLD_MISSES),
        fault("m2", "mutant", new=MISSES),
        fault("m3", "mutant", new=MISSES, applies=False),
        fault("change", "undone", new=SEES, original=OLD_SEES),
    ]
    counts = judged(*tried).evidence
    assert (counts["mutants"], counts["caughtMutants"], counts["survivingMutants"]) == (2, 1, 1)
    assert (counts["undone"], counts["caughtDefects"], counts["closedGaps"]) == ("caught", 1, 1)
    assert judged(fault("change", "undone", new=SEES, applies=False)).evidence["undone"] == "none"
    missed = judged(fault("change", "undone", new=MISSES))
    assert (missed.evidence["undone"], missed.reasons) == ("missed", ["adds-nothing"])
    assert judged(fault("m", "mutant", new=MISSES, applies=False)).outcome == "accepted"


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
SUITES = st.builds(SuiteRun, RUNS, st.lists(RUNS, max_size=2))
FAULTS = st.builds(
    FaultRuns,
    st.sampled_from("de"),
    st.sampled_from(observation.KINDS),
    st.just(["calc.py"]),
    st.none() | RUNS,
    st.none() | SUITES,
    st.none() | SUITES,
    st.booleans(),
)
PLACES = st.tuples(st.text(max_size=3), st.text(max_size=3))
COMPARISONS = st.builds(
    Comparison,
    st.frozensets(st.text(max_size=3), max_size=2),
    st.frozensets(PLACES, max_size=2),
    st.frozensets(PLACES, max_size=2),
    st.dictionaries(PLACES, PLACES, max_size=2),
)
OBSERVATIONS = st.builds(
    Observation,
    SUITES,
    SUITES,
    st.dictionaries(st.just(NEW), RUNS),
    st.lists(RUNS, max_size=2),
    st.lists(FAULTS, max_size=2),
    COMPARISONS,
    st.builds(Subject, st.lists(PLACES, max_size=2), st.lists(st.text(max_size=3)), st.booleans(), st.booleans()),
    st.lists(st.text(max_size=3), max_size=2),
)


@given(OBSERVATIONS)
def test_what_was_observed_survives_being_written_down(observed: Observation) -> None:
    kept = observation.from_dict(canonical.loads(canonical.dumps(observation.to_dict(observed))))
    assert kept == observed
    of = manifest("d")
    assert verdict.judge(of, kept) == verdict.judge(of, observed)
    assert verdict.unjudgeable(of, kept) == verdict.unjudgeable(of, observed)
