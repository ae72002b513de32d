"""Test cases out of JUnit XML: real shapes of real tools, and whatever else may stand in a file."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testlore import schemas
from testlore.evidence import junit, observation
from testlore.evidence.junit import Case, InvalidReport
from testlore.evidence.running import Run

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


@given(st.lists(st.characters(exclude_characters="\t\n\r"), unique=True, max_size=8))
def test_names_with_any_characters_are_read_and_stay_distinct(codes: list[str]) -> None:
    inner = "".join(f"<testcase name={quoteattr(f'a{code}z')} classname='m'/>" for code in codes)
    report = junit.parse(CASES.format(inner).encode("utf-8", "surrogatepass"), "/nowhere")
    assert len(report.cases) == report.cases.total() == len(codes)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"\x1b[1m", "#x1B[1m"), (b"\x00", "#x00"), (b"&#27;", "#x1B"), (b"&#x1b;", "#x1B"), (b"&#0;", "#x00"),
        (b"&#xFFFFFFF;", "#xFFFFFFF"), (b"\xef\xbf\xbe", "#xFFFE"), (b"\xed\xa0\x80", "#xED#xA0#x80"),
        (b"\xff", "#xFF"), (b"&#65;", "A"), (b"\xc3\xa9", "é"), (b"&#233;", "é"),
    ],
)  # fmt: skip
def test_what_xml_forbids_is_read_as_its_number(written: bytes, read: str) -> None:
    report = junit.parse(
        b"\xef\xbb\xbf" + CASES.encode().replace(b"{}", b"<testcase name='t%s'/>" % written), "/nowhere"
    )
    assert list(report.cases) == [Case(f"t{read}", "", "passed")]


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_a_report_in_another_encoding_is_read(encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?>" + CASES.format("<testcase name='é'/>")
    assert list(junit.parse(text.encode(encoding), "/nowhere").cases) == [Case("é", "", "passed")]


def test_a_case_with_an_empty_title_is_a_case() -> None:
    assert parse("<testcase name='' classname='m'/>") == junit.Report(
        Counter({Case("m > <anonymous>", "", "passed"): 1}), whole=True
    )


def test_the_last_of_several_attempts_at_one_place_counts() -> None:
    case = "<testcase name='t' classname='m' file='m.py' line='2'>{}</testcase>"
    failure, teardown = "<failure message='f'/>", "<error message='failed on teardown with x'/>"
    for attempts, outcome in (
        (["", failure], "failed"),
        ([failure, ""], "passed"),
        (["", failure, teardown], "failed"),
        (["<skipped/>", "", "<error message='failed on setup'/>"], "failed"),
    ):
        report = parse("".join(map(case.format, attempts)))
        assert report.cases == Counter({Case("m > t", "", outcome): 1})


def test_cases_of_one_name_at_several_places_are_several_cases() -> None:
    report = parse("".join(f"<testcase name='t' classname='m' file='m.py' line='{line}'/>" for line in (2, 5)))
    assert report.cases == Counter({Case("m > t", "", "passed"): 2})


@pytest.mark.parametrize(
    ("element", "whole"),
    [
        ("<testcase name='{0}/a.test.js' classname='test'><failure message='test failed'/></testcase>", False),
        ("<testcase name='a.test.js' classname='test'><failure message='test failed'/></testcase>", False),
        ("<testcase name='{0}/a.test.js' classname='test'/>", True),
        ("<testsuite name='a.test.js' tests='1'><testcase name='a.test.js' classname='a.test.js'><failure/></testcase>"
         "</testsuite>", False),
        ("<testcase name='a.test.js' classname='Test suite failed to run'><error/></testcase>", False),
    ],
)  # fmt: skip
def test_an_element_of_a_test_file_is_no_case(tmp_path: Path, element: str, whole: bool) -> None:
    (tmp_path / "a.test.js").touch()
    assert parse(element.format(tmp_path), str(tmp_path)) == junit.Report(Counter(), whole)


@pytest.mark.parametrize(
    "element",
    [
        "<testcase name='a.test.js' classname='test'/>",
        "<testcase name='package.json' classname='test'><failure message='test failed'/></testcase>",
        "<testsuite name='a.test.js' tests='2'><testcase name='a.test.js' classname='a.test.js'><failure/></testcase>"
        "</testsuite>",
        "<testsuite name='a.test.js' tests='1'><testcase name='a.test.js' classname='a.test.js'/></testsuite>",
        "<testcase name='Test suite failed to run' classname='a.test.js'/>",
        "<testcase name='tests/run.sh'/>",
    ],
)
def test_a_case_may_have_the_title_of_a_file(tmp_path: Path, element: str) -> None:
    (tmp_path / "tests").mkdir()
    for name in ("a.test.js", "package.json", "tests/run.sh"):
        (tmp_path / name).touch()
    report = parse(element, str(tmp_path))
    assert (report.cases.total(), report.whole) == (1, True)


def test_many_cases_are_counted_in_a_time_that_grows_with_their_number() -> None:
    inner = "".join(f"<testcase name='t{number}' classname='m'/>" for number in range(50_000))
    begin = time.process_time()
    assert parse(inner).cases.total() == 50_000
    assert time.process_time() - begin < 5


TAGS = st.sampled_from(
    ["testsuites", "testsuite", "testcase", "failure", "error", "skipped", "properties", "system-out"]
)
KEYS = st.sampled_from(["name", "classname", "file", "filepath", "message", "time", "tests", "failures", "line"])
VALUES = XML_TEXT | st.sampled_from(
    [
        *(
            "NaN",
            "-1",
            "1e400",
            "true",
            "9" * 5_000,
            "x" * 5_000,
            "/",
            "../a",
            "tests/test_a.py",
            "tests.test_a.T",
            "a..b",
        )
    ]
)
TREES: st.SearchStrategy[str] = st.recursive(
    st.just("") | XML_TEXT.map(escape),
    lambda inner: st.builds(
        lambda tag, attributes, children: f"<{' '.join([tag, *attributes])}>{''.join(children)}</{tag}>",
        TAGS,
        st.dictionaries(KEYS, VALUES, max_size=4).map(lambda them: [f"{key}={quoteattr(them[key])}" for key in them]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


@given(TREES, st.sampled_from(["utf-8", "utf-16", "latin-1", "ascii"]), st.sampled_from(["utf-8", "utf-16", "latin-1"]))
@settings(max_examples=settings().max_examples // 2)
def test_any_elements_with_any_attributes_are_read_as_cases_that_a_validation_can_hold_or_refused(
    tree: str, declared: str, written: str
) -> None:
    data = f'<?xml version="1.0" encoding="{declared}"?><testsuites>{tree}</testsuites>'.encode(written, "replace")
    try:
        report = junit.parse(data, "/nowhere")
    except InvalidReport:
        return
    run = observation.run_to_dict(Run("", 0, report.cases))
    assert schemas.first_problem("validation", run, "run") is None
    assert observation.run_from_dict(run).cases == report.cases
