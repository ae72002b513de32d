"""The proof: a disposable project, two executed candidates, every check, and the receipt that vouches for them."""

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
from proof.checks import Failed, Proved

_INSTALL_SECONDS = 300


def run(runtime: str, sdk_root: str | None, tell: Callable[[str], object]) -> dict[str, Any]:
    """Prove everything with one engine.

    Args:
        runtime: ``python`` or ``node``.
        sdk_root: for ``node``, a folder whose ``node_modules`` holds the SDK; by default the pinned one is installed
            into a temporary folder, from the network.
        tell: is given a line about each step.

    Returns:
        The receipt, sealed.

    Raises:
        Failed: a check does not hold, or the receipt would say what it must not.
        Fallback: there is no SDK.
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
        proved = Proved(root, runtime, engine, sdk, accepted, rejected, memory)
        held = checks.run(proved, tell)
        made = receipt.make(proved, held, sources)
        if receipt.sources(runtime) != sources:
            raise Failed("the sources changed meanwhile; run it again")
        receipt.check(made, [folder, checks.REPOSITORY, Path.home(), Path(sdk_root or folder).resolve()])
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
        raise Failed(f"{node.PINNED} could not be installed: {error}") from None
    return Path(os.path.realpath(place)) / "node_modules"
