"""``testlore recall``: ask the memory what was already tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from testlore.commands import formats, output
from testlore.stages import call

if TYPE_CHECKING:
    import argparse

    from testlore.stages.recall import RecallResult

HELP = "ask the memory what was already tried"
EXAMPLES = ('testlore recall "zero boundary"', 'testlore recall "zero boundary" --limit 3 --format prompt')

_BEGIN = "There is no memory here yet. It begins with the first test candidate that is staged and validated."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the query and how it is answered."""
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
    parser.add_argument("--explain", action="store_true", help="show how each record's score comes about")


def run(arguments: argparse.Namespace) -> int:
    """Recall, and print the answer."""
    query = arguments.words if arguments.query is None else arguments.query
    limit, max_chars = whole_number(arguments.limit), whole_number(arguments.max_chars)
    if _is_in_bounds(query, limit, max_chars):
        from testlore.stages import early

        early.start(arguments.root)  # before the rest is imported, which takes as long as the engine takes to load
    from testlore import stages

    result = stages.answer(arguments.root, query, limit, max_chars, explain=arguments.explain)
    show(result, arguments.format, max_chars)
    return result.exit_status


def _is_in_bounds(query: str, limit: object, max_chars: object) -> bool:
    """Whether the call will be accepted. The stage checks it again, and says what is wrong with it."""
    return (
        len(query) <= call.MAX_QUERY_CHARACTERS
        and isinstance(limit, int)
        and 1 <= limit <= call.MAX_LIMIT
        and isinstance(max_chars, int)
        and call.MIN_MAX_CHARS <= max_chars <= call.MAX_MAX_CHARS
    )


def show(result: RecallResult, form: str, max_chars: object) -> None:
    """Print an answer to standard output, and to standard error what a person should know besides.

    Args:
        form: a key of :data:`testlore.commands.formats.FORMATS`.
        max_chars: the budget of the text, in UTF-16 code units; any value where the call was refused.

    Raises:
        Unusable: ``call-invalid``: there is no such format.
        OSError: the answer cannot be written.
    """
    chosen = formats.get(form)
    text = chosen.render(result, max_chars if isinstance(max_chars, int) else call.DEFAULT_MAX_CHARS)
    if text:
        output.write(text)
    if result.reason:
        output.tell(result.reason)
        if result.reason.startswith("no-memory"):
            output.warn(_BEGIN)
    elif not chosen.has_warnings:
        for warning in result.warnings:
            output.warn(warning)


def whole_number(value: object) -> Any:
    """The whole number that a text of digits stands for; any other value as it is, to be refused by its name."""
    try:
        return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    except ValueError:  # Python converts no text of more than 4,300 digits
        return value
