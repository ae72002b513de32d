"""The reference pages are complete: commands and options, configuration keys, tasks, keys of formats, rooms."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from docs_helpers import CONTRIBUTING, code, commands, options, prose, rows, section, tasks, text_of
from helpers import REPOSITORY
from test_house import FLOOR_OF
from testlore import engines, frameworks, schemas
from testlore.commands.formats import FORMATS
from testlore.project.settings import Settings
from testlore.tasks import task_recall

COMMANDS = "docs/commands.md"
CONFIGURATION = "docs/configuration.md"
DOIT = "docs/doit-and-ci.md"
FORMAT_PAGE = "docs/formats.md"

_NONE = "none"
_OF_SETTINGS = Settings()
#: What stands for each key that is not given; a key whose default is told in words has none here.
DEFAULTS = {
    "learning.enabled": _OF_SETTINGS.learning,
    "environment": _OF_SETTINGS.environment,
    "services": _OF_SETTINGS.services,
    "agent": _NONE,
    "validation.timeoutSeconds": _OF_SETTINGS.run_seconds,
    "evidence.repeats": _OF_SETTINGS.repeats,
    "evidence.mutants": _OF_SETTINGS.mutants,
    "plugins.ruvector.enabled": _OF_SETTINGS.enabled,
    "plugins.ruvector.runtime": _OF_SETTINGS.runtime,
    "plugins.ruvector.dimensions": _OF_SETTINGS.dimensions,
    "plugins.ruvector.timeoutMs": _OF_SETTINGS.timeout_ms,
    "plugins.ruvector.embedding.mode": _OF_SETTINGS.embedding,
    "plugins.ruvector.embedding.argv": _NONE,
    "plugins.ruvector.embedding.identity": _NONE,
}
TOLD_IN_WORDS = {"adapter", "runner"}


def keys(schema: Any, path: str = "") -> Iterator[str]:
    """The keys of a schema that hold no further named keys."""
    if "properties" not in schema:
        yield path
        return
    for name, inner in schema["properties"].items():
        yield from keys(inner, f"{path}.{name}" if path else name)


def test_every_configuration_key_is_told_with_its_default() -> None:
    told = {code(row[0])[0]: row for row in rows(section(CONFIGURATION, "Every key"))}
    assert set(told) == set(keys(schemas.load("config"))) == set(DEFAULTS) | TOLD_IN_WORDS
    for key, default in DEFAULTS.items():
        assert told[key][1] == (_NONE if default is _NONE else f"`{json.dumps(default)}`"), key
        assert told[key][2], key


def test_every_framework_is_told() -> None:
    told = [code(row[0])[0] for row in rows(section(CONFIGURATION, "Which test framework"))]
    allowed = schemas.load("config")["properties"]["adapter"]["enum"]
    assert sorted(told) == sorted(allowed)
    [adapter] = [row for row in rows(section(CONFIGURATION, "Every key")) if row[0] == "`adapter`"]
    assert sorted(code(adapter[2])) == sorted(allowed)
    assert frameworks.JUNIT in prose(CONFIGURATION)


def test_every_engine_is_told_and_allowed() -> None:
    [runtime] = [row for row in rows(section(CONFIGURATION, "Every key")) if row[0] == "`plugins.ruvector.runtime`"]
    assert set(engines.NAMES) <= set(code(runtime[2]))
    plugin = schemas.load("config")["properties"]["plugins"]["properties"]["ruvector"]["properties"]
    assert plugin["runtime"]["enum"] == list(engines.NAMES)


def test_every_output_format_is_told() -> None:
    [option] = [row for row in rows(section(COMMANDS, "recall")) if row[0].startswith("`--format")]
    assert code(option[2]) == list(FORMATS)
    assert f"format={'|'.join(FORMATS)}" in str(task_recall.__doc__)


def test_every_command_has_its_section_and_no_other_one_has() -> None:
    linked = {code_of_link(row[0]) for row in rows(prose(COMMANDS)) if "](#" in row[0]}
    assert linked == set(commands())


def code_of_link(cell: str) -> str:
    found = re.fullmatch(r"\[([\w-]+)\]\(#([\w-]+)\)", cell)
    assert found, cell
    assert found[1] == found[2]
    return found[1]


@pytest.mark.parametrize(
    "command", [line[3:] for line in text_of(COMMANDS).splitlines() if re.match(r"## (?!testlore-)[a-z-]+$", line)]
)
def test_every_option_of_a_command_is_told_and_no_other_one(command: str) -> None:
    arguments = " ".join(row[0] for row in rows(section(COMMANDS, command)))
    assert set(re.findall(r"--[a-z][a-z-]*", arguments)) == options(command)


def test_every_task_of_this_repository_is_told() -> None:
    told = prose(DOIT) + text_of(DOIT) + text_of(CONTRIBUTING)
    assert {task for task in tasks() if not re.search(rf"\b{task}\b", told)} == set()


@pytest.mark.parametrize(
    ("heading", "schema", "path"),
    [
        ("The store", "store", ("$defs", "record2", "properties")),
        ("The store", "store", ("$defs", "evidence2", "properties")),
        ("The store", "store", ("$defs", "store2", "properties")),
        ("The answer", "answer", ("$defs", "record", "properties")),
        ("The patch", "patch", ("properties",)),
        ("Candidate and validation", "validation", ("properties",)),
    ],
)
def test_every_key_of_a_format_is_told(heading: str, schema: str, path: tuple[str, ...]) -> None:
    described: Any = schemas.load(schema)
    for step in path:
        described = described[step]
    told = code(section(FORMAT_PAGE, heading))
    assert set(described) - set(told) == set()


def test_every_schema_is_linked() -> None:
    for path in (REPOSITORY / "schemas").glob("*.json"):
        assert f"(../schemas/{path.name})" in text_of(FORMAT_PAGE), path.name


def test_every_room_stands_on_the_map_with_its_floor() -> None:
    told = {
        name.removesuffix(".py").removesuffix("/"): int(row[0]) - 1
        for row in rows(section(CONTRIBUTING, "The map"))
        for name in code(row[1])
    }
    assert told == FLOOR_OF
