"""``testlore forget``: remove episodes because a person asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from testlore.commands import SHORT_ID, Answer, add_json, respond

if TYPE_CHECKING:
    import argparse

HELP = "remove episodes because a person asks for it"
EXAMPLES = ('testlore forget 0781e554 --why "it was a trial"',)

_SHOWN = ("id", "outcome", "createdAt", "tags", "warnings")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the episodes and the reason."""
    add_json(parser)
    parser.add_argument("ids", nargs="+", metavar="ID", help="an episode's or a candidate's id, or its beginning")
    parser.add_argument("--why", required=True, metavar="TEXT", help="the person's reason")


def run(arguments: argparse.Namespace) -> int:
    """Remove the episodes, and print what was removed."""
    return respond(lambda: _answer(arguments.root, arguments.ids, arguments.why), as_json=arguments.json)


def _answer(root: str, ids: Sequence[str], why: str) -> Answer:
    from testlore.memory.forget import forget

    removed = forget(root, ids, why)
    value = {"removed": [{key: one[key] for key in _SHOWN} for one in removed], "why": why}
    lines = [
        f"removed {one['id'][:SHORT_ID]}, {one['outcome']}, of {one['createdAt']}: "
        f"{', '.join([*one['tags'], *one['warnings']]) or 'no tags'}"
        for one in removed
    ]
    return Answer(value, "\n".join([*lines, f"why: {why}"]))
