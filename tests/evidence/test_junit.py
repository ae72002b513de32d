"""Test cases out of JUnit XML: real shapes of real tools, and whatever else may stand in a file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testlore.evidence import junit
from testlore.evidence.junit import Case, InvalidReport

CASES = "<testsuites><testsuite name='pytest'>{}</testsuite></testsuites>"


def parse(inner: str, root: str = "/nowhere") -> junit.Report:
    return junit.parse(CASES.format(inner).encode(), root)


def test_a_case_with_a_failure_and_an_error_is_one_failed_case() -> None:
    report = parse("<testcase name='t' classname='m'><failure message='f'/><error message='e'/></testcase>")
    assert report.cases == Counter({Case("m > t", "", "failed"): 1})


def test_a_failure_and_the_teardown_error_that_pytest_writes_as_a_second_element_are_one_failed_case() -> None:
    report = parse(
        "<testcase name='t' classname='m'><failure message='f'/></testcase>"
        "<testcase name='other' classname='m'/>"
        "<testcase name='t' classname='m'><error message='failed on teardown with &quot;E&quot;'/></testcase>"
    )
    assert report.cases == Counter({Case("m > t", "", "failed"): 1, Case("m > other", "", "passed"): 1})


def test_a_teardown_error_after_a_passed_call_is_a_failed_case() -> None:
    report = parse(
        "<testcase name='t' classname='m'><error message='failed on teardown with &quot;E&quot;'/></testcase>"
    )
    assert report.cases == Counter({Case("m > t", "", "failed"): 1})


def test_a_case_without_a_name_was_broken_off() -> None:
    report = parse("<testcase name='t' classname='m'/><testcase time='0'/>")
    assert report == junit.Report(Counter({Case("m > t", "", "passed"): 1}), whole=False)


@pytest.mark.parametrize("inner", ["", "<failure message='f'/>", "<skipped/>"])
def test_the_same_name_twice_is_two_cases(inner: str) -> None:
    report = parse(f"<testcase name='t' classname='m'>{inner}</testcase>" * 2)
    assert list(report.cases.values()) == [2]


def test_collection_errors_doubled_by_parallel_workers_are_no_cases_and_the_suite_is_not_collected() -> None:
    doubled = "<testcase classname='' name='tests.test_b'><error message='collection failure'>x</error></testcase>" * 2
    report = parse(doubled + "<testcase name='t' classname='m'/>")
    assert report.cases == Counter({Case("m > t", "", "passed"): 1})
    assert not report.whole


def test_a_module_that_is_skipped_whole_is_no_case_and_no_failure() -> None:
    report = parse("<testcase classname='' name='tests.test_b'><skipped message='collection skipped'/></testcase>")
    assert report == junit.Report(Counter(), whole=True)


def test_a_case_keeps_its_name_when_it_moves_to_another_file(tmp_path: Path) -> None:
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).touch()
    one, other = (
        parse(f"<testcase name='t[1]' classname='{module}.TestC' file='{module}.py'/>", str(tmp_path)).cases
        for module in ("test_a", "test_b")
    )
    assert one == Counter({Case("TestC > t[1]", "test_a.py", "passed"): 1})
    assert other == Counter({Case("TestC > t[1]", "test_b.py", "passed"): 1})


def test_the_file_is_told_from_a_dotted_class_name(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").touch()
    report = parse("<testcase name='t' classname='tests.test_a.TestC'/>", str(tmp_path))
    assert report.cases == Counter({Case("TestC > t", "tests/test_a.py", "passed"): 1})


def test_an_element_that_stands_for_a_file_is_no_case_and_says_whether_the_file_loaded(tmp_path: Path) -> None:
    (tmp_path / "crash.test.js").touch()
    crashed = f"<testcase name='{tmp_path}/crash.test.js' classname='test'>{{}}</testcase>"
    assert parse(crashed.format("<failure/>"), str(tmp_path)) == junit.Report(Counter(), whole=False)
    assert parse(crashed.format(""), str(tmp_path)) == junit.Report(Counter(), whole=True)


def test_nested_suites_are_part_of_a_name() -> None:
    report = parse(
        "<testsuite name='outer'><testsuite name='inner'><testcase name='t' classname='test'/></testsuite></testsuite>"
    )
    assert list(report.cases) == [Case("outer > inner > t", "", "passed")]


def test_the_folder_that_tests_ran_in_is_left_out_of_names() -> None:
    assert list(parse("<testcase name='t[/nowhere/x]' classname='m'/>").cases) == [Case("m > t[/x]", "", "passed")]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no XML"),
        (b"<testsuites>", "no XML"),
        (b"<testsuites/><testsuites/>", "no XML"),
        (b"<html/>", "its root is <html>"),
        (b'<!DOCTYPE x [<!ENTITY a "b">]><testsuites>&a;</testsuites>', "document type"),
        (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuites/>', "document type"),
        (b"<testsuites>&a;</testsuites>", "no XML"),
        (b"<testsuite>" * 100, "nested deeper"),
        (b'<?xml version="1.0" encoding="nonsense"?><testsuites/>', "no XML"),
        (b"\xff\xfe\x00", "no XML"),
    ],
)
def test_what_is_no_plain_report_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(InvalidReport, match=why):
        junit.parse(data, "/nowhere")


def test_a_billion_laughs_are_refused_before_the_first() -> None:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol"}">' for n in range(10))
    with pytest.raises(InvalidReport, match="document type"):
        junit.parse(f"<!DOCTYPE l [{entities}]><testsuites>&l9;</testsuites>".encode(), "/nowhere")


def test_a_report_over_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "MAX_BYTES", 10)
    with pytest.raises(InvalidReport, match="larger than 10 bytes"):
        junit.parse(b"<testsuites/>", "/nowhere")


def test_a_report_with_too_many_cases_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "MAX_CASES", 2)
    with pytest.raises(InvalidReport, match="more than 2 cases"):
        parse("<testcase name='t'/>" * 3)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused_by_name(data: bytes) -> None:
    try:
        cases = junit.parse(data, "/nowhere").cases.total()
    except InvalidReport:
        cases = 0
    assert cases == 0


XML_TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=0xFFFD, exclude_categories=["Cs"]), max_size=20)
MARKS = st.sets(st.sampled_from(["failure", "error", "skipped"]))


@given(st.lists(st.tuples(XML_TEXT, XML_TEXT, MARKS), max_size=8))
def test_every_case_is_counted_once_with_its_worst_mark(cases: list[tuple[str, str, set[str]]]) -> None:
    inner = "".join(
        f"<testcase name={quoteattr('n' + name)} classname={quoteattr('c' + group)}>"
        + "".join(f"<{mark} message='m'/>" for mark in sorted(marks))
        + "</testcase>"
        for name, group, marks in cases
    )
    report = parse(inner)
    assert report.cases.total() == len(cases)
    failed = sum(bool(marks & {"failure", "error"}) for _, _, marks in cases)
    skipped = sum(marks == {"skipped"} for _, _, marks in cases)
    found = Counter(case.outcome for case in report.cases.elements())
    assert (found["failed"], found["skipped"]) == (failed, skipped)
