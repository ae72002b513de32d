"""A cache that may not be entered or read is named, and answered from as soon as it may be."""

from __future__ import annotations

import pytest
from helpers import Project, cannot_write, falls_back, states


def test_a_folder_that_may_not_be_entered_is_named(built: Project, lexical_ids: list[str]) -> None:
    before = states(built.cache)
    built.cache.chmod(0)
    bound = cannot_write(built, built.cache)
    falls_back(bound, "ruvector-cache-unwritable", lexical_ids)
    assert bound.doit("list").returncode == 0
    assert bound.doit("clean").returncode == 1
    built.cache.chmod(0o755)
    assert states(built.cache) == before
    assert bound.ask_natively() == "reused"


@pytest.mark.parametrize("name", ["vectors.rvf", "vectors.json"])
def test_an_index_that_may_not_be_read_is_named(built: Project, lexical_ids: list[str], name: str) -> None:
    (built.cache / name).chmod(0)
    bound = cannot_write(built, built.cache / name / "below")
    assert bound.python("-c", f"open({str(built.cache / name)!r})").returncode
    falls_back(bound, "ruvector-cache-unwritable", lexical_ids)
    (built.cache / name).chmod(0o644)
    assert bound.ask_natively() == "reused"
