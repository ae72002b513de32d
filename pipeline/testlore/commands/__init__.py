"""The commands, one in each file: arguments in, one call, an answer out.

A command's module has

- ``HELP``: what the command does, in one line;
- ``EXAMPLES``: one or two command lines, which ``--help`` shows at its end;
- ``add_arguments(parser)``: adds the arguments; ``--root`` is there already;
- ``run(arguments)``: runs the command and returns the exit status. It imports whatever takes long to import.

To add a command, write such a module and add its name to :data:`NAMES`. A hyphen in the name is an underscore in the
module's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from testlore.commands import formats, output
from testlore.commands.output import SHORT_ID as SHORT_ID
from testlore.errors import Refusal, Unusable
from testlore.project.settings import CONFIG_FILE

if TYPE_CHECKING:
    import argparse

#: Every command, in the order of ``testlore --help``.
NAMES = (
    *("recall", "list", "show", "evaluate", "doctor"),
    *("stage", "validate", "apply", "candidates", "drop", "learn"),
    *("export", "forget", "merge", "resolve", "merge-driver"),
    *("generate", "mcp", "trust", "clean"),
)


class Answer(NamedTuple):
    """The answer of a command.

    Attributes:
        value: what ``--json`` prints.
        text: the same for people, without a final newline.
        notes: further lines for standard error.
        styled: whether the text is harmless already, and may hold styles of :func:`output.paint`.
        status: the exit status: 0 answered, 1 the candidate or the memory is not as it must be, 2 the call is wrong.
    """

    value: Any
    text: str
    notes: str = ""
    status: int = 0
    styled: bool = False


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def dropped_text(ids: Sequence[str]) -> str:
    """Which episodes had to leave a full memory, for people; empty when none did."""
    return f"; for lack of room these left: {', '.join(one[:SHORT_ID] for one in ids)}" if ids else ""


def respond(work: Callable[[], Answer], *, as_json: bool) -> int:
    """Run a command, print its answer or why it was refused, and return the exit status.

    Raises:
        OSError: the answer cannot be written.
    """
    try:
        answer = work()
    except (Refusal, Unusable) as problem:
        answer = _refused(problem)
    except UnicodeEncodeError as error:
        if error.encoding == "utf-8":
            raise
        answer = _refused(Refusal("call-invalid", f"the locale has no {error.object[error.start]!a}; allowed: UTF-8"))
    if answer.notes:
        output.warn(answer.notes)
    if as_json:
        output.write(formats.to_json(answer.value))
    elif answer.text:
        from testlore.commands.renderers.terminal import printable

        output.write(f"{answer.text if answer.styled else printable(answer.text)}\n")
    return answer.status


def _refused(problem: Refusal | Unusable) -> Answer:
    output_of_suites = problem.output if isinstance(problem, Refusal) else ""
    notes = "\n".join(filter(None, [output_of_suites, explained(str(problem), problem.advice)]))
    return Answer({"reason": str(problem)}, "", notes, problem.exit_status)


def explained(problem: str, advice: str) -> str:
    """What ended a command, and on a second line the way out, for standard error.

    A problem that says what is allowed, or names the command, tells the way out itself. The advice then only adds the
    name of the file, if the problem lacks it.
    """
    says_it = "; allowed" in problem and (CONFIG_FILE in problem or CONFIG_FILE not in advice)
    says_it = says_it or (advice.startswith("Run `") and advice.split("`")[1] in problem)
    return f"testlore: {problem}" if says_it else f"testlore: {problem}\n{advice}"
