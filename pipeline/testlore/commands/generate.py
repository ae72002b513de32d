"""``testlore generate``: let the configured agent propose tests, and stage them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from testlore.commands import Answer, add_json, explained, output, respond

if TYPE_CHECKING:
    import argparse

HELP = "let the configured agent propose tests, and stage them"
EXAMPLES = ("testlore generate", "testlore generate --validate")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option to validate at once, and the output format."""
    parser.add_argument("--validate", action="store_true", help="validate and remember the candidate at once")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Generate, with a line of progress for each request on standard error, and print what was staged."""
    return respond(lambda: _answer(arguments.root, validate=arguments.validate), as_json=arguments.json)


def _answer(root: str, *, validate: bool) -> Answer:
    from testlore import canonical, evidence
    from testlore.agents import generation
    from testlore.commands.validate import answer_of
    from testlore.errors import REFUSALS, Refusal, Unusable
    from testlore.project.safe_files import existing_folder

    folder = os.path.abspath(existing_folder(root))
    order = generation.prepare(folder)
    if not order.settings.agent:
        request, why = order.work_order(), f"agent-missing: {generation.ASK_FOR_AGENT}"
        value = {"reason": why, "workOrder": request}
        return Answer(value, canonical.pretty(request), f"testlore: {why}", REFUSALS["agent-missing"].exit_status)
    made = generation.run(folder, order, output.tell)
    value = generation.to_dict(made)
    verdict = "accepted" if made.review["accepted"] else "rejected"
    count = sum(len(task.files) for task in made.tasks)
    lines = [
        f"{made.id} staged: {count} test files; the reviewer {verdict} them",
        *(f"  {task.subject}: {', '.join(task.files) or 'no file'}" for task in made.tasks),
        *_left_out(order.context._asdict()),
    ]
    if not validate:
        return Answer(value, "\n".join([*lines, f"next: testlore validate {made.id}"]))
    try:
        with output.working(waits=True) as progress:
            validation = answer_of(evidence.validate(folder, made.id, progress))
    except (Refusal, Unusable) as problem:  # the candidate stays staged, so the answer still names it
        notes = "\n".join(filter(None, [getattr(problem, "output", ""), explained(str(problem), problem.advice)]))
        return Answer({**value, "reason": str(problem)}, "\n".join(lines), notes, problem.exit_status)
    text = "\n".join([*lines, validation.text])
    return Answer({**value, "validation": validation.value}, text, validation.notes, validation.status)


def _left_out(context: Mapping[str, list[Any]]) -> list[str]:
    """What the agent was not shown, one line for each reason."""
    reasons = {"masked": "masked in", "secret": "not shown, because of their names", "dropped": "not shown"}
    return [f"  {reason}: {', '.join(context[key])}" for key, reason in reasons.items() if context[key]]
