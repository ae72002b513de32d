"""``testlore stage``: check a proposed patch, and keep it as a candidate."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from testlore.commands import Answer, add_json, output, respond

if TYPE_CHECKING:
    import argparse

HELP = "check and keep a proposed patch, and print the candidate's id"
EXAMPLES = ("testlore stage patch.json", "propose-a-patch | testlore stage -")

_MAX_PATCH_BYTES = 128 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output format and the patch."""
    add_json(parser)
    parser.add_argument("patch", metavar="PATCH", help="a JSON file; - for standard input")


def run(arguments: argparse.Namespace) -> int:
    """Stage the patch, and print the candidate's id."""
    return respond(lambda: _answer(arguments.root, arguments.patch), as_json=arguments.json)


def _answer(root: str, name: str) -> Answer:
    from testlore import canonical, evidence
    from testlore.errors import Refusal

    try:
        data = _read(name)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Refusal("call-invalid", f"patch is {name!r:.200}, which cannot be read: {why}") from None
    if len(data) > _MAX_PATCH_BYTES:
        raise Refusal("patch-invalid", f"larger than {_MAX_PATCH_BYTES} bytes")
    try:
        patch = canonical.loads(data)
    except ValueError as error:
        raise Refusal("patch-invalid", f"not JSON: {error}") from None
    with output.working() as progress:
        candidate = evidence.stage(root, patch, progress)
    return Answer({"id": candidate}, candidate)


def _read(name: str) -> bytes:
    """The patch's bytes, at most one more than is allowed."""
    if name != "-":
        with open(name, "rb") as file:
            return file.read(_MAX_PATCH_BYTES + 1)
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    return sys.stdin.buffer.read(_MAX_PATCH_BYTES + 1)
