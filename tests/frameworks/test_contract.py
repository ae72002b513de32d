"""What every framework keeps to, and what is particular to each, in one table."""

from __future__ import annotations

import ast
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import REPOSITORY
from testlore import frameworks
from testlore.errors import Refusal
from testlore.evidence import measures, running
from testlore.frameworks import (
    Command,
    Extent,
    Framework,
    command,
    custom,
    javascript,
    jest,
    languages,
    node,
    playwright,
    python,
    union,
    unittest,
    vitest,
)
from testlore.frameworks import pytest as pytest_framework

# Each by itself, so that mypy compares the module with the protocol.
_CUSTOM: Framework = custom
_JEST: Framework = jest
_NODE: Framework = node
_PLAYWRIGHT: Framework = playwright
_PYTEST: Framework = pytest_framework
_UNITTEST: Framework = unittest
_VITEST: Framework = vitest

EVERY = pytest.mark.parametrize("framework", union.every(), ids=frameworks.NAMES)

VITEST_REPORTER = f"--reporter={REPOSITORY / 'pipeline/testlore/frameworks/runners/vitest_junit.mjs'}"
FILES = [
    *("calc.py", "package.json", "src/calc.js", "src/calc.test.js", "test/helpers/make.js", "test/x.js"),
    *("tests/conftest.py", "tests/testing.py", "tests/test_calc.py"),
]


def argv(name: str, runner: tuple[str, ...] = (), files: list[str] = FILES, **extent: Any) -> list[str]:
    return build(name, runner, files, **extent).argv


def build(name: str, runner: tuple[str, ...] = (), files: list[str] = FILES, **extent: Any) -> Command:
    framework = frameworks.framework(name)
    return command.build(framework, "/root", runner, "/copy", "/run/r.xml", files, Extent(**extent))


def test_the_names_are_those_of_the_schemas() -> None:
    enums = []
    for path in sorted((REPOSITORY / "schemas").glob("*.json")):
        pending = [json.loads(path.read_text("utf-8"))]
        while pending:
            value = pending.pop()
            pending += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            if isinstance(value, dict) and "custom" in value.get("enum", []):
                enums.append((path.name, value))
    assert {name for name, _ in enums} == {f"{name}.schema.json" for name in ("answer", "config", "manifest", "store")}
    for name, value in enums:
        assert sorted(value["enum"]) == sorted(frameworks.NAMES), name
        assert all(one in value["description"] for one in frameworks.NAMES), name


def test_no_other_room_names_a_framework() -> None:
    package = REPOSITORY / "pipeline/testlore"
    names = set(frameworks.NAMES) - {"node"}  # an engine is called so, too
    for path in package.rglob("*.py"):
        if "frameworks" not in path.relative_to(package).parts and path.name != "forms.py":  # made from the schemas
            nodes = ast.walk(ast.parse(path.read_text("utf-8")))
            found = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
            assert not names & found, path


@EVERY
def test_a_framework_is_known_by_the_name_of_its_module(framework: Framework) -> None:
    assert frameworks.framework(framework.NAME) is framework
    assert framework.fits(frameworks.ProjectFiles("/nowhere")) == (framework is custom)


@EVERY
def test_a_framework_names_a_measure_that_there_is(framework: Framework) -> None:
    assert framework.MEASURE in measures.NAMES
    is_run = measures.measure(framework.MEASURE).IS_RUN
    assert is_run == (framework.MEASURE != measures.BY_IMPORTS)


@EVERY
def test_a_runner_that_says_where_its_report_goes_is_left_as_it_is(framework: Framework) -> None:
    runner = ("run", "--xml={junit}", "{files}")
    told = argv(framework.NAME, runner, only=("tests/test_a.py",), stop_early=True, without_coverage=True)
    assert told == ["run", "--xml=/run/r.xml", file_argument(framework, "tests/test_a.py")]


def file_argument(framework: Framework, path: str) -> str:
    return f"/copy/{path}" if framework is node else path


@EVERY
def test_one_argument_may_hold_both_the_files_and_the_report(framework: Framework) -> None:
    script = argv(framework.NAME, ("sh", "-c", "check {files} > {junit}"), only=("tests/test_a.py",))[-1]
    assert script == f"check {file_argument(framework, 'tests/test_a.py')} > /run/r.xml"


@EVERY
def test_a_file_that_looks_like_an_option_is_told_with_its_folder(framework: Framework) -> None:
    assert argv(framework.NAME, ("run", "{junit}", "{files}"), only=("-x_test.py",))[-1] in (
        *("./-x_test.py", "/copy/-x_test.py"),
    )


