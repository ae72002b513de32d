"""Whatever ``@ruvector/core``, its cache or the machine does, recall answers, says why, and mends itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import (
    DOORS,
    content,
    ids,
    is_alive,
    seal_file,
    states,
    wait_until,
    with_files_up_to,
    without_powers,
    word,
)
from node_helpers import NodeProject, NodeSdk, copy_of, installed, node_project
from testlore import canonical

CORRUPT, MISMATCH = "ruvector-cache-corrupt", "ruvector-cache-scope-mismatch"
FAILED, INVALID = "ruvector-worker-failed", "ruvector-invalid-worker-output"

LOADING = {
    "does not import": ("throw new Error('undefined symbol')", "ruvector-native-load-failed"),
    "throws nothing at import": ("throw null", "ruvector-native-load-failed"),
    "exports nothing": ("sdk = null", "ruvector-sdk-api-mismatch"),
    "has no database": ("delete sdk.VectorDb", "ruvector-sdk-api-mismatch"),
    "has no search": ("delete VectorDb.prototype.search", "ruvector-sdk-api-mismatch"),
    "exits": ("process.exit(3)", FAILED),
    "leaves without an answer": ("process.exit(0)", INVALID),
    "crashes by a signal": ("process.kill(process.pid, 'SIGSEGV')", FAILED),
    "aborts": ("process.abort()", FAILED),
    "prints a banner": ("console.log('RuVector!')", INVALID),
    "prints bytes that are no text": ("fs.writeSync(1, Buffer.from([255])); process.exit(0)", INVALID),
    "prints a list": ("fs.writeSync(1, '[]'); process.exit(0)", INVALID),
    "prints two objects": ("fs.writeSync(1, '{}')", INVALID),
    "prints too much": ("fs.writeSync(1, Buffer.alloc(2 << 20)); process.exit(0)", INVALID),
}

SEARCHING = {
    "fabricates a row": ("found[0].id = '999'", INVALID),
    "fabricates a negative row": ("found[0].id = '-1'", INVALID),
    "fabricates an id": ("found[0].id = 'an episode'", INVALID),
    "writes a row otherwise": ("found[0].id = '00'", INVALID),
    "doubles a row": ("found[1].id = found[0].id", INVALID),
    "appends a double": ("found.push(found[0])", INVALID),
    "answers NaN": ("found[0].score = NaN", INVALID),
    "answers infinity": ("found[0].score = Infinity", INVALID),
    "answers a distance too far": ("found[0].score = 2.1", INVALID),
    "answers a negative distance": ("found[0].score = -0.1", INVALID),
    "answers a text": ("found[0].score = '0.1'", INVALID),
    "leaves out a row": ("found.pop()", INVALID),
    "finds nothing": ("found.length = 0", "ruvector-no-valid-hits"),
    "finds no list": ("return {}", FAILED),
    "never answers": ("await new Promise(() => {})", INVALID),
    "fails": ("throw new Error('broken')", FAILED),
    "crashes": ("process.kill(process.pid, 'SIGSEGV')", FAILED),
}

BUILDING = {
    "writes no file": ("sdk.VectorDb = class { insertBatch() {} search() {} async len() { return 7; } }", INVALID),
    "counts wrong": ("VectorDb.prototype.len = async () => 6", INVALID),
    "fails to create": (
        "sdk.VectorDb = class { constructor() { null.x; } insertBatch() {} len() {} search() {} }",
        FAILED,
    ),
    "crashes while it inserts": ("VectorDb.prototype.insertBatch = () => process.abort()", FAILED),
}


def cases(faults: dict[str, tuple[Any, str]]) -> list[Any]:
    return [pytest.param(*fault, id=name.replace(" ", "-")) for name, fault in faults.items()]


@pytest.fixture(scope="session")
def _built_by_node(tmp_path_factory: pytest.TempPathFactory) -> NodeProject:
    project = node_project(tmp_path_factory.mktemp("node") / "till", installed())
    assert project.ask_natively() == "built"
    return project


@pytest.fixture
def node_built(_built_by_node: NodeProject, tmp_path: Path) -> NodeProject:
    """A project with its index built by the real engine."""
    return copy_of(_built_by_node, tmp_path / "built")


@pytest.fixture(scope="session")
def _node_sdk(tmp_path_factory: pytest.TempPathFactory) -> NodeSdk:
    return NodeSdk(tmp_path_factory.mktemp("node-sdk"))


@pytest.fixture(scope="session")
def _built_by_stand_in(_node_sdk: NodeSdk, tmp_path_factory: pytest.TempPathFactory) -> NodeProject:
    project = node_project(tmp_path_factory.mktemp("stand-in") / "till", _node_sdk.modules)
    assert project.ask_natively() == "built"
    return project


@pytest.fixture
def node_sdk(_node_sdk: NodeSdk, _built_by_stand_in: NodeProject) -> Iterator[NodeSdk]:
    """A stand-in SDK that does what the real one does until it is broken."""
    yield _node_sdk
    _node_sdk.break_with("")


@pytest.fixture
def project_of_sdk(node_sdk: NodeSdk, tmp_path: Path) -> NodeProject:
    return node_project(tmp_path / "till", node_sdk.modules)


@pytest.fixture
def built_of_sdk(_built_by_stand_in: NodeProject, node_sdk: NodeSdk, tmp_path: Path) -> NodeProject:
    return copy_of(_built_by_stand_in, tmp_path / "built")


def databases(project: NodeProject) -> list[str]:
    """What an engine made in the cache, temporary files and metadata included."""
    return [name for name in states(project.cache) if name.startswith("vectors")]


def falls_back(project: NodeProject, expected: str, lexical_ids: list[str]) -> None:
    """Asked through both doors, it answers what a disabled plugin would, and says why."""
    for door in DOORS:
        answer = project.ask(door)
        assert answer["retrieval"] == "deterministic-lexical"
        assert ids(answer) == lexical_ids
        assert word(answer) == expected, answer["warnings"]


@pytest.mark.parametrize(("code", "expected"), cases(LOADING))
def test_a_broken_sdk_is_survived_and_leaves_nothing_behind(
    project_of_sdk: NodeProject, node_sdk: NodeSdk, lexical_ids: list[str], code: str, expected: str
) -> None:
    node_sdk.break_with(code)
    falls_back(project_of_sdk, expected, lexical_ids)
    assert not databases(project_of_sdk)
    node_sdk.mend()
    assert project_of_sdk.ask_natively() == "built"


@pytest.mark.parametrize(("code", "expected"), cases(SEARCHING))
def test_an_answer_that_cannot_be_true_is_not_used_and_the_index_stays(
    built_of_sdk: NodeProject, node_sdk: NodeSdk, lexical_ids: list[str], code: str, expected: str
) -> None:
    before = states(built_of_sdk.cache)
    search = "VectorDb.prototype.search = async function (query) { const found = await this.db.search(query);"
    node_sdk.break_with(f"{search}\n{code};\nreturn found; }}")
    falls_back(built_of_sdk, expected, lexical_ids)
    assert states(built_of_sdk.cache) == before
    node_sdk.mend()
    assert built_of_sdk.ask_natively() == "reused"


@pytest.mark.parametrize(("code", "expected"), cases(BUILDING))
def test_an_index_that_was_not_built_whole_is_not_kept(
    project_of_sdk: NodeProject, node_sdk: NodeSdk, lexical_ids: list[str], code: str, expected: str
) -> None:
    node_sdk.break_with(code)
    falls_back(project_of_sdk, expected, lexical_ids)
    assert not databases(project_of_sdk)
    node_sdk.mend()
    assert project_of_sdk.ask_natively("doit") == "built"


@pytest.mark.parametrize("where", ["while it loads", "while it searches"])
def test_an_engine_that_hangs_is_killed_with_its_children(
    built_of_sdk: NodeProject, node_sdk: NodeSdk, lexical_ids: list[str], tmp_path: Path, where: str
) -> None:
    built_of_sdk.configure({"timeoutMs": 1000})
    assert built_of_sdk.ask_natively() == "reused"
    pids = tmp_path / "pids"
    hang = (
        "const child = require('node:child_process').spawn('sleep', ['60']);"
        f"fs.writeFileSync({str(pids)!r}, `${{process.pid}} ${{child.pid}}`); for (;;);"
    )
    node_sdk.break_with(hang if where == "while it loads" else f"VectorDb.prototype.search = () => {{ {hang} }}")
    before = states(built_of_sdk.cache)
    start = time.monotonic()
    answer = built_of_sdk.ask()
    assert time.monotonic() - start < 3
    assert (word(answer), ids(answer)) == ("ruvector-worker-timeout", lexical_ids)
    assert states(built_of_sdk.cache) == before
    for pid in pids.read_text().split():
        assert wait_until(lambda pid=pid: not is_alive(int(pid)))  # type: ignore[misc]


def reseal_database(project: NodeProject) -> None:
    """Let the metadata fit whatever the database is now."""
    data = project.database.read_bytes()
    seal_file(project.metadata, bytes=len(data), digest=canonical.digest(data))


def another_database(project: NodeProject, **plugin: Any) -> bytes:
    """A database that the same engine made of other episodes, or with other settings."""
    other = copy_of(project, project.root.with_name("other"))
    if plugin:
        other.configure(plugin)
    else:
        other.write_store(other.records()[:-1])
    assert other.ask_natively() == "built"
    return other.database.read_bytes()


def change(edit: Callable[[bytes], bytes], *, resealed: bool = False) -> Callable[[NodeProject], None]:
    def damage(project: NodeProject) -> None:
        project.database.write_bytes(edit(project.database.read_bytes()))
        if resealed:
            reseal_database(project)

    return damage


def swap(*, resealed: bool = False, **plugin: Any) -> Callable[[NodeProject], None]:
    def damage(project: NodeProject) -> None:
        project.database.write_bytes(another_database(project, **plugin))
        if resealed:
            reseal_database(project)

    return damage


def garbage(data: bytes) -> bytes:
    return bytes(range(256)) * (len(data) // 256)


DAMAGED = {
    "a bit flipped": (change(lambda data: data[:99] + bytes([data[99] ^ 1]) + data[100:]), CORRUPT),
    "cut in half": (change(lambda data: data[: len(data) // 2]), CORRUPT),
    "emptied": (change(lambda data: b""), CORRUPT),
    "appended to": (change(lambda data: data + b"\0"), CORRUPT),
    "larger than 16 MiB": (change(lambda data: data + bytes(16 << 20)), CORRUPT),
    "swapped": (swap(), CORRUPT),
    "missing": (lambda project: project.database.unlink(), CORRUPT),
    "garbage that was sealed": (change(garbage, resealed=True), CORRUPT),
    "half that was sealed": (change(lambda data: data[: len(data) // 2], resealed=True), FAILED),
    "nothing that was sealed": (change(lambda data: b"", resealed=True), CORRUPT),
    "fewer rows that were sealed": (swap(resealed=True), CORRUPT),
    "other dimensions that were sealed": (swap(resealed=True, dimensions=64), CORRUPT),
    "metadata cut": (lambda project: project.metadata.write_bytes(project.metadata.read_bytes()[:-9]), CORRUPT),
    "metadata edited": (
        lambda project: project.metadata.write_text(project.metadata.read_text().replace("128", "129")),
        CORRUPT,
    ),
    "metadata of other ids": (lambda project: seal_file(project.metadata, ids=["0" * 64] * 7), MISMATCH),
    "metadata of fewer ids": (lambda project: seal_file(project.metadata, ids=[]), MISMATCH),
    "metadata of other dimensions": (lambda project: seal_file(project.metadata, dimensions=64), MISMATCH),
}


@pytest.mark.parametrize(("damage", "expected"), cases(DAMAGED))
def test_a_damaged_index_is_left_for_inspection_and_rebuilt_once_it_is_cleaned(
    node_built: NodeProject, lexical_ids: list[str], damage: Callable[[NodeProject], None], expected: str
) -> None:
    damage(node_built)
    before = states(node_built.cache)
    falls_back(node_built, expected, lexical_ids)
    assert states(node_built.cache) == before
    assert node_built.doit("clean").returncode == 0
    assert not node_built.cache.exists()
    assert node_built.ask_natively() == "built"


def test_a_cache_folder_that_is_a_link_is_not_followed(
    node_built: NodeProject, lexical_ids: list[str], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    node_built.cache.rename(elsewhere)
    node_built.cache.symlink_to(elsewhere)
    before = states(elsewhere)
    falls_back(node_built, "ruvector-cache-unsafe", lexical_ids)
    assert states(elsewhere) == before
    node_built.cache.unlink()
    assert node_built.ask_natively() == "built"


def test_a_database_that_is_a_link_is_not_followed(
    node_built: NodeProject, lexical_ids: list[str], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    node_built.database.rename(elsewhere)
    node_built.database.symlink_to(elsewhere)
    before = content(elsewhere)
    falls_back(node_built, "ruvector-cache-unsafe", lexical_ids)
    assert content(elsewhere) == before


@pytest.fixture
def read_only() -> Iterator[Callable[[Path], None]]:
    """Takes the right to write from a folder, and gives it back in the end."""
    folders: list[Path] = []

    def take(folder: Path) -> None:
        folders.append(folder)
        folder.chmod(0o555)

    yield take
    for folder in folders:
        folder.chmod(0o755)


def test_a_cache_that_cannot_be_made_is_told(
    tmp_path: Path, lexical_ids: list[str], read_only: Callable[[Path], None]
) -> None:
    project = node_project(tmp_path / "till", installed())
    read_only(project.cache.parent)
    falls_back(NodeProject(project.root, before=without_powers), "ruvector-cache-unwritable", lexical_ids)
    assert not project.cache.exists()
    project.cache.parent.chmod(0o755)
    assert project.ask_natively() == "built"


def test_an_index_that_cannot_be_written_to_answers_all_the_same(
    node_built: NodeProject, tmp_path: Path, read_only: Callable[[Path], None]
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    before = states(node_built.cache)
    read_only(node_built.cache)
    confined = NodeProject(node_built.root, {"TMPDIR": str(temporary)}, without_powers)
    assert confined.ask_natively() == "reused"
    assert states(node_built.cache) == before
    assert not list(temporary.iterdir())


def test_a_full_disk_is_told_and_leaves_nothing_half_written(tmp_path: Path, lexical_ids: list[str]) -> None:
    project = node_project(tmp_path / "till", installed())
    full = NodeProject(project.root, before=with_files_up_to(1 << 20))
    falls_back(full, "ruvector-cache-unwritable", lexical_ids)
    assert not databases(project)
    assert project.ask_natively() == "built"
    before = states(project.cache)
    falls_back(full, "ruvector-cache-unwritable", lexical_ids)
    assert states(project.cache) == before
    assert project.ask_natively() == "reused"
