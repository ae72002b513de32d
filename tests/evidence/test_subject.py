"""What tests are about: real runs of each framework, measured, and what is told where nothing can be measured."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest
from evidence_helpers import CALC, NODE_ORIGINAL, UNITTEST_CANDIDATE, UNITTEST_ORIGINAL, Json, make_project, write
from hypothesis import given
from hypothesis import strategies as st
from testlore import canonical, frameworks
from testlore.evidence import running, subject
from testlore.evidence.junit import Case
from testlore.evidence.running import Place, Run
from testlore.evidence.subject import Subject
from testlore.evidence.working_copy import WorkingCopy
from testlore.project import settings
from testlore.project.snapshot import Scan

NODE = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
TESTS = "tests/test_till.py"

TILL = """\
from shop.rules import registered


def one_line(n): return n + 1


@registered
def add(a, b):
    def inner():
        return a + b
    return inner()


class Till:
    limit = 10

    def total(self, prices):
        return sum(prices)

    def _hidden(self):
        return self.told()

    def told(self):
        return True

    async def later(self):
        return 1

    class Drawer:
        @staticmethod
        def open():
            return True


def main():
    print(one_line(1))


if __name__ == "__main__":
    main()
"""
RULES = """\
def registered(function):
    return function


def refuse():
    raise ValueError
"""
TILL_TESTS = """\
import asyncio, subprocess, sys
import pytest
from shop import rules
from shop.till import Till, add, one_line
from tests.helping import a_till


def test_add():
    assert add(1, 2) == 3


@pytest.mark.parametrize("n", [1, 2])
def test_one_line(n):
    assert one_line(n) == n + 1


def test_private():
    assert Till()._hidden()


class TestTill:
    def test_total(self):
        assert a_till().total([1, 2]) == add(1, 2)

    class TestDrawer:
        def test_open(self):
            assert Till.Drawer.open()


def test_later():
    assert asyncio.run(Till().later()) == 1


def test_imports_only():
    import shop.late
    assert shop.late.NUMBER == 1


def test_refuses():
    with pytest.raises(ValueError):
        rules.refuse()


def test_command():
    subprocess.run([sys.executable, "-m", "shop.till"], check=True)
"""
SHOP = {
    "shop/__init__.py": "",
    "shop/till.py": TILL,
    "shop/rules.py": RULES,
    "shop/late.py": "NUMBER = 1\n\n\ndef never(): return 2\n\n\ndef nor_this():\n    return 3\n",
    "tests/__init__.py": "",
    "tests/helping.py": "from shop.till import Till\n\n\ndef a_till():\n    return Till()\n",
    "tests/conftest.py": "",
    TESTS: TILL_TESTS,
}


class Measured(NamedTuple):
    """A measured run, and what to ask about it with."""

    root: Path
    copy: str
    data: str
    run: Run

    def about(self, name: str = "", file: str = TESTS) -> Subject:
        """What the case of this name is about; without one, all cases of the file."""
        configured = settings.parse(settings.read(str(self.root)))
        framework = frameworks.of_project(str(self.root), configured)
        return subject.of_run(framework, self.copy, self.data, [Case(name, file, "passed")], digests(self.root))


def digests(root: Path) -> dict[str, str]:
    return Scan(str(root), ()).snapshot().files()


def measure(root: Path, folder: Path) -> Measured:
    """Run a project's suite in a copy of it, and measure it."""
    folder.mkdir()
    folder = folder.resolve()
    configured = settings.parse(settings.read(str(root)))
    framework = frameworks.of_project(str(root), configured)
    place = Place(str(root), configured, framework, list(digests(root)), str(folder))
    copy = WorkingCopy(str(root), str(folder), digests(root)).prepare("copy", {}, [])
    data = str(folder / "measured")
    return Measured(root, copy, data, running.run(place, "suite", copy, measure=data))


def read_only(folder: Path, files: Mapping[str, str], file: str, *, name: str = "") -> Subject:
    """What a case of some files is about, or all of a file, without a run."""
    write(folder, files)
    found = {path: canonical.digest(content) for path, content in files.items()}
    (folder / ".data").mkdir()
    case = Case(name, file, "passed")
    return subject.of_run(frameworks.framework("custom"), str(folder), str(folder / ".data"), [case], found)


