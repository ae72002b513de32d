"""``testlore candidates``: list the staged candidates, their states, and why they were rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore import libraries
from testlore.commands import Answer, add_json, respond

if TYPE_CHECKING:
    import argparse

HELP = "list the staged candidates, their states, and why they were rejected"
EXAMPLES = ("testlore candidates", "testlore candidates --json")

_WHY_COLUMNS = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format."""
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """List the candidates."""
    return respond(lambda: _answer(arguments.root), as_json=arguments.json)


def _answer(root: str) -> Answer:
    from testlore import evidence

    found = evidence.candidates(root)
    value = {"candidates": [one._asdict() for one in found]}
    if not found:
        return Answer(value, "No candidate is staged.")
    with libraries.installed():
        from tabulate import tabulate

    rows = [(one.id, one.state, one.files, "\n".join(one.reasons)) for one in found]
    headers = ("candidate", "state", "files", "why")
    columns = [None, None, None, _WHY_COLUMNS]
    return Answer(value, tabulate(rows, headers=headers, tablefmt="simple", maxcolwidths=columns))
