"""``python -m proof``: the commands behind the tasks ``proof``, ``verify_receipt`` and ``own_memory`` of dodo.py."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from testlore import canonical, engines
from testlore.errors import Fallback, Refusal, Unusable
from testlore.project import trust

from proof import own_memory, prove, receipt
from proof.project import ProofError


def main() -> int:
    """Run one of the commands and return its exit status: 0 it holds, 1 it does not, 2 the call is wrong."""
    parser = argparse.ArgumentParser(prog="python -m proof", description=__doc__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    one = commands.add_parser("prove", help="prove everything on a disposable project, and write the receipt")
    one.add_argument("--runtime", choices=list(engines.NAMES), default="python")
    one.add_argument("--sdk-root", metavar="DIR", help="for node: a folder whose node_modules holds the SDK")
    one.add_argument("--output", type=Path, metavar="FILE", help="where to write the receipt; default: proof/")
    one.set_defaults(run=lambda given: _prove(parser, given))

    other = commands.add_parser("verify", help="say whether receipts still fit today's sources")
    other.add_argument("receipts", nargs="*", type=Path, metavar="FILE", help="default: those in proof/")
    other.set_defaults(run=_verify)

    memory = commands.add_parser("own-memory", help="validate proof/candidates, and remember them in this repository")
    what = memory.add_mutually_exclusive_group()
    what.add_argument("--check", type=int, metavar="N", help="validate N of them again, and remember nothing")
    what.add_argument(
        "--patch", choices=own_memory.names(), metavar="NAME", help="print one as `testlore stage` takes it"
    )
    memory.set_defaults(run=lambda given: _remember(parser, given))

    arguments = parser.parse_args()
    os.environ[trust.VARIABLE] = "1"  # the projects are made here, or are this checkout itself
    try:
        status: int = arguments.run(arguments)
    except (ProofError, Fallback, Refusal, Unusable) as failure:
        print(f"proof: {failure}", file=sys.stderr)
        return 1
    return status


def _prove(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    if given.sdk_root and given.runtime != "node":
        parser.error("--sdk-root is only for --runtime node")
    if given.sdk_root and not Path(given.sdk_root).is_dir():
        parser.error(f"--sdk-root is {given.sdk_root!r}; allowed: an existing folder")
    output = given.output or receipt.FILES[given.runtime]
    made = prove.run(given.runtime, given.sdk_root, _tell)
    receipt.write(output, made)
    print(f"{len(made['checks'])} checks hold with {made['sdk']['name']} {made['sdk']['version']}: {output.name}")
    return 0


def _remember(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    if given.patch is not None:
        print(canonical.pretty(own_memory.patch(given.patch)))
    elif given.check is not None:
        if not 1 <= given.check <= len(own_memory.names()):
            parser.error(f"--check is {given.check}; allowed: 1 to {len(own_memory.names())}")
        print(f"{own_memory.check(given.check, _tell)} ended as the memory says")
    else:
        print(f"{own_memory.remake(_tell)} were validated and remembered")
    return 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _verify(given: argparse.Namespace) -> int:
    wrong = 0
    for path in given.receipts or receipt.FILES.values():
        problems = receipt.problems(path)
        wrong += len(problems)
        print(f"{path.name}: {'fits' if not problems else 'does not fit; `doit proof` makes a new one'}")
        for problem in problems:
            print(f"  {problem}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
