"""Whatever the engine, the cache or the machine does, recall answers, says why, and mends itself."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import (
    DOORS,
    REPOSITORY,
    Json,
    Project,
    Sdk,
    episode,
    ids,
    is_alive,
    libraries_without,
    seal_file,
    states,
    wait_until,
    with_files_up_to,
    without_powers,
    word,
)
from testlore import canonical

LOADING = {
    "does not import": ("raise ImportError('undefined symbol')", "ruvector-native-load-failed"),
    "raises at import": ("1 / 0", "ruvector-native-load-failed"),
    "has no store": ("del RvfStore", "ruvector-sdk-api-mismatch"),
    "has no query": ("del RvfStore.query", "ruvector-sdk-api-mismatch"),
    "exits": ("os._exit(3)", "ruvector-worker-failed"),
    "leaves by SystemExit": ("raise SystemExit(4)", "ruvector-worker-failed"),
    "leaves without an answer": ("os._exit(0)", "ruvector-invalid-worker-output"),
    "crashes by a signal": ("import signal; os.kill(os.getpid(), signal.SIGSEGV)", "ruvector-worker-failed"),
    "aborts": ("os.abort()", "ruvector-worker-failed"),
    "prints a banner": ("print('RuVector!', flush=True)", "ruvector-invalid-worker-output"),
    "prints bytes that are no text": ("os.write(1, bytes([255])); os._exit(0)", "ruvector-invalid-worker-output"),
    "prints a list": ("os.write(1, b'[]'); os._exit(0)", "ruvector-invalid-worker-output"),
    "prints too much": ("os.write(1, bytes(2 << 20)); os._exit(0)", "ruvector-invalid-worker-output"),
    "nests too deeply": (
        "os.write(1, b'[' * 50_000 + b']' * 50_000); os._exit(0)",
        "ruvector-invalid-worker-output",
    ),
    "nests deeply": (
        "os.write(1, b'{\"error\": ' + b'[' * 900 + b']' * 900 + b'}'); os._exit(0)",
        "ruvector-worker-failed",
    ),
    "names an unknown error": ('os.write(1, b\'{"error": "on-fire"}\'); os._exit(0)', "ruvector-worker-failed"),
    "is terminated": ("import signal; os.kill(os.getpid(), signal.SIGTERM)", "ruvector-worker-failed"),
}

SEARCHING = {
    "fabricates a row": ("found[0] = (999, 0.1)", "ruvector-invalid-worker-output"),
    "fabricates a negative row": ("found[0] = (-1, 0.1)", "ruvector-invalid-worker-output"),
    "doubles a row": ("found[1] = found[0]", "ruvector-invalid-worker-output"),
    "appends a double": ("found.append(found[0])", "ruvector-invalid-worker-output"),
    "answers NaN": ("found[0] = (found[0][0], float('nan'))", "ruvector-invalid-worker-output"),
    "answers infinity": ("found[0] = (found[0][0], float('inf'))", "ruvector-invalid-worker-output"),
    "answers a distance too far": ("found[0] = (found[0][0], 4.1)", "ruvector-invalid-worker-output"),
    "answers a negative distance": ("found[0] = (found[0][0], -0.1)", "ruvector-invalid-worker-output"),
    "names a row by a truth value": ("found[0] = (True, 0.1)", "ruvector-invalid-worker-output"),
    "names a row by a fraction": ("found[0] = (1.0, 0.1)", "ruvector-invalid-worker-output"),
    "leaves out a row": ("del found[0]", "ruvector-invalid-worker-output"),
    "finds nothing": ("found.clear()", "ruvector-no-valid-hits"),
    "fails": ("raise RuntimeError('broken')", "ruvector-worker-failed"),
    "crashes": ("os.kill(os.getpid(), 11)", "ruvector-worker-failed"),
    "answers a number beyond all floats": (
        "os.write(1, b'{\"count\": 7, \"hits\": [[0, 1' + b'0' * 400 + b']]}'); os._exit(0)",
        "ruvector-invalid-worker-output",
    ),
    "answers no list": (
        'os.write(1, b\'{"count": 7, "hits": {}}\'); os._exit(0)',
        "ruvector-invalid-worker-output",
    ),
}

BUILDING = {
    "writes no file": ("os.write(1, b'{\"count\": 7}'); os._exit(0)", "ruvector-invalid-worker-output"),
    "counts wrong": ("RvfStore.status = lambda self: {'total_vectors': 6}", "ruvector-invalid-worker-output"),
    "fails to create": ("RvfStore.create = lambda path, size: 1 / 0", "ruvector-worker-failed"),
    "crashes while it ingests": ("RvfStore.ingest = lambda self, *rows: os.abort()", "ruvector-worker-failed"),
}


def _searching(code: str) -> str:
    """A fault of the search alone, in which ``found`` is what the engine found."""
    return (
        "def query(self, vector, k):\n"
        "    found = list(self._store.query(vector, k))\n"
        f"    {code}\n"
        "    return found\n"
        "RvfStore.query = query\n"
    )


def _cases(faults: dict[str, tuple[str, str]]) -> list[Any]:
    return [pytest.param(*fault, id=name.replace(" ", "-")) for name, fault in faults.items()]


def _falls_back(project: Project, expected: str, lexical_ids: list[str]) -> None:
    """Asked again and again, through both doors, it answers what a disabled plugin would, and says why."""
    for door in DOORS:
        answer = project.ask(door)
        assert answer["retrieval"] == "deterministic-lexical"
        assert ids(answer) == lexical_ids
        assert word(answer) == expected


@pytest.mark.parametrize(("code", "expected"), _cases(dict(list(LOADING.items())[::3])))
def test_a_broken_sdk_is_survived_and_leaves_nothing_behind(
    project_of_sdk: Project, sdk: Sdk, lexical_ids: list[str], code: str, expected: str
) -> None:
    project = project_of_sdk
    sdk.break_with(code)
    _falls_back(project, expected, lexical_ids)
    assert set(states(project.cache)) == {"embeddings.f32", "validated-records.json", "validated.json"}
    sdk.mend()
    assert project.ask_natively() == "built"


@pytest.mark.parametrize(("code", "expected"), _cases(LOADING))
def test_an_sdk_that_breaks_later_leaves_the_index_as_it_is(
    built_with_sdk: Project, sdk: Sdk, lexical_ids: list[str], code: str, expected: str
) -> None:
    before = states(built_with_sdk.cache)
    sdk.break_with(code)
    _falls_back(built_with_sdk, expected, lexical_ids)
    assert states(built_with_sdk.cache) == before
    sdk.mend()
    assert built_with_sdk.ask_natively() == "reused"


@pytest.mark.parametrize(("code", "expected"), _cases(SEARCHING))
def test_an_answer_of_the_engine_that_cannot_be_true_is_not_used(
    built_with_sdk: Project, sdk: Sdk, lexical_ids: list[str], code: str, expected: str
) -> None:
    before = states(built_with_sdk.cache)
    sdk.break_with(_searching(code))
    _falls_back(built_with_sdk, expected, lexical_ids)
    assert states(built_with_sdk.cache) == before
    sdk.mend()
    assert built_with_sdk.ask_natively() == "reused"


@pytest.mark.parametrize(("code", "expected"), _cases(BUILDING))
def test_an_index_that_was_not_built_whole_is_not_kept(
    project_of_sdk: Project, sdk: Sdk, lexical_ids: list[str], code: str, expected: str
) -> None:
    sdk.break_with(code)
    _falls_back(project_of_sdk, expected, lexical_ids)
    assert set(states(project_of_sdk.cache)) == {"embeddings.f32", "validated-records.json", "validated.json"}
    sdk.mend()
    assert project_of_sdk.ask_natively("doit") == "built"


HANGING = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open({pids!r}, "a") as file:
    file.write(f"{{os.getpid()}} {{grandchild.pid}} ")
time.sleep(60)
"""


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("where", ["load", "build", "search"])
def test_an_engine_that_hangs_is_killed_with_all_its_children(
    project_of_sdk: Project, sdk: Sdk, lexical_ids: list[str], tmp_path: Path, where: str, door: str
) -> None:
    project = project_of_sdk
    project.configure({"timeoutMs": 500})
    if where == "search":
        project.ask_natively()
    pids = tmp_path / "pids"
    hang = HANGING.format(pids=str(pids))
    method = "def hang(*_):\n" + "".join(f"    {line}\n" for line in hang.splitlines() if line)
    sdk.break_with(
        {"load": hang, "build": f"{method}RvfStore.ingest = hang", "search": f"{method}RvfStore.query = hang"}[where]
    )
    started = time.monotonic()
    answer = project.ask(door)
    assert time.monotonic() - started < 10
    assert word(answer) == "ruvector-worker-timeout"
    assert ids(answer) == lexical_ids
    left = [int(pid) for pid in pids.read_text().split()]
    assert left
    assert wait_until(lambda: not any(map(is_alive, left)))
    sdk.mend()
    project.ask_natively(door)


