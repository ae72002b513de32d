"""Exporting for TestLore: what version 1 can hold, and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from episodes import make_episode, make_episode_2, pattern
from evidence_helpers import fill
from helpers import DATA, Project
from testlore import canonical, schemas
from testlore.errors import Refusal
from testlore.memory import store, version1, writer

FILE = "memory.json"


def put(root: Path, *episodes: store.Record) -> None:
    writer.update(str(root), lambda found: [*found, *episodes])


def exported(root: Path) -> list[store.Record]:
    """The records of the file, which is a store of version 1."""
    data = (root / FILE).read_bytes()
    value = json.loads(data)
    assert schemas.first_problem("store", value, "store1") is None
    return store.parse(data).records


def test_a_store_of_the_other_tool_is_exported_byte_for_byte(tmp_path: Path) -> None:
    assert version1.write(DATA / "two-hundred", str(tmp_path / FILE)) == (200, 0)
    assert (tmp_path / FILE).read_bytes() == (DATA / "two-hundred" / store.INDEX_FILE).read_bytes()


def test_a_record_of_version_2_loses_what_version_1_has_not_and_keeps_its_id(tmp_path: Path) -> None:
    record = make_episode_2(1, evidence={**make_episode(1)["evidence"], "newCases": 3, "undone": "caught"})
    put(tmp_path, record)
    assert version1.write(tmp_path, str(tmp_path / FILE)) == (1, 0)
    [found] = exported(tmp_path)
    assert list(found) == list(make_episode(1))
    assert found == canonical.seal({**make_episode(1), "patterns": record["patterns"]})
    assert found["id"] == record["id"]
    assert found["integrity"] != record["integrity"]


def test_newer_warnings_become_one_that_version_1_has(tmp_path: Path) -> None:
    put(tmp_path, make_episode_2(1, outcome="rejected", warnings=["case-loss", "adds-nothing", "flaky"]))
    version1.write(tmp_path, str(tmp_path / FILE))
    assert exported(tmp_path)[0]["warnings"] == ["case-loss", "other-rejection"]


def test_what_the_other_tool_has_no_word_for_is_left_out_and_counted(tmp_path: Path) -> None:
    fill(tmp_path, range(2))  # of pytest
    other = pattern("x", "other")
    put(tmp_path, make_episode(5, patterns=[pattern("zero"), other]), make_episode(6, language="python"))
    assert version1.write(tmp_path, str(tmp_path / FILE)) == (1, 3)
    assert [one["content"] for one in exported(tmp_path)[0]["patterns"]] == ["zero"]


def test_a_memory_is_never_written_over(tmp_path: Path) -> None:
    fill(tmp_path / "here", range(1))
    fill(tmp_path / "there", range(2))
    (tmp_path / "link").symlink_to(tmp_path / "there" / store.INDEX_FILE)
    for target in (tmp_path / "here" / store.INDEX_FILE, tmp_path / "there" / store.INDEX_FILE, tmp_path / "link"):
        before = target.read_bytes()
        with pytest.raises(Refusal, match="a memory; allowed: any other file"):
            version1.write(tmp_path / "here", str(target))
        assert target.read_bytes() == before


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    fill(tmp_path, range(1))
    with pytest.raises(Refusal, match="nowhere"):
        version1.write(tmp_path, str(tmp_path / "nowhere" / FILE))


def test_the_command_writes_the_file_and_says_what_it_holds(project: Project) -> None:
    put(project.root, make_episode(5, language="python"))
    done = project.testlore("export", "--testlore", FILE)
    assert done.returncode == 0, done.stderr
    count = len(project.records()) - 1
    assert done.stdout.startswith(f"{count} episodes written to {FILE}; 1 left out, since TestLore has no word")
    again = project.testlore("export", "--testlore", FILE, "--json")
    assert json.loads(again.stdout) == {"file": FILE, "episodes": count, "leftOut": 1}
    assert os.listdir(project.root).count(FILE) == 1


def test_the_counts_of_an_export_know_both_versions(tmp_path: Path) -> None:
    from testlore.memory.counts import export

    put(tmp_path, make_episode(1), make_episode_2(2, evidence={"newCases": 2, "undone": "caught"}))
    counts = export(tmp_path)
    assert (counts["episodes"], counts["evidence"]["newCases"], counts["undone"]) == (2, 2, {"caught": 1})
