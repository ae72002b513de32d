"""The ``testlore`` command: arguments in, answer out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from pipeline import __version__, render, stages
from pipeline.stages import recall
from pipeline.stages.recall import RecallResult

_COLUMNS = 80
_BEGIN = "There is no memory here yet. It begins with the first test candidate that is staged and validated."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 answered, 1 the memory is unusable, 2 the call is wrong."""
    arguments = _parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever read the answer has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Argparse asks for the terminal's width whenever it is given none, and imports much for that."""
    return argparse.HelpFormatter(prog, width=_COLUMNS)


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_formatter, **options)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="testlore", description="A project's test memory.")
    parser.add_argument("--version", action="version", version=f"testlore {__version__}")
    commands = parser.add_subparsers(prog="testlore", metavar="COMMAND", required=True)

    ask = commands.add_parser("recall", help="ask the memory what was already tried")
    ask.add_argument("--query", required=True, help="what the next test is about")
    _add_root(ask)
    forms = ask.add_mutually_exclusive_group()
    forms.add_argument("--format", choices=render.FORMATS, default="table", help="default: table")
    forms.add_argument("--json", dest="format", action="store_const", const="json", help="short for --format json")
    ask.add_argument("--limit", default=recall.DEFAULT_LIMIT, metavar="N", help="records at most, 1-20; default: 5")
    ask.add_argument("--max-chars", default=recall.DEFAULT_MAX_CHARS, metavar="N", help="256-20000; default: 6000")
    ask.set_defaults(run=_recall)

    check = commands.add_parser("doctor", help="what is installed, which engine answers, and what to do if none does")
    _add_root(check)
    check.add_argument("--json", action="store_true", help="as JSON")
    check.set_defaults(run=_doctor)
    return parser


def _add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", default=".", metavar="DIR", help="the project; default: the current folder")


def _recall(arguments: argparse.Namespace) -> int:
    return answer(arguments.root, arguments.query, arguments.format, arguments.limit, arguments.max_chars)


def answer(root: str, query: str, form: str, limit: object, max_chars: object) -> int:
    """Recall and print: the answer to standard output, what a person should know to standard error.

    Args:
        limit, max_chars: numbers, or the texts of a command line.

    Returns:
        The exit status.
    """
    result = stages.answer(root, query, number(limit), number(max_chars))
    budget = number(max_chars)
    show(result, form, budget if isinstance(budget, int) else recall.DEFAULT_MAX_CHARS)
    return result.exit_status


def show(result: RecallResult, form: str, max_chars: int) -> None:
    """Print an answer in one of the formats."""
    if form == "json" or not result.reason:
        write(render.render(result, form, max_chars))
    if result.reason:
        print(f"testlore: {result.reason}", file=sys.stderr)
        if result.reason.startswith("no-memory"):
            print(_BEGIN, file=sys.stderr)
    elif form == "table":
        for warning in result.warnings:
            print(warning, file=sys.stderr)


def write(text: str) -> None:
    """Write to the real standard output, in UTF-8 whatever the locale says."""
    output = sys.__stdout__
    assert output is not None
    output.flush()
    output.buffer.write(text.encode("utf-8", "replace"))
    output.buffer.flush()


def number(value: object) -> Any:
    """The whole number that a text of the command line means, or the value itself, which is then refused by name."""
    try:
        return int(value) if isinstance(value, str) and value.strip().isascii() else value
    except ValueError:
        return value


def _doctor(arguments: argparse.Namespace) -> int:
    from pipeline import doctor

    return doctor.run(arguments.root, as_json=arguments.json)
