"""Trust: what only the repository's files name is started after a person's decision, and not before."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from evidence_helpers import NODE_CANDIDATE, NODE_SOURCE, make_project, patch, pytest_project, write
from helpers import Project, word
from testlore import evidence, programs
from testlore.errors import Refusal
from testlore.project import settings
from testlore.project.settings import Settings


@pytest.fixture(autouse=True)
def _nothing_is_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TESTLORE_TRUST", "0")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def named(project: Project) -> Project:
    """A project whose configuration names an embedding command, which leaves a file behind when it runs."""
    script = project.root / "embed.py"
    script.write_text("import pathlib, sys; sys.stdin.read(); pathlib.Path('ran').write_text(''); print('{}')")
    embedding = {"mode": "command", "argv": [sys.executable, "embed.py"], "identity": "theirs"}
    project.configure({"embedding": embedding})
    return project


def ran(project: Project) -> bool:
    return (project.root / "ran").exists()


@pytest.mark.parametrize("door", ["testlore", "doit"])
def test_a_command_that_only_the_repository_names_is_not_started(named: Project, door: str) -> None:
    answer = named.ask(door)
    assert word(answer) == "ruvector-untrusted-command"
    assert answer["records"]
    assert named.testlore("doctor").returncode == 0
    assert "testlore trust" in named.testlore("doctor").stdout
    named.doit()
    assert not ran(named)


def test_a_persons_decision_starts_it_and_revoking_ends_that(named: Project) -> None:
    assert named.testlore("trust", "--yes").returncode == 0
    assert word(named.ask()) == "ruvector-invalid-embedding-output"
    assert ran(named)
    assert named.testlore("trust", "--revoke").returncode == 0
    assert word(named.ask()) == "ruvector-untrusted-command"


def test_other_programs_need_another_decision(named: Project) -> None:
    named.testlore("trust", "--yes")
    embedding = {"mode": "command", "argv": [sys.executable, "other.py"], "identity": "theirs"}
    named.configure({"embedding": embedding})
    assert word(named.ask()) == "ruvector-untrusted-command"


def test_the_same_files_elsewhere_need_another_decision(named: Project, tmp_path: Path) -> None:
    named.testlore("trust", "--yes")
    shutil.copytree(named.root, tmp_path / "elsewhere")
    assert word(Project(tmp_path / "elsewhere").ask()) == "ruvector-untrusted-command"


def test_without_a_terminal_nobody_is_asked(named: Project) -> None:
    done = named.testlore("trust", input="y\n")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert word(named.ask()) == "ruvector-untrusted-command"


def test_what_is_named_is_shown_whole(named: Project) -> None:
    shown = json.loads(named.testlore("trust", "--show", "--json").stdout)
    assert shown == {"programs": {"embedding": [sys.executable, "embed.py"]}, "trusted": False}
    assert "not trusted on this machine" in named.testlore("trust", "--show").stdout


def test_a_configuration_that_names_no_program_asks_nothing(project: Project) -> None:
    assert project.ask_natively() == "built"
    assert "nothing to trust" in project.testlore("trust").stdout


def test_our_own_embedding_command_needs_no_trust(tmp_path: Path) -> None:
    assert programs.named(str(tmp_path), Settings(argv=("testlore-embed",))) == {}
    assert programs.are_trusted(str(tmp_path), Settings(argv=("testlore-embed",)), *programs.RECALL)


def test_the_engine_under_node_modules_needs_trust(project: Project) -> None:
    project.configure({"runtime": "node"})
    assert word(project.ask()) == "ruvector-untrusted-command"


def test_a_runner_and_an_agent_are_refused_until_trusted(tmp_path: Path) -> None:
    root = pytest_project(tmp_path / "shop")
    config = {"adapter": "pytest", "runner": [sys.executable, "-m", "pytest", "{files}"], "agent": ["agent"]}
    write(root, {"tddswarm.config.json": json.dumps(config), "tddswarm.requirements.md": "It works."})
    name = evidence.stage(root, patch())
    with pytest.raises(Refusal, match="program-untrusted: runner") as caught:
        evidence.validate(root, name)
    assert caught.value.exit_status == 2
    done = Project(root).testlore("generate")
    assert done.returncode == 2
    assert "program-untrusted: agent" in done.stderr
    assert Project(root).testlore("trust", "--yes").returncode == 0
    assert evidence.validate(root, name).outcome == "accepted"


@pytest.fixture
def vitest(tmp_path: Path) -> Path:
    """A project whose usual runner is a program in its own folder, which leaves a file behind when it runs."""
    root = make_project(
        tmp_path / "shop",
        {
            "package.json": '{"devDependencies": {"vitest": "1"}}',
            "src/calc.js": NODE_SOURCE,
            ".gitignore": "node_modules\n",
            "node_modules/.bin/vitest": f"#!/bin/sh\ntouch '{tmp_path}/ran'\n",
        },
        {},
    )
    (root / "node_modules/.bin/vitest").chmod(0o755)
    return root


def test_the_usual_runner_in_node_modules_is_not_started_until_trusted(vitest: Path, tmp_path: Path) -> None:
    name = evidence.stage(vitest, patch({"src/calc.test.js": NODE_CANDIDATE}))
    with pytest.raises(Refusal, match=r"program-untrusted: runner is \['node_modules/.bin/vitest', 'run', "):
        evidence.validate(vitest, name)
    assert not (tmp_path / "ran").exists()
    assert Project(vitest).testlore("trust", "--yes").returncode == 0
    with pytest.raises(Refusal, match="original-incomplete"):
        evidence.validate(vitest, name)
    assert (tmp_path / "ran").exists()


def test_another_program_at_its_place_needs_another_decision(vitest: Path) -> None:
    Project(vitest).testlore("trust", "--yes")
    configured = settings.parse(settings.read(str(vitest)))
    assert programs.are_trusted(str(vitest), configured, "runner")
    (vitest / "node_modules/.bin/vitest").write_text("#!/bin/sh\necho something else\n")
    assert not programs.are_trusted(str(vitest), configured, "runner")
    shown = json.loads(Project(vitest).testlore("trust", "--show", "--json").stdout)
    assert shown["programs"]["runner"]["argv"][0] == "node_modules/.bin/vitest"
    assert not shown["trusted"]


def test_the_program_of_the_workspace_around_a_package_is_the_one_that_is_trusted(vitest: Path) -> None:
    package = vitest / "packages/one"
    write(package, {"package.json": '{"devDependencies": {"vitest": "1"}}'})
    write(vitest, {"package.json": '{"workspaces": ["packages/*"]}'})
    configured = Settings(adapter="vitest")
    before = programs.named(str(package), configured)["runner"]["digest"]
    assert before is not None
    (vitest / "node_modules/.bin/vitest").write_text("#!/bin/sh\necho something else\n")
    assert programs.named(str(package), configured)["runner"]["digest"] != before


def test_a_new_agent_does_not_ask_anew_about_the_embedding_command(named: Project) -> None:
    named.testlore("trust", "--yes")
    embedding = {"mode": "command", "argv": [sys.executable, "embed.py"], "identity": "theirs"}
    named.configure({"embedding": embedding}, agent=["agent"])
    configured = settings.parse(settings.read(str(named.root)))
    assert programs.are_trusted(str(named.root), configured, "embedding")
    assert not programs.are_trusted(str(named.root), configured, "agent")


@pytest.mark.parametrize("adapter", ["pytest", "unittest", "node", "custom"])
def test_a_persons_own_interpreter_needs_no_trust(tmp_path: Path, adapter: str) -> None:
    assert programs.named(str(tmp_path), Settings(adapter=adapter)) == {}
    assert programs.are_trusted(str(tmp_path), Settings(adapter=adapter), "runner")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": 1}', "\udc80", "null", "ROOT"])
def test_decisions_that_cannot_be_read_are_none(named: Project, content: str, tmp_path: Path) -> None:
    named.testlore("trust", "--yes")
    content = content.replace("ROOT", json.dumps({str(named.root): "0" * 64}))
    (tmp_path / "state/testlore/trusted.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert word(named.ask()) == "ruvector-untrusted-command"


def test_decisions_are_kept_for_this_user_alone(named: Project, tmp_path: Path) -> None:
    named.testlore("trust", "--yes")
    path = tmp_path / "state/testlore/trusted.json"
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o666)
    assert word(named.ask()) == "ruvector-untrusted-command"
