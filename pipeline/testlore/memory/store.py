"""The canonical store, ``.tddswarm/learning/index.json``: the authority on every episode.

No other module writes it. If anything in it is wrong, the whole store is refused; nothing changes or repairs it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NamedTuple

from testlore import canonical, forms, schemas
from testlore.errors import Unusable
from testlore.memory import texts
from testlore.project import safe_files

INDEX_FILE = ".tddswarm/learning/index.json"
MAX_BYTES = 4 << 20
MAX_RECORDS = 200
MAX_RECORD_BYTES = 32 << 10
MAX_TOMBSTONES = 1_000

_CONFLICT = b"\n<<<<<<<"  # lines of a store begin with a brace or a space
_MOST_PARSED = 4

Record = dict[str, Any]
Tombstone = dict[str, str]


class Store(NamedTuple):
    """A store as it was read. Do not change what is in it.

    Attributes:
        digest: the digest of its bytes.
        records: its records, newest first.
        forgotten: its tombstones, newest first: each the ``id`` of an episode, and ``at``, when it was forgotten.
    """

    digest: str
    records: list[Record]
    forgotten: list[Tombstone]


def read_bytes(root: str) -> bytes:
    """The store's bytes, unverified.

    Raises:
        Unusable: ``no-memory``, ``store-unsafe``; ``store-corrupt`` when it is larger than 4 MiB, or
            ``store-conflicted`` when that is so because git could not merge it.
    """
    try:
        data = safe_files.read_file(root, INDEX_FILE, MAX_BYTES)
    except FileNotFoundError:
        raise Unusable("no-memory", f"{INDEX_FILE} does not exist yet") from None
    except OSError as error:
        raise Unusable("store-unsafe", safe_files.why_unread(INDEX_FILE, error)) from None
    if len(data) > MAX_BYTES:
        raise _not_a_store(data, f"{INDEX_FILE} is larger than {MAX_BYTES} bytes")
    return data


def parse(
    data: bytes, *, known_valid: bool = False, known_seals: Container[str] = (), known: Sequence[Record] = ()
) -> Store:
    """Turn a store's bytes into its records.

    Args:
        data: what :func:`read_bytes` returned.
        known_valid: whether these very bytes were verified before.
        known_seals: the seals of records that were verified before. A record that fits one of these seals is not
            verified again.
        known: records that this process verified before.

    Raises:
        Unusable: ``store-corrupt``, naming the first thing that is wrong; ``store-conflicted``: git could not merge it.
    """
    digest = canonical.digest(data)
    found = _parsed.get(digest)
    if found is None:
        try:
            value = canonical.loads(data)
        except ValueError as error:
            raise _not_a_store(data, f"not JSON: {error}") from None
        if not known_valid:
            verify(value, known_seals, known)
        try:
            forgotten = sorted(value.get("forgotten", ()), key=youngest_first)
            found = Store(digest, sorted(value["records"], key=newest_first), forgotten)
        except (AttributeError, KeyError, TypeError, ValueError):  # these bytes were never verified
            raise Unusable("store-corrupt", "it holds what is no record") from None
        if len(_parsed) >= _MOST_PARSED:
            _parsed.clear()  # in one step, since other threads may ask too
        _parsed[digest] = found
    return found


def _not_a_store(data: bytes, problem: str) -> Unusable:
    """Why bytes are no store: because git could not merge two of them, or for another reason."""
    if _CONFLICT in b"\n" + data:
        return Unusable("store-conflicted", f"{INDEX_FILE} holds git's conflict markers; run `testlore resolve`")
    return Unusable("store-corrupt", problem)


#: The last stores that this process read, by digest. A long-lived process reads the same one again and again.
_parsed: dict[str, Store] = {}


def is_current(root: str, store: Store) -> bool:
    """Whether the store still holds the very bytes that were read."""
    try:
        return canonical.digest(read_bytes(root)) == store.digest
    except Unusable:
        return False


def newest_first(record: Record) -> tuple[float, str]:
    """The sort key of a store: ``createdAt`` descending, then ``id`` ascending."""
    return (-seconds_of(record["createdAt"]), record["id"])


def youngest_first(tombstone: Tombstone) -> tuple[float, str]:
    """The sort key of tombstones: ``at`` descending, then ``id`` ascending."""
    return (-seconds_of(tombstone["at"]), tombstone["id"])


def moment(created_at: str) -> float:
    """Seconds since the epoch of a ``createdAt``.

    Raises:
        ValueError: the calendar has no such moment.
    """
    from datetime import datetime

    if created_at[0] in "+-":  # an expanded year of ECMAScript, which datetime cannot represent
        raise ValueError(f"the year of {created_at} is out of range")
    return datetime.fromisoformat(created_at[:-1] + "+00:00").timestamp()


def seconds_of(created_at: str) -> float:
    """Seconds since the epoch of a ``createdAt`` of a verified record, as :func:`moment` gives them.

    Importing datetime would cost 2 % of a warm recall, so the days are counted here, by ``days_from_civil`` of Hinnant,
    *chrono-Compatible Low-Level Date Algorithms*.
    """
    year, month, day = int(created_at[:4]), int(created_at[5:7]), int(created_at[8:10])
    shifted = year - (month <= 2)  # years that begin in March end with the leap day
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + day_of_year - 719_468
    minutes = (days * 24 + int(created_at[11:13])) * 60 + int(created_at[14:16])
    return ((minutes * 60 + int(created_at[17:19])) * 1000 + int(created_at[20:23])) / 1000


def created_at(seconds: float) -> str:
    """A moment, in seconds since the epoch, as ECMAScript's ``Date.toISOString`` writes it."""
    from datetime import datetime, timezone

    whole, milliseconds = divmod(int(seconds * 1000), 1000)
    utc = datetime.fromtimestamp(whole, timezone.utc)
    return f"{utc.year:04d}-{utc:%m-%dT%H:%M:%S}.{milliseconds:03d}Z"


