"""Whether the sources that an episode's cases ran are still today's."""

from __future__ import annotations

from typing import Any

from testlore import canonical
from testlore.memory import texts
from testlore.project import safe_files

_MAX_BYTES = 8 << 20  # a larger source counts as changed


class TodaysFiles:
    """The project's files as they are now. Each is read at most once.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._digests: dict[str, str] = {}

    def are(self, files: list[dict[str, Any]]) -> bool:
        """Whether all of these files, each of ``path`` and ``digest``, have these digests."""
        return all(self._digest(file["path"]) == file["digest"] for file in files)

    def _digest(self, path: str) -> str:
        """The digest of a file's bytes; empty when it is no longer there, or cannot be read safely."""
        if path not in self._digests:
            try:
                data = safe_files.read_file(self._root, path, _MAX_BYTES)
                self._digests[path] = canonical.digest(data) if len(data) <= _MAX_BYTES else ""
            except OSError:
                self._digests[path] = ""
        return self._digests[path]


def is_known(record: dict[str, Any]) -> bool:
    """Whether a record names every source that its cases ran, so that no other file matters."""
    return 0 < len(record.get("subject", {}).get("files", ())) < texts.FILES


def fits(record: dict[str, Any], reasons: list[str], today: TodaysFiles) -> bool:
    """Whether a record's evidence still holds for today's sources.

    Args:
        reasons: how the whole project differs from then. They decide for a record that does not name its sources. Where
            git does not say what the sources are, no record fits.
        today: the project's files.
    """
    if is_known(record) and "sources-unknown" not in reasons:
        return today.are(record["subject"]["files"])
    return not reasons