def test_an_engine_whose_child_holds_its_output_open_answers_in_time(
    built_with_sdk: Project, sdk: Sdk, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    sdk.break_with(HANGING.format(pids=str(pids)).replace("time.sleep(60)\n", ""))
    started = time.monotonic()
    built_with_sdk.ask_natively()
    assert time.monotonic() - started < 5
    assert wait_until(lambda: not is_alive(int(pids.read_text().split()[1])))


@pytest.mark.parametrize("argv", [["recall", "limit=99"], ["recall", "form=json"], ["query"], ["index"]])
def test_no_engine_is_left_running_when_doit_ends_without_asking_it(
    built_with_sdk: Project, sdk: Sdk, tmp_path: Path, argv: list[str]
) -> None:
    pids = tmp_path / "pids"
    sdk.break_with(HANGING.format(pids=str(pids)))
    built_with_sdk.configure({"timeoutMs": 1_000 if argv in (["query"], ["recall", "limit=99"]) else 60_000})
    started = time.monotonic()
    built_with_sdk.doit(*argv, "query=zero")
    assert time.monotonic() - started < 10
    left = [int(pid) for pid in pids.read_text().split()] if pids.exists() else []
    assert wait_until(lambda: not any(map(is_alive, left)))


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


def _without_record(sdk: Sdk) -> None:
    sdk.record.rename(sdk.folder / "RECORD")


def _with_two_descriptions(sdk: Sdk) -> None:
    (sdk.folder / "ruvector-0.1.3.dist-info").mkdir()


def _without_native_module(sdk: Sdk) -> None:
    (sdk.folder / "ruvector/_native.py").rename(sdk.folder / "native")


def _unlistable(sdk: Sdk) -> None:
    sdk.folder.chmod(0o311)


def _package_unlistable(sdk: Sdk) -> None:
    (sdk.folder / "ruvector").chmod(0o311)


@pytest.mark.parametrize(
    "spoil", [_without_record, _with_two_descriptions, _without_native_module, _unlistable, _package_unlistable]
)
def test_an_sdk_that_is_no_whole_wheel_is_not_loaded(
    project_of_sdk: Project, sdk: Sdk, lexical_ids: list[str], spoil: Callable[[Sdk], None]
) -> None:
    spoil(sdk)
    sdk.break_with("open('loaded', 'w')")
    _falls_back(project_of_sdk.confined(without_powers), "ruvector-sdk-invalid", lexical_ids)
    assert not (project_of_sdk.root / "loaded").exists()


def _truncate(project: Project) -> None:
    project.database.write_bytes(project.database.read_bytes()[: project.database.stat().st_size // 2])


def _empty(project: Project) -> None:
    project.database.write_bytes(b"")


def _append(project: Project) -> None:
    with project.database.open("ab") as file:
        file.write(b"\0")


def _flip(project: Project) -> None:
    data = bytearray(project.database.read_bytes())
    data[len(data) // 2] ^= 1
    project.database.write_bytes(data)


def _other_database(project: Project, plugin: Json | None = None, records: int = 7) -> bytes:
    """A valid database of the same engine, of another store or other settings."""
    other = project.moved(project.root.with_name(f"other-{time.monotonic_ns()}"))
    other.configure(plugin)
    other.write_store([episode(number, f"another {number}") for number in range(records)])
    other.doit("clean")
    assert other.ask_natively(query="another") == "built"
    return other.database.read_bytes()


def _swap(project: Project) -> None:
    project.database.write_bytes(_other_database(project))


def _seal_in(project: Project, database: bytes) -> None:
    project.database.write_bytes(database)
    seal_file(project.metadata, bytes=len(database), digest=canonical.digest(database))


def _seal_in_fewer_rows(project: Project) -> None:
    _seal_in(project, _other_database(project, records=6))


def _seal_in_other_dimensions(project: Project) -> None:
    _seal_in(project, _other_database(project, {"dimensions": 64}))


def _seal_in_half(project: Project) -> None:
    database = project.database.read_bytes()
    _seal_in(project, database[: len(database) // 2])


def _seal_in_garbage(project: Project) -> None:
    _seal_in(project, b"no database at all" * 100)


def _remove_database(project: Project) -> None:
    project.database.unlink()


def _make_database_a_folder(project: Project) -> None:
    project.database.unlink()
    project.database.mkdir()


def _make_database_huge(project: Project) -> None:
    with project.database.open("r+b") as file:
        file.truncate((16 << 20) + 1)


def _metadata(data: bytes) -> Callable[[Project], object]:
    return lambda project: project.metadata.write_bytes(data)


def _break_seal(project: Project) -> None:
    project.metadata.write_bytes(project.metadata.read_bytes().replace(b'"dimensions":128', b'"dimensions":129'))


def _mark_metadata(project: Project) -> None:
    project.metadata.write_bytes(b"\xef\xbb\xbf" + project.metadata.read_bytes())


def _make_metadata_a_folder(project: Project) -> None:
    project.metadata.unlink()
    project.metadata.mkdir()


def _name_other_ids(project: Project) -> None:
    seal_file(project.metadata, ids=["0" * 64] * 7)


def _name_ids_in_another_order(project: Project) -> None:
    seal_file(project.metadata, ids=json.loads(project.metadata.read_bytes())["ids"][::-1])


def _name_no_ids(project: Project) -> None:
    seal_file(project.metadata, ids=None)


def _name_other_dimensions(project: Project) -> None:
    seal_file(project.metadata, dimensions=64)


CORRUPT: dict[str, Callable[[Project], object]] = {
    "database truncated": _truncate,
    "database emptied": _empty,
    "database appended to": _append,
    "database with one bit flipped": _flip,
    "database of another store": _swap,
    "database missing": _remove_database,
    "database a folder": _make_database_a_folder,
    "database too large": _make_database_huge,
    "sealed database of fewer rows": _seal_in_fewer_rows,
    "sealed database of other dimensions": _seal_in_other_dimensions,
    "sealed half of the database": _seal_in_half,
    "metadata not JSON": _metadata(b"{"),
    "metadata a list": _metadata(b"[]"),
    "metadata with NaN": _metadata(b'{"integrity": NaN}'),
    **{
        f"metadata nested {depth} deep": _metadata(b'{"integrity": "", "a": ' + b"[" * depth + b"]" * depth + b"}")
        for depth in (970, 5_000)
    },
    "metadata nested too deeply": _metadata(b'{"integrity": "", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "metadata too large": _metadata(b" " * ((1 << 20) + 1)),
    "metadata with a byte order mark": _mark_metadata,
    "metadata with a broken seal": _break_seal,
    "metadata a folder": _make_metadata_a_folder,
}


@pytest.mark.parametrize("spoil", [pytest.param(spoil, id=name.replace(" ", "-")) for name, spoil in CORRUPT.items()])
def test_a_corrupt_index_is_left_for_inspection_until_it_is_cleaned_away(
    built: Project, lexical_ids: list[str], spoil: Callable[[Project], object]
) -> None:
    spoil(built)
    before = states(built.cache)
    _falls_back(built, "ruvector-cache-corrupt", lexical_ids)
    assert states(built.cache) == before
    cleaned = built.doit("clean")
    assert cleaned.returncode == 0, cleaned.stderr
    assert not built.cache.exists()
    assert built.ask_natively() == "built"


def test_garbage_that_was_sealed_is_no_index(built: Project, lexical_ids: list[str]) -> None:
    _seal_in_garbage(built)
    before = states(built.cache)
    _falls_back(built, "ruvector-worker-failed", lexical_ids)
    assert states(built.cache) == before
    shutil.rmtree(built.cache)
    assert built.ask_natively() == "built"


@pytest.mark.parametrize("spoil", [_name_other_ids, _name_ids_in_another_order, _name_no_ids, _name_other_dimensions])
def test_metadata_that_fits_its_key_but_not_what_the_key_means_is_refused(
    built: Project, lexical_ids: list[str], spoil: Callable[[Project], object]
) -> None:
    spoil(built)
    before = states(built.cache)
    _falls_back(built, "ruvector-cache-scope-mismatch", lexical_ids)
    assert states(built.cache) == before
    shutil.rmtree(built.cache)
    assert built.ask_natively("doit") == "built"


def test_an_index_of_another_store_is_replaced(built: Project) -> None:
    other = _other_database(built)
    folder = next(path for path in built.root.parent.iterdir() if path.name.startswith("other-"))
    for name in ("vectors.rvf", "vectors.json"):
        shutil.copy(folder / ".tddswarm/learning/ruvector" / name, built.cache)
    assert built.database.read_bytes() == other
    assert built.ask_natively() == "built"
    assert built.ask_natively() == "reused"


KEPT = {
    "no JSON": b"}{",
    "nothing": b"",
    "a link seal": b'{"integrity":"0"}\n',
    "no texts": canonical.dumps(canonical.seal({"provider": "P", "digest": canonical.digest(b"")})).encode(),
    "texts that are a number": canonical.dumps(
        canonical.seal({"provider": "P", "digest": canonical.digest(b""), "texts": 0})
    ).encode(),
    "texts that are lists": canonical.dumps(
        canonical.seal({"provider": "P", "digest": canonical.digest(bytes(512)), "texts": [[]]})
    ).encode()
    + b"\n"
    + bytes(512),
    "deep nesting": b'{"integrity": "", "a": ' + b"[" * 900 + b"]" * 900 + b"}",
}


@pytest.mark.parametrize("name", ["embeddings.f32", "validated.json"])
@pytest.mark.parametrize("data", [pytest.param(data, id=name.replace(" ", "-")) for name, data in KEPT.items()])
def test_what_is_only_kept_to_save_work_is_made_anew_when_it_is_damaged(built: Project, name: str, data: bytes) -> None:
    head = json.loads((built.cache / "embeddings.f32").read_bytes().partition(b"\n")[0])
    if b'"provider":"P"' in data:
        line, newline, body = data.partition(b"\n")
        data = canonical.dumps(canonical.seal({**json.loads(line), "provider": head["provider"]})).encode()
        data += newline + body
    (built.cache / name).write_bytes(data)
    assert built.ask_natively() == "reused"
    built.metadata.unlink()
    (built.cache / name).write_bytes(data)
    assert built.ask_natively("doit") == "built"


def _garbage(path: Path) -> None:
    path.write_bytes(b"garbage" * 1000)


def _damaged_page(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _other_tables(path: Path) -> None:
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table doit (something text)")


def _no_json_in_it(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update doit set task_data = '{'")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


@pytest.mark.parametrize(
    "spoil",
    [_garbage, _damaged_page, _truncated, _emptied, _other_tables, _no_json_in_it, _folder, _link],
)
def test_a_damaged_database_of_doit_itself_costs_no_answer(built: Project, spoil: Callable[[Path], None]) -> None:
    assert built.ask_natively("doit") == "reused"
    path = built.cache / "doit.sqlite3"
    spoil(path)
    before = states(built.cache)
    assert built.ask_natively("doit") == "reused"
    assert built.doit().returncode == 0
    assert states(built.cache) == before
    assert built.doit("clean").returncode == 0
    assert not path.exists()
    assert built.ask_natively("doit") == "built"


def _cannot_write(project: Project, folder: Path) -> Project:
    """The project for somebody who, as is made sure of, may write nothing into the folder."""
    bound = project.confined(without_powers)
    assert bound.python("-c", f"open({str(folder / 'probe')!r}, 'w')").returncode
    return bound


@pytest.mark.parametrize("where", ["ruvector", "learning"])
def test_a_folder_that_takes_no_files_is_named_and_used_once_it_does(
    project: Project, lexical_ids: list[str], where: str
) -> None:
    folder = project.cache if where == "ruvector" else project.cache.parent
    folder.mkdir(exist_ok=True)
    folder.chmod(0o555)
    bound = _cannot_write(project, folder)
    _falls_back(bound, "ruvector-cache-unwritable", lexical_ids)
    assert not project.cache.exists() or not list(project.cache.iterdir())
    plain = bound.doit()
    assert plain.returncode == 1
    assert "ruvector-cache-unwritable" in plain.stderr
    folder.chmod(0o755)
    assert bound.ask_natively("doit") == "built"


@pytest.mark.parametrize("door", DOORS)
def test_a_folder_that_takes_no_files_but_has_the_index_is_answered_from(built: Project, door: str) -> None:
    before = states(built.cache)
    built.cache.chmod(0o555)
    for path in built.cache.iterdir():
        path.chmod(0o444)
    bound = _cannot_write(built, built.cache)
    assert bound.ask_natively(door) == "reused"
    assert bound.doit().returncode == 0
    assert states(built.cache) == before


def test_a_folder_that_may_not_be_entered_is_named(built: Project, lexical_ids: list[str]) -> None:
    before = states(built.cache)
    built.cache.chmod(0)
    bound = _cannot_write(built, built.cache)
    _falls_back(bound, "ruvector-cache-unwritable", lexical_ids)
    assert bound.doit("list").returncode == 0
    assert bound.doit("clean").returncode == 1
    built.cache.chmod(0o755)
    assert states(built.cache) == before
    assert bound.ask_natively() == "reused"


@pytest.mark.parametrize("name", ["vectors.rvf", "vectors.json"])
def test_an_index_that_may_not_be_read_is_named(built: Project, lexical_ids: list[str], name: str) -> None:
    (built.cache / name).chmod(0)
    bound = _cannot_write(built, built.cache / name / "below")
    assert bound.python("-c", f"open({str(built.cache / name)!r})").returncode
    _falls_back(bound, "ruvector-cache-unwritable", lexical_ids)
    (built.cache / name).chmod(0o644)
    assert bound.ask_natively() == "reused"


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("size", [0, 1_000, 5_000, 68_000])
def test_a_disk_that_takes_no_long_file_costs_no_answer(
    project: Project, lexical_ids: list[str], size: int, door: str
) -> None:
    bound = project.confined(with_files_up_to(size))
    assert bound.python("-c", f"file = open('probe', 'wb'); file.write(bytes({size + 1})); file.close()").returncode
    (project.root / "probe").unlink()
    for _ in range(2):
        answer = bound.ask(door)
        assert word(answer) == "ruvector-cache-unwritable"
        assert ids(answer) == lexical_ids
    assert not set(states(project.cache)) & {"vectors.rvf", "vectors.json"}
    assert not list(project.cache.glob("*.testlore-tmp"))
    assert project.ask_natively(door) == "built"


@pytest.mark.parametrize("door", DOORS)
def test_an_index_is_answered_from_on_a_disk_that_is_full(built: Project, door: str) -> None:
    before = states(built.cache)
    assert built.confined(with_files_up_to(0)).ask_natively(door) == "reused"
    assert states(built.cache) == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path | None]:
    """A disk of 256 KiB, or nothing where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], capture_output=True)
    try:
        yield folder if mounted.returncode == 0 else None
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("free_pages", [0, 2, 10, 20])
def test_a_full_disk_costs_no_answer_and_is_used_once_there_is_room(
    project: Project, lexical_ids: list[str], small_disk: Path | None, free_pages: int
) -> None:
    if small_disk is None:  # the next best thing to a full disk: one that takes no long files
        full = project.confined(with_files_up_to(free_pages * 3_000))
    else:
        full = project.moved(small_disk / "till")
        filler = full.root / "node_modules"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        with filler.open("r+b") as file:
            file.truncate(max(0, filler.stat().st_size - free_pages * 4096))
    for door in ("doit", "testlore", "doit"):
        answer = full.ask(door)
        assert word(answer) in ("", "ruvector-cache-unwritable")
        assert word(answer) or answer["retrieval"] == "ruvector"
        assert not word(answer) or ids(answer) == lexical_ids
        assert word(answer) or free_pages > 16
    assert not list(full.cache.glob("*.testlore-tmp"))
    if small_disk is not None:
        filler.unlink()
        assert full.ask_natively() in ("built", "reused")
        assert full.ask_natively("doit") == "reused"


def _link_to_folder(path: Path) -> None:
    path.parent.with_name("elsewhere").mkdir()
    path.symlink_to("../elsewhere")


def _link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def _dangling_link(path: Path) -> None:
    path.symlink_to("../nowhere")


def _file(path: Path) -> None:
    path.write_text("mine")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("make", [_link_to_folder, _link_to_itself, _dangling_link, _file, _pipe])
def test_a_cache_path_that_is_no_folder_is_left_alone(
    project: Project, lexical_ids: list[str], make: Callable[[Path], None]
) -> None:
    make(project.cache)
    before = states(project.root / ".tddswarm")
    _falls_back(project, "ruvector-cache-unsafe", lexical_ids)
    for argv in ([], ["clean"]):
        done = project.doit(*argv)
        assert done.returncode == 1
        assert "ruvector-cache-unsafe" in done.stderr
        assert "Traceback" not in done.stderr
    assert states(project.root / ".tddswarm") == before
    assert not (project.cache.parents[1] / "nowhere").exists()
    project.cache.unlink()
    assert project.ask_natively() == "built"


def test_a_cache_that_was_moved_behind_a_link_is_neither_used_nor_cleaned(
    built: Project, lexical_ids: list[str], tmp_path: Path
) -> None:
    built.cache.rename(tmp_path / "moved")
    built.cache.symlink_to(tmp_path / "moved")
    before = states(tmp_path / "moved")
    _falls_back(built, "ruvector-cache-unsafe", lexical_ids)
    assert built.doit("clean").returncode == 1
    assert states(tmp_path / "moved") == before
    built.cache.unlink()
    (tmp_path / "moved").rename(built.cache)
    assert built.ask_natively() == "reused"


@pytest.mark.parametrize("dangling", [False, True], ids=["whole", "dangling"])
@pytest.mark.parametrize("name", ["vectors.rvf", "vectors.json"])
def test_an_index_behind_a_link_is_not_used(
    built: Project, lexical_ids: list[str], tmp_path: Path, name: str, dangling: bool
) -> None:
    path, elsewhere = built.cache / name, tmp_path / name
    path.rename(elsewhere)
    path.symlink_to(tmp_path / "nowhere" if dangling else elsewhere)
    before = states(tmp_path)
    _falls_back(built, "ruvector-cache-unsafe", lexical_ids)
    assert states(tmp_path) == before
    assert built.doit("clean").returncode == 0
    assert elsewhere.exists()
    assert built.ask_natively() == "built"


@pytest.mark.parametrize("name", ["testlore.lock", "embeddings.f32", "doit.sqlite3", "validated.json"])
def test_nothing_is_written_through_a_link(project: Project, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    project.cache.mkdir()
    (project.cache / name).symlink_to(elsewhere)
    for door in DOORS:
        answer = project.ask(door)
        expected = "" if name in ("doit.sqlite3", "validated.json") else "ruvector-cache-unsafe"
        assert word(answer) == expected
    assert elsewhere.read_text() == "mine"
    assert (project.cache / name).is_symlink()
    assert project.doit("clean").returncode == 0
    assert elsewhere.read_text() == "mine"
    assert project.ask_natively() == "built"


def test_a_pipe_in_place_of_metadata_does_not_make_anybody_wait(built: Project, lexical_ids: list[str]) -> None:
    built.metadata.unlink()
    os.mkfifo(built.metadata)
    _falls_back(built, "ruvector-cache-unsafe", lexical_ids)
    assert built.doit("clean").returncode == 0
    assert built.ask_natively() == "built"
