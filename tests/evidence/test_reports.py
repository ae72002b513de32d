"""What real frameworks report in the cases that are easily misread, and runs of a part of a suite."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from evidence_helpers import Json, make_project, outcomes, patch, run_suite, stage_and_validate
from testlore.evidence.running import Run

NEEDS_NODE = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
PYTEST = [sys.executable, "-m", "pytest"]

# In plain words: titles that are files, titles with a color and with other characters that XML forbids, and a message
# with them.
TRICKY = r"""
for (const file of ["calc.js", "package.json", "test/a.test.js"]) test(file, () => {});
describe("package.json", () => { test("is whole", () => {}); });
for (const code of ["\x1b[31mred", "\x08", "\x0c", "plain"]) test(`code ${code}`, () => {});
test("breaks", () => { throw new Error("\x1b[31mred\x1b[0m \x08 \x00"); });
"""
TRICKY_OUTCOMES = {
    **dict.fromkeys(["calc.js", "package.json", "test/a.test.js", "code plain"], "passed"),
    "breaks": "failed",
}
FILES = {"calc.js": "", ".gitignore": "node_modules/\n"}

NODE = "import {describe, test} from 'node:test';\n" + TRICKY


def node_project(root: Path, tests: str, **config: object) -> Path:
    files = {**FILES, "package.json": '{"type": "module"}', "test/a.test.js": tests}
    return make_project(root, files, {"adapter": "node", **config})


@NEEDS_NODE
def test_what_node_titles_like_a_file_or_with_control_characters_is_a_case(tmp_path: Path, folder: Path) -> None:
    ran = run_suite(node_project(tmp_path / "shop", NODE), folder)
    assert ran.problem == ""
    assert outcomes(ran) == {
        **TRICKY_OUTCOMES,
        "package.json > is whole": "passed",
        **dict.fromkeys(["code #x1B[31mred", "code #x08", "code #x0C"], "passed"),
    }
    assert {case.file for case in ran.cases} <= {"", "test/a.test.js"}  # newer versions of Node tell it


@NEEDS_NODE
def test_a_case_that_node_titles_like_a_file_is_missed_when_it_is_dropped(tmp_path: Path) -> None:
    kept = "import test from 'node:test';\ntest('works', () => {});\n"
    root = node_project(tmp_path / "shop", kept + "for (const f of ['calc.js', 'package.json']) test(f, () => {});\n")
    ended = stage_and_validate(root, patch({"test/a.test.js": kept}))
    assert ended.details == ["case-loss: calc.js", "case-loss: package.json"]


@NEEDS_NODE
def test_a_node_test_to_do_may_fail_and_is_skipped(tmp_path: Path, folder: Path) -> None:
    tests = "import test from 'node:test';\ntest('done', () => {});\n"
    tests += "test('later', {todo: true}, () => { throw new Error('x'); });\n"
    ran = run_suite(node_project(tmp_path / "shop", tests), folder)
    assert (ran.problem, ran.status) == ("", 0)
    assert outcomes(ran) == {"done": "passed", "later": "skipped"}


@NEEDS_NODE
def test_a_reporter_of_a_node_runner_prints_beside_ours(tmp_path: Path, folder: Path) -> None:
    runner = ["node", "--test", "--test-reporter=tap", "{files}"]
    ran = run_suite(node_project(tmp_path / "shop", NODE, runner=runner), folder)
    assert (ran.problem, ran.count()) == ("", 9)
    assert "TAP version" in ran.output


@NEEDS_NODE
def test_node_runs_only_the_given_file_and_cannot_stop_early(tmp_path: Path, folder: Path) -> None:
    root = node_project(tmp_path / "shop", NODE)
    (root / "test/b.test.js").write_text("import test from 'node:test';\ntest('b', () => { throw 1; });\n")
    ran = run_suite(root, folder, "test/b.test.js", stop_early=True)
    assert ran == Run("", 1, ran.cases, ran.output, stopped_early=True)
    assert outcomes(ran) == {"b": "failed"}


VITEST = "import {describe, expect, test} from 'vitest';\n" + TRICKY
VITEST += "let tries = 0;\ntest('second try', {retry: 2}, () => { expect(++tries).toBe(2); });\n"
JEST = "jest.retryTimes(2);\n" + TRICKY
JEST += "let tries = 0;\ntest('second try', () => { expect(++tries).toBe(2); });\ntest.todo('later');\n"

# Vitest leaves control characters out, jest-junit writes them.
CODES = {"vitest": ["code [31mred"], "jest": ["code #x1B[31mred", "code #x08", "code #x0C", "later"]}

# A reporter that writes elsewhere, and coverage that no part of the suite can reach, or that is not even installed.
VITEST_CONFIG = "test: {reporters: ['default', ['junit', {outputFile: 'theirs.xml'}]], coverage: {enabled: COVERAGE}}"
JEST_CONFIG = "reporters: ['default', ['jest-junit', {outputName: 'theirs.xml'}]], collectCoverage: COVERAGE, "
JEST_CONFIG += "coverageThreshold: {global: {lines: 100}}"


def packages_project(root: Path, node_packages: Path, framework: str, tests: str, *, coverage: bool) -> Path:
    """A project of vitest or jest that has settings for reports and for coverage."""
    kind, exports, config = {
        "vitest": ("module", "export default", VITEST_CONFIG),
        "jest": ("commonjs", "module.exports =", JEST_CONFIG),
    }[framework]
    files = {
        **FILES,
        "calc.js": "const unused = () => 1;\n",
        "package.json": f'{{"private": true, "type": "{kind}"}}',
        f"{framework}.config.js": f"{exports} {{{config}}};\n".replace("COVERAGE", str(coverage).lower()),
        "test/a.test.js": tests,
    }
    root = make_project(root, files, {"adapter": framework})
    (root / "node_modules").symlink_to(node_packages)
    return root


@pytest.mark.parametrize(("framework", "tests"), [("vitest", VITEST), ("jest", JEST)])
def test_vitest_and_jest_report_every_case_once_whatever_its_title_and_its_attempts(
    tmp_path: Path, folder: Path, node_packages: Path, framework: str, tests: str
) -> None:
    root = packages_project(tmp_path / "shop", node_packages, framework, tests, coverage=False)
    ran = run_suite(root, folder)
    assert ran.problem == "", ran.output
    found = {case.name: case.outcome for case in ran.cases}
    assert found.pop("package.json > is whole" if framework == "vitest" else "package.json is whole") == "passed"
    assert found.items() >= {**TRICKY_OUTCOMES, "second try": "passed"}.items()
    assert set(CODES[framework]) <= set(found)
    assert {case.file for case in ran.cases} == {"test/a.test.js"}
    assert found.get("later", "skipped") == "skipped"
    assert ran.count() == len(TRICKY_OUTCOMES) + len(["is whole", "red", "\\x08", "\\x0c", "second try"]) + (
        framework == "jest"
    )


@pytest.mark.parametrize(
    ("framework", "imports"), [("vitest", "import {test, expect} from 'vitest';\n"), ("jest", "const x = calc;\n")]
)
def test_vitest_and_jest_run_a_part_without_coverage_and_stop_early(
    tmp_path: Path, folder: Path, node_packages: Path, framework: str, imports: str
) -> None:
    imports = imports.replace("const x = calc;", "require('../../calc.js');")
    tests = imports + "".join(f"test('{name}', () => {{ expect(1).toBe(2); }});\n" for name in ("one", "two"))
    root = packages_project(tmp_path / "shop", node_packages, framework, "", coverage=True)
    (root / "test/[id]").mkdir()
    (root / "test/[id]/b.test.js").write_text(tests)
    ran = run_suite(root, folder, "test/[id]/b.test.js", stop_early=True)
    assert (ran.problem, ran.stopped_early) == ("", True), ran.output
    # Jest stops between two files.
    assert outcomes(ran) == dict.fromkeys(["one"] if framework == "vitest" else ["one", "two"], "failed")
    assert "Coverage" not in ran.output
    assert not (folder / "copy/coverage").exists()


def pytest_project(root: Path, tests: dict[str, str], ini: str = "", runner: list[str] | None = None) -> Path:
    config: Json = {"adapter": "pytest", **({"runner": runner} if runner else {})}
    return make_project(root, {**tests, "pytest.ini": f"[pytest]\n{ini}"}, config)


def test_the_examples_of_a_page_are_a_case_of_pytest(tmp_path: Path) -> None:
    tests = {"README.md": ">>> 1 + 1\n2\n", "docs/guide.md": ">>> 2\n2\n", "test_a.py": "def test_a(): pass\n"}
    root = pytest_project(tmp_path / "shop", tests, "addopts = --doctest-glob=*.md\n")
    ended = stage_and_validate(root, patch({"README.md": "Nothing.\n", "test_b.py": "def test_b(): pass\n"}))
    assert ended.details == ["case-loss: README.md"]
    assert ended.evidence["originalCases"] == 3


RERUN = """\
tries = 0


