"""Which framework a project uses: told by the adapter, else by the runner, else by its files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from testlore import frameworks
from testlore.project.settings import Settings


def name_of(root: Path, settings: Settings) -> str:
    return frameworks.of_project(str(root), settings).NAME


@pytest.mark.parametrize(
    ("runner", "framework"),
    [
        (("python", "-m", "pytest", "{files}"), "pytest"),
        ((".venv/bin/pytest", "{files}"), "pytest"),
        (("pytest.exe", "{files}"), "pytest"),
        (("python3", "-m", "unittest", "{files}"), "unittest"),
        (("npx", "vitest", "run", "{files}"), "vitest"),
        (("node", "node_modules/jest/bin/jest.js", "{files}"), "jest"),
        (("npx", "playwright", "test", "{files}"), "playwright"),
        (("node", "--test", "{files}"), "node"),
        (("node", "--test-reporter=dot", "{files}"), "node"),
        (("node", "run.js", "{files}"), "custom"),
        (("bun", "--test", "{files}"), "custom"),
        (("make", "{files}"), "custom"),
        (("custom", "{files}"), "custom"),
    ],
)
def test_the_runner_tells_the_framework(tmp_path: Path, runner: tuple[str, ...], framework: str) -> None:
    assert name_of(tmp_path, Settings(runner=runner)) == framework
    assert name_of(tmp_path, Settings(runner=runner, adapter="jest")) == "jest"


@pytest.mark.parametrize(
    ("runner", "framework"),
    [
        (("python", "-m", "pytest", "tests/jest"), "pytest"),
        (("python", "-m", "pytest", "tests/unittest"), "pytest"),
        (("npx", "vitest", "run", "src/jest"), "vitest"),
        (("npx", "jest", "playwright"), "jest"),
        (("node", "--test", "unittest"), "unittest"),
        (("node", "--test", "playwright"), "playwright"),
    ],
)
def test_of_two_frameworks_in_a_runner_the_python_one_counts_else_the_first_of_the_names(
    tmp_path: Path, runner: tuple[str, ...], framework: str
) -> None:
    assert name_of(tmp_path, Settings(runner=runner)) == framework


@pytest.mark.parametrize(
    ("files", "framework"),
    [
        ({"package.json": "{}"}, "node"),
        ({"package.json": '{"devDependencies": {"vitest": "3"}}'}, "vitest"),
        ({"package.json": '{"devDependencies": {"@playwright/test": "1"}}'}, "node"),
        ({"package.json": "{}", "jest.config.mjs": ""}, "jest"),
        ({"playwright.config.ts": ""}, "playwright"),
        ({"vitest.config.ts": "", "jest.config.js": ""}, "vitest"),
        ({"jest.config.js": "", "pytest.ini": ""}, "jest"),
        ({"pytest.ini": "", "package.json": "{}"}, "pytest"),
        ({"pyproject.toml": "[tool.pytest.ini_options]"}, "pytest"),
        ({"requirements.txt": "pytest>=8"}, "pytest"),
        ({"tests/conftest.py": ""}, "pytest"),
        ({"pyproject.toml": "", "package.json": "{}"}, "node"),
        ({"setup.py": ""}, "unittest"),
        ({"setup.py": "pytest"}, "unittest"),
        ({"Makefile": ""}, "custom"),
    ],
)
def test_the_files_tell_the_framework(tmp_path: Path, files: dict[str, str], framework: str) -> None:
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    assert name_of(tmp_path, Settings()) == framework


def test_a_link_tells_nothing_of_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("pytest")
    (tmp_path / "pyproject.toml").symlink_to("elsewhere")
    assert name_of(tmp_path, Settings()) == "unittest"


@pytest.mark.parametrize("name", frameworks.NAMES)
def test_a_given_adapter_imports_the_module_of_no_other_framework(tmp_path: Path, name: str) -> None:
    code = (
        "import sys\nfrom testlore import frameworks\nfrom testlore.project.settings import Settings\n"
        f"assert frameworks.of_project('.', Settings(adapter={name!r})).NAME == {name!r}\n"
        "print(*(one for one in frameworks.NAMES if f'testlore.frameworks.{one}' in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [name]


def test_a_name_that_no_framework_has_is_refused() -> None:
    with pytest.raises(ValueError, match=r"framework is 'os'; allowed: vitest, .*custom"):
        frameworks.framework("os")