@EVERY
def test_each_of_several_files_is_told(framework: Framework) -> None:
    told = argv(framework.NAME, ("run", "{junit}", "{files}"), only=("tests/test_a.py", "b.py"))
    assert told[2:] == [file_argument(framework, path) for path in ("tests/test_a.py", "b.py")]


STOPS_EARLY = {"vitest": "--bail=1", "jest": "--bail=1", "playwright": "--max-failures=1", "unittest": "-f"}
WITHOUT_COVERAGE = {"vitest": "--coverage.enabled=false", "jest": "--coverage=false"}


@EVERY
@pytest.mark.parametrize(
    ("extent", "options", "pytests"),
    [("stop_early", STOPS_EARLY, "-x"), ("without_coverage", WITHOUT_COVERAGE, "-p testlore_without_coverage")],
)
def test_a_run_of_a_part_is_told_so_where_the_framework_can(
    framework: Framework, extent: str, options: dict[str, str], pytests: str
) -> None:
    runner = tuple(framework.default_runner()) or ("run", "{junit}", "{files}")
    whole, part = build(framework.NAME, runner), build(framework.NAME, runner, FILES, **{extent: True})
    assert [one for one in part.argv if one not in whole.argv] == [*filter(None, [options.get(framework.NAME)])]
    assert [one for one in part.argv if one in whole.argv] == whole.argv
    assert pytests in part.environment["PYTEST_ADDOPTS"]  # a custom runner may start pytest, too
    assert pytests not in whole.environment["PYTEST_ADDOPTS"]


@EVERY
def test_a_run_that_was_told_to_stop_is_complete_once_it_has_a_failure(framework: Framework) -> None:
    def coherent(status: int, *, stopped_early: bool) -> bool:
        return running.is_coherent(framework, status, failed=True, stopped_early=stopped_early)

    assert coherent(1, stopped_early=True)
    assert not coherent(0, stopped_early=True)
    assert not coherent(-9, stopped_early=True)
    # To pytest-xdist, that is an interruption.
    assert (coherent(2, stopped_early=True), coherent(2, stopped_early=False)) == (True, framework is not _PYTEST)


@pytest.mark.parametrize(
    ("name", "runner", "expected"),
    [
        ("vitest", ("vitest", "run", "--bail", "3", "--coverage", "{files}"), ["vitest", "run", "a.test.js"]),
        ("jest", ("jest", "--bail=3", "--collectCoverage", "{files}"), ["jest", "a.test.js"]),
        ("playwright", ("playwright", "test", "-x", "{files}"), ["playwright", "test", "a.test.js"]),
        (
            "node",
            ("node", "--test", "--experimental-test-coverage", "--test-coverage-lines=90", "{files}"),
            ["node", "--test", "/copy/a.test.js"],
        ),
    ],
)
def test_what_a_runner_says_itself_about_stopping_and_coverage_is_left_out(
    name: str, runner: tuple[str, ...], expected: list[str]
) -> None:
    told = argv(name, runner, only=("a.test.js",), stop_early=True, without_coverage=True)
    ours = {STOPS_EARLY.get(name), WITHOUT_COVERAGE.get(name), "--ci", "--runTestsByPath"}
    assert [one for one in told if one not in ours and "report" not in one] == expected


def test_a_path_is_told_to_playwright_as_the_expression_that_fits_it() -> None:
    assert argv("playwright", only=("app/[id]/(a).spec.ts",))[-1] == r"app/\[id\]/\(a\).spec.ts"


def test_discovery_of_unittest_is_told_one_file_by_its_name_and_of_several_takes_all() -> None:
    runner = ("python", "-m", "unittest", "discover", "-s", "tests", "{files}")
    assert argv("unittest", runner, only=("tests/test_a.py",))[-2:] == ["-p", "test_a.py"]
    assert argv("unittest", runner, only=("tests/test_a.py", "tests/test_b.py"))[-1] == "tests"


@EVERY
def test_the_default_runner_is_the_program_of_the_provenance_and_starts_this_framework(framework: Framework) -> None:
    runner = framework.default_runner()
    if runner:
        assert framework.runs(runner)
        assert frameworks.FILES in runner
        assert framework.program() == (sys.executable if framework.IS_PYTHON else "node")


