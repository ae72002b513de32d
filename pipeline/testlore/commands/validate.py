"""``testlore validate``: run the original and the proposed suite, and remember the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from testlore import libraries
from testlore.commands import SHORT_ID, Answer, add_json, dropped_text, output, respond
from testlore.commands.renderers.terminal import printable, shorten
from testlore.errors import REJECTIONS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from testlore.evidence import Validation
    from testlore.evidence.faults import FaultVerdict

HELP = "run the old and the proposed suite, and remember the outcome"
EXAMPLES = ("testlore validate ID", 'testlore validate "$(testlore stage patch.json)" --json')

_WORDS = {True: "caught", False: "missed"}
_NAME_COLUMNS = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format and the candidate."""
    add_json(parser)
    parser.add_argument("id", metavar="ID", help="a candidate, as testlore stage printed it")


def run(arguments: argparse.Namespace) -> int:
    """Validate the candidate, with lines of progress on standard error, and print the verdict."""

    def work() -> Answer:
        from testlore import evidence

        with output.working(waits=True) as progress:
            validation = evidence.validate(arguments.root, arguments.id, progress)
        return answer_of(validation)

    return respond(work, as_json=arguments.json)


def answer_of(validation: Validation) -> Answer:
    """The answer for a validation."""
    accepted = validation.outcome == "accepted"
    value = {
        "id": validation.id,
        "outcome": validation.outcome,
        "reasons": validation.reasons,
        "details": validation.details,
        "evidence": validation.evidence,
        "tests": validation.tests,
        "faults": [_fault(one) for one in validation.faults],
        "notes": validation.notes,
        "record": validation.record or None,
    }
    if accepted:
        value["files"] = {"folder": _folder(validation), "paths": validation.files}
    if validation.not_remembered:
        value["notRemembered"] = validation.not_remembered
    if validation.dropped:
        value["dropped"] = list(validation.dropped)
    remembered = validation.record[:SHORT_ID]
    lines = [
        f"{validation.id} {validation.outcome}{': ' if validation.reasons else ''}{', '.join(validation.reasons)}",
        *(f"  {detail}" for detail in validation.details),
        *(f"  {reason}: {REJECTIONS[reason]}" for reason in validation.reasons),
        *(f"  {note}" for note in validation.notes),
        *_table(validation.faults),
        *_counts(validation.evidence),
        f"  remembered as {remembered}{dropped_text(validation.dropped)}"
        if remembered
        else f"  not remembered: {validation.not_remembered}",
    ]
    if accepted:
        lines.append(f"  files: {_folder(validation)}; to take them: testlore apply {validation.id}")
    notes = [validation.output] if validation.output else []
    if validation.reused:
        notes.append(f"testlore: nothing ran: nothing has changed since {validation.reused}, and this was the verdict")
    return Answer(value, "\n".join(lines), "\n".join(notes), 0 if accepted else 1)


def _fault(one: FaultVerdict) -> dict[str, Any]:
    """A fault as JSON; ``originalSuite`` is null where it was not asked."""
    return {
        "name": one.name,
        "kind": one.kind,
        "originalSuite": _WORDS[one.original] if one.original is not None else None,
        "newCases": _WORDS[one.new],
        "gapClosed": one.closes_gap,
    }


def _table(faults: Sequence[FaultVerdict]) -> list[str]:
    """Who sees each fault, in lines for people."""
    if not faults:
        return []
    with libraries.installed():
        from tabulate import tabulate

    rows = [
        (
            shorten(printable(one.name), _NAME_COLUMNS),
            "not asked" if one.original is None else _WORDS[one.original],
            _WORDS[one.new],
            "gap closed" if one.closes_gap else "",
        )
        for one in faults
    ]
    table = tabulate(rows, headers=("fault", "old suite", "new cases", ""), tablefmt="simple", disable_numparse=True)
    return ["", *(f"  {line}".rstrip() for line in table.splitlines()), ""]


def _counts(counts: Mapping[str, Any]) -> list[str]:
    """The counts, in lines for people."""
    lines = [
        f"  {counts['passedCases']} of {counts['candidateCases']} cases passed, {counts['missingCases']} missing; "
        f"{counts['newCases']} new" + (f", run {counts['repeats']} times more" if counts["repeats"] else ""),
    ]
    if counts["demonstratedDefects"]:
        caught = f"{counts['caughtDefects']} of {counts['demonstratedDefects']} demonstrated defects"
        lines.append(f"  the new cases catch {caught}; gaps closed: {counts['closedGaps']}")
    if counts["mutants"]:
        lines.append(f"  the new cases catch {counts['caughtMutants']} of {counts['mutants']} mutants")
    return lines if counts["candidateCases"] else ["  nothing ran"]


def _folder(validation: Validation) -> str:
    return f".tddswarm/candidates/{validation.id}/files"
