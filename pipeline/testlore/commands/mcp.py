"""``testlore mcp``: answer agents from memory over the Model Context Protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from testlore.commands import explained, output
from testlore.errors import Unusable

if TYPE_CHECKING:
    import argparse

HELP = "answer agents over the Model Context Protocol, on stdio"
EXAMPLES = ("testlore mcp --root /path/to/the/project",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the root is all that it takes."""


def run(arguments: argparse.Namespace) -> int:
    """Serve until standard input ends."""
    try:
        from testlore.agents import server
    except ImportError as error:
        output.tell(f"{error}; the MCP server needs: pip install 'testlore-recall[mcp]'")
        return 2
    if sys.stdin is None:
        output.tell("call-invalid: standard input is closed")
        return 2
    output.write("")  # fails now when standard output is closed, and not later inside the protocol
    try:
        server.serve(arguments.root)
    except Unusable as unusable:
        output.warn(explained(str(unusable), unusable.advice))
        return unusable.exit_status
    return 0
