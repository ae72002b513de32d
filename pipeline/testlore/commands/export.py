"""``testlore export``: print counts of the memory, with nothing that could identify a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import Answer, add_json, respond

if TYPE_CHECKING:
    import argparse

HELP = "print counts of the memory: no code, path, id, digest or time"
EXAMPLES = ("testlore export", "testlore export --json > counts.json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format."""
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the counts."""
    return respond(lambda: _answer(arguments.root), as_json=arguments.json)


def _answer(root: str) -> Answer:
    from testlore import canonical
    from testlore.memory.counts import export

    counts = export(root)
    return Answer(counts, canonical.pretty(counts))
