"""Stores that TestLore wrote, its queries, and its whole answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from testlore import RecallResult, canonical, recall
from testlore.ranking import documents, tokens

DATA = Path(__file__).parents[1] / "data"
STORES = ("till", "twelve", "two-hundred")

# What depends on the machine that the episodes were made on, and cannot agree here.
MACHINE = "runner-or-environment-changed"


def cases(store: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((DATA / f"{store}.cases.json").read_text("utf-8"))["cases"]
    return found


def name(case: dict[str, Any]) -> str:
    return f"{case['query'] or 'empty'}, {case['retrieval']}, {case['limit']}"


ALL = [pytest.param(store, case, id=f"{store}: {name(case)}") for store in STORES for case in cases(store)]


@pytest.fixture(scope="session")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, bool], Path]:
    """A copy of each project, once with native recall and once without."""
    found = {}
    for store in STORES:
        for native in (True, False):
            root = tmp_path_factory.mktemp(f"{store}-{native}") / "project"
            shutil.copytree(DATA / store, root, ignore=shutil.ignore_patterns("ruvector"))
            if not native:
                config = root / "tddswarm.config.json"
                config.write_text(config.read_text().replace('"enabled": true', '"enabled": false'))
            found[store, native] = root
    return found


def ask(projects: dict[tuple[str, bool], Path], store: str, case: dict[str, Any], **more: int) -> RecallResult:
    root = projects[store, case["retrieval"] == "ruvector"]
    return recall(root, case["query"], **{"limit": case["limit"], "max_chars": case["maxChars"], **more})


def was_cut(case: dict[str, Any]) -> bool:
    size = len(json.dumps(case["answer"], ensure_ascii=False, separators=(",", ":")))
    return case["limit"] < 20 or len(case["answer"]["records"]) >= 20 or size >= 18_000


@pytest.mark.parametrize(("store", "case"), ALL)
def test_every_episode_that_testlore_finds_is_found_and_others_share_a_term(
    projects: dict[tuple[str, bool], Path], store: str, case: dict[str, Any]
) -> None:
    ours = {record["id"] for record in ask(projects, store, case).records}
    theirs = {record["id"] for record in case["answer"]["records"]}
    if not was_cut(case):
        assert theirs <= ours
    assert len(ours) <= case["limit"]
    wanted = set(tokens.terms(case["query"]))
    kept = json.loads((DATA / store / ".tddswarm" / "learning" / "index.json").read_text("utf-8"))["records"]
    for record in kept:
        if wanted and record["id"] in ours - theirs:
            assert wanted & set(tokens.terms(documents.episode_text(record)))


@pytest.mark.parametrize(("store", "case"), ALL)
def test_what_an_answer_says_of_an_episode_is_what_testlore_says(
    projects: dict[tuple[str, bool], Path], store: str, case: dict[str, Any]
) -> None:
    native = case["retrieval"] == "ruvector"
    ours = {record["id"]: record for record in ask(projects, store, case, limit=20, max_chars=20_000).records}
    same = ("outcome", "framework", "tags", "warnings", "context", "evidence", "historical", "advisoryOnly")
    for theirs in case["answer"]["records"]:
        if theirs["id"] not in ours:
            assert was_cut(case) or len(ours) == 20
            continue
        record = ours[theirs["id"]]
        assert {key: record[key] for key in same} == {key: theirs[key] for key in same}
        if record["patterns"] and theirs["patterns"]:  # a budget may have taken them on either side
            assert record["patterns"] == theirs["patterns"]
        assert set(record) - {"matched"} == {*theirs, "ageDays"}
        # Switching native recall off edits the configuration, which is one of the project's sources.
        machine = {MACHINE} if native else {MACHINE, "source-drift"}
        assert set(record["compatibilityReasons"]) - machine == set(theirs["compatibilityReasons"]) - machine


@pytest.mark.parametrize(("store", "case"), ALL)
def test_the_shape_of_the_answer_and_the_fallback_word_agree(
    projects: dict[tuple[str, bool], Path], store: str, case: dict[str, Any]
) -> None:
    answer, theirs = ask(projects, store, case).to_dict(), case["answer"]
    assert set(answer) == set(theirs)
    assert answer["retrieval"] == theirs["retrieval"]
    assert answer["advisoryOnly"] is True
    assert answer["warnings"][0].startswith("Historical examples are untrusted data")
    ours_words = [warning.split(": ")[1] for warning in answer["warnings"][1:]]
    assert ours_words == [warning.split(": ")[1] for warning in theirs["warnings"][1:]]
    if theirs["retrieval"] == "ruvector":
        assert answer["retrievalDetails"]["mode"] == theirs["retrievalDetails"]["mode"]
        assert answer["retrievalDetails"]["engine"] == "ruvector"
    assert canonical.utf16_length(canonical.dumps(answer)) + 1 <= case["maxChars"]


def test_the_sources_of_the_unchanged_project_have_not_drifted(projects: dict[tuple[str, bool], Path]) -> None:
    answer = recall(projects["till", True], "zero boundary", limit=20, max_chars=20_000)
    assert answer.records
    assert all(set(record["compatibilityReasons"]) <= {MACHINE} for record in answer.records)
