"""A recall's answer as a table for people: two lines an episode, as wide as the terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from testlore import libraries
from testlore.commands import output
from testlore.commands.output import SHORT_ID
from testlore.commands.renderers import source
from testlore.commands.renderers.terminal import printable, shorten, width
from testlore.stages.answer import RecallResult

_INDENT = SHORT_ID + 2
_FIXED_COLUMNS = _INDENT + len("accepted    fits    ") - 1  # the headers of tabulate have two columns to spare
_LEAST_COLUMNS = 20  # of titles and tests together, however narrow the terminal is
_TITLE_SHARE = 0.55
_LONGEST_WORD = 24
_COLORS = {"accepted": "green", "rejected": "red"}


def render(result: RecallResult) -> str:
    """The table and a line that sums it up; empty when nothing could be recalled."""
    if result.reason:
        return ""
    count = len(result.records)
    summary = f"{count or 'No'} episode{'' if count == 1 else 's'} recalled by {source(result)}.\n"
    if not count:
        return summary
    columns = output.columns()
    reasons = [
        _explanation(number, record, columns) for number, record in enumerate(result.records, 1) if "explain" in record
    ]
    lines = episodes(result.records)
    return "\n".join([*lines, "", *reasons, *([""] if reasons else []), summary])


def episodes(records: Sequence[dict[str, Any]], ages: Sequence[int] = ()) -> list[str]:
    """The lines of a table of episodes: a row for each, and below it what tells most about it.

    Args:
        records: as in an answer; at least one.
        ages: how many days old each is, for a column more.
    """
    columns = output.columns()
    with libraries.installed():
        from tabulate import tabulate

    told_ages = [f"{age}d" for age in ages]
    age_columns = max([len("age") + 2, *map(len, told_ages)]) + 2 if told_ages else 0
    room = max(columns - _FIXED_COLUMNS - age_columns, _LEAST_COLUMNS)
    title_columns = int(room * _TITLE_SHARE) if any(record.get("tests") for record in records) else room
    tests = [_first_test(record, room - title_columns - 2) for record in records]
    rows = [
        [
            record["id"][:SHORT_ID],
            *told_ages[number : number + 1],
            record["outcome"],
            "yes" if record["sourceCompatible"] else "no",
            shorten(_title(record), title_columns),
            *([test] if any(tests) else []),
        ]
        for number, (record, test) in enumerate(zip(records, tests, strict=True))
    ]
    headers = [
        "episode",
        *(["age"] if told_ages else []),
        "outcome",
        "fits",
        "title",
        *(["first test"] if any(tests) else []),
    ]
    head, rule, *body = tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True).splitlines()
    lines = [head.rstrip(), rule]
    for record, line in zip(records, body, strict=True):
        outcome = record["outcome"]
        lines.append(line.rstrip().replace(outcome, output.paint(outcome, _COLORS[outcome]), 1))
        telling = shorten(_telling_line(record), columns - _INDENT)
        lines += [" " * _INDENT + output.paint(telling, "dim")] if telling else []
    return lines


def _title(record: dict[str, Any]) -> str:
    """What was to be shown. Episodes of version 1 hold no title, but tags and warnings."""
    return _line(record.get("title") or ", ".join([*record["tags"], *(f"!{one}" for one in record["warnings"])]))


def _first_test(record: dict[str, Any], columns: int) -> str:
    """The first test with its file, or where that is too wide its name alone; empty for an episode of version 1."""
    tests = record.get("tests")
    if not tests:
        return ""
    name = _line(tests[0]["name"])
    whole = f"{_line(tests[0]['path'])}::{name}"
    return whole if width(whole) <= columns else shorten(name, columns)


def _telling_line(record: dict[str, Any]) -> str:
    """The first line of a pattern that asserts something, else its first that is no import; without one, a reason."""
    if not record["patterns"]:
        return _line(next(iter(record.get("reasons") or []), ""))
    lines = [line for line in map(_line, record["patterns"][0]["content"].splitlines()) if line]
    body = [line for line in lines if not re.match(r"(import|from|const \w+ = require)\b", line)] or lines
    asserting = [line for line in body if re.search(r"\b(assert|expect)", line)] or body
    return asserting[0] if asserting else ""


def _line(text: str) -> str:
    """A text of a record in one line."""
    return " ".join(printable(text).split())


def _explanation(number: int, record: dict[str, Any], columns: int) -> str:
    """How a record's score is computed, in a few lines."""
    import textwrap

    why = record["explain"]
    words = [f"{one['word'][:_LONGEST_WORD]} {one['weight']:.3f}" for one in why["words"]]
    text = f"{' + '.join(words) or 'no word'} = {why['lexical']:.3f} by words"
    if "native" in why:
        text += f"; {why['native']:.3f} by likeness ({why['similarity']:.3f}), which counts {why['nativeShare']:.0%}"
    text += f"; together {why['fused']:.3f}, times {why['evidence']:g} for the evidence"
    if why["novelty"] != 1:
        text += f", times {why['novelty']:g} for being like a better one"
    text += f" = {record['score']:.3f}" + (f"; found by {record['foundBy']}" if "foundBy" in record else "")
    wide = columns if text.isascii() else columns // 2  # a character may be two columns wide
    return textwrap.fill(printable(text), wide, initial_indent=f"{number:>2}. ", subsequent_indent="    ")