def verify(value: Any, known_seals: Container[str] = (), known: Sequence[Record] = ()) -> None:
    """Check every rule of the store's format.

    Args:
        known_seals, known: see :func:`parse`.

    Raises:
        Unusable: ``store-corrupt``, naming the first thing that is wrong.
    """
    problem = "" if schemas.has_form("store", value) else _problem(value)
    if problem:
        raise Unusable("store-corrupt", problem)
    records = value["records"]
    same = {record["integrity"]: record for record in known}
    verified = {
        number
        for number, record in enumerate(records)
        if same.get(record["integrity"]) == record or _is_known(record, known_seals)
    }
    if not canonical.is_sealed(value):
        raise Unusable("store-corrupt", "the store's seal does not fit its content")
    seen = set()
    for number, record in enumerate(records):
        fault = "" if number in verified else _fault(record)
        if fault:
            raise Unusable("store-corrupt", f"records[{number}]: {fault}")
        if record["id"] in seen:
            raise Unusable("store-corrupt", f"records[{number}]: its id comes twice")
        seen.add(record["id"])
    _verify_forgotten(value.get("forgotten", []), records)


def _verify_forgotten(forgotten: Sequence[Tombstone], records: Sequence[Record]) -> None:
    forgotten_at: dict[str, str] = {}
    for number, tombstone in enumerate(forgotten):
        if not _is_moment(tombstone["at"]):
            raise Unusable("store-corrupt", f"forgotten[{number}]: at is not a real date")
        if tombstone["id"] in forgotten_at:
            raise Unusable("store-corrupt", f"forgotten[{number}]: its id comes twice")
        forgotten_at[tombstone["id"]] = tombstone["at"]
    for number, record in enumerate(records):
        if forgotten_at.get(record["id"], "") > record["createdAt"]:  # texts of one form, so they compare as moments
            raise Unusable("store-corrupt", f"records[{number}]: it was forgotten after it was made")


def _problem(value: Any) -> str:
    """The first thing that the schema says is wrong with a store, or nothing."""
    records = value.get("records") if isinstance(value, dict) else None
    if isinstance(records, list) and len(records) > MAX_RECORDS:
        return f"more than {MAX_RECORDS} records"
    problem = schemas.first_problem("store", value)
    return problem.text if problem else ""


def _is_known(record: Any, known_seals: Container[str]) -> bool:
    return record["integrity"] in known_seals and canonical.is_sealed(record)


def _fault(record: Record) -> str:
    """What is wrong with a record although it fits its schema; empty when it is right."""
    if not canonical.is_sealed(record):
        return "the seal does not fit the record"
    if record["id"] != record_id(record["manifestHash"], record["outcome"]):
        return "the id is not the digest of the manifest and the outcome"
    if len(canonical.to_bytes(canonical.dumps(record))) > MAX_RECORD_BYTES:
        return f"larger than {MAX_RECORD_BYTES} bytes"
    if not _is_moment(record["createdAt"]):
        return "createdAt is not a real date"
    if any(pattern["hash"] != canonical.digest(pattern["content"]) for pattern in record["patterns"]):
        return "a pattern's hash does not fit its content"
    return texts.too_long(record)


def _is_moment(text: str) -> bool:
    try:
        moment(text)
    except ValueError:
        return False
    return True


def is_intact(record: Any) -> bool:
    """Whether a record has the form of one, and its seal, its id and its patterns' hashes fit.

    This is what is checked again of each record that goes out, whatever a stamp says of the whole store.
    """
    return (
        forms.is_record(record)
        and canonical.is_sealed(record)
        and record["id"] == record_id(record["manifestHash"], record["outcome"])
        and all(pattern["hash"] == canonical.digest(pattern["content"]) for pattern in record["patterns"])
    )


def record_id(manifest_hash: str, outcome: str) -> str:
    """The id of the episode of a manifest and its outcome."""
    return canonical.digest({"manifestHash": manifest_hash, "outcome": outcome})
