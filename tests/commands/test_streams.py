"""Every command, whatever its streams are: each ends with a documented exit status, and none with a traceback."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from episodes import make_episode
from evidence_helpers import fill, patch, pytest_project
from helpers import Done, Project, word
from testlore import canonical, evidence
from testlore.commands import NAMES
from testlore.memory import store, writer

NAME = "lädchen-ö"

#: What is asked of each command, and the exit status when nothing is wrong with the streams.
CALLS = {
    "recall": (["recall", "zero boundary ö"], 0),
    "list": (["list"], 0),
    "show": (["show", "ID"], 0),
    "evaluate": (["evaluate", "--repo", "."], 0),
    "doctor": (["doctor"], 0),
    "stage": (["stage", "patch.json"], 0),
    "validate": (["validate", "kandidat-ö", "--json"], 2),
    "apply": (["apply", "kandidat-ö", "--json"], 2),
    "candidates": (["candidates"], 0),
    "drop": (["drop", "CANDIDATE"], 0),
    "learn": (["learn"], 0),
    "export": (["export"], 0),
    "forget": (["forget", "ID", "--why", "schön war es nicht"], 0),
    "merge": (["merge", "--from", "other"], 0),
    "resolve": (["resolve", "--json"], 2),
    "merge-driver": (["merge-driver", "base", "ours.json", "theirs.json"], 0),
    "generate": (["generate"], 2),
    "mcp": (["mcp"], 0),
    "trust": (["trust", "--show"], 0),
    "clean": (["clean"], 0),
}
ASCII = [
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.fixture(scope="module")
def _shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with memory, a candidate, a history and requirements, in a folder whose name is not ASCII."""
    root = pytest_project(tmp_path_factory.mktemp("streams") / NAME)
    (root / "tddswarm.requirements.md").write_text("Größen stehen zwischen 0 und 10.", encoding="utf-8")
    (root / "patch.json").write_text(canonical.dumps(patch()), encoding="utf-8")
    evidence.stage(root, patch({"tests/test_size.py": "def test_größe():\n    assert True\n"}))
    for folder in (root, root / "other"):
        fill(folder, range(3))
        foreign = make_episode(9, "zero boundary ö ☕ \ud800", framework="pytest")
        writer.update(str(folder), lambda found, foreign=foreign: [*found, foreign])  # type: ignore[misc]
    for side in ("ours.json", "theirs.json"):
        shutil.copyfile(root / store.INDEX_FILE, root / side)
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", "add", "calc.py", "tests"], cwd=root, check=True)
    subprocess.run(["git", *identity, "commit", "-qm", "Größen mit Grenzen"], cwd=root, check=True)
    return root


@pytest.fixture
def shop(_shop: Path, tmp_path: Path) -> Project:
    return Project(Path(shutil.copytree(_shop, tmp_path / NAME)))


def call(project: Project, name: str) -> list[str]:
    """The command line that asks a command what :data:`CALLS` says."""
    [candidate] = (one.id for one in evidence.candidates(project.root))
    named = {"ID": project.records()[0]["id"], "CANDIDATE": candidate}
    return [sys.executable, "-m", "testlore", *(named.get(word, word) for word in CALLS[name][0])]


def run(project: Project, name: str, shell: str = '"$@"') -> Done:
    """Ask a command from a shell command, which sees the command line as its arguments."""
    argv = ["bash", "-o", "pipefail", "-c", shell, "bash", *call(project, name)]
    done = project.run(*argv, stdin=subprocess.DEVNULL)
    assert "Traceback" not in done.stdout + done.stderr
    assert "Error:" not in done.stdout + done.stderr
    return done


def test_every_command_is_asked_here() -> None:
    assert tuple(CALLS) == NAMES


@pytest.mark.parametrize("env", ASCII, ids=["encoding", "locale"])
@pytest.mark.parametrize("name", CALLS)
def test_a_command_answers_where_the_locale_knows_ascii_alone(shop: Project, name: str, env: dict[str, str]) -> None:
    done = run(shop.with_env(**env), name)
    assert done.returncode == CALLS[name][1], done.stderr
    assert done.stdout or name == "mcp"


def test_a_path_that_the_locale_cannot_express_is_named(shop: Project) -> None:
    evidence.stage(shop.root, patch({"tests/test_größe.py": "def test_size():\n    assert True\n"}))
    assert "staged" in shop.with_env(LC_ALL="C").testlore("candidates").stdout
    done = shop.with_env(**ASCII[1]).testlore("candidates")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "testlore: call-invalid: the locale has no '\\xf6'; allowed: UTF-8\n"


@pytest.mark.parametrize("program", ["prüfe", "./prüfe"])
def test_a_program_that_the_locale_cannot_express_is_one_that_is_not_there(shop: Project, program: str) -> None:
    shop = shop.with_env(**ASCII[1])
    shop.configure({}, adapter="pytest", runner=[program, "{files}"])
    assert shop.ask()["retrieval"] == "ruvector"
    shop.configure({"embedding": {"mode": "command", "argv": [program], "identity": "x"}}, adapter="pytest")
    assert word(shop.ask()) == "ruvector-embedding-command-failed"


@pytest.mark.parametrize("name", CALLS)
def test_a_command_says_when_standard_output_is_closed(shop: Project, name: str) -> None:
    done = run(shop, name, 'exec "$@" >&-')
    assert done.returncode == 1
    assert done.stderr.endswith("testlore: the answer cannot be written: standard output is closed\n")


@pytest.mark.parametrize("shell", ['exec "$@" 2>&-', 'exec "$@" 2>/dev/full'], ids=["closed", "full"])
@pytest.mark.parametrize("name", CALLS)
def test_a_command_answers_though_nobody_can_be_warned(shop: Project, name: str, shell: str) -> None:
    done = run(shop, name, shell)
    assert done.returncode == CALLS[name][1]
    assert done.stdout or name == "mcp"


@pytest.mark.parametrize("name", CALLS)
def test_a_reader_of_one_line_makes_no_command_fail(shop: Project, name: str) -> None:
    done = run(shop, name, '"$@" | head -1')
    assert done.returncode in (0, CALLS[name][1])
    assert done.stdout.count("\n") == (name != "mcp")
    assert "Broken" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "shell", "status"),
    [
        (["--help"], 'exec "$@" >&-', 1),
        (["--version"], 'exec "$@" >&-', 1),
        (["recall", "--help"], 'exec "$@" >&-', 1),
        (["recall", "--help"], 'exec "$@" 2>&-', 0),
        (["--help"], '"$@" | head -1', 0),
        (["recäll"], 'exec "$@" 2>&-', 2),
        (["recall", "--ö"], 'exec "$@" >&- 2>&-', 2),
        (["recall", "--ö"], 'PYTHONIOENCODING=ascii exec "$@"', 2),
        (["recall", "x"], 'exec "$@" >&- 2>&-', 1),
    ],
)
def test_help_and_wrong_command_lines_end_well_too(
    tmp_path: Path, arguments: list[str], shell: str, status: int
) -> None:
    argv = ["bash", "-o", "pipefail", "-c", shell, "bash", sys.executable, "-m", "testlore", *arguments]
    done = Project(tmp_path).run(*argv)
    assert done.returncode == (status if arguments != ["recall", "x"] else 0)
    assert "Traceback" not in done.stderr
