"""The example worker of the documentation, run as it stands there, with a stand-in for the coding agent behind it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from agents_helpers import GOOD, shop, write
from docs_helpers import AGENT, marked
from testlore import agents, evidence
from testlore.errors import Refusal


@pytest.fixture
def worker(tmp_path: Path) -> Path:
    write(tmp_path / "worker.py", marked("worker", "docs/agents.md").text)
    return tmp_path / "worker.py"


def test_the_example_worker_hands_an_agents_answers_on(tmp_path: Path, worker: Path) -> None:
    write(tmp_path / "agent.py", AGENT.replace("GOOD", repr(GOOD)))
    agent = [sys.executable, str(worker), sys.executable, str(tmp_path / "agent.py")]
    project = shop(tmp_path / "shop", None, agent=agent)
    made = agents.generate(project.root)
    assert made.review["accepted"] is True
    assert [one.state for one in evidence.candidates(project.root)] == ["staged"]


@pytest.mark.parametrize(
    ("script", "told"),
    [("print('I cannot do that.')", "no answer: I cannot do that."), ("exit(3)", "the agent ended with 3")],
)
def test_the_example_worker_says_why_there_is_no_answer(tmp_path: Path, worker: Path, script: str, told: str) -> None:
    agent = [sys.executable, str(worker), sys.executable, "-c", script]
    project = shop(tmp_path / "shop", None, agent=agent)
    with pytest.raises(Refusal, match="worker-failed: architect: exit status 1") as caught:
        agents.generate(project.root)
    assert told in str(caught.value)
