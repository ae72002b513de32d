"""The user's own embedding command: one JSON object in, one out, in a bounded child process.

In: ``{"schemaVersion": 1, "dimensions": 384, "texts": ["…"]}``; out: ``{"schemaVersion": 1, "vectors": [[…]]}``.
"""

from __future__ import annotations

import math
import os
import sys
from array import array
from collections.abc import Sequence
from typing import Any

from testlore import canonical, child, digests
from testlore.errors import Fallback
from testlore.project.settings import Settings
from testlore.ranking.bm25 import Statistics
from testlore.ranking.documents import gist

MODE = "external-embedding"
IS_MODEL = True
text_of = gist

_MAX_OUTPUT_BYTES = 8 << 20
_MAX_NUMBER_BYTES = 26  # a double with all its digits, sign, exponent and comma
_MAX_MAGNITUDE = 1_000_000
_MAX_DIGESTED_BYTES = 1 << 20
_MAX_QUOTED = 120  # characters of standard error in a warning


def identity(root: str, settings: Settings) -> dict[str, Any]:
    """The command, its ``identity``, our code around it, and the state of each part that is a file of the project."""
    return {
        "mode": settings.embedding,
        "argv": list(settings.argv),
        "identity": settings.identity,
        "code": digests.of("model"),
        "files": [_file_state(root, part) for part in settings.argv],
    }


def files(root: str, settings: Settings) -> list[str]:
    """The parts of the command that are files under the root."""
    return [path for part in settings.argv if (path := _file_under(root, part))]


def _file_under(root: str, part: str) -> str:
    try:
        path = os.path.realpath(os.path.join(root, part))
    except ValueError:  # the locale has no such name, so there is no such file
        return ""
    return path if path.startswith(os.path.realpath(root) + os.sep) and os.path.isfile(path) else ""


def _file_state(root: str, part: str) -> list[int] | str | None:
    """The digest of a project file, or its size and modification time if it is over 1 MiB; ``None`` for other parts."""
    path = _file_under(root, part)
    if not path:
        return None
    try:
        state = os.stat(path)
        if state.st_size > _MAX_DIGESTED_BYTES:
            return [state.st_size, state.st_mtime_ns]
        with open(path, "rb") as file:
            return canonical.digest(file.read())
    except OSError:
        return None


def query_vector(root: str, settings: Settings, query: str, documents: Statistics | None = None) -> bytes:
    """The query's unit vector, from one call of the command with the query alone.

    Raises:
        Fallback: ``ruvector-embedding-command-failed``, ``ruvector-invalid-embedding-output``.
    """
    return vectors(root, settings, [], query)[0]


def vectors(root: str, settings: Settings, texts: Sequence[str], query: str | None) -> list[bytes]:
    """The unit vectors of all texts and of the query, from one call of the command, or several within its limits.

    Raises:
        Fallback: ``ruvector-embedding-command-failed``, ``ruvector-invalid-embedding-output``.
    """
    asked = [*texts] if query is None else [*texts, query]
    size = max(1, _MAX_OUTPUT_BYTES // (_MAX_NUMBER_BYTES * settings.dimensions))
    batches = (asked[at : at + size] for at in range(0, len(asked), size))
    return [vector for batch in batches for vector in _call(root, settings, batch)]


def _call(root: str, settings: Settings, asked: Sequence[str]) -> list[bytes]:
    """The unit vectors of as many texts as fit one call."""
    request = {"schemaVersion": 1, "dimensions": settings.dimensions, "texts": asked}
    try:
        process = _start(root, settings)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Fallback("ruvector-embedding-command-failed", f"{settings.argv[0]}: {why}") from None
    done = process.ask(canonical.to_bytes(canonical.dumps(request) + "\n"))
    if done.flooded:
        raise Fallback("ruvector-invalid-embedding-output", f"more than {_MAX_OUTPUT_BYTES} bytes")
    failure = _failure(done, settings)
    if failure:
        last = _last_line(done.stderr)
        raise Fallback("ruvector-embedding-command-failed", f"{failure}: {last}" if last else failure)
    return _check(done.stdout, len(asked), settings.dimensions)


def _start(root: str, settings: Settings) -> child.Child:
    """Start the command. A program that is not on PATH is looked for beside our own interpreter, as in a venv."""
    seconds = settings.timeout_ms / 2000
    try:
        return child.Child(settings.argv, cwd=root, seconds=seconds, max_output=_MAX_OUTPUT_BYTES)
    except FileNotFoundError:
        beside = os.path.join(os.path.dirname(sys.executable), settings.argv[0])
        if os.path.basename(settings.argv[0]) != settings.argv[0] or not os.path.isfile(beside):
            raise
        argv = [beside, *settings.argv[1:]]
        return child.Child(argv, cwd=root, seconds=seconds, max_output=_MAX_OUTPUT_BYTES)


def _failure(done: child.Completion, settings: Settings) -> str:
    """Why the command failed; empty when it did not."""
    if done.timed_out:
        return f"no answer in {settings.timeout_ms // 2} ms"
    if done.bad_status:
        return done.bad_status
    if done.unsent:  # its answer cannot be about texts that it did not read
        return f"it left {done.unsent} bytes of its input unread"
    return ""


def _last_line(stderr: bytes) -> str:
    """The last line of the command's standard error, where most programs name their problem."""
    lines = stderr.decode("utf-8", "replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "").strip()
    return "".join(char if char.isprintable() else " " for char in last)[:_MAX_QUOTED]


def _check(output: bytes, count: int, dimensions: int) -> list[bytes]:
    def invalid(why: str) -> Fallback:
        return Fallback("ruvector-invalid-embedding-output", why)

    try:
        answer = canonical.loads(output)
    except ValueError:
        raise invalid("not one JSON object") from None
    if not isinstance(answer, dict) or set(answer) != {"schemaVersion", "vectors"}:
        raise invalid("not an object of schemaVersion and vectors")
    version = answer["schemaVersion"]
    if isinstance(version, bool) or version != 1:
        raise invalid("schemaVersion is not 1")
    rows = answer["vectors"]
    if not isinstance(rows, list) or len(rows) != count:
        raise invalid(f"not a list of {count} vectors")
    return [_unit(row, dimensions, invalid) for row in rows]


def _unit(row: Any, dimensions: int, invalid: Any) -> bytes:
    if not isinstance(row, list) or len(row) != dimensions:
        raise invalid(f"a vector is not a list of {dimensions} numbers")
    if not all(type(value) in (int, float) and abs(value) <= _MAX_MAGNITUDE for value in row):
        raise invalid(f"a component is no finite number of magnitude at most {_MAX_MAGNITUDE}")
    norm = math.hypot(*row)
    if not norm:
        raise invalid("a vector is zero")
    unit = array("f", [value / norm for value in row])
    if sys.byteorder == "big":
        unit.byteswap()
    return unit.tobytes()
