"""Running suites of every framework in copies: real runs, and that what they test is the copy."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from evidence_helpers import (
    BROKEN_CALC,
    CALC,
    NODE_BROKEN,
    NODE_CANDIDATE,
    NODE_ORIGINAL,
    NODE_SOURCE,
    PYTEST_CANDIDATE,
    PYTEST_ORIGINAL,
    UNITTEST_CANDIDATE,
    UNITTEST_ORIGINAL,
    Json,
    defect,
    make_project,
    patch,
    pytest_project,
    run_suite,
    stage_and_validate,
    tree,
    write,
)
from testlore import evidence
from testlore.errors import Refusal
from testlore.evidence import running
from testlore.evidence.running import Run
from testlore.memory.lessons import learn

CUSTOM_RUNNER = """\
import importlib.util, sys
from xml.sax.saxutils import quoteattr
report, files = sys.argv[1], sys.argv[2:]
sys.path.insert(0, '.')
failed, lines = False, []
for file in files:
    spec = importlib.util.spec_from_file_location('checked', file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in [name for name in vars(module) if name.startswith('check_')]:
        try:
            getattr(module, name)()
            fault = ''
        except AssertionError:
            fault, failed = '<failure/>', True
        lines.append(f'<testcase name={quoteattr(name)}>{fault}</testcase>')
open(report, 'w').write('<testsuite>' + ''.join(lines) + '</testsuite>')
sys.exit(failed)
"""


def is_green(run: Run) -> bool:
    return run.complete and run.count("failed") == 0


def test_pytest_accepts_a_candidate_that_sees_a_held_out_defect(tmp_path: Path) -> None:
    ended = stage_and_validate(pytest_project(tmp_path / "shop"), patch(heldOutDefects=[defect()]))
    assert (ended.outcome, ended.reasons) == ("accepted", [])
    assert ended.evidence == {
        "originalCases": 1,
        "candidateCases": 2,
        "passedCases": 2,
        "failedCases": 0,
        "missingCases": 0,
        "demonstratedDefects": 1,
        "caughtDefects": 1,
        "complete": True,
        "newCases": 1,
        "repeats": 1,
        "closedGaps": 0,
        "mutants": 0,
        "caughtMutants": 0,
        "survivingMutants": 0,
        "undone": "none",
    }


@pytest.mark.parametrize("runner", [[], [sys.executable, "-m", "unittest", "-b", "{files}"]])
def test_unittest_accepts_a_candidate_that_sees_a_held_out_defect(tmp_path: Path, runner: list[str]) -> None:
    config: Json = {"adapter": "unittest", **({"runner": runner} if runner else {})}
    root = make_project(tmp_path / "shop", {"calc.py": CALC, "tests/test_calc.py": UNITTEST_ORIGINAL}, config)
    ended = stage_and_validate(root, patch({"tests/test_divide.py": UNITTEST_CANDIDATE}, heldOutDefects=[defect()]))
    assert (ended.outcome, ended.reasons, ended.details) == ("accepted", [], [])
    assert ended.evidence["candidateCases"] == 2


def test_unittest_tells_faults_apart(tmp_path: Path, folder: Path) -> None:
    tests = """\
import unittest


class Case(unittest.TestCase):
    def test_passes(self): pass
    def test_fails(self): self.fail("x")
    def test_fails_twice(self):
        self.addCleanup(lambda: 1 / 0)
        self.fail("x")
    def test_sub(self):
        for n in (1, 2, 3):
            with self.subTest(n=n):
                self.assertEqual(n, 1)
    @unittest.skip("later")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail("known")
    @unittest.expectedFailure
    def test_unexpected(self): pass


class NoSetUp(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("x")
    def test_never(self): pass
"""
    root = make_project(tmp_path / "shop", {"test_faults.py": tests}, {"adapter": "unittest"})
    ran = run_suite(root, folder)
    assert ran.problem == ""
    outcomes = {case.name: (case.outcome, number) for case, number in ran.cases.items()}
    assert outcomes == {
        "Case > test_passes": ("passed", 1),
        "Case > test_fails": ("failed", 1),
        "Case > test_fails_twice": ("failed", 1),
        "Case > test_sub": ("failed", 1),
        "Case > test_skipped": ("skipped", 1),
        "Case > test_expected": ("skipped", 1),
        "Case > test_unexpected": ("failed", 1),
        "setUpClass (test_faults.NoSetUp)": ("failed", 1),
    }


@pytest.mark.parametrize("runner", [[], ["node", "--test", "{files}"]])
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_node_accepts_a_candidate_that_sees_a_held_out_defect(tmp_path: Path, runner: list[str]) -> None:
    files = {"package.json": '{"type": "module"}', "src/calc.js": NODE_SOURCE, "test/calc.test.js": NODE_ORIGINAL}
    root = make_project(tmp_path / "shop", files, {"adapter": "node", **({"runner": runner} if runner else {})})
    broken = defect("src/calc.js", NODE_BROKEN)
    ended = stage_and_validate(root, patch({"test/zero.test.js": NODE_CANDIDATE}, heldOutDefects=[broken]))
    assert (ended.outcome, ended.reasons, ended.details) == ("accepted", [], [])
    assert ended.evidence["candidateCases"] == 2


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_a_changed_node_file_without_a_case_is_not_taken_for_one_that_ran(tmp_path: Path) -> None:
    files = {"package.json": '{"type": "module"}', "src/calc.js": NODE_SOURCE, "test/calc.test.js": NODE_ORIGINAL}
    root = make_project(tmp_path / "shop", files, {"adapter": "node"})
    ended = stage_and_validate(root, patch({"test/zero.test.js": "export const nothing = 1;\n"}))
    assert ended.reasons == ["changed-test-not-run"]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_a_node_file_that_does_not_load_makes_the_run_incomplete(tmp_path: Path, folder: Path) -> None:
    files = {"package.json": '{"type": "module"}', "src/calc.js": NODE_SOURCE, "test/calc.test.js": NODE_ORIGINAL}
    root = make_project(tmp_path / "shop", {**files, "test/crash.test.js": "throw new Error();"}, {"adapter": "node"})
    assert run_suite(root, folder).problem == "collection-failed"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_a_workspace_package_is_the_copys_and_an_installed_one_is_linked(tmp_path: Path) -> None:
    files = {
        "package.json": '{"type": "module", "workspaces": ["packages/*"]}',
        ".gitignore": "node_modules/\n",
        "packages/calc/package.json": '{"name": "calc", "type": "module", "main": "index.js"}',
        "packages/calc/index.js": NODE_SOURCE,
        "node_modules/ten/package.json": '{"name": "ten", "type": "module", "main": "index.js"}',
        "node_modules/ten/index.js": "export const ten = 10;\n",
        "test/calc.test.js": "import {ten} from 'ten';\n" + NODE_ORIGINAL.replace("../src/calc.js", "calc"),
    }
    root = make_project(tmp_path / "shop", files, {"adapter": "node"})
    (root / "node_modules/calc").symlink_to("../packages/calc")
    before = tree(root / "node_modules")
    candidate = NODE_CANDIDATE.replace("../src/calc.js", "calc")
    broken = defect("packages/calc/index.js", NODE_BROKEN)
    ended = stage_and_validate(root, patch({"test/zero.test.js": candidate}, heldOutDefects=[broken]))
    assert (ended.outcome, ended.details) == ("accepted", [])
    assert tree(root / "node_modules") == before


def test_any_runner_that_writes_junit_xml_will_do(tmp_path: Path) -> None:
    check = "from calc import clamp\ndef check_low():\n    assert clamp(-1) == 0\n"
    files = {"calc.py": CALC, "run.py": CUSTOM_RUNNER, "tests/test_calc.py": check}
    config = {"runner": [sys.executable, "run.py", "{junit}", "{files}"]}
    root = make_project(tmp_path / "shop", files, config)
    candidate = "from calc import clamp\ndef check_below():\n    assert clamp(-2) == 0\n"
    ended = stage_and_validate(root, patch({"tests/test_below.py": candidate}, heldOutDefects=[defect()]))
    assert (ended.outcome, ended.details) == ("accepted", [])
    assert learn(root) == []


def test_a_runner_of_no_known_framework_must_say_where_its_report_goes(tmp_path: Path) -> None:
    root = make_project(tmp_path / "shop", {"calc.py": CALC}, {"runner": ["make", "test", "{files}"]})
    name = evidence.stage(root, patch())
    with pytest.raises(Refusal, match=r"runner-missing: .*\{junit\}"):
        evidence.validate(root, name)


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        ("import os\ndef test_leaves(): os._exit(0)\n", "no-report"),
        ("import os\ndef test_dies(): os.kill(os.getpid(), 9)\n", "no-report"),
        ("import nowhere_at_all\ndef test_never(): pass\n", "collection-failed"),
        ("def test_syntax(: pass\n", "collection-failed"),
        ("x = 1\n", "no-cases"),
        ("import pytest\ndef test_a(): pass\ndef test_stops(): pytest.exit('enough', 0)\n", "collection-failed"),
        (
            "import pytest\n@pytest.fixture(autouse=True)\ndef end():\n    yield\n    pytest.exit('x', 3)\n"
            "def test_a(): pass\n",
            "status-mismatch",
        ),
        ("def test_fine(): pass\n", ""),
        ("def test_red(): assert False\n", ""),
    ],
)
def test_only_a_whole_pytest_run_is_complete(tmp_path: Path, folder: Path, test: str, problem: str) -> None:
    root = make_project(tmp_path / "shop", {"test_it.py": test}, {"adapter": "pytest"})
    ran = run_suite(root, folder)
    assert ran.problem == problem
    assert is_green(ran) == (test == "def test_fine(): pass\n")


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("pass", "no-report"),
        ("open(report, 'w')", "no-report"),
        ("open(report, 'w').write('<testsuite/>')", "no-cases"),
        ("open(report, 'w').write('<testsuite><testcase name=')", "report-invalid"),
        ("open(report, 'w').write('<!DOCTYPE x><testsuite/>')", "report-invalid"),
        ("open(report, 'w').write(good); sys.exit(3)", "status-mismatch"),
        ("open(report, 'w').write(bad)", "status-mismatch"),
        ("open(report, 'w').write(good)", ""),
    ],
)
def test_an_exit_status_counts_only_together_with_its_report(
    tmp_path: Path, folder: Path, script: str, problem: str
) -> None:
    runner = (
        "import sys\nreport = sys.argv[1]\n"
        "good = '<testsuite><testcase name=\"t\"/></testsuite>'\n"
        "bad = '<testsuite><testcase name=\"t\"><failure/></testcase></testsuite>'\n"
    )
    config = {"runner": [sys.executable, "run.py", "{junit}", "{files}"]}
    root = make_project(tmp_path / "shop", {"run.py": runner + script}, config)
    assert run_suite(root, folder).problem == problem


def test_a_program_that_is_not_there_is_told(tmp_path: Path, folder: Path) -> None:
    root = make_project(tmp_path / "shop", {"a.py": ""}, {"runner": ["no-such-program", "{junit}", "{files}"]})
    assert run_suite(root, folder).problem == "not-started"


def test_the_time_limit_ends_the_whole_process_group(tmp_path: Path, folder: Path) -> None:
    test = """\
import pathlib, subprocess, sys, time
def test_hangs():
    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
    pathlib.Path({pid!r}).write_text(str(child.pid))
    time.sleep(60)
"""
    pid_file = tmp_path / "pid"
    config = {"adapter": "pytest", "validation": {"timeoutSeconds": 4}}
    root = make_project(tmp_path / "shop", {"test_it.py": test.format(pid=str(pid_file))}, config)
    begin = time.monotonic()
    ran = run_suite(root, folder)
    assert ran.problem == "timed-out"
    assert time.monotonic() - begin < 15
    assert _is_gone(int(pid_file.read_text()))


def _is_gone(pid: int) -> bool:
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def test_pytest_leaves_no_cache_and_no_bytecode_in_the_copy(tmp_path: Path, folder: Path) -> None:
    root = pytest_project(tmp_path / "shop")
    before = {path for path in tree(root) if not path.startswith(".git/")}
    assert is_green(run_suite(root, folder))
    assert tree(folder / "copy/shop").keys() == before


def test_a_flood_of_output_does_not_stop_a_run(tmp_path: Path, folder: Path) -> None:
    test = "import os\ndef test_it():\n    os.write(2, b'x' * 3_000_000)\n    os.write(1, b'y' * 3_000_000)\n"
    root = make_project(
        tmp_path / "shop", {"test_it.py": test}, {"runner": [sys.executable, "-m", "pytest", "-s", "{files}"]}
    )
    ran = run_suite(root, folder)
    assert is_green(ran)
    assert len(ran.output) <= 10_000


def test_doubled_cases_and_double_faults_of_a_real_pytest_run_are_counted_once_each(
    tmp_path: Path, folder: Path
) -> None:
    test = """\
import pytest
@pytest.fixture
def falls():
    yield
    raise RuntimeError
def test_both(falls): assert False
def test_teardown(falls): pass
"""
    root = make_project(tmp_path / "shop", {"a/test_a.py": test, "b/test_b.py": test}, {"adapter": "pytest"})
    ran = run_suite(root, folder)
    assert ran.names("failed") == Counter({"test_both": 2, "test_teardown": 2})
    assert ran.count() == 4


def test_a_run_that_shuts_our_isolation_out_is_incomplete(tmp_path: Path, folder: Path) -> None:
    runner = [sys.executable, "-I", "-m", "pytest", "{files}"]
    files = {"calc.py": CALC, "test_calc.py": "def test_it(): pass\n"}
    assert run_suite(make_project(tmp_path / "shop", files, {"runner": runner}), folder).problem == "not-isolated"


def test_a_test_that_loads_the_original_by_its_path_makes_the_run_incomplete(tmp_path: Path, folder: Path) -> None:
    root = tmp_path / "shop"
    test = f"""\
import importlib.util, sys
def test_it():
    spec = importlib.util.spec_from_file_location('calc', {str(root / "calc.py")!r})
    module = sys.modules['calc'] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
"""
    ran = run_suite(make_project(root, {"calc.py": CALC, "test_calc.py": test}, {"adapter": "pytest"}), folder)
    assert ran.problem == "original-imported"


def _pytest_script(python: Path) -> Path:
    """A console script: unlike ``python -m pytest`` it does not put the current folder on the search path."""
    script = python.with_name("pytest")
    script.write_text(f"#!{python}\nimport sys\nfrom pytest import main\nsys.exit(main())\n", encoding="utf-8")
    script.chmod(0o755)
    return script


LAYOUTS = {
    "src-editable": ("src", ["-e"]),  # a .pth file
    "flat-editable": ("", ["-e"]),  # a finder of PEP 660
    "src-installed": ("src", []),  # a second copy in site-packages
}


@pytest.fixture(scope="module")
def installed(shared_folder: Callable[[str, Callable[[Path], object]], Path]) -> dict[str, Path]:
    """Projects of each layout, installed by pip into the environment that runs their tests."""
    folder = shared_folder("layouts", _install_layouts)
    return {name: folder / name for name in LAYOUTS}


def _install_layouts(folder: Path) -> None:
    without_pip = ["--without-pip"] if find_spec("pip") else []  # ours is found in it, too, and a copy takes seconds
    subprocess.run([sys.executable, "-m", "venv", *without_pip, folder / "environment"], check=True)
    python = folder / "environment/bin/python"
    packages = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    host = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    (Path(packages) / "host.pth").write_text(host.replace(os.pathsep, "\n") + "\n", encoding="utf-8")
    wanted = []
    for name, (source, options) in LAYOUTS.items():
        package = "shop_" + name.replace("-", "_")
        base = f"{source}/{package}" if source else package
        packages_of = f'[tool.setuptools]\npackages = ["{package}"]\n' if not source else ""
        root = make_project(
            folder / name,
            {
                "pyproject.toml": "[build-system]\nrequires = ['setuptools>=64']\n"
                "build-backend = 'setuptools.build_meta'\n"
                f"[project]\nname = '{package}'\nversion = '1'\n{packages_of}",
                ".gitignore": "_generated.py\nbuild/\n*.egg-info/\n",
                f"{base}/__init__.py": "",
                f"{base}/_generated.py": "VERSION = 1\n",
                f"{base}/calc.py": f"from {package}._generated import VERSION\n{CALC}",
                "tests/test_calc.py": PYTEST_ORIGINAL.replace("from calc", f"from {package}.calc"),
            },
            {"runner": [str(_pytest_script(python)), "{files}"]},
        )
        wanted += [*options, str(root)]
    for argv in (["setuptools>=70.1"], ["--no-build-isolation", *wanted]):  # one setuptools for all three
        done = subprocess.run([python, "-m", "pip", "install", "-q", *argv], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"pip cannot install here: {done.stderr[-300:]}")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_held_out_defect_is_seen_in_the_copy_of_an_installed_project(installed: dict[str, Path], layout: str) -> None:
    root = installed[layout]
    package = "shop_" + layout.replace("-", "_")
    path = f"{'src/' if layout.startswith('src') else ''}{package}/calc.py"
    broken = defect(path, f"from {package}._generated import VERSION\n{BROKEN_CALC}")
    candidate = PYTEST_CANDIDATE.replace("from calc", f"from {package}.calc")
    ended = stage_and_validate(root, patch({"tests/test_divide.py": candidate}, heldOutDefects=[broken]))
    assert (ended.outcome, ended.reasons, ended.output) == ("accepted", [], "")
    assert ended.evidence["demonstratedDefects"] == ended.evidence["caughtDefects"] == 1


def test_a_source_file_that_the_candidate_deletes_is_not_found_in_the_original(installed: dict[str, Path]) -> None:
    root = installed["flat-editable"]
    ended = stage_and_validate(
        root, patch({"tests/test_x.py": "def test_x(): pass\n"}, delete=["shop_flat_editable/calc.py"])
    )
    assert "candidate-incomplete" in ended.reasons


def test_a_defect_is_seen_in_a_src_layout_that_is_not_installed(tmp_path: Path) -> None:
    files = {
        "src/shop/__init__.py": "",
        "src/shop/calc.py": CALC,
        "tests/test_calc.py": PYTEST_ORIGINAL.replace("from calc", "from shop.calc"),
    }
    root = make_project(tmp_path / "shop", files, {"adapter": "pytest"})
    candidate = PYTEST_CANDIDATE.replace("from calc", "from shop.calc")
    ended = stage_and_validate(
        root, patch({"tests/test_divide.py": candidate}, heldOutDefects=[defect("src/shop/calc.py")])
    )
    assert (ended.outcome, ended.details) == ("accepted", [])


def test_a_path_of_the_original_in_the_environment_leads_to_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"lib/calc.py": CALC, "tests/test_calc.py": PYTEST_ORIGINAL}
    root = make_project(tmp_path / "shop", files, {"adapter": "pytest"})
    monkeypatch.setenv("PYTHONPATH", str(root / "lib"))
    ended = stage_and_validate(root, patch(heldOutDefects=[defect("lib/calc.py")]))
    assert (ended.outcome, ended.details) == ("accepted", [])


@pytest.mark.parametrize(
    ("framework", "kind", "imports"),
    [
        ("vitest", "module", "import {test, expect} from 'vitest';\nimport {clamp} from '../src/calc.js';\n"),
        ("jest", "commonjs", "const {clamp} = require('../src/calc.js');\n"),
    ],
)
def test_vitest_and_jest_accept_a_candidate_that_sees_a_held_out_defect(
    tmp_path: Path, node_packages: Path, framework: str, kind: str, imports: str
) -> None:
    source = NODE_SOURCE if kind == "module" else NODE_SOURCE.replace("export const ", "exports.")
    original = imports + "test('clamp', () => { expect(clamp(-1)).toBe(0); });\n"
    candidate = imports + "describe('clamp', () => { test('keeps zero', () => { expect(clamp(0)).toBe(0); }); });\n"
    files = {
        "package.json": f'{{"private": true, "type": "{kind}"}}',
        ".gitignore": "node_modules/\n",
        "src/calc.js": source,
        "test/calc.test.js": original,
    }
    root = make_project(tmp_path / "shop", files, {"adapter": framework})
    (root / "node_modules").symlink_to(node_packages)
    broken = defect("src/calc.js", source.replace("Math.max(0,", "Math.max(1,"))
    proposed = {"test/zero.test.js": candidate.replace("{test, expect}", "{describe, test, expect}")}
    ended = stage_and_validate(root, patch(proposed, heldOutDefects=[broken]))
    assert (ended.outcome, ended.details, ended.output) == ("accepted", [], "")
    assert ended.evidence["candidateCases"] == 2


def test_a_program_of_the_project_is_found_from_a_relative_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"runner": [".venv/bin/python", "-m", "pytest", "{files}"]}
    root = make_project(tmp_path / "shop", {"calc.py": CALC, "tests/test_calc.py": PYTEST_ORIGINAL}, config)
    write(root, {".venv/bin/python": f'#!/bin/sh\nexec {sys.executable} "$@"\n'})
    (root / ".venv/bin/python").chmod(0o755)
    monkeypatch.chdir(root)
    assert evidence.validate(".", evidence.stage(".", patch())).outcome == "accepted"


def test_a_project_that_holds_our_isolation_is_isolated_like_any_other(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = pytest_project(tmp_path / "shop")
    shutil.copytree(Path(running._ISOLATION), root / "isolation")
    monkeypatch.setattr(running, "_ISOLATION", str(root / "isolation"))
    ran = run_suite(root, folder)
    assert is_green(ran), (ran.problem, ran.output)


def test_another_sitecustomize_still_runs_and_an_outer_run_of_ours_does_not(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = tmp_path / "outer"
    shutil.copytree(Path(running._ISOLATION), outer)
    write(tmp_path / "theirs", {"sitecustomize.py": "import builtins\nbuiltins.theirs = 'ran'\n"})
    monkeypatch.setenv("TESTLORE_ISOLATION", str(outer))
    monkeypatch.setenv("TESTLORE_RUN", str(tmp_path / "over"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(outer), str(tmp_path / "theirs")]))
    test = "import builtins, os\ndef test_it():\n    assert builtins.theirs == 'ran'\n"
    test += f"    assert {str(outer)!r} not in os.environ['PYTHONPATH']\n"
    ran = run_suite(make_project(tmp_path / "shop", {"test_it.py": test}, {"adapter": "pytest"}), folder)
    assert is_green(ran), ran.output
