"""``testlore trust``: decide whether the programs that only the project's own files name may be started."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from testlore.commands import Answer, add_json, output, respond

if TYPE_CHECKING:
    import argparse

    from testlore.project.settings import Settings

HELP = "let the programs be started that the project's own files name"
EXAMPLES = ("testlore trust --show", "testlore trust")

_NOTHING = "The project's files name no program, so there is nothing to trust."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is done: ask, only show, or take the decision back."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--yes", action="store_true", help="do not ask")
    what.add_argument("--show", action="store_true", help="only show the programs, and whether they are trusted")
    what.add_argument("--revoke", action="store_true", help="take the decision back")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the programs, ask on a terminal, and keep the decision outside of the repository."""
    return respond(lambda: _answer(arguments), as_json=arguments.json)


def _answer(arguments: argparse.Namespace) -> Answer:
    from testlore import programs
    from testlore.project import settings, trust
    from testlore.project.safe_files import existing_folder

    root = existing_folder(arguments.root)
    configured = settings.parse(settings.read(root))
    named = programs.named(root, configured)
    if arguments.revoke:
        trust.revoke(root)
        return _state(root, configured)
    if not named or arguments.show:
        return _state(root, configured)
    if not arguments.yes:
        _ask(_lines(named))
    trust.keep(root, programs.digests(named))
    return _state(root, configured)


def _ask(lines: list[str]) -> None:
    """Ask on the terminal.

    Raises:
        Refusal: ``program-untrusted``: the answer is not yes; ``call-invalid``: there is no terminal.
    """
    from testlore.errors import Refusal

    if sys.stdin is None or not sys.stdin.isatty():
        raise Refusal("call-invalid", "standard input is no terminal; allowed: --yes, --show, --revoke, or a terminal")
    for line in lines:
        output.warn(line)
    output.warn("They run as you, whenever a recall, a validation or a generation needs them. May they? [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Refusal("program-untrusted", "you did not say yes; nothing changed")


def _lines(named: dict[str, object]) -> list[str]:
    return [f"{purpose}: {json.dumps(program, ensure_ascii=False)}" for purpose, program in named.items()]


def _state(root: str, configured: Settings) -> Answer:
    from testlore import programs

    named = programs.named(root, configured)
    trusted = programs.are_trusted(root, configured, *named)
    value = {"programs": named, "trusted": trusted}
    if not named:
        return Answer(value, _NOTHING)
    end = "trusted on this machine" if trusted else "not trusted on this machine"
    return Answer(value, "\n".join([*_lines(named), end]))
