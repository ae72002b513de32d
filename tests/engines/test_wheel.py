"""What is particular to the engine of the ``ruvector`` wheel."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import (
    DOORS,
    REPOSITORY,
    Project,
    falls_back,
    ids,
    libraries_without,
    states,
    with_files_up_to,
    without_powers,
    word,
)
from wheel_stand_in import WheelStandIn


def test_without_an_sdk_recall_is_lexical_until_it_is_installed(
    project: Project, lexical_ids: list[str], tmp_path: Path
) -> None:
    bare = project.with_env(PYTHONPATH=libraries_without("ruvector", tmp_path / "libraries"))
    for argv in (
        ["-m", "testlore", "recall", "--query", "zero boundary", "--json"],
        ["-m", "doit", "run", "-f", str(REPOSITORY / "dodo.py"), "recall", "query=zero boundary", "format=json"],
    ):
        arguments = [*argv, f"root={project.root}"] if "doit" in argv else argv
        done = bare.python("-S", *arguments)
        answer = json.loads(done.stdout)
        assert done.returncode == 0
        assert word(answer) == "ruvector-sdk-missing"
        assert ids(answer) == lexical_ids
    assert not set(states(project.cache)) & {"vectors.rvf", "vectors.json"}
    assert project.ask_natively() == "built"


def _without_record(sdk: WheelStandIn) -> None:
    sdk.record.rename(sdk.folder / "RECORD")


def _with_two_descriptions(sdk: WheelStandIn) -> None:
    (sdk.folder / "ruvector-0.1.3.dist-info").mkdir()


def _without_native_module(sdk: WheelStandIn) -> None:
    (sdk.folder / "ruvector/_native.py").rename(sdk.folder / "native")


def _unlistable(sdk: WheelStandIn) -> None:
    sdk.folder.chmod(0o311)


def _package_unlistable(sdk: WheelStandIn) -> None:
    (sdk.folder / "ruvector").chmod(0o311)


@pytest.mark.parametrize(
    "spoil", [_without_record, _with_two_descriptions, _without_native_module, _unlistable, _package_unlistable]
)
def test_an_sdk_that_is_no_whole_wheel_is_not_loaded(
    project_of_sdk: Project, sdk: WheelStandIn, lexical_ids: list[str], spoil: Callable[[WheelStandIn], None]
) -> None:
    spoil(sdk)
    sdk.break_with("open('loaded', 'w')")
    falls_back(project_of_sdk.confined(without_powers), "ruvector-sdk-invalid", lexical_ids)
    assert not (project_of_sdk.root / "loaded").exists()


@pytest.mark.parametrize("door", DOORS)
def test_an_index_is_answered_from_on_a_disk_that_is_full(built: Project, door: str) -> None:
    before = states(built.cache)
    assert built.confined(with_files_up_to(0)).ask_natively(door) == "reused"
    assert states(built.cache) == before