def test_second_try():
    global tries
    tries += 1
    assert tries == 2


def test_never():
    assert False
"""


@pytest.mark.parametrize("parallel", ["", " -p xdist -n 2"])
def test_a_case_that_pytest_runs_again_is_one_case_with_its_last_outcome(
    tmp_path: Path, folder: Path, parallel: str
) -> None:
    ini = f"addopts = -p pytest_rerunfailures --reruns=2{parallel}\n"
    ran = run_suite(pytest_project(tmp_path / "shop", {"test_a.py": RERUN}, ini), folder)
    assert (ran.problem, ran.status) == ("", 1), ran.output
    assert outcomes(ran) == {"test_second_try": "passed", "test_never": "failed"}


def test_the_cache_of_pytest_is_the_runs_own(tmp_path: Path, folder: Path) -> None:
    test = "def test_a(cache):\n    assert cache.get('a/b', None) is None\n    cache.set('a/b', 1)\n"
    root = pytest_project(tmp_path / "shop", {"test_a.py": test}, "addopts = --last-failed\n")
    for name in ("one", "two"):
        (folder / name).mkdir()
        assert outcomes(run_suite(root, folder / name)) == {"test_a": "passed"}
        assert not list((folder / name / "copy").glob(".pytest*"))


def test_a_report_that_a_runner_of_pytest_writes_for_itself_does_not_take_the_place_of_ours(
    tmp_path: Path, folder: Path
) -> None:
    runner = [*PYTEST, "--junitxml=theirs.xml", "{files}"]
    root = pytest_project(tmp_path / "shop", {"test_a.py": "def test_a(): pass\n"}, runner=runner)
    assert outcomes(run_suite(root, folder)) == {"test_a": "passed"}


PARTS = {
    "calc.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n",
    "test_a.py": "import calc\ndef test_a(): assert calc.one() == 2\ndef test_b(): assert False\n",
    "test_b.py": "def test_c(): assert False\n",
}


@pytest.mark.parametrize(("parallel", "status"), [("", 1), (" -p xdist -n 2", 2)])
def test_pytest_runs_a_part_without_coverage_and_stops_early(
    tmp_path: Path, folder: Path, parallel: str, status: int
) -> None:
    options = f"-p pytest_cov.plugin --cov=calc --cov-fail-under=100{parallel}"
    root = pytest_project(tmp_path / "shop", PARTS, f"addopts = {options}\nfilterwarnings = error\n")
    ran = run_suite(root, folder, stop_early=True)
    assert (ran.problem, ran.status, ran.stopped_early) == ("", status, True), ran.output
    assert set(outcomes(ran).values()) == {"failed"}
    assert parallel or ran.count() == 1
    assert "overage" not in ran.output


def test_a_green_file_of_pytest_is_green_alone_whatever_coverage_the_suite_must_have(
    tmp_path: Path, folder: Path
) -> None:
    tests = {**PARTS, "test_a.py": "import calc\ndef test_a(): assert calc.one() == 1\n"}
    options = "addopts = -p pytest_cov.plugin --cov=calc --cov-fail-under=100\n"
    ran = run_suite(pytest_project(tmp_path / "shop", tests, options), folder, "test_a.py")
    assert (ran.problem, outcomes(ran)) == ("", {"test_a": "passed"}), ran.output


def test_pytest_without_the_plugin_for_coverage_is_not_told_of_it(tmp_path: Path, folder: Path) -> None:
    ran = run_suite(pytest_project(tmp_path / "shop", PARTS), folder, "test_a.py", "test_b.py", stop_early=True)
    assert (ran.problem, outcomes(ran)) == ("", {"test_a": "failed"}), ran.output


def test_a_run_that_is_told_to_stop_early_and_has_no_failure_is_whole(tmp_path: Path, folder: Path) -> None:
    root = pytest_project(tmp_path / "shop", {"test_a.py": "def test_a(): pass\ndef test_b(): pass\n"})
    ran = run_suite(root, folder, stop_early=True)
    assert (ran.problem, ran.stopped_early) == ("", False)
    assert outcomes(ran) == {"test_a": "passed", "test_b": "passed"}


def test_what_a_user_says_to_plugins_of_pytest_by_variables_is_kept(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"PYTEST_XDIST_AUTO_NUM_WORKERS": "1", "PYTEST_TIMEOUT": "60"}
    for name, value in kept.items():
        monkeypatch.setenv(name, value)
    test = f"import os\ndef test_a(): assert {kept} == {{name: os.environ.get(name) for name in {list(kept)}}}\n"
    assert outcomes(run_suite(pytest_project(tmp_path / "shop", {"test_a.py": test}), folder)) == {"test_a": "passed"}


SUBTESTS = """\
import unittest


