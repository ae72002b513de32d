"""A command that is refused says what it was on one line of standard error, and on the next what to do about it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from evidence_helpers import patch, pytest_project
from helpers import REPOSITORY
from testlore import cli, commands, evidence
from testlore.errors import REFUSALS, UNUSABLE, Refusal, Unusable

#: What is asked of a project without a memory, and the two lines that say why there is no answer.
ASKED = {
    "recall": (
        ["recall", "zero"],
        "no-memory: .tddswarm/learning/index.json does not exist yet",
        "Memory begins with the first test candidate that is staged and validated.",
    ),
    "validate": (
        ["validate", "none"],
        "candidate-unknown: there is no candidate none",
        "See `testlore candidates` for the ids of what is staged.",
    ),
    "generate": (
        ["generate"],
        "requirements-missing: there is no tddswarm.requirements.md",
        "Write what is expected, independently of the code, into the named file.",
    ),
    "merge": (
        ["merge", "--from", "other"],
        "store-corrupt: in the source: not JSON: Expecting value: line 1 column 1 (char 0)",
        "Restore .tddswarm/learning/index.json from git; nothing changes or repairs it.",
    ),
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = pytest_project(tmp_path / "shop")
    (root / "other/.tddswarm/learning").mkdir(parents=True)
    (root / "other/.tddswarm/learning/index.json").write_text("no store")
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "JSON"])
@pytest.mark.parametrize("name", ASKED)
def test_the_way_out_is_the_second_line(
    root: Path, name: str, form: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    words, what, way_out = ASKED[name]
    cli.main([*words, *form])
    said = capfd.readouterr()
    assert said.err == f"testlore: {what}\n{way_out}\n"
    assert way_out not in said.out
    if form:
        assert json.loads(said.out)["reason"] == what


def test_what_says_what_is_allowed_needs_no_second_line(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cli.main(["recall", "zero", "--limit", "0"])
    assert capfd.readouterr().err == "testlore: call-invalid: limit is 0; allowed: a whole number from 1 to 20\n"


def test_a_wrong_configuration_names_its_file(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "tddswarm.config.json").write_text('{"runner": 3}')
    cli.main(["recall", "zero"])
    what, way_out = capfd.readouterr().err.splitlines()
    assert what.startswith("testlore: configuration-invalid: runner is 3; allowed")
    assert way_out == "Correct the named key in tddswarm.config.json."


def test_a_candidate_that_is_not_validated_says_so_once(root: Path) -> None:
    name = evidence.stage(root, patch())
    with pytest.raises(Refusal) as caught:
        evidence.remember(root, name)
    assert str(caught.value) == f"validation-missing: {name} was not validated yet"
    assert caught.value.advice == "Run `testlore validate` on the candidate."


@pytest.mark.parametrize("kind", [Unusable, Refusal])
def test_every_word_has_its_way_out(kind: type[Refusal] | type[Unusable]) -> None:
    for word, meaning in kind.MEANINGS.items():
        problem = kind(word, "what it was")
        assert commands.explained(str(problem), problem.advice).splitlines() == [
            f"testlore: {word}: what it was",
            meaning.help,
        ]


def test_no_message_says_what_to_do_before_its_word_does() -> None:
    call = re.compile(r'(?:Refusal|Unusable)\(\s*"([a-z-]+)",\s*f?"([^"]+)"')
    said = []
    for path in (REPOSITORY / "pipeline/testlore").rglob("*.py"):
        for word, detail in call.findall(path.read_text("utf-8")):
            ways = {table[word].help for table in (REFUSALS, UNUSABLE) if word in table}
            programs = set(re.findall("`([a-z ]+)", detail)) & set(re.findall("`([a-z ]+)", " ".join(ways)))
            if word == "store-conflicted":  # recall's JSON holds the message alone
                continue
            if programs or re.search("(stage it|validate|try) again", detail):
                said.append((word, detail))
    assert said == []
