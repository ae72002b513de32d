"""``testlore drop``: remove a candidate. What was remembered of it stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import Answer, add_json, respond

if TYPE_CHECKING:
    import argparse

HELP = "remove a staged candidate; what was remembered of it stays"
EXAMPLES = ("testlore drop ID",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format and the candidate."""
    add_json(parser)
    parser.add_argument("id", metavar="ID", help="a candidate's id, or its beginning")


def run(arguments: argparse.Namespace) -> int:
    """Remove the candidate, and print its id."""

    def work() -> Answer:
        from testlore import evidence

        name = evidence.drop(arguments.root, arguments.id)
        return Answer({"dropped": name}, f"dropped {name}")

    return respond(work, as_json=arguments.json)