@EVERY
@pytest.mark.parametrize(
    ("status", "failed", "coherent"),
    [(0, False, True), (1, True, True), (0, True, False), (1, False, False), (-9, True, False), (None, True, False)],
)
def test_a_status_is_zero_exactly_when_no_case_failed_and_no_signal_ended_the_run(
    framework: Framework, status: int | None, failed: bool, coherent: bool
) -> None:
    assert running.is_coherent(framework, status, failed=failed) == coherent


@EVERY
def test_only_pytest_says_by_a_status_above_1_that_it_did_not_run_to_its_end(framework: Framework) -> None:
    assert [framework.ran_to_end(status) for status in (2, 5)] == [framework is not pytest_framework] * 2


@pytest.mark.parametrize(
    ("name", "runner", "expected"),
    [
        ("pytest", (), [sys.executable, "-m", "pytest", "--junitxml=/run/r.xml"]),
        ("pytest", ("nox", "{files}"), ["nox", "--junitxml=/run/r.xml"]),
        (
            "pytest",
            ("pytest", "--junitxml=a.xml", "{files}", "--", "a"),
            ["pytest", "--junitxml=a.xml", "--junitxml=/run/r.xml", "--", "a"],
        ),
        ("node", (), ["node", "--test", "--test-reporter=junit", "--test-reporter-destination=/run/r.xml"]),
        (
            "node",
            ("node", "--test-reporter", "dot", "--test", "--test-reporter=lcov", "--test-reporter-destination=a"),
            [
                *("node", "--test", "--test-reporter=dot", "--test-reporter-destination=a"),
                *("--test-reporter=lcov", "--test-reporter-destination=stdout"),
                *("--test-reporter=junit", "--test-reporter-destination=/run/r.xml"),
            ],
        ),
        ("vitest", (), ["/root/node_modules/.bin/vitest", "run", VITEST_REPORTER]),
        ("vitest", ("npx", "vitest"), ["npx", "vitest", "run", VITEST_REPORTER]),
        ("jest", (), ["/root/node_modules/.bin/jest", "--reporters=jest-junit", "--ci"]),
        ("playwright", (), ["/root/node_modules/.bin/playwright", "test", "--reporter=junit"]),
        ("playwright", ("playwright", "test", "--reporter", "list"), ["playwright", "test", "--reporter=list,junit"]),
    ],
)
def test_a_runner_is_made_to_write_a_report(name: str, runner: tuple[str, ...], expected: list[str]) -> None:
    assert argv(name, runner, files=[]) == expected


def test_unittest_runs_by_a_script_of_ours_and_only_where_that_can_take_its_place() -> None:
    program, script, *rest = argv("unittest", (sys.executable, "-m", "unittest", "-b", "{files}"), files=["test_a.py"])
    assert (program, Path(script).name) == (sys.executable, "unittest_junit.py")
    assert rest == ["/run/r.xml", "-b", "test_a.py"]
    assert Path(script).is_file()
    with pytest.raises(Refusal, match=r"runner-missing: .*allowed for unittest: -m unittest"):
        argv("unittest", ("make", "unittest"))


@pytest.mark.parametrize("runner", [(), ("make", "test", "{files}")])
def test_a_custom_runner_must_say_where_its_report_goes(runner: tuple[str, ...]) -> None:
    with pytest.raises(Refusal, match=r"runner-missing: runner is (missing|\['make'.*); allowed .*\{junit\}"):
        argv("custom", runner)


@pytest.mark.parametrize(
    ("name", "runner", "told"),
    [
        ("unittest", (), ["tests/testing.py", "tests/test_calc.py"]),
        ("unittest", ("python", "-m", "unittest", "discover", "{files}"), []),
        ("node", (), ["src/calc.test.js", "test/x.js"]),
        ("custom", ("run", "{junit}", "{files}"), ["src/calc.test.js", "test/x.js", "tests/test_calc.py"]),
        ("custom", ("run", "{junit}", "discover", "{files}"), []),
        *((name, (), []) for name in ("pytest", "vitest", "jest", "playwright")),
    ],
)
def test_a_runner_is_told_the_tests_that_it_does_not_find(name: str, runner: tuple[str, ...], told: list[str]) -> None:
    assert [one for one in (part.removeprefix("/copy/") for part in argv(name, runner)) if one in FILES] == told
    if "discover" not in runner or name != "unittest":
        alone = argv(name, runner, only=("tests/test_calc.py",))
        assert [one for one in (part.removeprefix("/copy/") for part in alone) if one in FILES] == [
            "tests/test_calc.py"
        ]


