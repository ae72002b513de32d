"""``testlore learn``: show what several episodes have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import SHORT_ID, Answer, add_json, respond

if TYPE_CHECKING:
    import argparse

HELP = "show what episodes have in common: tentative, never a rule"
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
    value = {"lessons": [{**one._asdict(), "tentative": True} for one in lessons], "advisoryOnly": True}
    lines = []
    for one in lessons:
        episodes = " ".join(name[:SHORT_ID] for name in one.episodes)
        lines += [f"{one.kind}: {one.text}", f"  episodes: {episodes}"]
    end = "Tentative: counted, not understood. No lesson is a rule." if lessons else "No lesson yet: nothing recurred."
    return Answer(value, "\n".join([*lines, end]))
