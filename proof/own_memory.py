"""The repository's own memory: candidates that are really staged and validated against this very repository.

Each file of ``proof/candidates`` is a patch as ``testlore stage`` takes it, written to be read: the lines of its files,
its held-out defects as one replacement in today's source, and how its validation is expected to end. They run in a
disposable copy of the checkout, which has the same provenance, so that a run that fails leaves the memory as it is.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from testlore import canonical, evidence
from testlore.evidence import copies
from testlore.memory import store, writer
from testlore.memory.store import Record
from testlore.project import temporary

from proof.checks import REPOSITORY, Failed

CANDIDATES = REPOSITORY / "proof/candidates"

#: What an episode says, apart from when it was made, against which sources, and how many cases these had.
_SAYS = ("framework", "outcome", "tags", "warnings", "context", "patterns")


class Tried(NamedTuple):
    """A candidate that was validated.

    Attributes:
        name: of its file.
        record: the episode that it became.
        problem: how its validation ended otherwise than expected, or empty.
    """

    name: str
    record: Record
    problem: str


def names() -> list[str]:
    """The names of all candidates, sorted."""
    return sorted(path.stem for path in CANDIDATES.glob("*.json"))


def patch(name: str) -> dict[str, Any]:
    """A candidate as ``testlore stage`` takes it.

    Raises:
        Failed: what a held-out defect replaces does not stand in its source, or not once.
    """
    written = _read(name)
    return {
        "files": [{"path": path, "content": "\n".join(lines) + "\n"} for path, lines in written["files"].items()],
        "requirements": written["requirements"],
        "review": written["review"],
        "heldOutDefects": [_defect(name, one) for one in written["heldOutDefects"]],
    }


def _read(name: str) -> dict[str, Any]:
    written: dict[str, Any] = json.loads((CANDIDATES / f"{name}.json").read_text("utf-8"))
    return written


def _defect(name: str, written: dict[str, str]) -> dict[str, str]:
    source = (REPOSITORY / written["path"]).read_text("utf-8")
    if source.count(written["replace"]) != 1:
        raise Failed(f"{name}: what its defect replaces stands {source.count(written['replace'])} times, not once")
    content = source.replace(written["replace"], written["by"])
    return {"name": written["name"], "path": written["path"], "content": content}


def remake(tell: Callable[[str], object]) -> int:
    """Validate every candidate, and remember the outcomes in the repository's own memory.

    Older episodes that say the same as one of the new ones give way to it; others stay.

    Returns:
        How many were remembered.

    Raises:
        Failed: a validation ended otherwise than expected; nothing was remembered then.
        Refusal, Unusable: a candidate could not be validated, or the memory is not as it must be.
    """
    tried = _try(names(), tell)
    _fail([one.problem for one in tried])
    new = {_says(one.record) for one in tried}

    def with_new(found: list[Record]) -> list[Record]:
        return [*(record for record in found if _says(record) not in new), *(one.record for one in tried)]

    writer.update(str(REPOSITORY), with_new)
    return len(tried)


def check(count: int, tell: Callable[[str], object]) -> int:
    """Validate some candidates anew, and hold them to what is expected and to the committed memory.

    Args:
        count: how many; they are taken evenly from all.

    Returns:
        How many were validated.

    Raises:
        Failed: one ended otherwise, or memory has no episode with the same outcome, warnings, tags and patterns.
        Refusal, Unusable: a candidate could not be validated, or the memory is not as it must be.
    """
    remembered = {_says(record) for record in store.parse(store.read_bytes(str(REPOSITORY))).records}
    found = names()
    tried = _try([found[(2 * at + 1) * len(found) // (2 * count)] for at in range(count)], tell)
    unknown = [one.name for one in tried if not one.problem and _says(one.record) not in remembered]
    _fail([one.problem for one in tried] + [f"{name}: memory has no episode that says the same" for name in unknown])
    return len(tried)


def _fail(problems: list[str]) -> None:
    found = [problem for problem in problems if problem]
    if found:
        raise Failed("\n".join(found))


def _says(record: Record) -> str:
    return canonical.digest({key: record[key] for key in _SAYS})


def _try(chosen: list[str], tell: Callable[[str], object]) -> list[Tried]:
    # The configuration's runner begins with plain `python`: it shall be this one, which has the project installed.
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    with _checkout() as root, ThreadPoolExecutor(os.cpu_count()) as pool:
        tried = []
        for one in pool.map(lambda name: _validate(root, name), chosen):
            tried.append(one)
            tell(f"-- {len(tried)}/{len(chosen)} {one.name}: {one.problem or one.record['outcome']}")
    return tried


@contextlib.contextmanager
def _checkout() -> Iterator[Path]:
    """A disposable copy of the checkout, without its memory."""
    with temporary.in_system() as folder:
        root = Path(folder, "checkout")
        copies.pristine(str(REPOSITORY), str(root))
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        yield root


def _validate(root: Path, name: str) -> Tried:
    expected = _read(name)["expected"]
    ended = evidence.validate(root, evidence.stage(root, patch(name)))
    if not ended.record:
        raise Failed(f"{name} was not remembered: {ended.not_remembered}")
    problem = ""
    if (ended.outcome, ended.reasons) != (expected["outcome"], expected["reasons"]):
        problem = f"{name}: {ended.outcome} {ended.details or ended.reasons}, not {expected['outcome']}\n{ended.output}"
    found = store.parse(store.read_bytes(str(root))).records
    return Tried(name, next(record for record in found if record["id"] == ended.record), problem.strip())