def test_a_program_of_the_sources_is_the_copys_and_an_installed_one_the_originals(tmp_path: Path) -> None:
    root, copy = tmp_path / "root", tmp_path / "copy"
    (copy / "tools").mkdir(parents=True)
    (copy / "tools/run").touch()
    for program, expected in (("tools/run", copy / "tools/run"), (".venv/bin/run", root / ".venv/bin/run")):
        built = command.build(custom, str(root), (program, "{junit}"), str(copy), "/run/r.xml", [])
        assert built.argv[0] == str(expected)


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("test_a.py", True), ("a/b_test.py", True), ("tests.py", True), ("tests/helper.py", False),
        ("tests/conftest.py", False), ("testing.py", False), ("test_a.txt", False),
        ("a.test.ts", True), ("a-spec.mjs", True), ("test.js", True), ("test-a.cjs", True), ("latest.js", False),
        ("__tests__/a.jsx", True), ("tests/helpers/a.js", False), ("test/a.d.ts", False), ("test/x.config.js", False),
        ("pkg/a_test.go", False), ("spec/a_spec.rb", False),
    ],
)  # fmt: skip
def test_a_test_file_is_known_in_every_project(path: str, is_test: bool) -> None:
    assert union.is_test_file(path) == is_test


def test_only_a_project_of_an_unknown_framework_takes_the_word_test_for_a_sign() -> None:
    for path in ("pkg/a_test.go", "spec/a_spec.rb", "src/FooTest.java"):
        assert [one.NAME for one in union.every() if one.is_test_file(path)] == ["custom"]


@EVERY
def test_a_frameworks_tool_files_are_protected_unless_they_are_written_like_tests(framework: Framework) -> None:
    assert set(framework.TEST_SUPPORT) <= set(framework.TOOL_FILES)
    for name in (*framework.TOOL_FILES, *framework.PROTECTED):
        assert union.is_protected(name) == (name not in framework.TEST_SUPPORT)
    assert all(map(union.decides_runs, framework.TOOL_FILES))


def test_a_custom_runner_may_start_python_and_javascript() -> None:
    assert set(custom.TOOL_FILES) == {*python.TOOL_FILES, *javascript.TOOL_FILES}


@pytest.mark.parametrize(
    ("variable", "outer"),
    [
        ("PYTEST_ADDOPTS", True), ("PYTEST_XDIST_WORKER", True), ("COV_CORE_SOURCE", True), ("COVERAGE_FILE", True),
        ("JEST_WORKER_ID", True), ("VITEST", True), ("VITEST_POOL_ID", True), ("NODE_TEST_CONTEXT", True),
        ("NODE_V8_COVERAGE", True),
        ("PYTEST_PLUGINS", False), ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", False), ("PLAYWRIGHT_BROWSERS_PATH", False),
        ("PYTEST_XDIST_AUTO_NUM_WORKERS", False), ("PYTEST_TIMEOUT", False),
        ("NODE_OPTIONS", False), ("PATH", False),
    ],
)  # fmt: skip
def test_what_an_outer_run_says_to_its_children_is_told_from_what_is_meant_for_all(variable: str, outer: bool) -> None:
    assert union.is_outer(variable) == outer


def test_the_environment_of_every_run_holds_what_each_framework_needs() -> None:
    whole = union.environment("/a copy", "/a run")
    assert all(one.environment("/a copy", "/a run").items() <= whole.items() for one in union.every())
    options = shlex.split(whole["PYTEST_ADDOPTS"])
    assert {"--rootdir=/a copy", "cache_dir=/a run/pytest-cache"} <= set(options)


def test_the_words_of_all_reports_hold_in_each() -> None:
    words = union.report_words()
    for framework in union.every():
        assert all(set(own) <= set(all_) for own, all_ in zip(framework.REPORT, words, strict=True))
    assert "Test suite failed to run" in words.file_classes


@pytest.mark.parametrize(
    ("paths", "language"),
    [
        (["a.py"], "python"), (["a.pyi"], "python"), (["a.MJS"], "javascript"), (["a.cts"], "typescript"),
        (["a.rb"], "other"), (["a.py", "data.json"], "python"), (["a.py", "b.ts"], "mixed"), (["data.json"], "other"),
        ([], "other"),
    ],
)  # fmt: skip
def test_the_language_of_files_is_that_of_the_code_among_them(paths: list[str], language: str) -> None:
    assert languages.common_language(paths) == language


def test_code_of_other_languages_is_code_too() -> None:
    assert [path for path in ("a.py", "a.GO", "a.vue", "a.json", "README", "a.md") if languages.is_code(path)] == [
        *("a.py", "a.GO", "a.vue")
    ]
