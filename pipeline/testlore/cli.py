"""The ``testlore`` command: it parses the command line, and calls the command's module in :mod:`testlore.commands`."""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from testlore import __version__, commands, signals
from testlore.commands import output

_COLUMNS = 80


def command() -> NoReturn:
    """Run :func:`main` on the command line, and end the process with its exit status."""
    if sys.argv[1:2] == ["recall"]:
        gc.disable()  # a recall is short, and collecting garbage would cost 3 % of it
    status = main()
    signals.end_at_once()
    if sys.argv[1:2] != ["recall"]:  # other commands may have threads, or functions to call at exit
        sys.exit(status)
    # Skip interpreter teardown: it costs about 10 % of a warm recall.
    if "testlore.engines.pool" in sys.modules:
        sys.modules["testlore.engines.pool"].end_waiting()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # None: it was closed before Python started
            with contextlib.suppress(OSError):
                stream.flush()
    os._exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: the words after ``testlore``; by default those of the command line.

    Returns:
        The exit status: 0 answered; 1 the candidate or the memory is not as it must be, or the answer cannot be
        written; 2 the call or the configuration is wrong; 128 and the signal's number when it was interrupted.

    Raises:
        SystemExit: with 2 for a command line that cannot be parsed, with 0 after ``--help`` or ``--version``.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        signals.interrupt()
        arguments = _parse(words)
        status: int = arguments.run(arguments)
        output.flush()
        return status
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        output.discard()
        return 0
    except KeyboardInterrupt as interrupt:  # the command has ended its child processes before
        signals.end_at_once()  # a second signal
        output.tell("interrupted")
        return signals.exit_status(interrupt)
    except OSError as error:
        if error.errno not in output.ERRORS:
            raise
        output.tell(f"the answer cannot be written: {error.strerror}")
        output.discard()
        return 1


def _parse(words: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments. If the words begin with a command, only that command's module is imported."""
    if words and words[0] in commands.NAMES:
        parsed = _add_arguments(_Parser(prog=f"testlore {words[0]}"), words[0]).parse_args(words[1:])
        for name, value in vars(parsed).items():
            if value == []:  # what Python before 3.13 makes of `--why=--`
                setattr(parsed, name, "--")
        return parsed
    parser = _Parser(
        prog="testlore",
        description="A project's test memory: ask what was already tried before you write the next test.",
        epilog="`testlore COMMAND --help` says what a command takes.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    subparsers = parser.add_subparsers(prog="testlore", metavar="COMMAND", required=True)
    for name in commands.NAMES:
        _add_arguments(subparsers.add_parser(name, help=_module(name).HELP), name)
    return parser.parse_args(words)


def _module(name: str) -> Any:
    return importlib.import_module(f"testlore.commands.{name.replace('-', '_')}")


def _add_arguments(parser: argparse.ArgumentParser, name: str) -> argparse.ArgumentParser:
    """Add a command's arguments, help and function to its parser."""
    module = _module(name)
    parser.description = f"{module.HELP[0].upper()}{module.HELP[1:]}."
    parser.epilog = "\n  ".join(["examples:", *module.EXAMPLES])
    parser.add_argument("--root", default=".", metavar="DIR", help="the project; default: the current folder")
    module.add_arguments(parser)
    parser.set_defaults(run=module.run)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser that prints through ``output``: in UTF-8, and without a traceback when a stream is closed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_formatter, **options)
        self.color = False  # Python 3.14 colours its help, even in a file

    def print_help(self, file: object = None) -> None:
        """Write the help to standard output."""
        output.write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Write the usage and what is wrong to standard error, and end with 2."""
        output.warn(f"{self.format_usage()}{self.prog}: error: {message}")
        sys.exit(2)


def _formatter(prog: str) -> argparse.HelpFormatter:
    """A formatter of a fixed width. To find out the terminal's width, argparse would import a lot."""
    return argparse.RawDescriptionHelpFormatter(prog, width=_COLUMNS)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        output.write(f"testlore {__version__}\n")
        sys.exit(0)
