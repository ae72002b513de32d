"""This repository remembers its own tests, and would notice if they ended otherwise."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from helpers import QUERY, REPOSITORY, Done, Json, Project
from testlore.evidence import copies, patch
from testlore.memory import store
from testlore.project.settings import CONFIG_FILE
from testlore.project.snapshot import Scan

from proof import own_memory

RECORDS = store.parse(store.read_bytes(str(REPOSITORY))).records
WRITTEN = {path.stem: json.loads(path.read_text("utf-8")) for path in own_memory.CANDIDATES.glob("*.json")}


def check(checkout: Path, count: int) -> Done:
    argv = ["-m", "proof", "own-memory", "--check", str(count)]
    return Project(checkout).python(*argv, cwd=checkout, timeout=300)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the repository with its memory, and with one candidate, which is rejected because it fails.

    Of the configured tests it runs one file alone, for they are run twice.
    """
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")  # the configured runner sets a profile of hypothesis
    root = tmp_path / "checkout"
    copies.pristine(str(REPOSITORY), str(root))
    (root / store.INDEX_FILE).parent.mkdir(parents=True)
    shutil.copy(REPOSITORY / store.INDEX_FILE, root / store.INDEX_FILE)
    for path in (root / "proof/candidates").iterdir():
        if path.stem != "rejected-wrong":
            path.unlink()
    config = json.loads((root / CONFIG_FILE).read_text("utf-8"))
    [paths] = [number for number, word in enumerate(config["runner"]) if word.startswith("testpaths=")]
    config["runner"][paths] = "testpaths=tests/test_canonical*.py"
    (root / CONFIG_FILE).write_text(json.dumps(config), "utf-8")
    return root


def test_at_least_25_candidates_were_executed_and_some_rejected_for_different_reasons() -> None:
    rejected = [record for record in RECORDS if record["outcome"] == "rejected"]
    assert len(RECORDS) >= 25
    assert len(rejected) >= 5
    assert len({tuple(record["warnings"]) for record in rejected}) >= 5
    assert len(WRITTEN) >= 25
    assert all(record["framework"] == "pytest" for record in RECORDS)
    assert sum(record["evidence"]["caughtDefects"] for record in RECORDS) >= 15


def test_the_memory_tells_no_place_of_a_machine() -> None:
    text = (REPOSITORY / store.INDEX_FILE).read_text("utf-8")
    for place in (str(REPOSITORY), str(Path.home()), tempfile.gettempdir(), "site-packages", "/home/"):
        assert place not in text


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_every_candidate_can_be_staged_on_todays_sources(name: str) -> None:
    files = Scan(str(REPOSITORY), ()).snapshot().files()
    assert patch.check(str(REPOSITORY), own_memory.patch(name), files)["requirements"]


def test_a_fresh_clone_is_answered_with_episodes_about_this_code(tmp_path: Path) -> None:
    for name in (CONFIG_FILE, store.INDEX_FILE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    answer: Json = Project(tmp_path).ask("doit", QUERY)
    assert answer["retrieval"] == "ruvector"
    first = answer["records"][0]
    assert first["outcome"] == "accepted"
    assert "zero_boundary" in "".join(pattern["content"] for pattern in first["patterns"])


def test_a_candidate_that_ends_as_remembered_is_confirmed_and_the_memory_left_alone(checkout: Path) -> None:
    before = (checkout / store.INDEX_FILE).read_bytes()
    done = check(checkout, 1)
    assert (done.returncode, done.stdout) == (0, "1 ended as the memory says\n"), done.stderr
    assert (checkout / store.INDEX_FILE).read_bytes() == before
    assert not (checkout / ".tddswarm/candidates").exists()


def test_a_candidate_that_ends_otherwise_is_noticed(checkout: Path) -> None:
    path = checkout / "proof/candidates/rejected-wrong.json"
    written = json.loads(path.read_text("utf-8"))
    written["review"]["accepted"] = False
    path.write_text(json.dumps(written), "utf-8")
    done = check(checkout, 1)
    assert done.returncode == 1
    assert "rejected-wrong: rejected " in done.stderr
    assert "Traceback" not in done.stderr
