"""``testlore show``: everything that is known of an episode or a candidate."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from testlore.commands import Answer, add_json, respond
from testlore.errors import Refusal

if TYPE_CHECKING:
    import argparse

    from testlore.stages.overview import Entry

HELP = "show everything of an episode or a candidate, with its patterns and reasons"
EXAMPLES = ("testlore show 0781e554", "testlore show 0781e554 --json")

_LABEL_COLUMNS = 11


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format and the id."""
    add_json(parser)
    parser.add_argument("id", metavar="ID", help="an episode's or a candidate's id, or its beginning")


def run(arguments: argparse.Namespace) -> int:
    """Show the episode, the candidate, or both when they belong together."""
    return respond(lambda: _answer(arguments.root, arguments.id), as_json=arguments.json)


def _answer(root: str, given: str) -> Answer:
    from testlore import evidence
    from testlore.errors import Unusable
    from testlore.stages import overview

    entry = candidate = None
    try:
        entry = overview.entry(root, given)
    except (Refusal, Unusable) as problem:
        try:
            candidate = evidence.describe(root, given)
        except Refusal:
            raise problem from None
    if entry is not None:
        with contextlib.suppress(Refusal):  # it may have been dropped
            candidate = evidence.describe(root, entry.record["candidateId"])
    value = {"episode": _episode(entry) if entry else None, "candidate": candidate}
    blocks = [_lines(_shown_episode(entry), entry.record["patterns"])] if entry else []
    blocks += [_lines(_shown_candidate(candidate), [])] if candidate else []
    return Answer(value, "\n\n".join(blocks))


def _episode(entry: Entry) -> dict[str, Any]:
    return {
        **entry.record,
        "ageDays": entry.age_days,
        "sourceCompatible": entry.fits,
        "compatibilityReasons": entry.changes,
    }


def _shown_episode(entry: Entry) -> dict[str, list[str]]:
    """What people read of an episode: the lines of each label."""
    record = entry.record
    subject = record.get("subject") or {"files": [], "symbols": []}
    evidence = record["evidence"]
    age = f"{entry.age_days} day{'' if entry.age_days == 1 else 's'} old"
    return {
        "episode": [record["id"]],
        "outcome": [f"{record['outcome']}, {age}, {record['framework']}"],
        "fits": [f"{'yes' if entry.fits else 'no'}{'; since then: ' * bool(entry.changes)}{', '.join(entry.changes)}"],
        "title": [record.get("title", "")],
        "tests": [f"{one['path']}::{one['name']} {one['outcome']}" for one in record.get("tests", [])],
        "ran": [*(one["path"] for one in subject["files"]), ", ".join(subject["symbols"])],
        "reasons": record.get("reasons") or record["warnings"],
        "tags": [", ".join(record["tags"])],
        "evidence": [f"{key} {value}" for key, value in evidence.items() if value not in (0, "none")],
        "candidate": [record["candidateId"]],
    }


def _shown_candidate(candidate: dict[str, Any]) -> dict[str, list[str]]:
    """What people read of a candidate: the lines of each label."""
    return {
        "candidate": [candidate["id"]],
        "state": [candidate["state"]],
        "reasons": candidate["details"] or candidate["reasons"],
        "files": candidate["files"],
        "deletes": candidate["delete"],
        "defects": candidate["heldOutDefects"],
    }


def _lines(shown: dict[str, list[str]], patterns: list[dict[str, Any]]) -> str:
    """Labels in a column, what belongs to them beside it, and patterns below."""
    lines = []
    for label, texts in shown.items():
        for number, text in enumerate(text for text in texts if text):
            lines.append(f"{label if number == 0 else '':<{_LABEL_COLUMNS}}{' '.join(text.split())}")
    for pattern in patterns:
        lines += ["", f"pattern ({pattern['language']})", *(f"    {line}" for line in pattern["content"].splitlines())]
    return "\n".join(lines)
