"""An index that is damaged is left for inspection, whatever engine made it, until it is cleaned away."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from episodes import make_episode
from helpers import INDEX_FILES, Project, content, falls_back, seal_file, states
from stand_in import CORRUPT, StandIn
from testlore import canonical

MISMATCH = "ruvector-cache-scope-mismatch"

Damage = Callable[[Project], object]
Others = Callable[[str, int, int], Project]


@pytest.fixture(scope="session")
def others(tmp_path_factory: pytest.TempPathFactory, _built_by_engine: Callable[[str], Project]) -> Others:
    """Projects with an index of the same engine, of another store with so many records and of so many dimensions."""

    @cache
    def build(runtime: str, records: int, dimensions: int) -> Project:
        other = _built_by_engine(runtime).copied(tmp_path_factory.mktemp("others") / "till")
        other.configure({"dimensions": dimensions})
        other.write_store([make_episode(number, f"another {number}") for number in range(records)])
        assert other.ask_natively(query="another") == "built"
        return other

    return build


def rewritten(edit: Callable[[bytes], bytes]) -> Damage:
    return lambda project: project.database.write_bytes(edit(project.database.read_bytes()))


def sealed(edit: Callable[[bytes], bytes]) -> Damage:
    """The database rewritten, and metadata that fits it."""

    def damage(project: Project) -> None:
        database = edit(project.database.read_bytes())
        project.database.write_bytes(database)
        seal_file(project.metadata, bytes=len(database), digest=canonical.digest(database))

    return damage


def described(**changes: Any) -> Damage:
    """Metadata with these changes, sealed anew."""
    return lambda project: seal_file(project.metadata, **changes)


def half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def make_huge(project: Project) -> None:
    with project.database.open("r+b") as file:
        file.truncate((16 << 20) + 1)


def make_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def edit_metadata(project: Project) -> None:
    text = project.metadata.read_text()
    edited = text.replace('"dimensions":128', '"dimensions":129')
    assert edited != text
    project.metadata.write_text(edited)


def reverse_ids(project: Project) -> None:
    seal_file(project.metadata, ids=canonical.loads(project.metadata.read_bytes())["ids"][::-1])


DAMAGED: dict[str, tuple[Damage, str]] = {
    "database cut in half": (rewritten(half), CORRUPT),
    "database emptied": (rewritten(lambda data: b""), CORRUPT),
    "database appended to": (rewritten(lambda data: data + b"\0"), CORRUPT),
    "database with one bit flipped": (rewritten(flipped), CORRUPT),
    "database missing": (lambda project: project.database.unlink(), CORRUPT),
    "database a folder": (lambda project: make_a_folder(project.database), CORRUPT),
    "database too large": (make_huge, CORRUPT),
    "metadata cut": (lambda project: project.metadata.write_bytes(project.metadata.read_bytes()[:-9]), CORRUPT),
    "metadata with a broken seal": (edit_metadata, CORRUPT),
    "metadata a folder": (lambda project: make_a_folder(project.metadata), CORRUPT),
    "metadata of other ids": (described(ids=["0" * 64] * 7), MISMATCH),
    "metadata of ids in another order": (reverse_ids, MISMATCH),
    "metadata of fewer ids": (described(ids=[]), MISMATCH),
    "metadata of no ids": (described(ids=None), MISMATCH),
    "metadata of other dimensions": (described(dimensions=64), MISMATCH),
}
#: What is sealed in place of the database, and what that is to an engine.
SEALED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "half": (half, "half"),
    "nothing": (lambda data: b"", "nothing"),
    "a text": (lambda data: b"no database at all" * 100, "garbage"),
    "as many other bytes": (lambda data: bytes(range(256)) * (len(data) // 256), "garbage"),
}


def is_left_for_inspection(project: Project, expected: str, lexical_ids: list[str], doors: list[str]) -> None:
    before = states(project.cache)
    falls_back(project, expected, lexical_ids, doors)
    assert states(project.cache) == before


def cases(damages: dict[str, Any]) -> list[Any]:
    return [pytest.param(*damage, id=name.replace(" ", "-")) for name, damage in damages.items()]


@pytest.mark.parametrize(("damage", "expected"), cases(DAMAGED))
def test_a_damaged_index_is_not_used_and_left_as_it_is(
    built_by_engine: Project, lexical_ids: list[str], damage: Damage, expected: str, one_door: list[str]
) -> None:
    damage(built_by_engine)
    is_left_for_inspection(built_by_engine, expected, lexical_ids, one_door)


@pytest.mark.parametrize(
    "name", ["database cut in half", "database a folder", "metadata a folder", "metadata cut", "metadata of no ids"]
)
def test_a_damaged_index_is_built_anew_once_it_is_cleaned_away(built_by_engine: Project, name: str) -> None:
    damage, _ = DAMAGED[name]
    damage(built_by_engine)
    cleaned = built_by_engine.doit("clean")
    assert cleaned.returncode == 0, cleaned.stderr
    assert not built_by_engine.cache.exists()
    assert built_by_engine.ask_natively() == "built"


@pytest.mark.parametrize("door", ["testlore", "doit"])
def test_an_index_that_was_removed_by_hand_is_built_anew(built_by_engine: Project, door: str) -> None:
    shutil.rmtree(built_by_engine.cache)
    assert built_by_engine.ask_natively(door) == "built"


@pytest.mark.parametrize(
    ("records", "dimensions", "resealed"),
    [(7, 128, False), (6, 128, True), (7, 64, True)],
    ids=["of-another-store", "sealed-and-of-fewer-rows", "sealed-and-of-other-dimensions"],
)
def test_a_database_of_the_same_engine_that_is_another_is_not_used(
    built_by_engine: Project,
    others: Others,
    lexical_ids: list[str],
    records: int,
    dimensions: int,
    resealed: bool,
    one_door: list[str],
) -> None:
    database = others(built_by_engine.runtime, records, dimensions).database.read_bytes()
    (sealed if resealed else rewritten)(lambda _: database)(built_by_engine)
    is_left_for_inspection(built_by_engine, CORRUPT, lexical_ids, one_door)


@pytest.mark.parametrize("what", list(SEALED))
def test_what_is_no_database_is_no_index_though_it_was_sealed(
    built_by_engine: Project, stand_in: StandIn, lexical_ids: list[str], what: str, one_door: list[str]
) -> None:
    edit, kind = SEALED[what]
    sealed(edit)(built_by_engine)
    is_left_for_inspection(built_by_engine, stand_in.SEALED[kind], lexical_ids, one_door)


def test_an_index_of_another_store_is_replaced(built_by_engine: Project, others: Others) -> None:
    other = others(built_by_engine.runtime, 7, 128)
    for name in INDEX_FILES[built_by_engine.runtime]:
        shutil.copy(other.cache / name, built_by_engine.cache)
    assert content(built_by_engine.database) == content(other.database)
    assert built_by_engine.ask_natively() == "built"
    assert built_by_engine.ask_natively() == "reused"
