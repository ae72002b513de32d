"""``testlore clean``: remove the derived cache, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import Answer, add_json, explained, respond

if TYPE_CHECKING:
    import argparse

    from testlore.errors import Fallback

HELP = "remove the derived cache, and nothing else"
EXAMPLES = ("testlore clean --dry-run", "testlore clean")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format and the dry run."""
    add_json(parser)
    parser.add_argument("--dry-run", action="store_true", help="only list what would be removed")


def run(arguments: argparse.Namespace) -> int:
    """Remove our files from the cache's folder, and print their names."""
    return respond(lambda: _answer(arguments.root, dry_run=arguments.dry_run), as_json=arguments.json)


def _answer(root: str, *, dry_run: bool) -> Answer:
    from testlore.cache import FOLDER
    from testlore.errors import Fallback
    from testlore.stages.clean import clean

    try:
        names = clean(root, dry_run=dry_run)
    except Fallback as fallback:
        return _not_cleaned(fallback)
    except OSError as error:
        return _not_cleaned(Fallback("ruvector-cache-unwritable", error.strerror or str(error)))
    done = "would remove" if dry_run else "removed"
    lines = [f"{done} {FOLDER}/{name}" for name in names] or ["There is no derived cache."]
    return Answer({"removed": names, "dryRun": dry_run}, "\n".join(lines))


def _not_cleaned(why: Fallback) -> Answer:
    return Answer({"reason": str(why)}, "", explained(f"not cleaned: {why}", why.advice), 1)
