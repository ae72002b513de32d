"""A wrong value is named with what it was and what is allowed; inside the plugin it costs no answer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from helpers import DOORS, Json, Project, ids, without_powers, word
from testlore.errors import Unusable
from testlore.project import settings
from wheel_stand_in import WheelStandIn


def _any(*values: Any) -> tuple[Any, ...]:
    return values


PLUGIN: list[tuple[str, Json]] = [
    *(("dimensions", {"dimensions": wrong}) for wrong in _any(15, 2049, 128.5, "128", True, None, [128], -1, 1e30)),
    *(("timeoutMs", {"timeoutMs": wrong}) for wrong in _any(99, 60_001, 0.5, "1000", False, {})),
    *(("enabled", {"enabled": wrong}) for wrong in _any("yes", 1, None)),
    *(("runtime", {"runtime": wrong}) for wrong in _any("java", "Python", 1, None)),
    *(("embedding", {"embedding": wrong}) for wrong in _any("feature-vectors", [], None)),
    *(("embedding.mode", {"embedding": {"mode": wrong}}) for wrong in _any("semantic", 1, None)),
    ("embedding", {"embedding": {"mode": "command"}}),
    ("'argv'", {"embedding": {"mode": "command", "identity": "x"}}),
    ("'identity'", {"embedding": {"mode": "command", "argv": ["x"]}}),
    *(
        ("embedding.argv", {"embedding": {"mode": "command", "identity": "x", "argv": wrong}})
        for wrong in _any([], ["x"] * 33, ["x", ""], ["x\0"], ["x\ud800"], ["x" * 4097], "x", [1])
    ),
    *(
        ("embedding.identity", {"embedding": {"mode": "command", "argv": ["x"], "identity": wrong}})
        for wrong in _any("", "  \t", "x" * 129, 1)
    ),
    ("'dimension'", {"dimension": 128}),
    ("'model'", {"embedding": {"mode": "feature-vectors", "model": "x"}}),
]


def _data(plugin: Any, **others: Any) -> bytes:
    return json.dumps({"adapter": "node", "plugins": {"ruvector": plugin}, **others}).encode()


@pytest.mark.parametrize(("key", "changes"), PLUGIN)
def test_a_mistake_inside_the_plugin_is_named(key: str, changes: Json) -> None:
    parsed = settings.parse(_data({"enabled": True, **changes}))
    assert key in parsed.plugin_problem
    assert "plugins.ruvector" in parsed.plugin_problem
    assert "allowed" in parsed.plugin_problem or "lacks" in parsed.plugin_problem
    assert not parsed.enabled


@pytest.mark.parametrize("plugin", [None, [], "on", True])
def test_a_plugin_that_is_no_object_is_named(plugin: object) -> None:
    assert "plugins.ruvector" in settings.parse(_data(plugin)).plugin_problem


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dimensions": 15}, ["plugins.ruvector.dimensions", "is 15", "16 to 2048"]),
        ({"timeoutMs": "fast"}, ["plugins.ruvector.timeoutMs", '"fast"', "100 to 60000"]),
        ({"runtime": "java"}, ["plugins.ruvector.runtime", '"java"', "python or node"]),
        ({"dimension": 128}, ["'dimension'", "dimensions"]),
        ({"embedding": {"mode": "command"}}, ["plugins.ruvector.embedding", "argv"]),
    ],
)
def test_a_mistake_inside_the_plugin_costs_no_answer(
    project_of_sdk: Project,
    sdk: WheelStandIn,
    lexical_ids: list[str],
    changes: Json,
    said: list[str],
    one_door: list[str],
) -> None:
    project = project_of_sdk
    project.configure(changes)
    sdk.break_with("open('loaded', 'w')")
    before = sorted(project.root.rglob("*"))
    for door in one_door:
        answer = project.ask(door)
        assert word(answer) == "ruvector-invalid-settings"
        assert ids(answer) == lexical_ids
        for part in said:
            assert part in answer["warnings"][-1]
    plain = project.doit()
    assert plain.returncode == 1
    assert "ruvector-invalid-settings" in plain.stderr
    assert sorted(project.root.rglob("*")) == before


@pytest.mark.parametrize("runtime", ["python", "node"])
def test_every_runtime_that_is_allowed_gives_an_answer(project: Project, runtime: str) -> None:
    project.configure({"runtime": runtime})
    for door in DOORS:
        answer = project.ask(door)
        assert answer["records"]
        assert answer["retrieval"] == "ruvector" or word(answer).startswith("ruvector-")


ELSEWHERE: list[tuple[str, Json]] = [
    ("learning", {"learning": True}),
    *(("learning.enabled", {"learning": {"enabled": wrong}}) for wrong in _any("no", 0, None)),
    *(("adapter", {"adapter": wrong}) for wrong in _any("mocha", "", None, 1)),
    *(
        ("runner", {"runner": wrong})
        for wrong in _any("pytest {files}", [], ["pytest"], ["{files}", "{files}"], ["", "{files}"], [1, "{files}"])
    ),
    *(("environment", {"environment": wrong}) for wrong in _any([], {"os": 1}, "linux")),
    *(("services", {"services": wrong}) for wrong in _any([], {"db": 15}, None)),
    *(("agent", {"agent": wrong}) for wrong in _any("agent", [], [""], ["x\0"])),
    *(("plugins", {"plugins": wrong}) for wrong in _any([], None, "ruvector")),
]


@pytest.mark.parametrize(("key", "changes"), ELSEWHERE)
def test_a_mistake_elsewhere_is_named_with_what_is_allowed(key: str, changes: Json) -> None:
    with pytest.raises(Unusable) as caught:
        settings.parse(json.dumps(changes).encode())
    assert caught.value.reason == "configuration-invalid"
    assert caught.value.detail.startswith(key)
    assert "allowed" in caught.value.detail


BAD_FILES = {
    "empty": b"",
    "blank": b" \n",
    "not JSON": b"{",
    "a list": b"[]",
    "null": b"null",
    "with a byte order mark": b"\xef\xbb\xbf{}",
    "in UTF-16": "{}".encode("utf-16"),
    "with NaN": b'{"other": NaN}',
    "nested too deeply": b'{"other": ' + b"[" * 100_000,
    "deep where text is wanted": b'{"adapter": ' + b"[" * 900 + b"]" * 900 + b"}",
    "too large": b'{"other": "' + b"x" * (1 << 20) + b'"}',
    "a mistake": b'{"adapter": "mocha"}',
}


@pytest.mark.parametrize("data", [pytest.param(data, id=name.replace(" ", "-")) for name, data in BAD_FILES.items()])
def test_a_configuration_that_cannot_be_understood_ends_with_2(
    project: Project, data: bytes, one_door: list[str]
) -> None:
    (project.root / settings.CONFIG_FILE).write_bytes(data)
    for door in one_door:
        answer = project.ask(door, status=2)
        assert answer["records"] == []
        assert answer["reason"].startswith("configuration-invalid: ")
    assert not project.cache.exists()


def _link(project: Project) -> None:
    path = project.root / settings.CONFIG_FILE
    path.rename(project.root / "elsewhere.json")
    path.symlink_to("elsewhere.json")


def _dangling_link(project: Project) -> None:
    (project.root / settings.CONFIG_FILE).unlink()
    (project.root / settings.CONFIG_FILE).symlink_to("nowhere")


def _folder(project: Project) -> None:
    (project.root / settings.CONFIG_FILE).unlink()
    (project.root / settings.CONFIG_FILE).mkdir()


def _pipe(project: Project) -> None:
    (project.root / settings.CONFIG_FILE).unlink()
    os.mkfifo(project.root / settings.CONFIG_FILE)


def _unreadable(project: Project) -> None:
    (project.root / settings.CONFIG_FILE).chmod(0)


@pytest.mark.parametrize("spoil", [_link, _dangling_link, _folder, _pipe, _unreadable])
def test_a_configuration_that_is_no_plain_file_ends_with_2(project: Project, spoil: Callable[[Project], None]) -> None:
    spoil(project)
    bound = project.confined(without_powers)
    for door in DOORS:
        assert bound.ask(door, status=2)["reason"].startswith("configuration-invalid: ")
    assert bound.doit().returncode == 2


def test_keys_of_other_tools_are_left_alone(project: Project) -> None:
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    project.configure(other={"tool": [1, 2]}, deep=deep)
    assert project.ask_natively() == "built"
    assert project.ask_natively("doit") == "reused"


def test_defaults_stand_for_what_is_not_given() -> None:
    parsed = settings.parse(b'{"plugins": {"ruvector": {"enabled": true}}}')
    assert parsed.enabled
    assert (parsed.dimensions, parsed.timeout_ms, parsed.embedding, parsed.runtime) == (
        *(128, 10_000, "feature-vectors", "python"),
    )
    assert settings.parse(b"{}")._replace(config_digest="") == settings.Settings()
    assert settings.parse(b"") == settings.Settings()


@pytest.mark.parametrize(
    "plugin",
    [
        {"dimensions": 16, "timeoutMs": 60_000},
        {"dimensions": 2048, "timeoutMs": 60_000},
        {"dimensions": 128.0},
    ],
)
def test_values_at_their_bounds_are_taken(project: Project, plugin: Json) -> None:
    project.configure(plugin)
    assert project.ask_natively() == "built"
