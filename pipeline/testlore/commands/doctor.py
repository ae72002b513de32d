"""``testlore doctor``: check what is installed, which engine answers, and what to do if none does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore import libraries
from testlore.commands import Answer, add_json, respond

if TYPE_CHECKING:
    import argparse

    from testlore.stages.health import Finding

HELP = "check what is installed, and say why recall falls back"
EXAMPLES = ("testlore doctor", "testlore doctor --root ../other --json")

_COLUMNS = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format."""
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Examine the project, print the findings, and return the exit status of a recall."""
    return respond(lambda: _answer(arguments.root), as_json=arguments.json)


def _answer(root: str) -> Answer:
    with libraries.installed():
        from tabulate import tabulate

    from testlore.stages import health

    findings, status = health.examine(root)
    rows = [(finding.part, finding.state, _wrapped(finding)) for finding in findings]
    table = tabulate(rows, tablefmt="plain", disable_numparse=True)
    return Answer({"findings": [finding._asdict() for finding in findings]}, table, status=status)


def _wrapped(finding: Finding) -> str:
    """The text and the advice, wrapped. No word of the advice is broken, since it may be a command to copy."""
    import textwrap

    lines = textwrap.wrap(finding.text, _COLUMNS, break_on_hyphens=False)
    if finding.advice:
        lines += textwrap.wrap(f"-> {finding.advice}", _COLUMNS, break_on_hyphens=False, break_long_words=False)
    return "\n".join(lines)
