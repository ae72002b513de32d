"""``testlore export``: print counts of the memory, which identify no project, or write its episodes for TestLore."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import Answer, add_json, respond

if TYPE_CHECKING:
    import argparse

HELP = "print counts of the memory: no code, path, id, digest or time"
EXAMPLES = ("testlore export --json > counts.json", "testlore export --testlore memory.json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format and the file."""
    add_json(parser)
    parser.add_argument("--testlore", metavar="FILE", help="write the episodes instead, as a store of TestLore's")


def run(arguments: argparse.Namespace) -> int:
    """Print the counts, or write the file."""
    file = arguments.testlore
    return respond(
        lambda: _answer(arguments.root) if file is None else _written(arguments.root, file), as_json=arguments.json
    )


def _written(root: str, file: str) -> Answer:
    from testlore.memory import version1

    counts = version1.write(root, file)
    text = f"{counts.episodes} episodes written to {file}"
    if counts.left_out:
        text += f"; {counts.left_out} left out, since TestLore has no word for their framework or language"
    return Answer({"file": file, "episodes": counts.episodes, "leftOut": counts.left_out}, text)


def _answer(root: str) -> Answer:
    from testlore import canonical
    from testlore.memory.counts import export

    counts = export(root)
    return Answer(counts, canonical.pretty(counts))
