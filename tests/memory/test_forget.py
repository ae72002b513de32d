"""Forgetting: episodes go on a person's word, and only those."""

from __future__ import annotations

from pathlib import Path

import pytest
from evidence_helpers import fill, records, tree
from testlore.errors import Refusal, Unusable
from testlore.memory.forget import forget


def test_forgetting_removes_the_named_episodes_and_returns_them(tmp_path: Path) -> None:
    fill(tmp_path, range(4))
    first, second, *others = records(tmp_path)
    removed = forget(tmp_path, [second["id"], first["id"][:8]], "they were of a trial")
    assert removed == [first, second]
    assert records(tmp_path) == others


@pytest.mark.parametrize("ids", [[], [""], ["f" * 64], ["0"], ["not hex"]])
def test_forgetting_what_is_not_one_episode_removes_nothing(tmp_path: Path, ids: list[str]) -> None:
    fill(tmp_path, range(3))
    before = tree(tmp_path)
    with pytest.raises(Refusal, match="call-invalid"):
        forget(tmp_path, [records(tmp_path)[0]["id"], *ids] if ids else ids, "why not")
    assert tree(tmp_path) == before


def test_forgetting_needs_a_reason_and_a_memory(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="no-memory"):
        forget(tmp_path, ["f" * 64], "why not")
    assert tree(tmp_path) == {}
    fill(tmp_path, range(1))
    with pytest.raises(Refusal, match="why is empty"):
        forget(tmp_path, [records(tmp_path)[0]["id"]], " ")
    assert len(records(tmp_path)) == 1
