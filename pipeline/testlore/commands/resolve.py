"""``testlore resolve``: join both sides of a memory that git could not merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import Answer, add_json, dropped_text, respond

if TYPE_CHECKING:
    import argparse

HELP = "join both sides of a memory that git could not merge"
EXAMPLES = ("testlore resolve", "testlore resolve --root ../other-worktree")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format."""
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Resolve the conflict, and say what to do next."""
    return respond(lambda: _answer(arguments.root), as_json=arguments.json)


def _answer(root: str) -> Answer:
    import os
    import shlex

    from testlore.memory.resolve import resolve
    from testlore.memory.store import INDEX_FILE

    found = resolve(root)
    command = f"git add {shlex.quote(os.path.normpath(os.path.join(root, INDEX_FILE)))}"
    text = f"{found.ours} episodes of ours and {found.theirs} of theirs are {found.total} now{dropped_text(found.left)}"
    return Answer({**found._asdict(), "next": command}, f"{text}\nnext: {command}")
