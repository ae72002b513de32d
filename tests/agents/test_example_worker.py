"""The README's example worker, run as it stands there, with a stand-in for the coding agent behind it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from agents_helpers import GOOD, shop, write
from helpers import REPOSITORY
from testlore import agents, evidence
from testlore.errors import Refusal

# Talks around its answer, as models do, and quotes an object that is none.
_AGENT = """\
import json, sys
prompt = sys.stdin.read()
assert "untrusted" in prompt
request = json.loads(prompt[prompt.index('{"schemaVersion"'):])
answer = {
    "architect": {"tasks": [{"subject": "calc.py", "instructions": "Divide by zero."}]},
    "author": {"files": [{"path": "tests/test_divide.py", "content": GOOD}]},
    "reviewer": {"accepted": True, "findings": [], "oracle": {"independent": True, "basis": ["the requirements"]}},
}[request["role"]]
print(f"Sure! I looked at {{}} and {{'a': 1}}.\\n```json\\n{json.dumps(answer, indent=2)}\\n```\\nAnything else?")
"""


def example() -> str:
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    found = re.search(r"<!-- worker -->\n```python\n(.*?)```", readme, re.S)
    assert found, "the README has no example worker"
    return found[1]


@pytest.fixture
def worker(tmp_path: Path) -> Path:
    write(tmp_path / "worker.py", example())
    return tmp_path / "worker.py"


def test_the_example_worker_hands_an_agents_answers_on(tmp_path: Path, worker: Path) -> None:
    write(tmp_path / "agent.py", _AGENT.replace("GOOD", repr(GOOD)))
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
