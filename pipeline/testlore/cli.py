"""The ``testlore`` command: arguments in, answer out."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from testlore import __version__
from testlore.stages.call import DEFAULT_LIMIT, DEFAULT_MAX_CHARS

FORMATS = ("table", "json", "prompt")

if TYPE_CHECKING:
    from testlore.stages.answer import RecallResult

_BAR_COLUMNS = 40
_COLUMNS = 80
_OUTPUT_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
_BEGIN = "There is no memory here yet. It begins with the first test candidate that is staged and validated."


def command() -> NoReturn:
    """The ``testlore`` command: :func:`main`, and then the end.

    After a recall the system takes back at once what the interpreter would spend a tenth of it to take apart.
    """
    status = main()
    if sys.argv[1:2] != ["recall"]:  # others may have threads that have something to end
        sys.exit(status)
    if "testlore.engines.pool" in sys.modules:
        sys.modules["testlore.engines.pool"].end_waiting()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # it was closed before we began
            with contextlib.suppress(OSError):
                stream.flush()
    os._exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 answered, 1 the memory is unusable, 2 the call is wrong."""
    words = sys.argv[1:] if argv is None else argv
    with contextlib.suppress(ValueError):  # not in the main thread
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)
    arguments = _parser(recall_alone=words[:1] == ["recall"]).parse_args(words)
    try:
        status: int = arguments.run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever read the answer has seen enough
        _write_no_more()
        return 0
    except KeyboardInterrupt as interrupt:  # what was started is ended by now
        print("testlore: interrupted", file=sys.stderr)
        return 128 + (interrupt.args[0] if interrupt.args else signal.SIGINT)
    except OSError as error:
        if error.errno not in _OUTPUT_ERRORS:
            raise
        print(f"testlore: the answer cannot be written: {error.strerror}", file=sys.stderr)
        _write_no_more()
        return 1


def _end(number: int, _: object) -> NoReturn:
    """Let a request to end clean up as an interrupt does: no child outlives us."""
    raise KeyboardInterrupt(number)


def _write_no_more() -> None:
    """Let what is still to be flushed go nowhere."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Argparse asks for the terminal's width whenever it is given none, and imports much for that."""
    return argparse.HelpFormatter(prog, width=_COLUMNS)


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_formatter, **options)


def _parser(*, recall_alone: bool) -> argparse.ArgumentParser:
    """The parser of all commands; of ``recall`` alone where making the others would only cost its time."""
    parser = _Parser(prog="testlore", description="A project's test memory.")
    parser.add_argument("--version", action="version", version=f"testlore {__version__}")
    commands = parser.add_subparsers(prog="testlore", metavar="COMMAND", required=True)

    ask = commands.add_parser("recall", help="ask the memory what was already tried")
    ask.add_argument("--query", required=True, help="what the next test is about")
    _add_root(ask)
    forms = ask.add_mutually_exclusive_group()
    forms.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    forms.add_argument("--json", dest="format", action="store_const", const="json", help="short for --format json")
    ask.add_argument("--limit", default=DEFAULT_LIMIT, metavar="N", help="records at most, 1-20; default: 5")
    ask.add_argument("--max-chars", default=DEFAULT_MAX_CHARS, metavar="N", help="256-20000; default: 6000")
    ask.add_argument("--explain", action="store_true", help="say for each record why it stands where it stands")
    ask.set_defaults(run=_recall)
    if recall_alone:
        return parser

    measure = commands.add_parser("evaluate", help="measure recall on the history of a git repository")
    measure.add_argument("--repo", required=True, metavar="DIR", help="a local git repository; nothing of it is run")
    _add_root(measure)
    measure.add_argument("--json", action="store_true", help="as JSON")
    measure.add_argument(
        "--chart", metavar="FILE", help="recall at 1 to 20 as a PNG or SVG chart; needs the extra plot"
    )
    measure.set_defaults(run=_evaluate)

    check = commands.add_parser("doctor", help="what is installed, which engine answers, and what to do if none does")
    _add_root(check)
    check.add_argument("--json", action="store_true", help="as JSON")
    check.set_defaults(run=_doctor)
    _add_evidence(commands)
    _add_agents(commands)
    return parser


def _add_evidence(commands: Any) -> None:
    """The commands that take evidence in. What they do is imported only when one of them runs."""

    def command(name: str, about: str) -> Any:
        parser = commands.add_parser(name, help=about)
        _add_root(parser)
        parser.add_argument("--json", action="store_true", help="as JSON")
        parser.set_defaults(run=_evidence, command=name)
        return parser

    command("stage", "take a proposed patch in; it prints the candidate's id").add_argument(
        "patch", metavar="PATCH", help="a JSON file; - for standard input"
    )
    command("validate", "run the original and the proposed suite, and remember the outcome").add_argument(
        "id", metavar="ID", help="a candidate"
    )
    command("candidates", "what is staged, its state, and why it was rejected")
    command("learn", "what episodes have in common: tentative, never a rule")
    command("export", "counts of the memory: no code, path, id, digest or time")
    forget = command("forget", "remove episodes, on a person's word")
    forget.add_argument("ids", nargs="+", metavar="ID", help="an episode, by its first 8 digits or more")
    forget.add_argument("--why", required=True, metavar="TEXT", help="the person's reason")
    merge = command("merge", "take another worktree's memory into this one's")
    merge.add_argument("--from", dest="source", required=True, metavar="DIR", help="the other worktree")


