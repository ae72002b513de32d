"""The fixtures that the tests share; what is no fixture stands in ``helpers``."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from helpers import DOORS, Project, golden, ids
from hypothesis import settings
from node_helpers import install
from wheel_stand_in import WheelStandIn

#: For more examples than every run has time for: ``pytest --hypothesis-profile=thorough``.
settings.register_profile("thorough", max_examples=40_000, deadline=None)


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores: the tests often wait for the processes that they start."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session", autouse=True)
def _validated_suites_start_soon() -> Iterator[None]:
    """Validated suites need no plugin, and pytest starts in half the time without those of this environment.

    It is no module-level code, for this run's own workers need their plugins.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_state_and_trust(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The user's state is a folder of this run's own, and its disposable projects are trusted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("TESTLORE_TRUST", "1")
        yield


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh copy of a small project with seven episodes and native recall enabled."""
    return Project(golden("till", tmp_path / "till"))


@pytest.fixture
def one_door(request: pytest.FixtureRequest) -> list[str]:
    """One of the two doors for this case, so that a table of faults goes through both.

    Both doors ask the same session. Tests that name ``DOORS`` ask both.
    """
    return [DOORS[zlib.crc32(request.node.name.encode()) % len(DOORS)]]


@pytest.fixture(scope="session")
def lexical_ids(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The records, in order, that the same project answers with when native recall is disabled."""
    project = Project(golden("till", tmp_path_factory.mktemp("lexical") / "till"))
    project.configure({"enabled": False})
    answer = project.ask()
    assert answer["retrieval"] == "deterministic-lexical"
    assert answer["records"]
    return ids(answer)


@pytest.fixture(scope="session")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(golden("till", tmp_path_factory.mktemp("built") / "till"))
    assert project.ask_natively() == "built"
    return project


@pytest.fixture
def built(_built: Project, tmp_path: Path) -> Project:
    """The project with its index built by the real engine."""
    return _built.copied(tmp_path / "built")


@pytest.fixture
def sdk(tmp_path: Path) -> WheelStandIn:
    """A stand-in for the wheel that does what the real one does until it is broken."""
    return WheelStandIn(tmp_path / "sdk")


@pytest.fixture
def project_of_sdk(project: Project, sdk: WheelStandIn) -> Project:
    """The fresh project, answered by the stand-in."""
    return sdk.answering(project)


@pytest.fixture(scope="session")
def shared_folder(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Callable[[str, Callable[[Path], object]], Path]:
    """Makes a folder of a name once a session: the first of xdist's workers fills it, and all of them use it."""
    base = tmp_path_factory.getbasetemp()
    if hasattr(pytestconfig, "workerinput"):
        base = base.parent

    def make(name: str, fill: Callable[[Path], object]) -> Path:
        folder, whole = base / name, base / f"{name}.whole"
        with FileLock(base / f"{name}.lock"):
            if not whole.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                whole.touch()
        return folder

    return make


@pytest.fixture(scope="session")
def node_modules(shared_folder: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """The ``node_modules`` of the pinned ``@ruvector/core``, installed once by npm."""
    return shared_folder("node-sdk", install) / "node_modules"
