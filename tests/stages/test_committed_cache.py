"""A repository is input: what it brings along as a derived cache is not believed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from episodes import make_episode, reseal
from helpers import QUERY, Json, Project, word
from testlore import canonical, recall, schemas
from testlore.cache import FOLDER
from testlore.stages.configuration import STAMP
from testlore.stages.terms import TERMS
from testlore.stages.validate import SEALS

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b.invalid")


@pytest.fixture
def cloned(built: Project, tmp_path: Path) -> Project:
    """A clone of a repository that commits its derived cache, on the machine of another user."""
    for command in (["init", "-q"], ["add", "-A"], ["add", "-f", FOLDER], ["commit", "-qm", "all"]):
        subprocess.run([*GIT, *command], cwd=built.root, check=True)
    subprocess.run([*GIT, "clone", "-q", str(built.root), str(tmp_path / "clone")], check=True)
    return Project(tmp_path / "clone", {"XDG_STATE_HOME": str(tmp_path / "state"), "TESTLORE_TRUST": "0"})


def forge(project: Project, records: list[Json]) -> None:
    """Write a store of these records unverified, and seal everything in the cache to vouch for it."""
    store = {"schemaVersion": 1, "records": records, "integrity": "0" * 64}
    project.store.write_text(json.dumps(store))
    _reseal(project.cache / STAMP, store=canonical.digest(project.store.read_bytes()))
    _reseal(project.cache / SEALS, seals=[record.get("integrity") for record in records])


def _reseal(path: Path, **changes: Any) -> None:
    value = {key: item for key, item in json.loads(path.read_bytes()).items() if key not in ("integrity", "mark")}
    path.write_text(canonical.dumps(canonical.seal({**value, **changes})) + "\n")


def test_a_committed_cache_is_ignored_and_said_to_be(cloned: Project) -> None:
    answer = cloned.ask()
    assert answer["retrievalDetails"]["cache"] == "built"
    assert any(warning.startswith("Derived cache ignored: git tracks") for warning in answer["warnings"])
    again = cloned.ask()
    assert again["retrievalDetails"]["cache"] == "reused"
    assert len(again["warnings"]) == 1


def test_a_restored_cache_is_reused_by_its_digests_where_everything_is_trusted(cloned: Project) -> None:
    answer = cloned.with_env(TESTLORE_TRUST="1").ask()
    assert answer["retrievalDetails"]["cache"] == "reused"


def test_a_forged_stamp_does_not_switch_the_checks_off(cloned: Project) -> None:
    rejected = make_episode(1, outcome="rejected", patterns=make_episode(2)["patterns"])
    forge(cloned, [rejected])
    answer = cloned.ask(status=1)
    assert answer["reason"].startswith("store-corrupt")


@pytest.mark.parametrize("trusted", ["0", "1"])
@pytest.mark.parametrize(
    "change",
    [
        {"tags": ["boundary\n\x1b[2J"]},
        {"patterns": [{"language": "js\n```", "content": "x", "hash": canonical.digest("x")}]},
        {"outcome": "rejected"},
        {"framework": "node", "createdAt": "never"},
        {"id": 7},
    ],
)
def test_a_record_that_is_none_never_goes_out(cloned: Project, change: Json, trusted: str) -> None:
    forge(cloned, [reseal(make_episode(1), **change)])
    project = cloned.with_env(TESTLORE_TRUST=trusted)
    for form in ("json", "table", "prompt"):
        done = project.testlore("recall", "zero boundary", "--format", form)
        assert done.returncode == 1
        assert "store-corrupt" in done.stderr
        assert "Traceback" not in done.stderr
        assert "\x1b" not in done.stdout


@pytest.mark.parametrize("name", [STAMP, SEALS, TERMS, "vectors.json", "embeddings.f32", "snapshot.json"])
@pytest.mark.parametrize("wrong", [None, True, 7, "text", [], {}, [[]], {"a": 1}], ids=repr)
def test_no_value_in_a_file_of_the_cache_ends_in_a_traceback(
    built: Project, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = built.cache / name
    head, newline, body = (path.read_bytes() if path.exists() else b"{}\n").partition(b"\n")
    value = {key: item for key, item in json.loads(head).items() if key not in ("integrity", "mark")}
    for key in [*value, "key", "ids", "texts", "starts", "seals", "watched"]:
        path.write_bytes(canonical.to_bytes(canonical.dumps(canonical.seal({**value, key: wrong}))) + newline + body)
        for trusted in ("0", "1"):
            monkeypatch.setenv("TESTLORE_TRUST", trusted)
            answer = recall(built.root, QUERY).to_dict()
            assert schemas.first_problem("answer", answer) is None
            assert answer["records"], word(answer)


def _edited(change: Callable[[Json], object]) -> Callable[[Project], None]:
    def edit(project: Project) -> None:
        value = json.loads(project.store.read_bytes())
        change(value["records"][0])
        project.store.write_text(json.dumps(value))

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        _edited(lambda record: record["tags"].append("error")),
        _edited(lambda record: record.update(outcome="accepted")),
        _edited(lambda record: record.pop("evidence")),
    ],
)
def test_an_edit_of_the_store_is_noticed_with_a_warm_cache(built: Project, edit: Callable[[Project], None]) -> None:
    assert built.ask_natively() == "reused"
    edit(built)
    assert built.ask(status=1)["reason"].startswith("store-corrupt")
