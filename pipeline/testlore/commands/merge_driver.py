"""``testlore merge-driver``: what git calls to merge the memory of two branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import Answer, add_json, dropped_text, respond

if TYPE_CHECKING:
    import argparse

HELP = "merge the memory of two branches, when git asks for it"
EXAMPLES = ("testlore merge-driver %O %A %B",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the three files that git gives a merge driver."""
    add_json(parser)
    parser.add_argument("base", metavar="%O", help="the common ancestor; it is not read")
    parser.add_argument("ours", metavar="%A", help="our side; the union of both is written into it")
    parser.add_argument("theirs", metavar="%B", help="their side")


def run(arguments: argparse.Namespace) -> int:
    """Merge the two files, and print how many episodes there are."""
    return respond(lambda: _answer(arguments.ours, arguments.theirs), as_json=arguments.json)


def _answer(ours: str, theirs: str) -> Answer:
    from testlore.memory.resolve import drive

    found = drive(ours, theirs)
    text = f"{found.ours} episodes of ours and {found.theirs} of theirs are {found.total} now{dropped_text(found.left)}"
    return Answer(found._asdict(), f"test memory: {text}")
