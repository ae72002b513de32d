"""What the pages say to type works as it stands there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
from agents_helpers import GOOD, Crew, shop, write
from docs_helpers import (
    AGENT,
    FIRST,
    PAGES,
    Example,
    commands,
    copy_of_checkout,
    examples,
    options,
    tasks,
    text_of,
)
from evidence_helpers import fill, patch
from helpers import REPOSITORY, Project, golden
from testlore import evidence, schemas

_SECONDS = 120
_RUN = ("sh", "python", "yaml")

#: What is not run here, by how its line begins, and why. What it names must exist all the same.
EXCEPTIONS = {
    "pip install": "needs the network",
    "npm install": "needs the network",
    "python3 -m venv": "needs the network; the gate runs those of the README word for word",
    "doit dev": "needs the network",
    "doit test": "runs this very suite",
    "doit lint": "takes minutes; the gate runs it",
    "doit coverage": "runs this very suite",
    "doit bench": "takes minutes, and wants an idle machine",
    "doit proof": "takes minutes, and writes the receipt",
    "doit verify_receipt": "speaks of the checkout, not of a copy; the gate runs it",
    "doit own_memory": "takes minutes, and writes the repository's memory",
}

#: doit's own commands.
DOIT = frozenset(["clean", "forget", "info", "list"])

Words = Mapping[str, str]


def empty(root: Path) -> Words:
    root.mkdir()
    return {}


def till(root: Path) -> Words:
    """A small project with a memory; beside it another worktree of it, and a git history."""
    project = Project(golden("till", root))
    golden("till", root.parent / "other-worktree")
    history = root.parent / "history"
    for number, words in enumerate(("zero boundary", "negative amounts")):
        name = words.replace(" ", "_")
        write(history / f"tests/test_{name}.py", f"def test_{name}():\n    assert {number} == {number}\n")
        git = ["git", "-C", str(history), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "init", "-q", str(history)], check=True)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", f"Test {words}"], check=True)
    return {"EPISODE": project.records()[0]["id"][:12]}


def branches(root: Path) -> Words:
    """A project in git whose memory was changed on this branch and on another one."""
    golden("till", root)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(root)]
    subprocess.run([*git, "init", "-q"], check=True)
    for key, value in (("user.name", "a"), ("user.email", "a@example.org")):
        subprocess.run([*git, "config", key, value], check=True)
    for number, switch in enumerate(([], ["checkout", "-q", "-b", "other"], ["checkout", "-q", "-"])):
        if switch:
            subprocess.run([*git, *switch], check=True)
        fill(root, range(number, number + 1))
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "Remember"], check=True)
    return {}


def conflicted(root: Path) -> Words:
    """The same in the midst of a merge."""
    branches(root)
    assert subprocess.run(["git", "-C", str(root), "merge", "-q", "other"], capture_output=True, check=False).returncode
    return {}


def shop_with_candidate(root: Path) -> Words:
    """A small project with a worker, a patch beside it, and the candidate that was staged from it."""
    shop(root, Crew(root.parent / "crew"))
    write(root.parent / "patch.json", json.dumps(patch()))
    return {"ID": evidence.stage(root, patch())}


def shop_without_worker(root: Path) -> Words:
    shop(root, None)
    return {}


def checkout(root: Path) -> Words:
    copy_of_checkout(root)
    return {}


#: How the places are made that examples name; another name is a till of its own.
PLACES: dict[str, Callable[[Path], Words]] = {
    "session": empty,
    "branches": branches,
    "conflicted": conflicted,
    "shop": shop_with_candidate,
    "agents": shop_without_worker,
    "patch": shop_without_worker,
    "checkout": checkout,
}


def all_examples() -> list[Example]:
    return [example for page in PAGES for example in examples(page)]


def sessions() -> list[Any]:
    found = dict.fromkeys((example.page, example.place) for example in all_examples() if example.place)
    return [pytest.param(page, place, id=f"{page}-{place}") for page, place in found]


def lines(example: Example) -> list[str]:
    """What is typed in an example, a line each."""
    if example.language == "yaml":
        return re.findall(r"^- run: (.*)$", example.text, re.M)
    return example.text.splitlines()


def is_exception(line: str) -> bool:
    return line.startswith(tuple(EXCEPTIONS))


def run_session(page: str, place: str, folder: Path) -> str:
    """Type what a page says to type in a place, one example after the other, and return what was printed."""
    root = folder / place
    words = PLACES.get(place, till)(root)
    script = []
    for number, example in enumerate(examples(page)):
        saved = example.marks.get("save", "")
        if saved.startswith(f"{place}/"):
            write(root / saved.removeprefix(f"{place}/"), example.text)
        if example.place != place:
            continue
        if example.language == "python":
            write(folder / f"example-{number}.py", example.text)
            script.append(f"python '{folder}/example-{number}.py'")
        else:
            script += [line for line in lines(example) if not is_exception(line)]
    typed = "\n".join(script)
    for word, value in words.items():
        typed = re.sub(rf"\b{word}\b", value, typed)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", typed],
        cwd=root,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{typed}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def environment(folder: Path) -> dict[str, str]:
    """Our interpreter's programs first, and ``your-agent``."""
    agent = folder / "bin/your-agent"
    write(agent, f"#!{sys.executable}\n" + AGENT.replace("GOOD", repr(GOOD)))
    agent.chmod(0o755)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    path = os.pathsep.join([str(agent.parent), os.path.dirname(sys.executable), os.environ["PATH"]])
    return {**env, "PATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@pytest.mark.parametrize(("page", "place"), sessions())
def test_what_a_page_says_to_type_works_and_prints_what_it_shows(page: str, place: str, tmp_path: Path) -> None:
    printed = without_ids(run_session(page, place, tmp_path))
    for example in examples(page):
        if example.marks.get("shown") == place:
            assert without_ids(example.text) in printed, example


def without_ids(text: str) -> str:
    return re.sub(r"\b[0-9a-f]{12,24}\b", "ID", text)


def test_every_example_says_where_it_is_tried() -> None:
    for example in all_examples():
        if example.language in _RUN:
            assert {"run", "save", "ci"} & set(example.marks), example
        elif example.language == "json":
            assert "schema" in example.marks, example
        elif example.language == "text":
            assert "shown" in example.marks, example
        else:
            assert example.language == "mermaid", example


def test_a_place_in_which_something_is_saved_is_one_in_which_something_runs() -> None:
    places = {(example.page, example.place) for example in all_examples()}
    for example in all_examples():
        if "save" in example.marks:
            assert (example.page, example.marks["save"].partition("/")[0]) in places, example


def test_the_gates_commands_are_marked_as_it_looks_for_them() -> None:
    assert [example.marks["ci"] for example in examples(FIRST) if "ci" in example.marks] == ["try", "test"]
    assert all(f"<!-- ci: {name} -->\n```sh\n" in text_of(FIRST) for name in ("try", "test"))


@pytest.mark.parametrize("page", PAGES)
def test_json_examples_fit_their_schemas(page: str) -> None:
    for example in examples(page):
        if example.language == "json":
            value = json.loads(example.text)
            schema = example.marks["schema"]
            assert schema == "none" or schemas.first_problem(schema, value) is None, example


@pytest.mark.parametrize("page", PAGES)
def test_what_is_not_run_here_exists(page: str) -> None:
    extras = metadata("testlore-recall").get_all("Provides-Extra")
    assert extras
    for example in examples(page):
        for line in lines(example) if example.language in _RUN else []:
            if is_exception(line):
                assert set(re.findall(r"\bdoit (\w+)", line)) <= tasks(), line
                assert set(re.findall(r"[\w-]+", ",".join(re.findall(r"\[([\w,-]+)\]", line)))) <= set(extras), line
                assert all((REPOSITORY / path).exists() for path in re.findall(r"\btests/\S+", line)), line


def test_every_exception_is_met() -> None:
    typed = [line for example in all_examples() if example.language in _RUN for line in lines(example)]
    for beginning in EXCEPTIONS:
        assert any(line.startswith(beginning) or f"/{beginning}" in line for line in typed), beginning


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_the_midst_of_a_sentence_exist(page: str) -> None:
    for typed in re.findall(r"`((?:testlore|doit) [^`]+)`", text_of(page)):
        program, word, *rest = typed.split()
        if program == "testlore" and word != "COMMAND":
            assert word in commands(), typed
            assert {one for one in rest if one.startswith("--")} <= options(word) | {"--help", "--root"}, typed
        elif program == "doit" and not word.startswith("-"):
            assert word in tasks() | DOIT, typed
