"""Where git gives no answer about a project, recall answers, says so, and calls nothing fitting."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from episodes import make_episode
from evidence_helpers import patch
from helpers import QUERY, Project
from testlore import canonical
from testlore.ranking import fusion
from testlore.stages import recall

BUDGETS = (256, 500, 900, 6000)


@pytest.fixture
def damaged(project: Project) -> Project:
    """A project in a repository whose index is damaged."""
    subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    (project.root / ".git/index").write_bytes(b"bad")
    return project


def words(project: Project) -> str:
    """What everybody is told."""
    return f"sources-unknown: {project.root}/.git is there, but git said: fatal: .git/index: index file smaller than"


@pytest.mark.parametrize("door", ["testlore", "doit"])
def test_no_record_fits_sources_that_are_unknown(damaged: Project, door: str) -> None:
    answer = damaged.ask(door)
    assert answer["retrieval"] == "ruvector"
    assert answer["records"]
    for record in answer["records"]:
        assert (record["sourceCompatible"], record["compatibilityReasons"]) == (False, ["sources-unknown"])
    assert answer["warnings"][-1].startswith(words(damaged))


def test_a_lexical_answer_says_so_too(damaged: Project) -> None:
    damaged.configure({"enabled": False})
    answer = damaged.ask()
    assert {word for record in answer["records"] for word in record["compatibilityReasons"]} == {"sources-unknown"}
    assert answer["warnings"][-1].startswith(words(damaged))


def test_an_episode_does_not_fit_though_the_files_that_its_cases_ran_are_todays(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    subject = {"files": [{"path": "a.py", "digest": canonical.digest("x = 1\n")}], "symbols": []}
    ranked = [fusion.unasked({**make_episode(1), "subject": subject})]
    (record,) = recall.to_records(ranked, str(tmp_path), lambda: None)
    assert (record["sourceCompatible"], record["compatibilityReasons"]) == (False, ["sources-unknown"])


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_answer_keeps_its_budget(damaged: Project, budget: int) -> None:
    done = damaged.testlore("recall", QUERY, "--json", "--max-chars", str(budget))
    assert len(done.stdout) <= budget
    assert json.loads(done.stdout)["retrieval"] == "ruvector"


def test_a_person_is_told_on_standard_error_and_an_agent_gets_the_word_alone(damaged: Project) -> None:
    assert words(damaged) in " ".join(damaged.testlore("recall", QUERY).stderr.split())
    block = damaged.testlore("recall", QUERY, "--format", "prompt").stdout
    assert "\nsources-unknown\n" in block
    assert str(damaged.root) not in block


def test_evidence_is_refused_with_the_same_words_and_the_doctor_says_what_to_do(damaged: Project) -> None:
    (damaged.root / ".git/index").unlink()
    (damaged.root / "patch.json").write_text(json.dumps(patch({"test/new.test.js": "// nothing\n"})))
    staged = damaged.testlore("stage", "patch.json").stdout.strip()
    (damaged.root / ".git/index").write_bytes(b"bad")
    for argv in (["validate", staged], ["stage", "patch.json"]):
        done = damaged.testlore(*argv)
        assert (done.returncode, done.stdout) == (2, "")
        assert words(damaged) in done.stderr
    told = " ".join(damaged.testlore("doctor").stdout.split())
    assert "sources wrong sources-unknown: " in told
    assert "-> Run `git status` in the project's folder, and mend what it says." in told
