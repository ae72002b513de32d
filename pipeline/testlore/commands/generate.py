"""The command ``generate``: what it calls, and how it is printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from testlore import canonical, evidence
from testlore.agents import generation
from testlore.commands import render
from testlore.commands.evidence import Answer, Printed, answered, shown
from testlore.errors import REFUSALS, Refusal, Unusable
from testlore.project.safe_files import existing_folder


def generate(arguments: Mapping[str, Any]) -> Answer:
    """Run the command.

    Args:
        arguments: ``root``, ``json``, and ``validate``: whether the candidate is validated and remembered at once.
    """
    return answered(lambda: _generate(arguments), as_json=arguments["json"])


def _generate(arguments: Mapping[str, Any]) -> Printed:
    root = os.path.abspath(existing_folder(arguments["root"]))
    order = generation.prepare(root)
    if not order.settings.agent:
        request, why = order.work_order(), f"agent-missing: {generation.ASK_FOR_AGENT}"
        value = {"reason": why, "workOrder": request}
        return Printed(value, canonical.pretty(request), f"testlore: {why}", REFUSALS["agent-missing"])
    made = generation.run(root, order, _tell)
    value = generation.to_dict(made)
    said = "accepted" if made.review["accepted"] else "rejected"
    count = sum(len(task.files) for task in made.tasks)
    lines = [
        f"{made.id} staged: {count} test files; the reviewer {said} them",
        *(f"  {task.subject}: {', '.join(task.files) or 'no file'}" for task in made.tasks),
        *_left_out(order.context._asdict()),
    ]
    if not arguments["validate"]:
        return Printed(value, "\n".join([*lines, f"next: testlore validate {made.id}"]))
    try:
        ended = shown(evidence.validate(root, made.id))
    except (Refusal, Unusable) as problem:  # what is staged stays staged, and is told
        notes = f"testlore: {problem}"
        return Printed({**value, "reason": str(problem)}, "\n".join(lines), notes, problem.exit_status)
    return Printed({**value, "validation": ended.value}, "\n".join([*lines, ended.text]), ended.notes)


def _left_out(context: Mapping[str, list[Any]]) -> list[str]:
    """What workers were not shown, a line a reason."""
    told = {"masked": "masked in", "secret": "not shown, as their names speak of secrets", "dropped": "not shown"}
    return [f"  {words}: {', '.join(context[key])}" for key, words in told.items() if context[key]]


def _tell(line: str) -> None:
    print(f"testlore: {render.printable(line)}", file=sys.__stderr__, flush=True)
