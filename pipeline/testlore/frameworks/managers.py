"""Runners that start the tests through a manager of Python environments, such as ``poetry run pytest``.

A manager keeps an environment for each folder. In a copy of the project it would make a new one, and leave it behind;
or it would find no pytest, or another one. So the program of the project's own environment is started instead.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from testlore.errors import Refusal
from testlore.frameworks import FILES, programs

# The folder in which some managers keep a project's environment, if they keep it in the project.
_FOLDER = ".venv"
_IN_PROJECT = ("poetry", "pipenv", "uv", "pdm", "rye")

# How to find or make the environment of a project, by the name of the manager.
_WHERE = {
    "poetry": "`poetry env info --path` says where it is",
    "pipenv": "`pipenv --venv` says where it is",
    "pdm": "`pdm info --env` says where it is",
    "hatch": "`hatch env find` says where it is",
    "pixi": "`pixi info` says where it is",
    "uv": f"`uv sync` makes it in {_FOLDER}",
    "uvx": f"`uv venv` makes one in {_FOLDER}",
    "rye": f"`rye sync` makes it in {_FOLDER}",
    "tox": f"`tox devenv {_FOLDER}` makes one",
}

# Options before the program that say nothing about which environment it is.
_HARMLESS = ("--", "--frozen", "--locked", "--no-sync", "--offline", "--quiet", "-q", "-s")


def unmanaged(root: str, runner: Sequence[str]) -> list[str]:
    """A runner that starts a program of the project's own environment without its manager; any other as it is.

    Args:
        root: the original project.

    Raises:
        Refusal: ``runner-missing``: we do not know which environment it is.
    """
    parts = list(runner[2:] if runner[1:2] == ("-m",) else runner)  # python -m poetry run
    manager = next(iter(programs(parts)), "")
    if manager not in _WHERE:
        return list(runner)
    rest = parts[2:]
    while rest and rest[0] in _HARMLESS:
        rest.pop(0)
    if manager in _IN_PROJECT and parts[1:2] == ["run"] and rest:
        program = os.path.join(_FOLDER, "bin", rest[0])
        if os.path.basename(rest[0]) == rest[0] and os.path.isfile(os.path.join(root, program)):
            return [program, *rest[1:]]
    raise Refusal(
        "runner-missing",
        f"runner is {list(runner)}; {manager} would make another environment for each copy of the project. Allowed: "
        f'["ENVIRONMENT/bin/python", "-m", "pytest", "{FILES}"] and the like, with an environment that exists; '
        f"{_WHERE[manager]}",
    )
