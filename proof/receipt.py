"""The receipt of a proof: what was checked, with which engine, and the digests of the sources that were proved.

It holds no time, so the same sources on the same platform give the same bytes. It holds nothing private either: no
path outside of the repository, no user, no host, no query.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Any

from testlore import __version__, canonical, engines, schemas
from testlore.engines import Sdk
from testlore.evidence import Validation

from proof.arithmetic import QUERY
from proof.project import REPOSITORY, Project, ProofError

Json = dict[str, Any]

FILES = {
    "python": REPOSITORY / "proof/ruvector-verification.json",
    "node": REPOSITORY / "proof/ruvector-node-verification.json",
}

_SOURCES = ("pipeline/**/*.py", "pipeline/**/*.cjs", "pipeline/**/*.mjs", "schemas/*.json", "proof/*.py", "dodo.py")
#: The sources that the proof does not run. A receipt says nothing about them.
_NOT_EXERCISED = (
    *(
        "pipeline/testlore/agents/",
        "pipeline/testlore/evaluate/",
        "pipeline/testlore/stages/health.py",
        "pipeline/testlore/commands/doctor.py",
        "pipeline/testlore/commands/evaluate.py",
        "pipeline/testlore/commands/generate.py",
        "pipeline/testlore/commands/mcp.py",
        "proof/own_memory.py",
    ),
    *("schemas/agent-", "schemas/architect-", "schemas/author-", "schemas/reviewer-"),
    *("pipeline/testlore/embedding/command.py", "pipeline/testlore/embedding/semantic.py"),
    *(
        *(f"pipeline/testlore/commands/{name}.py" for name in ("stage", "validate", "candidates", "learn", "export")),
        *(f"pipeline/testlore/commands/{name}.py" for name in ("forget", "merge", "clean")),
        "pipeline/testlore/memory/lessons.py",
        "pipeline/testlore/frameworks/runners/",
    ),
)
#: The modules of each engine, and the workers that they start.
_OF_ENGINE = {name: f"pipeline/{module.replace('.', '/')}" for name, module in engines.NAMES.items()}

LIMITATIONS = (
    "It was made on one platform, with one version of the engine and of Python, and vouches for no other.",
    "The project has two episodes and five test cases: speed, and the quality of a ranking, are measured elsewhere.",
    "Candidates are executed by pytest alone; the other frameworks have tests of their own.",
    "Vectors are hashed words: an embedding command is not exercised.",
    "The child process limits a failure of the native engine; it is no sandbox.",
    "Digests and the seal have no key: they show accidents and later changes, and are no signature.",
)


def sources(runtime: str) -> dict[str, str]:
    """The digest of each source file that a proof with this engine covers, by its path in the repository."""
    left_out = (*_NOT_EXERCISED, *(module for name, module in _OF_ENGINE.items() if name != runtime))
    found = {path.relative_to(REPOSITORY).as_posix(): path for shape in _SOURCES for path in REPOSITORY.glob(shape)}
    return {name: canonical.digest(found[name].read_bytes()) for name in sorted(found) if not name.startswith(left_out)}


def make(project: Project, held: list[Json], vouched: Mapping[str, str]) -> Json:
    """The sealed receipt.

    Args:
        held: the checks, as :func:`proof.checks.run` returns them.
        vouched: what :func:`sources` returned before the checks ran.
    """
    described = {
        "system": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        **({"node": _node_version(project)} if project.runtime == "node" else {}),
    }
    body = {
        "schemaVersion": 1,
        "product": {"name": "testlore-recall", "version": __version__},
        "runtime": project.runtime,
        "sdk": {"name": project.sdk.name, "version": project.sdk.version, "nativeDigest": _native_digest(project.sdk)},
        "platform": described,
        "executed": [_executed(project.accepted), _executed(project.rejected)],
        "checks": held,
        "sources": dict(vouched),
        "limitations": list(LIMITATIONS),
    }
    return canonical.seal(body)


def _node_version(project: Project) -> str:
    program = project.engine.worker_argv(project.sdk)[0]
    done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=True)
    return done.stdout.strip().removeprefix("v")


def _native_digest(sdk: Sdk) -> str:
    """The digest of the native file that the SDK loads."""
    natives = [path for path in sdk.files if path.endswith(".node")]
    if not natives:
        names = [name for name in os.listdir(sdk.folder) if name.startswith("_native.")]
        natives = [os.path.join(sdk.folder, name) for name in names if name.endswith(tuple(all_suffixes()))]
    if len(natives) != 1:
        raise ProofError(f"the SDK has {len(natives)} native files, not one")
    return canonical.digest(Path(natives[0]).read_bytes())


def _executed(validation: Validation) -> Json:
    return {"outcome": validation.outcome, "reasons": validation.reasons, "evidence": validation.evidence}


def check(receipt: Json, private: Iterable[Path]) -> None:
    """Refuse a receipt that breaks its schema, or holds a path of this machine or the query.

    Args:
        private: folders of this machine.

    Raises:
        ProofError: naming what is wrong.
    """
    problem = schemas.first_problem("receipt", receipt)
    if problem is not None:
        raise ProofError(f"the receipt is not valid: {problem.text}")
    text = canonical.pretty(receipt)
    if QUERY in text or any(str(path) in text for path in private if path != path.parent):
        raise ProofError("the receipt holds a path or the query")


def write(path: Path, receipt: Json) -> None:
    """Write a receipt, or leave the old one as it is when that fails."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(canonical.to_bytes(canonical.pretty(receipt) + "\n"))
    os.replace(temporary, path)


def problems(path: Path) -> list[str]:
    """Why a receipt does not fit today's sources, one line for each reason; empty when it fits.

    Args:
        path: the receipt's file.
    """
    try:
        receipt: Any = canonical.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        return [f"it cannot be read: {getattr(error, 'strerror', None) or error}"]
    problem = schemas.first_problem("receipt", receipt)
    if problem is not None:
        return [f"it is not valid: {problem.text}"]
    if not canonical.is_sealed(receipt):
        return ["its seal does not fit it"]
    vouched, today = receipt["sources"], sources(receipt["runtime"])
    found = [f"{name} is new" for name in today.keys() - vouched.keys()]
    found += [f"{name} is gone" for name in vouched.keys() - today.keys()]
    found += [f"{name} has changed" for name in today.keys() & vouched.keys() if today[name] != vouched[name]]
    if receipt["product"]["version"] != __version__:
        found.append(f"it is of version {receipt['product']['version']}, not {__version__}")
    return sorted(found)
