"""``testlore list``: the episodes of the memory, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import Answer, add_json, respond

if TYPE_CHECKING:
    import argparse

    from testlore.stages.overview import Entry

HELP = "list the episodes of the memory, newest first"
EXAMPLES = ("testlore list --rejected", "testlore list --file tests/test_price.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format and what to leave out."""
    add_json(parser)
    parser.add_argument("--rejected", action="store_true", help="only what was rejected")
    parser.add_argument("--file", default="", metavar="PATH", help="only what is about this test, source or folder")


def run(arguments: argparse.Namespace) -> int:
    """List the episodes."""

    def work() -> Answer:
        from testlore.stages import overview

        found = overview.entries(arguments.root, rejected=arguments.rejected, path=arguments.file)
        return Answer({"episodes": [one.summary() for one in found]}, _table(found), styled=True)

    return respond(work, as_json=arguments.json)


def _table(found: list[Entry]) -> str:
    from testlore.commands.renderers import table

    if not found:
        return "No episode."
    count = f"{len(found)} episode{'' if len(found) == 1 else 's'}."
    records = [{**one.record, "sourceCompatible": one.fits} for one in found]
    return "\n".join([*table.episodes(records, [one.age_days for one in found]), "", count])