class Case(unittest.TestCase):
    def test_some(self):
        for number in range(3):
            with self.subTest(number=number):
                if number == 1:
                    self.skipTest("x")

    def test_all(self):
        for number in range(3):
            with self.subTest(number=number):
                self.skipTest("x")

    def test_fails(self):
        for number in range(3):
            with self.subTest(number=number):
                if number == 1:
                    self.skipTest("x")
                self.assertEqual(number, 0)
"""


def test_a_skipped_subtest_is_a_part_of_its_case(tmp_path: Path, folder: Path) -> None:
    ran = run_suite(make_project(tmp_path / "shop", {"test_a.py": SUBTESTS}, {"adapter": "unittest"}), folder)
    assert ran.problem == ""
    assert outcomes(ran) == {"Case > test_some": "passed", "Case > test_all": "skipped", "Case > test_fails": "failed"}


UNITTESTS = "import unittest\nclass Case(unittest.TestCase):\n"
UNITTESTS += "".join(f"    def test_{name}(self): self.fail('x')\n" for name in "ab")


@pytest.mark.parametrize("discover", [[], ["discover", "-s", "tests"]])
def test_unittest_runs_a_part_and_stops_early(tmp_path: Path, folder: Path, discover: list[str]) -> None:
    runner = [sys.executable, "-m", "unittest", *discover, "{files}"]
    files = {"tests/test_a.py": UNITTESTS.replace("Case", "Other"), "tests/test_b.py": UNITTESTS}
    ran = run_suite(
        make_project(tmp_path / "shop", files, {"runner": runner}), folder, "tests/test_b.py", stop_early=True
    )
    assert (ran.problem, ran.stopped_early, outcomes(ran)) == ("", True, {"Case > test_a": "failed"}), ran.output


@pytest.mark.parametrize("runner", [["uv", "run", "--no-sync", "pytest"], ["poetry", "run", "python", "-m", "pytest"]])
def test_a_runner_with_a_manager_runs_in_the_projects_own_environment(
    tmp_path: Path, folder: Path, runner: list[str]
) -> None:
    root = pytest_project(tmp_path / "shop", {"test_a.py": "def test_a(): pass\n"}, runner=[*runner, "{files}"])
    programs = root / ".venv/bin"
    programs.mkdir(parents=True)
    for name, options in (("python", ""), ("pytest", "-m pytest ")):
        (programs / name).write_text(f'#!/bin/sh\necho OWN {name} >&2\nexec {sys.executable} {options}"$@"\n')
        os.chmod(programs / name, 0o755)
    ran = run_suite(root, folder)
    assert (ran.problem, outcomes(ran)) == ("", {"test_a": "passed"})
    assert f"OWN {runner[3] if runner[0] == 'uv' else 'python'}" in ran.output
