"""Runners that start the tests through a manager of Python environments."""

from __future__ import annotations

from pathlib import Path

import pytest
from testlore.errors import Refusal
from testlore.frameworks import managers


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A project with an environment of its own."""
    programs = tmp_path / ".venv/bin"
    programs.mkdir(parents=True)
    for name in ("python", "pytest"):
        (programs / name).touch()
    return str(tmp_path)


@pytest.mark.parametrize(
    ("runner", "expected"),
    [
        (("poetry", "run", "pytest", "-q", "{files}"), [".venv/bin/pytest", "-q", "{files}"]),
        (("/usr/bin/pipenv", "run", "python", "-m", "pytest"), [".venv/bin/python", "-m", "pytest"]),
        (("python3", "-m", "poetry", "run", "pytest"), [".venv/bin/pytest"]),
        (("uv", "run", "--frozen", "--", "pytest"), [".venv/bin/pytest"]),
        (("pdm", "run", "-s", "pytest"), [".venv/bin/pytest"]),
        (("rye", "run", "pytest"), [".venv/bin/pytest"]),
        (("python", "-m", "pytest", "uv"), ["python", "-m", "pytest", "uv"]),
        (("npx", "vitest"), ["npx", "vitest"]),
        ((), []),
    ],
)
def test_the_program_of_the_projects_own_environment_is_started(
    root: str, runner: tuple[str, ...], expected: list[str]
) -> None:
    assert managers.unmanaged(root, runner) == expected


@pytest.mark.parametrize(
    ("runner", "way_out"),
    [
        (("uv", "run", "--with", "x", "pytest", "{files}"), "uv sync"),
        (("uv", "run", "nothing", "{files}"), "uv sync"),
        (("uv", "run"), "uv sync"),
        (("uvx", "pytest", "{files}"), "uv venv"),
        (("poetry", "run", "../../bin/pytest"), "poetry env info --path"),
        (("hatch", "run", "pytest", "{files}"), "hatch env find"),
        (("hatch", "test", "{files}"), "hatch env find"),
        (("pixi", "run", "pytest"), "pixi info"),
        (("tox", "--", "--junitxml={junit}", "{files}"), "tox devenv"),
        (("python", "-m", "tox", "{files}"), "tox devenv"),
    ],
)
def test_where_the_environment_is_not_known_the_refusal_says_what_to_write(
    root: str, runner: tuple[str, ...], way_out: str
) -> None:
    with pytest.raises(Refusal, match=rf'runner-missing: .*ENVIRONMENT/bin/python", "-m", "pytest".*{way_out}'):
        managers.unmanaged(root, runner)


def test_a_project_without_an_environment_in_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="poetry env info --path"):
        managers.unmanaged(str(tmp_path), ("poetry", "run", "pytest", "{files}"))
