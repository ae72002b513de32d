"""Which cases are new, lost, outdated, unstable or flaky: by what runs reported, without any run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from testlore.evidence import cases, functions
from testlore.evidence.functions import Comparison
from testlore.evidence.junit import Case
from testlore.evidence.observation import Observation, SuiteRun
from testlore.evidence.running import Run

A, B, JS = "tests/test_a.py", "tests/test_b.py", "test/a.test.js"


def run(*reported: str, file: str = A) -> Run:
    """A run of cases as ``name``, ``name!`` for one that failed and ``name?`` for a skipped one, after ``file:``."""
    counted: Counter[Case] = Counter()
    for one in reported:
        path, _, name = one.rpartition(":")
        outcome = {"!": "failed", "?": "skipped"}.get(name[-1], "passed")
        counted[Case(name.rstrip("!?"), path or file, outcome)] += 1
    return Run("", int(any(case.outcome == "failed" for case in counted)), counted)


def seen(original: Run, candidate: Run, *, reruns: Sequence[Run] = (), **more: Any) -> Observation:
    return Observation(SuiteRun(original, reruns), SuiteRun(candidate), **more)


def manifest(*paths: str, delete: Sequence[str] = ()) -> dict[str, Any]:
    return {"files": [{"path": path} for path in paths], "delete": list(delete)}


def compared(before: dict[str, str], after: dict[str, str]) -> Comparison:
    old, new = ({path: text.encode() for path, text in files.items()} for files in (before, after))
    return functions.compare(old, new, dict)


def new_names(paths: Sequence[str], observed: Observation) -> list[tuple[str, bool]]:
    return [(one.name, one.beyond) for one in cases.new_cases(manifest(*paths), observed)]


ONE, TWO = "def test_one():\n    assert 1\n", "def test_two():\n    assert 2\n"
ROWS = "@rows([1{}])\ndef test_row(n):\n    assert n\n"
FULL, BEYOND = False, True


@pytest.mark.parametrize(
    ("before", "after", "original", "candidate", "new"),
    [
        ({A: ONE}, {A: ONE + TWO}, ["test_one"], ["test_one", "test_two"], [("test_two", FULL)]),
        ({A: ONE}, {A: ONE.replace("1", "3")}, ["test_one"], ["test_one"], [("test_one", FULL)]),
        ({A: ONE}, {A: f"# why\n{ONE}"}, ["test_one"], ["test_one"], []),
        ({A: ONE}, {B: ONE}, ["test_one"], [f"{B}:test_one"], []),
        ({A: ONE}, {B: TWO.replace("two", "one")}, ["test_one"], ["test_one", f"{B}:test_one"], [("test_one", FULL)]),
        (
            {A: ROWS.format("")},
            {A: ROWS.format(", 2")},
            ["test_row[1]"],
            ["test_row[1]", "test_row[2]"],
            [("test_row[1]", BEYOND), ("test_row[2]", FULL)],
        ),
        ({}, {}, ["test_row[1]"], ["test_row[1]", "test_row[2]"], [("test_row[2]", FULL)]),
        ({}, {}, ["test_row[0x7f1]"], ["test_row[0x7f2]"], []),
        ({}, {}, ["test_row[17]"], ["test_row[23]"], []),
        ({A: ONE}, {A: ONE + TWO}, ["test_one"], ["test_one", "test_two?"], [("test_two", FULL)]),
    ],
    ids=[
        *(
            "another name",
            "another body",
            "a comment",
            "moved",
            "another body in another file",
            "a row in the decorator",
        ),
        *("a row from elsewhere", "an address", "a random value", "skipped"),
    ],
)
def test_new_cases_of_python_are_those_whose_function_or_name_is_new(
    before: dict[str, str],
    after: dict[str, str],
    original: list[str],
    candidate: list[str],
    new: list[tuple[str, bool]],
) -> None:
    observed = seen(run(*original), run(*candidate), functions=compared(before, after))
    assert new_names(list(after), observed) == new


@pytest.mark.parametrize(
    ("original", "candidate", "new"),
    [
        (["one"], ["one", "two"], [("two", FULL)]),
        (["one", "b.test.js:other"], ["one", "b.test.js:other"], [("one", BEYOND)]),
        (["one"], ["one", "test/b.test.js:one"], [("one", BEYOND)]),
    ],
    ids=["a new name", "no new name in the changed file", "an old name in a new file"],
)
def test_in_other_languages_names_decide_and_else_all_cases_of_a_changed_file(
    original: list[str], candidate: list[str], new: list[tuple[str, bool]]
) -> None:
    observed = seen(run(*original, file=JS), run(*candidate, file=JS))
    changed = JS if "test/b.test.js:one" not in candidate else "test/b.test.js"
    assert new_names([changed], observed) == new


@pytest.mark.parametrize(
    ("original", "candidate", "lost"),
    [
        (["test_one"], ["test_one"], []),
        (["test_one"], [f"{B}:test_one"], []),
        (["test_one"], ["test_two"], ["test_one"]),
        (["test_one"], ["test_one?"], ["test_one"]),
        (["test_one?"], ["test_one?"], []),
        (["test_row[a]", "test_row[b]"], ["test_row[a]"], ["test_row[b]"]),
        (["test_row[0]", "test_row[1]"], ["test_row[x]", "test_row[y]"], []),
        (["test_row[0]", "test_row[1]"], ["test_row[x]", "test_row[y]?"], ["test_row[0]"]),
        (["test_one", f"{B}:test_one"], ["test_one", f"{B}:test_two"], ["test_one"]),
        (["test_one", f"{B}:test_two"], ["test_two", f"{B}:test_one"], []),
        ([f"{JS}:one", f"{JS}:two"], [f"{JS}:one", f"{JS}:three"], ["two"]),
        ([f"{JS}:one 0x7f1"], [f"{JS}:one 0x7f2"], []),
    ],
)
def test_a_case_is_lost_when_fewer_of_its_function_run(
    original: list[str], candidate: list[str], lost: list[str]
) -> None:
    assert sorted(cases.lost(manifest(A), seen(run(*original), run(*candidate))).elements()) == lost


def test_a_function_under_another_name_is_not_lost() -> None:
    renamed = {A: ONE.replace("test_one", "test_first")}
    observed = seen(run("test_one"), run("test_first"), functions=compared({A: ONE}, renamed))
    assert not cases.lost(manifest(A), observed)
    assert new_names([A], observed) == []


@pytest.mark.parametrize(
    ("after", "candidate", "outdated"),
    [
        ({A: ONE.replace("1", "3")}, ["test_one"], True),
        ({A: ONE.replace("1", "3")}, ["test_one!"], True),
        ({A: f"X = 1\n{ONE}"}, ["test_one"], True),
        ({A: f"X = 1\n{ONE}"}, ["test_one!"], False),
        ({A: TWO}, ["test_two"], True),
        ({B: TWO}, ["test_one!", f"{B}:test_two"], False),
    ],
    ids=["changed", "changed, and still red", "what it uses changed", "the same and red", "removed", "elsewhere"],
)
def test_a_red_case_that_the_candidate_changes_or_removes_is_outdated(
    after: dict[str, str], candidate: list[str], outdated: bool
) -> None:
    observed = seen(run("test_one!"), run(*candidate), functions=compared({A: ONE}, after))
    changed = manifest(*after)
    assert cases.outdated(changed, observed) == ({("test_one", A)} if outdated else set())
    if outdated:
        assert not cases.lost(changed, observed)


def test_the_cases_of_a_deleted_file_are_outdated_if_they_are_red() -> None:
    observed = seen(run("test_one!", "test_two"), run(f"{B}:test_three"))
    assert cases.outdated(manifest(B, delete=[A]), observed) == {("test_one", A)}
    assert sorted(cases.lost(manifest(B, delete=[A]), observed)) == ["test_two"]


def test_a_case_that_fails_and_passes_in_a_rerun_is_unstable() -> None:
    once = SuiteRun(run("test_one!", "test_two!"), [run("test_one!", "test_two!"), run("test_one", "test_two!")])
    assert cases.unstable(once) == {("test_one", A)}
    unnamed = SuiteRun(run("test_one!"), [run("test_one", file="")])
    assert cases.unstable(unnamed) == {("test_one", A)}


def test_a_new_case_that_passes_and_fails_is_flaky() -> None:
    observed = seen(run("test_old"), run("test_old", "test_new"), repeats=[run("test_new"), run("test_new!")])
    new = cases.new_cases(manifest(A), observed)
    assert [one.name for one in cases.flaky(new, observed)] == ["test_new"]
    assert not cases.flaky(new, observed._replace(repeats=[run("test_new")]))


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("t[<object at 0x7f3a12>]", "t[<object at #>]"),
        ("t[1b4e28ba-2fa1-11d2-883f-0016d3cca427]", "t[#]"),
        ("t[0.8444218515250481]", "t[#]"),
        ("t[1700000000123]", "t[#]"),
        ("t[2026-01-31]", "t[2026-01-31]"),
        ("t[0.5-deadbeef-100000]", "t[0.5-deadbeef-100000]"),
    ],
)
def test_addresses_and_random_values_do_not_count_in_names(name: str, plain: str) -> None:
    assert cases.plain(name) == plain
