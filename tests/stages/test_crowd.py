"""Many at once on one project: recalls, captures and merges, as the benchmark's bursts have them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from helpers import Project
from testlore.memory import store

from benchmarks import corpus, crowd


def test_a_crowd_is_answered_loses_no_episode_and_builds_once_a_change(tmp_path: Path) -> None:
    project, other = Project(tmp_path / "project"), tmp_path / "other"
    project.root.mkdir()
    corpus.write_project(project.root, 40)
    shutil.copytree(project.root, other)
    corpus.write_store(other, [*project.records(), *corpus.more(200, 3)])
    builds, stores = 0, 0
    for number in range(2):
        ended = crowd.burst(crowd.mixed_burst(project.root, other, number))
        answers = [json.loads(one.output) for one in ended if "recall" in one.command]
        assert len(answers) == crowd.RECALLS
        assert all(answer["records"] for answer in answers)
        builds += sum(answer.get("retrievalDetails", {}).get("cache") == "built" for answer in answers)
        stores += crowd.CAPTURES + 1
    ids = {record["id"] for record in store.parse(project.store.read_bytes()).records}
    brought = [corpus.more(10_000 + number, 1)[0]["id"] for number in range(2 * crowd.CAPTURES)]
    assert {*brought, *(record["id"] for record in corpus.more(200, 3))} <= ids
    assert len(ids) == 40 + 3 + len(brought)
    assert builds <= stores + 1
    project.ask_natively(query="retry timeout")
    assert project.ask_natively(query="retry timeout") == "reused"
