"""The proof: it makes a disposable project, executes two candidates, runs every check, and makes the receipt."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from testlore import engines, evidence
from testlore.engines import node
from testlore.memory import store

from proof import arithmetic, checks, receipt
from proof.project import REPOSITORY, Project, ProofError

_INSTALL_SECONDS = 300


def run(runtime: str, sdk_root: str | None, tell: Callable[[str], object]) -> dict[str, Any]:
    """Prove everything with one engine.

    Args:
        runtime: ``python`` or ``node``.
        sdk_root: for ``node``, a folder whose ``node_modules`` holds the SDK; by default the pinned one is installed
            into a temporary folder, from the network.
        tell: called with a line about each step.

    Returns:
        The receipt, sealed.

    Raises:
        ProofError: a check does not hold, the sources changed meanwhile, or the receipt would hold something private.
        Fallback: the SDK is missing.
        Refusal, Unusable: a candidate could not be executed.
    """
    sources = receipt.sources(runtime)
    with _folder() as folder:
        root = folder / "arithmetic"
        root.mkdir()
        arithmetic.write(root)
        arithmetic.configure(root, runtime)
        if runtime == "node":
            (root / "node_modules").symlink_to(_modules(sdk_root, folder, tell))
        engine = engines.engine(runtime)
        sdk = engine.locate(str(root))
        tell("-- two candidates are executed")
        accepted, rejected = (evidence.validate(root, evidence.stage(root, patch)) for patch in arithmetic.patches())
        memory = (root / store.INDEX_FILE).read_bytes()
        project = Project(root, runtime, engine, sdk, accepted, rejected, memory)
        held = checks.run(project, tell)
        made = receipt.make(project, held, sources)
        if receipt.sources(runtime) != sources:
            raise ProofError("the sources changed meanwhile; run it again")
        receipt.check(made, [folder, REPOSITORY, Path.home(), Path(sdk_root or folder).resolve()])
    return made


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A temporary folder without links in its path."""
    with tempfile.TemporaryDirectory(prefix="testlore-proof-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


def _modules(sdk_root: str | None, folder: Path, tell: Callable[[str], object]) -> Path:
    """The ``node_modules`` with the SDK."""
    if sdk_root is not None:
        return Path(sdk_root).resolve() / "node_modules"
    tell(f"-- {node.PINNED} is installed into a temporary folder")
    place = folder / "sdk"
    place.mkdir()
    (place / "package.json").write_text("{}", "utf-8")
    command = [*node.install_argv(), "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        subprocess.run(command, cwd=place, check=True, timeout=_INSTALL_SECONDS, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        raise ProofError(f"{node.PINNED} could not be installed: {error}") from None
    return Path(os.path.realpath(place)) / "node_modules"