def paths(of: Subject) -> list[str]:
    return [path for path, _ in of.files]


@pytest.fixture(scope="module")
def till(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    folder = tmp_path_factory.mktemp("till")
    found = measure(make_project(folder / "shop", SHOP, {"adapter": "pytest"}), folder / "runs")
    assert found.run.problem == "", found.run.output
    assert found.run.count("failed") == 0, found.run.output
    return found


@pytest.mark.parametrize(
    ("name", "symbols"),
    [
        ("test_private", ["Till.told", "Till._hidden"]),
        ("test_add", ["add"]),  # what is defined in a function is the function's
        ("test_one_line[1]", ["one_line"]),
        ("TestTill > test_total", ["Till.total", "add"]),  # fewer cases run the former
        ("TestTill.TestDrawer > test_open", ["Till.Drawer.open"]),
        ("test_later", ["Till.later"]),
        ("test_refuses", ["refuse"]),
    ],
)
def test_a_pytest_case_is_about_the_functions_that_it_runs(till: Measured, name: str, symbols: list[str]) -> None:
    found = till.about(name)
    file = "shop/rules.py" if name == "test_refuses" else "shop/till.py"
    assert found == Subject([(file, digests(till.root)[file])], symbols, many=False, measured=True)


def test_what_a_pytest_case_starts_is_run_by_it(till: Measured) -> None:
    found = till.about("test_command")
    assert (paths(found), found.measured) == (["shop/rules.py", "shop/till.py"], True)
    assert found.symbols == ["main", "registered"]  # one_line may have been defined only


def test_a_file_without_a_case_stands_for_all_its_cases(till: Measured) -> None:
    found = till.about()
    assert paths(found) == ["shop/rules.py", "shop/till.py"]
    assert found.symbols[-1] == "add"  # three cases run it
    assert set(found.symbols) == {
        *("Till.Drawer.open", "Till._hidden", "Till.later", "Till.told", "Till.total"),
        *("add", "main", "one_line", "refuse", "registered"),
    }


def test_lines_that_run_at_import_are_not_run_by_a_case(till: Measured) -> None:
    found = till.about("test_imports_only")
    assert not found.measured
    assert not {"never", "nor_this"} & set(till.about().symbols)


def test_a_case_whose_file_is_not_told_is_known_by_its_name(till: Measured) -> None:
    assert till.about("TestTill > test_total", file="").symbols == ["Till.total", "add"]


def test_an_inherited_case_is_known_by_the_name_of_its_function(till: Measured) -> None:
    assert till.about("TestMore > test_refuses", file="tests/test_other.py").symbols == ["refuse"]


def test_the_measured_run_leaves_nothing_in_the_copy(till: Measured) -> None:
    assert not [name for name in os.listdir(till.copy) if "cov" in name]


def test_data_that_a_killed_process_left_half_written_are_passed_over(till: Measured) -> None:
    Path(till.data, "data.killed").write_bytes(b"SQLite format 3\0 and no more")
    assert till.about("test_add").symbols == ["add"]


def calc_suite(root: Path, runner: list[str], **more: str) -> Path:
    """A project whose first test runs one function, and imports two."""
    test = "from calc import clamp, divide\n\n\ndef test_divide():\n    assert divide(4, 2) == 2\n"
    test += "\n\ndef test_clamp():\n    assert clamp(-1) == 0\n"
    config: Json = {"runner": runner} if runner else {"adapter": "pytest"}
    return make_project(root, {"calc.py": CALC, TESTS: test, **more}, config)


def test_each_worker_of_a_parallel_run_is_measured(tmp_path: Path) -> None:
    runner = [sys.executable, "-m", "pytest", "-p", "xdist", "-n", "2", "{files}"]
    found = measure(calc_suite(tmp_path / "shop", runner), tmp_path / "runs")
    assert (found.run.problem, found.run.count("passed")) == ("", 2), found.run.output
    assert found.about("test_divide").symbols == ["divide"]
    assert found.about("test_clamp").symbols == ["clamp"]


def test_pytest_cov_is_switched_off_and_its_suite_is_measured(tmp_path: Path) -> None:
    options = "[pytest]\naddopts = -p pytest_cov.plugin --cov=calc --cov-fail-under=100\n"
    found = measure(calc_suite(tmp_path / "shop", [], **{"pytest.ini": options}), tmp_path / "runs")
    assert (found.run.problem, found.run.count("passed")) == ("", 2), found.run.output
    assert (found.about("test_divide").symbols, found.about("test_divide").measured) == (["divide"], True)


OWN_MEASURE = """\
import atexit, coverage
measured = coverage.Coverage(data_file="own.data")
measured.start()
atexit.register(measured.save)
"""
OWN_TRACER = """\
import builtins, sys
def trace(frame, event, argument): pass
builtins.own_trace = trace
sys.settrace(trace)
"""
KEEPS_TRACER = "import builtins, sys\nassert sys.gettrace() is builtins.own_trace\n"


@pytest.mark.parametrize(
    ("runner", "more", "data"),
    [
        ([sys.executable, "-m", "coverage", "run", "--data-file=own.data", "-m", "pytest", "{files}"], {}, "own.data"),
        ([], {"sitecustomize.py": OWN_MEASURE}, "own.data"),
        ([], {"conftest.py": OWN_MEASURE}, "own.data"),
        ([], {"coverage.py": "raise SystemExit('not to be imported')\n"}, ""),
        ([], {"sitecustomize.py": OWN_TRACER, "conftest.py": KEEPS_TRACER}, ""),
    ],
    ids=["coverage-run", "sitecustomize", "conftest", "own-module", "tracer"],
)
def test_a_suite_that_measures_itself_still_does_and_its_imports_are_told_instead(
    tmp_path: Path, runner: list[str], more: dict[str, str], data: str
) -> None:
    found = measure(calc_suite(tmp_path / "shop", runner, **more), tmp_path / "runs")
    assert (found.run.problem, found.run.count("passed")) == ("", 2), found.run.output
    about = found.about("test_divide")
    assert (paths(about), about.symbols, about.measured) == (["calc.py"], ["divide"], False)
    if data:
        from coverage import CoverageData

        kept = CoverageData(os.path.join(found.copy, data))
        kept.read()
        assert set(kept.lines(os.path.join(found.copy, "calc.py")) or ()) >= {2, 8}  # of both functions


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of an environment that has pytest, and nothing more of ours."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = (folder / "lib").glob("*/site-packages")
    host = Path(pytest.__file__).parents[1]
    for name in ("pytest", "_pytest", "py.py", "pluggy", "iniconfig", "packaging", "pygments"):
        for place in (host / name, *host.glob(f"{name}-*.dist-info")):
            (packages / place.name).symlink_to(place)
    return str(folder / "bin/python")


def test_an_environment_without_coverage_borrows_ours_and_nothing_else(tmp_path: Path, bare_python: str) -> None:
    alone = "import importlib.util\n\n\ndef test_alone():\n    assert importlib.util.find_spec('numpy') is None\n"
    alone += "    assert importlib.util.find_spec('hypothesis') is None\n"
    root = calc_suite(tmp_path / "shop", [bare_python, "-m", "pytest", "{files}"], **{"tests/test_alone.py": alone})
    found = measure(root, tmp_path / "runs")
    assert (found.run.problem, found.run.count("passed")) == ("", 3), found.run.output
    assert found.about("test_divide") == Subject([("calc.py", digests(root)["calc.py"])], ["divide"], measured=True)

    files = {"tests/test_calc.py": UNITTEST_ORIGINAL, "tests/test_divide.py": UNITTEST_CANDIDATE, "calc.py": CALC}
    root = make_project(tmp_path / "unit", files, {"runner": [bare_python, "-m", "unittest", "{files}"]})
    found = measure(root, tmp_path / "unit-runs")
    assert found.run.problem == "", found.run.output
    assert found.about("DivideTest > test_zero", "tests/test_divide.py").symbols == ["divide"]
    assert found.about("", "tests/test_calc.py").symbols == ["clamp"]


def test_a_python_that_is_too_old_for_our_coverage_does_without(
    tmp_path: Path, bare_python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = calc_suite(tmp_path / "shop", [bare_python, "-m", "pytest", "{files}"])
    environment = subject.environment

    def newer(framework: frameworks.Framework, folder: str) -> dict[str, str]:
        variables = environment(framework, folder)
        how = Path(folder, "measure.json")
        how.write_text(json.dumps({**json.loads(how.read_text()), "oldest": [9, 0]}))
        return variables

    monkeypatch.setattr(subject, "environment", newer)
    found = measure(root, tmp_path / "runs")
    assert (found.run.problem, found.run.count("passed")) == ("", 2), found.run.output
    assert (found.about("test_divide").measured, paths(found.about("test_divide"))) == (False, ["calc.py"])


NODE_TILL = """\
import './imported.js';
export const clamp = (n) => Math.max(0, Math.min(10, n));
export class Till { total(prices) { return prices.reduce((a, b) => a + b, 0); } }
export function main() { console.log(new Till().total([1])); }
"""
NODE_SOURCES = {"src/till.js": NODE_TILL, "src/imported.js": "export function unused() {}\n"}
NODE_TESTS = {
    "test/clamp.test.js": NODE_ORIGINAL.replace("calc", "till"),
    "test/total.test.js": NODE_ORIGINAL.replace("{clamp}", "{clamp, Till}")
    .replace("calc", "till")
    .replace("clamp(-1)", "clamp(new Till().total([]))"),
}


@NODE
@pytest.mark.parametrize("runner", [[], ["node", "--test", "--experimental-test-coverage", "{files}"]])
def test_a_node_case_is_about_the_functions_that_its_file_runs(tmp_path: Path, runner: list[str]) -> None:
    files = {"package.json": '{"type": "module"}', **NODE_SOURCES, **NODE_TESTS}
    root = make_project(tmp_path / "a shop", files, {"adapter": "node", **({"runner": runner} if runner else {})})
    found = measure(root, tmp_path / "runs")
    assert found.run.problem == "", found.run.output
    digest = digests(root)["src/till.js"]
    assert found.about("clamp", "test/clamp.test.js") == Subject([("src/till.js", digest)], ["clamp"], measured=True)
    assert found.about("", "test/total.test.js").symbols == ["total", "clamp"]
    assert found.about("clamp", "").symbols == ["total", "clamp"]  # node before 21 tells no file


@NODE
def test_what_a_node_test_starts_is_run_by_it(tmp_path: Path) -> None:
    test = NODE_ORIGINAL.replace("calc", "till").replace(
        "assert.equal(clamp(-1), 0)", "execFileSync(process.execPath, ['src/main.js'])"
    )
    test = "import {execFileSync} from 'node:child_process';\n" + test
    files = {
        "package.json": '{"type": "module"}',
        **NODE_SOURCES,
        "src/main.js": "import {main} from './till.js';\nmain();\n",
        "test/main.test.js": test,
    }
    found = measure(make_project(tmp_path / "shop", files, {"adapter": "node"}), tmp_path / "runs")
    assert found.run.problem == "", found.run.output
    assert found.about("", "test/main.test.js").symbols == ["main", "total"]


@NODE
def test_a_node_suite_that_keeps_its_coverage_elsewhere_is_told_by_its_imports(tmp_path: Path) -> None:
    files = {"package.json": '{"type": "module"}', **NODE_SOURCES, **NODE_TESTS}
    runner = ["env", f"NODE_V8_COVERAGE={tmp_path / 'theirs'}", "node", "--test", "{files}"]
    found = measure(make_project(tmp_path / "shop", files, {"adapter": "node", "runner": runner}), tmp_path / "runs")
    assert found.run.problem == "", found.run.output
    about = found.about("", "test/total.test.js")
    assert (about.symbols, about.measured) == (["Till", "clamp"], False)
    assert paths(about) == ["src/imported.js", "src/till.js"]
    assert list((tmp_path / "theirs").iterdir())


def test_a_vitest_case_is_about_what_its_file_imports_and_one_step_further(tmp_path: Path, node_packages: Path) -> None:
    files = {
        "package.json": '{"private": true, "type": "module"}',
        ".gitignore": "node_modules/\n",
        "src/till.ts": "import {clamp} from './clamp';\nexport const total = (n: number) => clamp(n);\n",
        "src/clamp.ts": "import './far.js';\nexport const clamp = (n: number) => Math.max(0, n);\n",
        "src/far.js": "export const far = 1;\n",
        "src/other.ts": "export const other = 1;\n",
        "test/helpers/make.ts": "import {other} from '../../src/other';\nexport const made = other;\n",
        "test/till.test.ts": "import {test, expect} from 'vitest';\nimport {total as sum} from '../src/till';\n"
        "import {made} from './helpers/make';\ntest('sum', () => { expect(sum(made)).toBe(1); });\n",
    }
    root = make_project(tmp_path / "shop", files, {"adapter": "vitest"})
    (root / "node_modules").symlink_to(node_packages)
    found = measure(root, tmp_path / "runs")
    assert (found.run.problem, found.run.count("passed")) == ("", 1), found.run.output
    about = found.about("sum", "test/till.test.ts")
    assert paths(about) == ["src/clamp.ts", "src/other.ts", "src/till.ts"]
    assert about.symbols == ["other", "total"]  # of the test, and of what helps it
    assert not about.measured


@pytest.mark.parametrize(
    ("statement", "file", "names"),
    [
        ("import {a, type B, c as d} from '../src/x';", "src/x.ts", ["B", "a", "c"]),
        ("import whole, {a} from '../src/x.js';", "src/x.ts", ["a", "whole"]),
        ('import * as all from "../src/x";', "src/x.ts", []),
        ("import type {A} from '../src/x';", "src/x.ts", ["A"]),
        ("import {\n  a,\n  b,\n} from '../src/x';", "src/x.ts", ["a", "b"]),
        ("import '../src/x';", "src/x.ts", []),
        ("export {a} from '../src/x';", "src/x.ts", ["a"]),
        ("const {a, b: c} = require('../src/y');", "src/y/index.js", ["a", "b"]),
        ("const y = require('../src/y')\n", "src/y/index.js", ["y"]),
        ("const {a} = await import('../src/x');", "src/x.ts", ["a"]),
        ("it('x', async () => { await import(`../src/x`); });", "src/x.ts", []),
        ("import raw from '../src/view.vue?raw';", "src/view.vue", ["raw"]),
        ("import {test} from 'vitest';\nimport {a} from '../src/x';", "src/x.ts", ["a"]),
        ("import {a} from 'src/x';", "", []),  # a package
        ("import {a} from '../../outside';", "", []),
        ("import {a} from '../src/missing';", "", []),
        ("const a = 'import nothing';", "", []),
    ],
)
def test_the_relative_imports_of_a_script_are_found(
    tmp_path: Path, statement: str, file: str, names: list[str]
) -> None:
    files = {"src/x.ts": "", "src/y/index.js": "", "src/view.vue": "", "test/a.test.js": statement}
    found = read_only(tmp_path, files, "test/a.test.js")
    assert (paths(found), found.symbols) == ([file] if file else [], names)


@pytest.mark.parametrize(
    ("code", "files", "names"),
    [
        ("from shop.till import add, Till as T", ["src/shop/till.py"], ["Till", "add"]),
        ("from shop import till\ntill.add(till.limit, till.__file__)", ["src/shop/till.py"], ["add", "limit"]),
        ("import shop.till\nshop.till.add()", ["src/shop/till.py"], ["add"]),
        ("import shop.till as t\nt.add()", ["src/shop/till.py"], ["add"]),
        ("from shop.till import *", ["src/shop/till.py"], []),
        ("from shop import VERSION", ["src/shop/__init__.py", "src/shop/till.py"], ["VERSION"]),
        ("def test_a():\n    from shop.till import add", ["src/shop/till.py"], ["add"]),
        ("from .helping import made", ["tool.py"], ["make"]),  # what helps tests is looked through
        ("import tool\ntool.make()", ["tool.py"], ["make"]),
        ("import json, pytest, till", [], []),  # a module of a package is no module of that name
        ("from deep.inner import thing", ["odd/place/deep/inner.py"], ["thing"]),  # pytest's pythonpath may say so
        ("from . import shared", ["tool.py"], ["make"]),
        ("def broken(:", [], []),
    ],
)
def test_the_imports_of_python_are_found(tmp_path: Path, code: str, files: list[str], names: list[str]) -> None:
    project = {
        "src/shop/__init__.py": "from .till import add\nVERSION = 1\n",
        "src/shop/till.py": "from shop.far import far\n",
        "src/shop/json.py": "",
        "tool.py": "",
        "tests/__init__.py": "",
        "tests/unit/__init__.py": "from tool import make as shared\n",
        "odd/place/deep/inner.py": "",
        "odd/place/json.py": "",
        "tests/unit/helping.py": "from tool import make\nmade = make\n",
        "tests/unit/test_a.py": code,
    }
    found = read_only(tmp_path, project, "tests/unit/test_a.py")
    assert (sorted(paths(found)), found.symbols) == (files, names)


USES = """\
import pytest
from calc import clamp, divide, Till, never
LOW = clamp(0)

@pytest.fixture
def till(): return Till()

def half(n): return divide(n, 2)

def test_low(): assert LOW == 0
def test_till(till): pass
class TestHalf:
    def setup_method(self): self.till = Till()
    @pytest.mark.parametrize("n", [4])
    def test_half(self, n): assert half(n) == 2
    def test_other(self): pass
def test_nothing(): pass
"""


@pytest.mark.parametrize(
    ("name", "symbols"),
    [
        ("test_low", ["clamp"]),
        ("test_till", ["Till"]),
        ("TestHalf > test_half[4]", ["divide", "Till"]),
        ("TestHalf > test_other", ["Till"]),
        ("test_nothing", []),
    ],
)
def test_of_the_imports_of_a_python_file_a_case_has_those_that_it_uses(
    tmp_path: Path, name: str, symbols: list[str]
) -> None:
    found = read_only(tmp_path, {"calc.py": CALC, "tests/test_a.py": USES}, "tests/test_a.py", name=name)
    assert paths(found) == ["calc.py"]
    assert [symbol for symbol in found.symbols if symbol != "never"] == symbols  # no case uses it, so all may


def test_the_fixtures_that_pytest_gives_a_test_are_looked_through(tmp_path: Path) -> None:
    files = {
        "conftest.py": "from calc import clamp\n",
        "calc.py": CALC,
        "tests/test_a.py": "def test_a(clamped):\n    assert clamped == 1\n",
    }
    found = read_only(tmp_path, files, "tests/test_a.py")
    assert (paths(found), found.symbols) == (["calc.py"], ["clamp"])


def test_at_most_20_files_and_40_symbols_are_named_and_more_are_said_to_be_many(tmp_path: Path) -> None:
    def files(number: int) -> dict[str, str]:
        statements = [f"from m{n:02} import a{n:02}, b{n:02}, {'c' * 80}{n}" for n in range(number)]
        return {**{f"m{n:02}.py": "" for n in range(number)}, "test_a.py": "\n".join(statements)}

    few = read_only(tmp_path / "few", files(20), "test_a.py")
    assert (len(few.files), len(few.symbols), few.many) == (20, 40, False)
    more = read_only(tmp_path / "more", files(21), "test_a.py")
    assert (len(more.files), len(more.symbols), more.many) == (20, 40, True)
    assert max(map(len, more.symbols)) == 3  # a name that no record can hold whole is left out


def test_a_file_whose_path_no_record_can_hold_makes_many(tmp_path: Path) -> None:
    folder = "/".join(["f" * 66] * 3)
    files = {f"src/{folder}/x.js": "", "a.test.js": f"import {{a}} from './src/{folder}/x.js';"}
    assert read_only(tmp_path, files, "a.test.js")[::2] == ([], True)


@given(
    st.lists(st.sampled_from([*"(){}'\";=.\n ", "import ", "export ", " from ", "require", "'./src/x'"]), max_size=40)
)
@hypothesis.settings(max_examples=50, deadline=None)
def test_any_script_can_be_read(parts: list[str]) -> None:
    text = "".join(parts)
    with tempfile.TemporaryDirectory() as folder:
        assert set(paths(read_only(Path(folder), {"a.test.js": text, "src/x.js": text}, "a.test.js"))) <= {"src/x.js"}


def test_a_huge_script_without_an_import_is_read_in_little_time(tmp_path: Path) -> None:
    files = {"a.test.js": "import const export " * 20_000 + "from './x'; " * 2_000, "x.js": ""}
    begin = time.monotonic()
    assert paths(read_only(tmp_path, files, "a.test.js")) == ["x.js"]
    assert time.monotonic() - begin < 5
