"""The fixtures that the tests share; what is no fixture stands in ``helpers``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from helpers import Project, Sdk, golden, ids


def _copy(source: Path, target: Path) -> Path:
    return Path(shutil.copytree(source, target, symlinks=True))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh copy of a small project with seven episodes and native recall enabled."""
    return Project(golden("till", tmp_path / "till"))


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
def _built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = Project(golden("till", tmp_path_factory.mktemp("built") / "till"))
    assert project.ask_natively() == "built"
    return project.root


@pytest.fixture
def built(_built: Path, tmp_path: Path) -> Project:
    """The project with its index built by the real engine."""
    return Project(_copy(_built, tmp_path / "built"))


@pytest.fixture
def sdk(tmp_path: Path) -> Sdk:
    """A stand-in SDK that does what the real one does until it is broken."""
    return Sdk(tmp_path / "sdk")


@pytest.fixture(scope="session")
def _built_with_stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stand-in")
    project = Project(golden("till", folder / "till"), Sdk(folder / "sdk").env)
    assert project.ask_natively() == "built"
    return project.root


@pytest.fixture
def project_of_sdk(project: Project, sdk: Sdk) -> Project:
    """The fresh project, answered by the stand-in."""
    return project.with_env(**sdk.env)


@pytest.fixture
def built_with_sdk(_built_with_stand_in: Path, tmp_path: Path, sdk: Sdk) -> Project:
    """The project with an index that the stand-in built; its key is that of every whole stand-in."""
    return Project(_copy(_built_with_stand_in, tmp_path / "built"), sdk.env)
