"""What pytest and unittest share."""

from __future__ import annotations

import re
import sys

#: Files that decide how Python tests run.
TOOL_FILES: tuple[str, ...] = (
    *("pyproject.toml", "setup.cfg", "setup.py", "pytest.ini", "tox.ini", "conftest.py", "noxfile.py"),
    *("requirements.txt", "requirements-dev.txt", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"),
)
TEST_SUPPORT: tuple[str, ...] = ("conftest.py", "noxfile.py")
PROTECTED: tuple[str, ...] = (
    *("pdm.toml", "pylock.toml", "Pipfile", "hatch.toml", "environment.yml", "environment.yaml", ".coveragerc"),
)

_OUTER = ("COV_CORE_", "COVERAGE_")  # pytest-cov and coverage.py, which then start in every child process


def program() -> str:
    """The interpreter that runs us."""
    return sys.executable


def is_test_file(path: str) -> bool:
    """Whether a Python file is a test by its name."""
    return re.fullmatch(r"(test_.*|.*_test|tests?)\.py", path.rpartition("/")[2]) is not None


def is_outer(variable: str) -> bool:
    """Whether an environment variable makes child processes measure their coverage for an outer run."""
    return variable.startswith(_OUTER)
