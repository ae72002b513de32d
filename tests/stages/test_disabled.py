"""What is disabled or missing makes nothing: no SDK is loaded, no cache and no folder is made."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from helpers import (
    DOORS,
    Project,
    ids,
    state,
    word,
)
from wheel_stand_in import WheelStandIn


def _disabled(project: Project) -> None:
    project.configure({"enabled": False})


def _without_plugin(project: Project) -> None:
    (project.root / "tddswarm.config.json").write_text('{"adapter": "node"}')


def _without_configuration(project: Project) -> None:
    (project.root / "tddswarm.config.json").unlink()


@pytest.mark.parametrize("disable", [_disabled, _without_plugin, _without_configuration])
def test_a_disabled_plugin_loads_no_sdk_and_makes_no_cache(
    project_of_sdk: Project, sdk: WheelStandIn, lexical_ids: list[str], disable: Callable[[Project], None]
) -> None:
    project = project_of_sdk
    disable(project)
    sdk.break_with("open('loaded', 'w')")
    before = sorted(project.root.rglob("*"))
    for door in DOORS:
        answer = project.ask(door)
        assert word(answer) == ""
        assert ids(answer) == lexical_ids
    assert project.doit().returncode == 0
    assert project.doit("clean").returncode == 0
    assert project.testlore("doctor").returncode == 0
    assert sorted(project.root.rglob("*")) == before


def test_learning_that_is_disabled_overrides_the_plugin(project_of_sdk: Project, sdk: WheelStandIn) -> None:
    project = project_of_sdk
    project.configure(learning={"enabled": False})
    sdk.break_with("open('loaded', 'w')")
    before = sorted(project.root.rglob("*"))
    for door in DOORS:
        assert project.ask(door) == {"records": [], "advisoryOnly": True, "reason": "learning-disabled"}
    assert project.doit().returncode == 0
    assert sorted(project.root.rglob("*")) == before


def test_learning_that_was_disabled_later_leaves_the_cache_as_it_is(built: Project) -> None:
    built.configure(learning={"enabled": False})
    before = {path.name: state(path) for path in built.cache.iterdir()}
    for door in DOORS:
        assert built.ask(door)["reason"] == "learning-disabled"
    assert built.doit().returncode == 0
    assert {path.name: state(path) for path in built.cache.iterdir()} == before


def test_a_project_without_a_memory_gets_no_folders(project: Project) -> None:
    shutil.rmtree(project.root / ".tddswarm")
    for door in DOORS:
        answer = project.ask(door)
        assert answer["reason"].startswith("no-memory")
    project.doit()
    assert not (project.root / ".tddswarm").exists()
