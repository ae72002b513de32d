"""``testlore merge``: add another worktree's memory to this one's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import Answer, add_json, dropped_text, respond

if TYPE_CHECKING:
    import argparse

HELP = "add another worktree's memory to this one's"
EXAMPLES = ("testlore merge --from ../other-worktree",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the other worktree."""
    add_json(parser)
    parser.add_argument("--from", dest="source", required=True, metavar="DIR", help="the other worktree")


def run(arguments: argparse.Namespace) -> int:
    """Merge, and print how many episodes were added."""
    return respond(lambda: _answer(arguments.root, arguments.source), as_json=arguments.json)


def _answer(root: str, source: str) -> Answer:
    from testlore.memory.merge import merge

    counts = merge(root, source)
    text = f"{counts.added} episodes added, {counts.known} known before, {counts.dropped} dropped for lack of room"
    if counts.forgotten:
        text += f", {counts.forgotten} removed that were forgotten there"
    return Answer(counts._asdict(), f"{text}; {counts.total} in memory{dropped_text(counts.left)}")
