"""``testlore validate``: run the original and the proposed suite, and remember the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import SHORT_ID, Answer, add_json, output, respond

if TYPE_CHECKING:
    import argparse

    from testlore.evidence import Validation

HELP = "run the old and the proposed suite, and remember the outcome"
EXAMPLES = ("testlore validate ID", 'testlore validate "$(testlore stage patch.json)" --json')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format and the candidate."""
    add_json(parser)
    parser.add_argument("id", metavar="ID", help="a candidate, as testlore stage printed it")


def run(arguments: argparse.Namespace) -> int:
    """Validate the candidate, and print the verdict."""

    def work() -> Answer:
        from testlore import evidence

        with output.working(waits=True) as progress:
            validation = evidence.validate(arguments.root, arguments.id, progress)
        return answer_of(validation)

    return respond(work, as_json=arguments.json)


def answer_of(validation: Validation) -> Answer:
    """The answer for a validation."""
    value = {
        "id": validation.id,
        "outcome": validation.outcome,
        "reasons": validation.reasons,
        "details": validation.details,
        "evidence": validation.evidence,
        "record": validation.record or None,
    }
    if validation.not_remembered:
        value["notRemembered"] = validation.not_remembered
    counts = validation.evidence
    remembered = validation.record[:SHORT_ID]
    lines = [
        f"{validation.id} {validation.outcome}{': ' if validation.reasons else ''}{', '.join(validation.reasons)}",
        *(f"  {detail}" for detail in validation.details),
        f"  {counts['passedCases']} of {counts['candidateCases']} cases passed, {counts['missingCases']} missing; "
        f"{counts['caughtDefects']} of {counts['demonstratedDefects']} demonstrated defects caught",
        f"  remembered as {remembered}" if remembered else f"  not remembered: {validation.not_remembered}",
    ]
    return Answer(value, "\n".join(lines), validation.output)
