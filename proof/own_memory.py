"""The repository's own memory: candidates that are really staged and validated against this very repository.

Each file of ``proof/candidates`` is a patch for ``testlore stage`` in a form that people can read: its files as lists
of lines, each held-out defect as one replacement in today's source, and the outcome that we expect. The candidates run
in a disposable copy of the checkout, which has the same provenance. A run that fails leaves the memory as it is.
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
from testlore.project import git, temporary

from proof.project import REPOSITORY, ProofError

CANDIDATES = REPOSITORY / "proof/candidates"

#: The keys by which two episodes say the same. The time, the sources and the number of their cases may differ.
_SAYS = ("framework", "outcome", "tags", "warnings", "context", "patterns")


class Trial(NamedTuple):
    """The validation of one candidate.

    Attributes:
        name: the name of its file, without the ending.
        record: the episode that it became.
        problem: how the outcome differs from the expected one, or empty.
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
        ProofError: the text that a held-out defect replaces does not occur exactly once in its source.
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
        raise ProofError(f"{name}: its defect's text occurs {source.count(written['replace'])} times, not once")
    content = source.replace(written["replace"], written["by"])
    return {"name": written["name"], "path": written["path"], "content": content}


def remake(tell: Callable[[str], object]) -> int:
    """Validate every candidate, and remember the outcomes in the repository's own memory.

    A new episode replaces an older one that says the same. Other episodes stay.

    Returns:
        How many were remembered.

    Raises:
        ProofError: a validation did not end as expected. Nothing was remembered then.
        Refusal, Unusable: a candidate could not be validated, or the memory is not as it must be.
    """
    trials = _try(names(), tell)
    _fail([trial.problem for trial in trials])
    new = {_says(trial.record) for trial in trials}

    def with_new(found: list[Record]) -> list[Record]:
        return [*(record for record in found if _says(record) not in new), *(trial.record for trial in trials)]

    writer.update(str(REPOSITORY), with_new)
    return len(trials)


def check(count: int, tell: Callable[[str], object]) -> int:
    """Validate some candidates again, and compare them with what is expected and with the committed memory.

    Args:
        count: how many. They are spread evenly over all candidates.

    Returns:
        How many were validated.

    Raises:
        ProofError: one did not end as expected, or the memory has no episode that says the same.
        Refusal, Unusable: a candidate could not be validated, or the memory is not as it must be.
    """
    remembered = {_says(record) for record in store.parse(store.read_bytes(str(REPOSITORY))).records}
    found = names()
    trials = _try([found[(2 * at + 1) * len(found) // (2 * count)] for at in range(count)], tell)
    unknown = [trial.name for trial in trials if not trial.problem and _says(trial.record) not in remembered]
    _fail(
        [trial.problem for trial in trials] + [f"{name}: memory has no episode that says the same" for name in unknown]
    )
    return len(trials)


def _fail(problems: list[str]) -> None:
    found = [problem for problem in problems if problem]
    if found:
        raise ProofError("\n".join(found))


def _says(record: Record) -> str:
    return canonical.digest({key: record[key] for key in _SAYS})


def _try(chosen: list[str], tell: Callable[[str], object]) -> list[Trial]:
    # The configured runner begins with plain `python`: it must be this interpreter, which has the project installed.
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    with _checkout() as root, ThreadPoolExecutor(os.cpu_count()) as pool:
        trials = []
        for trial in pool.map(lambda name: _validate(root, name), chosen):
            trials.append(trial)
            tell(f"-- {len(trials)}/{len(chosen)} {trial.name}: {trial.problem or trial.record['outcome']}")
    return trials


@contextlib.contextmanager
def _checkout() -> Iterator[Path]:
    """A disposable copy of the checkout, without its memory."""
    with temporary.in_system() as folder:
        root = Path(folder, "checkout")
        copies.pristine(str(REPOSITORY), str(root))
        subprocess.run(["git", "init", "-q", str(root)], check=True, env=git.environment())
        yield root


def _validate(root: Path, name: str) -> Trial:
    expected = _read(name)["expected"]
    ended = evidence.validate(root, evidence.stage(root, patch(name)))
    if not ended.record:
        raise ProofError(f"{name} was not remembered: {ended.not_remembered}")
    problem = ""
    if (ended.outcome, ended.reasons) != (expected["outcome"], expected["reasons"]):
        problem = f"{name}: {ended.outcome} {ended.details or ended.reasons}, not {expected['outcome']}\n{ended.output}"
    found = store.parse(store.read_bytes(str(root))).records
    return Trial(name, next(record for record in found if record["id"] == ended.record), problem.strip())
