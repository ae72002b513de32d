"""``testlore learn``: show what became of the candidates about one file, symbol or kind of test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import SHORT_ID, Answer, add_json, respond

if TYPE_CHECKING:
    import argparse

    from testlore.memory.lessons import Told

HELP = "show what was rejected and what closed gaps, by file, symbol and kind of test: tentative, never a rule"
EXAMPLES = ("testlore learn", "testlore learn --json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format."""
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the lessons, and the episodes of each."""
    return respond(lambda: _answer(arguments.root), as_json=arguments.json)


def _answer(root: str) -> Answer:
    from testlore.memory.lessons import learn

    lessons = learn(root)
    shown = [{**one._asdict(), "episodes": [told._asdict() for told in one.episodes]} for one in lessons]
    value = {"lessons": [{**one, "tentative": True} for one in shown], "advisoryOnly": True}
    lines = []
    for one in lessons:
        lines += [one.text, *(_line(told) for told in one.episodes)]
    end = "Tentative: counted, not understood. No lesson is a rule." if lessons else "No lesson yet: nothing recurred."
    return Answer(value, "\n".join([*lines, end]))


def _line(told: Told) -> str:
    """One episode of a lesson, in a line."""
    why = f" ({', '.join(told.why)})" if told.why else ""
    return " ".join(f"  {told.id[:SHORT_ID]}  {told.outcome}{why}  {told.title}".splitlines()).rstrip()
