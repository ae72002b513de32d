"""The fixtures of the contract that every engine keeps; each is for the engine of the fixture ``runtime``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from helpers import Project, golden
from node_helpers import node_project
from node_stand_in import NodeStandIn
from stand_in import StandIn
from testlore import engines
from wheel_stand_in import WheelStandIn

RUNTIMES = tuple(engines.NAMES)

Build = Callable[[str], Project]

#: How a fresh project that an engine answers is made, and a stand-in for the engine's SDK. A new engine adds its own.
_PROJECTS: dict[str, Callable[[Path, pytest.FixtureRequest], Project]] = {
    "python": lambda root, _: Project(golden("till", root)),
    "node": lambda root, request: node_project(root, request.getfixturevalue("node_modules")),
}
_STAND_INS: dict[str, Callable[[Path, pytest.FixtureRequest], StandIn]] = {
    "python": lambda folder, _: WheelStandIn(folder),
    "node": lambda folder, request: NodeStandIn(folder, request.getfixturevalue("node_modules")),
}


@pytest.fixture(params=RUNTIMES)
def runtime(request: pytest.FixtureRequest) -> str:
    """The engine under test; a test that has faults of its own names it with them."""
    name: str = request.param
    return name


@pytest.fixture
def stand_in(runtime: str, tmp_path: Path, request: pytest.FixtureRequest) -> StandIn:
    """A stand-in SDK that does what the real one does until it is broken."""
    return _stand_in(runtime, tmp_path / "sdk", request)


@pytest.fixture
def project_of_stand_in(stand_in: StandIn, tmp_path: Path) -> Project:
    """A fresh project that the stand-in answers."""
    return stand_in.project(tmp_path / "till")


@pytest.fixture
def built_of_stand_in(stand_in: StandIn, _built_by_stand_in: Build, runtime: str, tmp_path: Path) -> Project:
    """The project with an index that a whole stand-in built; its key is that of every stand-in."""
    return stand_in.answering(_built_by_stand_in(runtime).copied(tmp_path / "built"))


@pytest.fixture
def unbuilt_of_stand_in(stand_in: StandIn, _built_by_stand_in: Build, runtime: str, tmp_path: Path) -> Project:
    """The project with all that an index is made from, validated and embedded, but without the index."""
    project = stand_in.answering(_built_by_stand_in(runtime).copied(tmp_path / "unbuilt"))
    project.database.unlink()
    project.metadata.unlink()
    return project


@pytest.fixture
def project_of_engine(runtime: str, tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    """A fresh project that the real engine answers."""
    return _project(runtime, tmp_path / "till", request)


@pytest.fixture
def built_by_engine(_built_by_engine: Build, runtime: str, tmp_path: Path) -> Project:
    """The project with its index built by the real engine."""
    return _built_by_engine(runtime).copied(tmp_path / "built")


@pytest.fixture(scope="session")
def _built_by_stand_in(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Build:
    @cache
    def build(runtime: str) -> Project:
        folder = tmp_path_factory.mktemp(f"stand-in-{runtime}")
        project = _stand_in(runtime, folder / "sdk", request).project(folder / "till")
        assert project.ask_natively() == "built"
        return project

    return build


@pytest.fixture(scope="session")
def _built_by_engine(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Build:
    @cache
    def build(runtime: str) -> Project:
        project = _project(runtime, tmp_path_factory.mktemp(f"engine-{runtime}") / "till", request)
        assert project.ask_natively() == "built"
        return project

    return build


def _project(runtime: str, root: Path, request: pytest.FixtureRequest) -> Project:
    return _PROJECTS[runtime](root, request)


def _stand_in(runtime: str, folder: Path, request: pytest.FixtureRequest) -> StandIn:
    return _STAND_INS[runtime](folder, request)
