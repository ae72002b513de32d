"""The canonical store, ``.tddswarm/learning/index.json``: the authority on every episode.

The one module that writes it. Whatever is off in it, it is refused whole, and neither changed nor repaired.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from pipeline import canonical, project
from pipeline.errors import UnsafePath, Unusable

INDEX_FILE = ".tddswarm/learning/index.json"
MAX_BYTES = 4 << 20
MAX_RECORD_BYTES = 32 << 10
MAX_PATTERN_CHARACTERS = 1_200

Record = dict[str, Any]


class Store(NamedTuple):
    """The bytes of a store as they were read, their digest, and the records in them, newest first."""

    digest: str
    records: list[Record]


def read_bytes(root: str) -> bytes:
    """The store's bytes, unverified.

    Raises:
        Unusable: ``no-memory``, ``store-unsafe``, or ``store-corrupt`` when it is larger than 4 MiB.
    """
    try:
        data = project.read_file(root, INDEX_FILE, MAX_BYTES)
    except FileNotFoundError:
        raise Unusable("no-memory", f"{INDEX_FILE} does not exist yet") from None
    except UnsafePath as error:
        raise Unusable("store-unsafe", str(error)) from None
    except OSError as error:
        raise Unusable("store-unsafe", f"{INDEX_FILE} cannot be read: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise Unusable("store-corrupt", f"{INDEX_FILE} is larger than {MAX_BYTES} bytes")
    return data


def parse(data: bytes, *, known_valid: bool = False) -> Store:
    """Turn a store's bytes into its records.

    Args:
        data: what :func:`read_bytes` returned.
        known_valid: whether these very bytes were verified before, so that they need not be again.

    Raises:
        Unusable: ``store-corrupt``, naming the first thing that is off.
    """
    try:
        value = canonical.loads(data)
    except ValueError as error:
        raise Unusable("store-corrupt", f"not JSON: {error}") from None
    if not known_valid:
        verify(value)
    return Store(canonical.digest(data), sorted(value["records"], key=newest_first))


def is_current(root: str, store: Store) -> bool:
    """Whether the store still holds the very bytes that were read."""
    try:
        return canonical.digest(read_bytes(root)) == store.digest
    except Unusable:
        return False


def newest_first(record: Record) -> tuple[float, str]:
    """The sort key of a store: ``createdAt`` descending, then ``id`` ascending."""
    return (-moment(record["createdAt"]), record["id"])


def moment(created_at: str) -> float:
    """Seconds since the epoch of a ``createdAt``.

    Raises:
        ValueError: there is no such moment.
    """
    if created_at[0] in "+-":  # ECMAScript's expanded years lie outside of what datetime can hold
        raise ValueError(f"the year of {created_at} is out of range")
    return datetime.fromisoformat(created_at[:-1] + "+00:00").timestamp()


def verify(value: Any) -> None:
    """Check everything that the format asks of a store.

    Raises:
        Unusable: ``store-corrupt``, naming the first thing that is off.
    """
    from pipeline import schemas

    problem = schemas.first_problem("store", value)
    if problem is not None:
        raise Unusable("store-corrupt", problem.text)
    if not canonical.is_sealed(value):
        raise Unusable("store-corrupt", "the store's seal does not fit its content")
    seen = set()
    for number, record in enumerate(value["records"]):
        fault = _fault(record)
        if fault:
            raise Unusable("store-corrupt", f"records[{number}]: {fault}")
        if record["id"] in seen:
            raise Unusable("store-corrupt", f"records[{number}]: its id comes twice")
        seen.add(record["id"])


def _fault(record: Record) -> str:
    """What is off in a record that fits its schema, or nothing."""
    if not canonical.is_sealed(record):
        return "the seal does not fit the record"
    if record["id"] != record_id(record["manifestHash"], record["outcome"]):
        return "the id is not the digest of the manifest and the outcome"
    if len(canonical.to_bytes(canonical.dumps(record))) > MAX_RECORD_BYTES:
        return f"larger than {MAX_RECORD_BYTES} bytes"
    try:
        moment(record["createdAt"])
    except ValueError:
        return "createdAt is no moment of the calendar"
    for pattern in record["patterns"]:
        if canonical.utf16_length(pattern["content"]) > MAX_PATTERN_CHARACTERS:
            return f"a pattern is longer than {MAX_PATTERN_CHARACTERS} characters"
        if pattern["hash"] != canonical.digest(pattern["content"]):
            return "a pattern's hash does not fit its content"
    return ""


def record_id(manifest_hash: str, outcome: str) -> str:
    """The id of the episode that a manifest and its outcome make."""
    return canonical.digest({"manifestHash": manifest_hash, "outcome": outcome})
