"""The formats of an answer: each has one entry, and no other name is taken for one of them."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from typing import Any

import pytest
from episodes import make_episode_2
from helpers import Project
from testlore import RecallResult, recall, schemas
from testlore.commands import formats, output
from testlore.commands.formats import FORMATS, Format
from testlore.commands.renderers import terminal
from testlore.errors import Unusable

NOTHING = RecallResult([], reason="no-memory")
ANSWER = RecallResult([], "deterministic-lexical", None, ("a warning",))


def test_a_format_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(Unusable, match="call-invalid: format is 'xml'; allowed: table, json, prompt") as refused:
        formats.render(ANSWER, "xml", 6_000)
    assert refused.value.exit_status == 2


def test_a_format_that_is_not_there_is_refused_by_the_command(project: Project) -> None:
    done = project.testlore("recall", "zero", "--format", "xml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "invalid choice: 'xml'" in done.stderr


def test_only_json_says_on_standard_output_that_nothing_can_be_recalled() -> None:
    printed = {name: formats.render(NOTHING, name, 6_000) for name in FORMATS}
    assert {name: text for name, text in printed.items() if text} == {"json": formats.to_json(NOTHING.to_dict())}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("max_chars", [256, 6_000])
def test_every_format_shows_an_answer_in_lines_that_end(project: Project, name: str, max_chars: int) -> None:
    text = formats.render(recall(project.root, "zero boundary"), name, max_chars)
    assert text.endswith("\n")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", text)


def test_a_format_shows_the_warnings_or_leaves_them_to_standard_error() -> None:
    for name, form in FORMATS.items():
        assert ("a warning" in formats.render(ANSWER, name, 6_000)) == form.has_warnings


def shown(**keys: Any) -> str:
    """The table of one record with these keys."""
    record = {
        "id": "6f1c2ab7" * 8,
        "outcome": "accepted",
        "sourceCompatible": True,
        "tags": ["boundary"],
        "warnings": [],
        "patterns": [{"language": "python", "content": "from a import b\n\ndef test_b():\n    assert b(0) == 1\n"}],
        **keys,
    }
    return formats.render(RecallResult([record], "deterministic-lexical"), "table", 6_000)


def test_the_table_says_which_test_an_episode_is_about() -> None:
    tests = [{"path": "tests/test_help.py", "name": "test_zero", "outcome": "passed"}]
    lines = shown(title="short help never exceeds the limit", tests=tests).splitlines()
    assert lines[0].split() == ["episode", "outcome", "fits", "title", "first", "test"]
    assert lines[2].startswith("6f1c2ab76f1c  accepted   yes     short help never exceed")
    assert lines[2].endswith("  test_zero")
    assert lines[3] == " " * 14 + "assert b(0) == 1"


def test_the_table_tells_an_old_episode_by_its_tags_and_a_rejected_one_by_its_first_reason() -> None:
    lines = shown(outcome="rejected", patterns=[], warnings=["adds-nothing"], reasons=["adds-nothing: t"]).splitlines()
    assert lines[2].endswith("boundary, !adds-nothing")
    assert lines[3].strip() == "adds-nothing: t"


def test_the_prompt_says_inside_a_fence_which_test_an_episode_is_about(project: Project) -> None:
    made = make_episode_2(1, "x ```` y", title="zero\u202e is ````` a boundary")
    project.write_store([made], schemaVersion=2, forgotten=[])
    lines = formats.render(recall(project.root, "zero"), "prompt", 6_000).splitlines()
    [start] = [at for at, line in enumerate(lines) if line == "``````text"]
    about = ["title: zero is ````` a boundary", "tests: tests/zero.test.js::zero passed", "ran: src/zero.js, zero"]
    assert lines[start + 1 : start + 5] == [*about, "``````"]


@pytest.mark.parametrize("columns", [20, 40, 80, 133])
def test_the_table_is_as_wide_as_the_terminal_and_no_text_leaves_its_line(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr(output, "columns", lambda: columns)
    tests = [{"path": "tests/" + "p" * 190, "name": "日本" * 100, "outcome": "passed"}]
    for text in (shown(title="a\n\tb " * 30, tests=tests), shown(title="漢字" * 80), shown(tags=["boundary"] * 20)):
        lines = text.splitlines()
        assert max(map(terminal.width, lines[:-1])) <= max(columns, 60)
        assert len(lines) == 6


@pytest.mark.parametrize("asked", [["recall", "zero"], ["list"]])
@pytest.mark.parametrize(
    ("environment", "colored"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_a_terminal_gets_colours_unless_its_user_wants_none(
    project: Project, environment: dict[str, str], colored: bool, asked: list[str]
) -> None:
    reader, writer = pty.openpty()
    env = {**{key: value for key, value in os.environ.items() if key != "NO_COLOR"}, "TERM": "xterm", **environment}
    done = project.testlore(*asked, stdout=writer, stderr=subprocess.PIPE, capture_output=False, env=env)
    os.close(writer)
    text = os.read(reader, 1 << 16).decode()
    os.close(reader)
    assert done.returncode == 0, done.stderr
    assert ("\x1b[32maccepted\x1b[0m" in text) == colored
    assert ("\x1b" in text) == colored
    assert "\ufffd" not in text


def test_a_new_format_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "count", Format(lambda result, _: f"{len(result.records)}\n", has_warnings=False))
    assert formats.render(ANSWER, "count", 6_000) == "0\n"


def test_the_answers_of_json_are_those_of_the_schema(project: Project) -> None:
    answer = project.ask()
    assert schemas.first_problem("answer", answer) is None
