"""``testlore apply``: write the files of an accepted candidate into the work tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import Answer, add_json, respond

if TYPE_CHECKING:
    import argparse

HELP = "write an accepted candidate's files into the work tree"
EXAMPLES = ("testlore apply ID", "testlore apply ID --json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format and the candidate."""
    add_json(parser)
    parser.add_argument("id", metavar="ID", help="an accepted candidate, as testlore candidates lists it")


def run(arguments: argparse.Namespace) -> int:
    """Apply the candidate, and print what was written and deleted."""

    def work() -> Answer:
        from testlore import evidence

        done = evidence.apply(arguments.root, arguments.id)
        lines = [
            *(f"wrote {path}" for path in done.written),
            *(f"deleted {path}" for path in done.deleted),
            *(f"{path} is there already" for path in done.there),
        ]
        return Answer(done._asdict(), "\n".join(lines))

    return respond(work, as_json=arguments.json)