def _add_agents(commands: Any) -> None:
    """The commands for agents, imported only when one of them runs."""
    generate = commands.add_parser("generate", help="let the configured workers propose tests, and stage them")
    _add_root(generate)
    generate.add_argument("--validate", action="store_true", help="validate and remember the candidate at once")
    generate.add_argument("--json", action="store_true", help="as JSON")
    generate.set_defaults(run=_generate)

    serve = commands.add_parser("mcp", help="answer agents from memory over the Model Context Protocol, on stdio")
    _add_root(serve)
    serve.add_argument(
        "--project-commands",
        action="store_true",
        help="let recall start the embedding command and the engine that the project's own files name",
    )
    serve.set_defaults(run=_mcp)


def _add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", default=".", metavar="DIR", help="the project; default: the current folder")


def _recall(arguments: argparse.Namespace) -> int:
    from testlore.stages.configuration import start_early

    opening = start_early(arguments.root)
    return answer(
        arguments.root,
        arguments.query,
        arguments.format,
        arguments.limit,
        arguments.max_chars,
        explain=arguments.explain,
        opening=opening,
    )


def answer(
    root: str, query: str, form: str, limit: object, max_chars: object, *, explain: bool = False, opening: Any = None
) -> int:
    """Recall and print: the answer to standard output, what a person should know to standard error.

    Args:
        limit, max_chars: numbers, or the texts of a command line.

    Returns:
        The exit status.
    """
    from testlore.stages.ask import ask

    result = ask(root, query, number(limit), number(max_chars), explain=explain, opening=opening)
    budget = number(max_chars)
    show(result, form, budget if isinstance(budget, int) else DEFAULT_MAX_CHARS)
    return result.exit_status


def show(result: RecallResult, form: str, max_chars: int) -> None:
    """Print an answer in one of the formats."""
    if form == "json":
        from testlore import canonical

        write(canonical.dumps(result.to_dict()) + "\n")
    elif not result.reason:
        from testlore.commands import render

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
    if output is None:
        raise OSError(errno.EBADF, "standard output is closed")
    output.flush()
    output.buffer.write(text.encode("utf-8", "replace"))
    output.buffer.flush()


def number(value: object) -> Any:
    """The whole number that a text of the command line means, or the value itself, which is then refused by name."""
    try:
        return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    except ValueError:
        return value


def _evaluate(arguments: argparse.Namespace) -> int:
    return evaluate(arguments.repo, arguments.root, "json" if arguments.json else "table", arguments.chart)


def evaluate(repository: str, root: str, form: str, chart: str | None) -> int:
    """Measure recall on a git history and print the figures; a progress bar goes to standard error.

    Args:
        form: ``table`` or ``json``.
        chart: where to draw recall at k, if anywhere.

    Returns:
        The exit status.
    """
    from testlore import canonical
    from testlore.errors import Unusable
    from testlore.evaluate import chart as drawing
    from testlore.evaluate import measure

    try:
        if chart is not None:
            drawing.check(chart)
        report = measure(repository, root, _show_progress)
        if chart is not None:
            drawing.draw(report, chart)
    except Unusable as unusable:
        say(canonical.dumps({"reason": str(unusable)}) + "\n" if form == "json" else "", f"testlore: {unusable}")
        return unusable.exit_status
    write(canonical.dumps(report.to_dict()) + "\n" if form == "json" else report.to_table())
    return 0


def _show_progress(done: int, of: int) -> None:
    """Draw a bar where a person looks on; where nobody does, write a line a tenth."""
    error = sys.__stderr__
    assert error is not None
    if error.isatty():
        bar = "#" * (done * _BAR_COLUMNS // of)
        print(f"\r[{bar:<{_BAR_COLUMNS}}] {done}/{of}", end="\n" if done == of else "", file=error, flush=True)
    elif done * 10 // of > (done - 1) * 10 // of:
        print(f"{done}/{of}", file=error, flush=True)


def _evidence(arguments: argparse.Namespace) -> int:
    from testlore.commands import evidence

    ended = evidence.run(arguments.command, vars(arguments))
    say(ended.output, ended.notes)
    return ended.status


def _generate(arguments: argparse.Namespace) -> int:
    from testlore.commands import generate

    ended = generate.generate(vars(arguments))
    say(ended.output, ended.notes)
    return ended.status


def _mcp(arguments: argparse.Namespace) -> int:
    try:
        from testlore.agents import server
    except ImportError as error:
        print(f"testlore: {error}; the MCP server needs: pip install 'testlore-recall[mcp]'", file=sys.stderr)
        return 2
    return server.serve(arguments.root, project_commands=arguments.project_commands)


def say(output: str, notes: str) -> None:
    """Print an answer, and to standard error what else a person should know."""
    if notes:
        print(notes, file=sys.stderr)
    if output:
        write(output)


def _doctor(arguments: argparse.Namespace) -> int:
    from testlore.commands import doctor

    return doctor.run(arguments.root, as_json=arguments.json)
