"""A recall's answer as a table for people, at most 80 columns wide."""

from __future__ import annotations

import re
from typing import Any

from testlore import libraries
from testlore.commands.renderers import source
from testlore.commands.renderers.terminal import printable, shorten
from testlore.stages.answer import RecallResult

_COLUMNS = 80
_PATTERN_LINES = 3
_PATTERN_COLUMNS = 24
_TAG_COLUMNS = 18
_LONGEST_WORD = 24


def render(result: RecallResult) -> str:
    """The table and a line that sums it up; empty when nothing could be recalled."""
    if result.reason:
        return ""
    count = len(result.records)
    summary = f"{count or 'No'} episode{'' if count == 1 else 's'} recalled by {source(result)}.\n"
    if not count:
        return summary
    import textwrap

    with libraries.installed():
        from tabulate import tabulate

    rows = [
        (
            record["outcome"],
            f"{record['score']:.3f}",
            textwrap.fill(", ".join(_marks(record)), _TAG_COLUMNS),
            f"{record['ageDays']}d",
            "yes" if record["sourceCompatible"] else "no",
            "\n".join(_pattern_lines(record)),
        )
        for record in result.records
    ]
    headers = ("outcome", "score", "tags", "age", "fits", "pattern")
    table = tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True)
    reasons = [_explanation(number, record) for number, record in enumerate(result.records, 1) if "explain" in record]
    lines = [line.rstrip() for line in table.splitlines()]
    return "\n".join([*lines, "", *reasons, *([""] if reasons else []), summary])


def _explanation(number: int, record: dict[str, Any]) -> str:
    """How a record's score is computed, in a few lines of at most 80 columns."""
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
    columns = _COLUMNS if text.isascii() else _COLUMNS // 2  # a character may be two columns wide
    return textwrap.fill(printable(text), columns, initial_indent=f"{number:>2}. ", subsequent_indent="    ")


def _marks(record: dict[str, Any]) -> list[str]:
    return [*record["tags"], *(f"!{warning}" for warning in record["warnings"])]


def _pattern_lines(record: dict[str, Any]) -> list[str]:
    """The first lines of the first pattern, without imports, which say little about a test."""
    if not record["patterns"]:
        return [""]
    lines = [printable(line).strip() for line in record["patterns"][0]["content"].splitlines()]
    lines = [line for line in lines if line]
    telling = [line for line in lines if not re.match(r"(import|from|const \w+ = require)\b", line)] or lines
    return [shorten(line, _PATTERN_COLUMNS) for line in telling[:_PATTERN_LINES]]
