"""``testlore recall``: ask the memory what was already tried."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from testlore.commands import explained, formats, output
from testlore.errors import UNUSABLE, Unusable
from testlore.stages import call

if TYPE_CHECKING:
    import argparse

    from testlore.stages.answer import RecallResult

HELP = "ask the memory what was already tried"
EXAMPLES = ('testlore recall "zero boundary"', 'testlore recall "zero boundary" --limit 3 --format prompt')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the query, the output format and the limits."""
    query = parser.add_mutually_exclusive_group(required=True)
    query.add_argument("words", nargs="?", metavar="QUERY", help="what the next test is about, in quotes")
    query.add_argument("--query", metavar="QUERY", help="the same as an option")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format", choices=list(formats.FORMATS), default=formats.DEFAULT, help=f"default: {formats.DEFAULT}"
    )
    form.add_argument("--json", dest="format", action="store_const", const="json", help="short for --format json")
    parser.add_argument(
        "--limit",
        default=call.DEFAULT_LIMIT,
        metavar="N",
        help=f"at most N records, 1-{call.MAX_LIMIT}; default: {call.DEFAULT_LIMIT}",
    )
    parser.add_argument(
        "--max-chars",
        default=call.DEFAULT_MAX_CHARS,
        metavar="N",
        help=f"how long the answer may be, {call.MIN_MAX_CHARS}-{call.MAX_MAX_CHARS} characters; "
        f"default: {call.DEFAULT_MAX_CHARS}",
    )
    parser.add_argument("--explain", action="store_true", help="show how each record's score is computed")


def run(arguments: argparse.Namespace) -> int:
    """Recall, and print the answer."""
    query = arguments.words if arguments.query is None else arguments.query
    limit, max_chars = call.number(arguments.limit), call.number(arguments.max_chars)
    opening = None
    with contextlib.suppress(Unusable):  # `ask` reports what is wrong with the call
        call.check(query, limit, max_chars)
        from testlore.stages.configuration import start_early

        opening = start_early(arguments.root)  # the engine loads while the rest is imported
    from testlore.stages.ask import ask

    with output.working() as progress:
        result = ask(
            arguments.root, query, limit, max_chars, explain=arguments.explain, opening=opening, progress=progress
        )
    show(result, arguments.format, max_chars)
    return result.exit_status


def show(result: RecallResult, form: str, max_chars: object) -> None:
    """Print an answer to standard output, and further messages for a person to standard error.

    Args:
        form: a key of :data:`testlore.commands.formats.FORMATS`.
        max_chars: the budget of the text, in UTF-16 code units; any value if the call was refused.

    Raises:
        Unusable: ``call-invalid``: there is no such format.
        OSError: the answer cannot be written.
    """
    chosen = formats.get(form)
    text = chosen.render(result, max_chars if isinstance(max_chars, int) else call.DEFAULT_MAX_CHARS)
    if text:
        output.write(text)
    if result.reason:
        output.warn(explained(result.reason, UNUSABLE[result.reason.partition(":")[0]].help))
    elif not chosen.has_warnings:
        for warning in result.warnings:
            output.warn(warning)
