"""What the tests for agents share: a small project, and a scripted worker in place of a coding agent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from evidence_helpers import CALC, PYTEST_CANDIDATE
from helpers import Json, Project

REQUIREMENTS = "Numbers are clamped to 0 and 10. Division by zero is an error."
GOOD = PYTEST_CANDIDATE
ORIGINAL = "from calc import clamp\n\n\ndef test_clamp():\n    assert clamp(-1) == 0\n"
# Answers each role as it should, keeps what it was asked, and lets a test's own code change the answer before it goes.
_WORKER = """\
import json, os, pathlib, sys, time
here = pathlib.Path(__file__).parent
request = json.load(sys.stdin)
role = request["role"]
(here / f"{role}-{time.time_ns()}-{os.getpid()}.json").write_text(json.dumps(request))
task = request.get("task")
answer = {
    "architect": {"tasks": [{"subject": "calc.py", "instructions": "Try to divide by zero."}]},
    "author": {"schemaVersion": 1, "files": [{"path": "tests/test_divide.py", "content": GOOD}]},
    "reviewer": {
        "accepted": True, "findings": [], "oracle": {"independent": True, "basis": [request["requirements"]]}
    },
}[role]
exec((here / "behaviour.py").read_text())
print(json.dumps(answer))
"""


class Crew:
    """A scripted worker, which plays every role.

    Args:
        folder: where it lies, outside of the project.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.script = folder / "worker.py"
        self.script.write_text(_WORKER.replace("GOOD", repr(GOOD)))
        self.behave("")

    @property
    def argv(self) -> list[str]:
        return [sys.executable, str(self.script)]

    def behave(self, code: str) -> None:
        """Let this code run before the answer goes; it sees ``request``, ``role``, ``task`` and ``answer``."""
        (self.folder / "behaviour.py").write_text(code)

    def requests(self, role: str) -> list[Json]:
        """What it was asked in a role, in order."""
        return [json.loads(path.read_text()) for path in sorted(self.folder.glob(f"{role}-*.json"))]


def shop(root: Path, crew: Crew | None, **config: Any) -> Project:
    """A project with a source, a test and requirements, that git tracks."""
    files = {"calc.py": CALC, "tests/test_calc.py": ORIGINAL, "tddswarm.requirements.md": REQUIREMENTS}
    for path, content in files.items():
        write(root / path, content)
    agent = {"agent": crew.argv} if crew else {}
    write(
        root / "tddswarm.config.json", json.dumps({"adapter": "pytest", "evidence": {"repeats": 1}, **agent, **config})
    )
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return Project(root, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})  # so that the suites under validation start soon


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def kept(root: Path) -> dict[str, str]:
    """What is kept of generations that failed."""
    folder = root / ".tddswarm/generation"
    return {path.name: path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def tree(root: Path) -> dict[str, bytes]:
    """Every file of the project, without git's own and what belongs to us."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not {".git", ".tddswarm"}.intersection(path.relative_to(root).parts)
    }
