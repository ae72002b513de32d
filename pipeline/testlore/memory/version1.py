"""``export --testlore``: the memory as a store of version 1, which TestLore reads."""

from __future__ import annotations

import os
from typing import NamedTuple

from testlore import canonical
from testlore.errors import Refusal
from testlore.frameworks import OF_TESTLORE
from testlore.memory import store, writer
from testlore.memory.store import Record
from testlore.project import safe_files
from testlore.project.safe_files import Root, existing_folder

#: The languages that a store of TestLore's may name; our own version 1 has more of them.
_LANGUAGES = frozenset({"javascript", "typescript", "mixed"})

_NEW_KEYS = frozenset({"title", "tests", "subject", "reasons"})
_NEW_WARNINGS = frozenset({"adds-nothing", "flaky"})
_EVIDENCE = (
    *("originalCases", "candidateCases", "passedCases", "failedCases", "missingCases"),
    *("demonstratedDefects", "caughtDefects", "complete"),
)
_TEMPORARY = ".testlore-tmp"


class ExportCounts(NamedTuple):
    """What was exported.

    Attributes:
        episodes: how many episodes the file holds.
        left_out: how many it does not hold, since TestLore has no word for their framework or language.
    """

    episodes: int
    left_out: int


def write(root: Root, file: str) -> ExportCounts:
    """Write the memory into a file as TestLore can read it. An older file is replaced, but never a memory.

    Raises:
        Refusal: ``call-invalid``: the file is a memory, or cannot be written.
        Unusable: ``call-invalid``, ``no-memory``, ``store-corrupt``, ``store-conflicted``, ``store-unsafe``.
    """
    records = store.parse(store.read_bytes(existing_folder(root))).records
    converted = [record for record in map(converted_record, records) if record is not None]
    target = os.path.realpath(file)
    if os.path.exists(target) and target.replace(os.sep, "/").endswith(f"/{store.INDEX_FILE}"):
        raise Refusal("call-invalid", f"file is {file!r:.200}, a memory; allowed: any other file")
    try:
        safe_files.write_whole(target, writer.to_bytes(converted), _TEMPORARY, mode=0o666, keep_mode=True)
    except OSError as error:
        raise Refusal("call-invalid", f"file is {file!r:.200}, which cannot be written: {error.strerror}") from None
    return ExportCounts(len(converted), len(records) - len(converted))


def converted_record(record: Record) -> Record | None:
    """A record as TestLore can hold it, or ``None``. A record of version 1 stays as it is.

    A record of version 2 keeps its id. It loses its title, tests, subject, reasons, newer counts, and patterns in
    languages that TestLore does not know; ``other-rejection`` stands for newer warnings; and it is sealed anew.
    """
    if record["framework"] not in OF_TESTLORE or record["context"]["language"] not in _LANGUAGES:
        return None
    patterns = [pattern for pattern in record["patterns"] if pattern["language"] in _LANGUAGES]
    if record["schemaVersion"] == 1 and patterns == record["patterns"]:
        return record
    body = {key: value for key, value in record.items() if key not in _NEW_KEYS}
    warnings = ["other-rejection" if one in _NEW_WARNINGS else one for one in record["warnings"]]
    evidence = {key: record["evidence"][key] for key in _EVIDENCE}
    changes = {"schemaVersion": 1, "warnings": list(dict.fromkeys(warnings)), "evidence": evidence}
    return canonical.seal({**body, **changes, "patterns": patterns})
