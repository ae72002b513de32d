"""The commands ``stage validate candidates learn export forget merge``: what they call, and how it is printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from testlore import canonical, evidence
from testlore.commands import render
from testlore.errors import Refusal, Unusable
from testlore.memory import counts, forget, lessons, merge

_MAX_PATCH_BYTES = 128 << 20
_SHORT_ID = 12


class Answer(NamedTuple):
    """What a command answers.

    Attributes:
        status: 0 answered, 1 the candidate or the memory is not as it must be, 2 the call is wrong.
        output: for standard output, with its final newline; or empty.
        notes: for standard error, or empty.
    """

    status: int
    output: str
    notes: str


class Printed(NamedTuple):
    """An answer as a JSON value and as text for people, with notes for standard error."""

    value: Any
    text: str
    notes: str = ""
    status: int = 0


def run(command: str, arguments: Mapping[str, Any]) -> Answer:
    """Run a command.

    Args:
        command: one of the seven.
        arguments: ``root``, ``json``, and what the command takes.
    """
    return answered(lambda: _COMMANDS[command](arguments), as_json=arguments["json"])


def answered(work: Callable[[], Printed], *, as_json: bool) -> Answer:
    """Do the work of a command, and answer with what it returns or why it was refused."""
    try:
        answer = work()
    except (Refusal, Unusable) as problem:
        output = canonical.dumps({"reason": str(problem)}) + "\n" if as_json else ""
        return Answer(problem.exit_status, output, f"testlore: {render.printable(str(problem))}")
    output = canonical.dumps(answer.value) if as_json else render.printable(answer.text)
    return Answer(answer.status, output + "\n", render.printable(answer.notes))


def _stage(arguments: Mapping[str, Any]) -> Printed:
    name = arguments["patch"]
    try:
        if name == "-" and sys.stdin is None:
            raise ValueError("standard input is closed")
        if name == "-":
            data = sys.stdin.buffer.read(_MAX_PATCH_BYTES + 1)
        else:
            with open(name, "rb") as file:
                data = file.read(_MAX_PATCH_BYTES + 1)
    except (OSError, ValueError) as error:
        raise Refusal("call-invalid", f"patch is {name!r}, which cannot be read: {error}") from None
    if len(data) > _MAX_PATCH_BYTES:
        raise Refusal("patch-invalid", f"larger than {_MAX_PATCH_BYTES} bytes")
    try:
        patch = canonical.loads(data)
    except ValueError as error:
        raise Refusal("patch-invalid", f"not JSON: {error}") from None
    made = evidence.stage(arguments["root"], patch)
    return Printed({"id": made}, made)


def _validate(arguments: Mapping[str, Any]) -> Printed:
    return shown(evidence.validate(arguments["root"], arguments["id"]))


def shown(ended: evidence.Validation) -> Printed:
    """A validation as it is printed."""
    value = {
        "id": ended.id,
        "outcome": ended.outcome,
        "reasons": ended.reasons,
        "details": ended.details,
        "evidence": ended.evidence,
        "record": ended.record or None,
    }
    if ended.not_remembered:
        value["notRemembered"] = ended.not_remembered
    counts = ended.evidence
    lines = [
        f"{ended.id} {ended.outcome}{': ' if ended.reasons else ''}{', '.join(ended.reasons)}",
        *(f"  {detail}" for detail in ended.details),
        f"  {counts['passedCases']} of {counts['candidateCases']} cases passed, {counts['missingCases']} missing; "
        f"{counts['caughtDefects']} of {counts['demonstratedDefects']} demonstrated defects caught",
        f"  remembered as {ended.record[:_SHORT_ID]}" if ended.record else f"  not remembered: {ended.not_remembered}",
    ]
    return Printed(value, "\n".join(lines), ended.output)


def _candidates(arguments: Mapping[str, Any]) -> Printed:
    found = evidence.candidates(arguments["root"])
    value = {"candidates": [one._asdict() for one in found]}
    if not found:
        return Printed(value, "No candidate is staged.")
    from tabulate import tabulate

    rows = [(one.id, one.state, one.files, "\n".join(one.reasons)) for one in found]
    headers = ("candidate", "state", "files", "why")
    return Printed(value, tabulate(rows, headers=headers, tablefmt="simple", maxcolwidths=[None, None, None, 60]))


def _learn(arguments: Mapping[str, Any]) -> Printed:
    learned = lessons.learn(arguments["root"])
    value = {"lessons": [{**one._asdict(), "tentative": True} for one in learned], "advisoryOnly": True}
    lines = []
    for one in learned:
        named = " ".join(name[:_SHORT_ID] for name in one.episodes)
        lines += [f"{one.kind}: {one.text}", f"  episodes: {named}"]
    end = "Tentative: counted, not understood. No lesson is a rule." if learned else "No lesson yet: nothing recurred."
    return Printed(value, "\n".join([*lines, end]))


def _export(arguments: Mapping[str, Any]) -> Printed:
    exported = counts.export(arguments["root"])
    return Printed(exported, canonical.pretty(exported))


def _forget(arguments: Mapping[str, Any]) -> Printed:
    removed = forget.forget(arguments["root"], arguments["ids"], arguments["why"])
    value = {
        "removed": [{key: one[key] for key in ("id", "outcome", "createdAt", "tags", "warnings")} for one in removed],
        "why": arguments["why"],
    }
    lines = [
        f"removed {one['id'][:_SHORT_ID]}, {one['outcome']}, of {one['createdAt']}: "
        f"{', '.join([*one['tags'], *one['warnings']]) or 'no tags'}"
        for one in removed
    ]
    return Printed(value, "\n".join([*lines, f"why: {arguments['why']}"]))


def _merge(arguments: Mapping[str, Any]) -> Printed:
    merged = merge.merge(arguments["root"], arguments["source"])
    text = f"{merged.added} episodes added, {merged.known} known before, {merged.dropped} left for want of room; "
    return Printed(merged._asdict(), f"{text}{merged.total} in memory")


_COMMANDS: dict[str, Callable[[Mapping[str, Any]], Printed]] = {
    "stage": _stage,
    "validate": _validate,
    "candidates": _candidates,
    "learn": _learn,
    "export": _export,
    "forget": _forget,
    "merge": _merge,
}
