"""Merging: two memories become one, and nothing is lost."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from episodes import make_episode
from evidence_helpers import fill, records, tree
from testlore import canonical, cli
from testlore.errors import Refusal, Unusable
from testlore.memory import store, writer
from testlore.memory.forget import forget
from testlore.memory.merge import MergeCounts, merge


def test_merging_takes_what_is_new_and_leaves_the_source_alone(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    fill(here, range(3))
    fill(there, range(2, 6))
    before = tree(there)
    assert merge(here, there) == MergeCounts(added=3, known=1, dropped=0, total=6)
    assert [record["candidateId"] for record in records(here)] == ["c5", "c4", "c3", "c2", "c1", "c0"]
    assert tree(there) == before
    bytes_before = (here / store.INDEX_FILE).read_bytes()
    assert merge(here, there).added == 0
    assert (here / store.INDEX_FILE).read_bytes() == bytes_before


def test_merging_into_nothing_makes_a_memory_and_merging_both_ways_makes_the_same(tmp_path: Path) -> None:
    here, there, new = tmp_path / "here", tmp_path / "there", tmp_path / "new"
    fill(here, range(3))
    fill(there, range(1, 4))
    twin = canonical.seal({**make_episode(1), "createdAt": store.created_at(1_800_000_000)})
    writer.update(str(there), lambda found: [twin, *(one for one in found if one["id"] != twin["id"])])
    new.mkdir()
    for one, other in ((here, there), (there, here), (new, here)):
        merge(one, other)
    assert (here / store.INDEX_FILE).read_bytes() == (there / store.INDEX_FILE).read_bytes()
    assert (here / store.INDEX_FILE).read_bytes() == (new / store.INDEX_FILE).read_bytes()


@pytest.mark.parametrize("corrupt", ["here", "there"])
def test_a_corrupt_source_or_destination_leaves_both_untouched(tmp_path: Path, corrupt: str) -> None:
    for name in ("here", "there"):
        fill(tmp_path / name, range(2 if name == "here" else 4))
    file = tmp_path / corrupt / store.INDEX_FILE
    file.write_bytes(file.read_bytes().replace(b'"accepted"', b'"rejected"', 1))
    before = tree(tmp_path)
    with pytest.raises(Unusable, match="store-corrupt"):
        merge(tmp_path / "here", tmp_path / "there")
    assert tree(tmp_path) == before


def test_a_source_without_a_memory_is_refused_by_name(tmp_path: Path) -> None:
    fill(tmp_path / "here", range(1))
    with pytest.raises(Refusal, match="call-invalid: source is"):
        merge(tmp_path / "here", tmp_path / "nowhere")


def test_over_two_hundred_episodes_a_merge_says_which_ones_left(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    fill(here, range(199))
    fill(there, range(199, 202))
    left = [make_episode(number)["id"] for number in (1, 0)]
    twin = shutil.copytree(here, tmp_path / "twin")
    assert merge(twin, there) == MergeCounts(added=3, known=0, dropped=2, total=200, left=tuple(left))
    assert cli.main(["merge", "--root", str(here), "--from", str(there)]) == 0
    assert f"for lack of room these left: {left[0][:12]}, {left[1][:12]}\n" in capfd.readouterr().out


def test_writers_at_once_lose_neither_an_episode_nor_a_tombstone(tmp_path: Path) -> None:
    fill(tmp_path, range(24))
    gone = [record["id"] for record in records(tmp_path)]
    with ThreadPoolExecutor(8) as pool:
        made = [pool.submit(fill, tmp_path, range(number, number + 1)) for number in range(100, 124)]
        went = [pool.submit(forget, tmp_path, [one], "a trial") for one in gone]
        assert [writer.result() for writer in made] == [None] * 24
        assert [writer.result()[0]["id"] for writer in went] == gone
    found = store.parse(store.read_bytes(str(tmp_path)))
    names = {record["candidateId"] for record in found.records}
    assert names == {f"c{number}" for number in range(100, 124)}
    assert {one["id"] for one in found.forgotten} == set(gone)
