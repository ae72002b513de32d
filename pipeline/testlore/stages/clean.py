"""Removes the derived cache: every file that a stage, an engine or doit keeps there, and nothing else."""

from __future__ import annotations

from testlore import engines
from testlore.cache import Cache
from testlore.project import snapshot
from testlore.project.safe_files import existing_folder
from testlore.stages.configuration import STAMP
from testlore.stages.embed import EMBEDDINGS
from testlore.stages.terms import TERMS
from testlore.stages.validate import SEALS

#: doit's own database, which our tasks keep in the cache.
DOIT_DATABASE = "doit.sqlite3"


def clean(root: object, *, dry_run: bool = False) -> list[str]:
    """Remove the derived cache of a project.

    Returns:
        The names of the files that were removed, or would be.

    Raises:
        Unusable: ``call-invalid``: ``root`` is no folder.
        Fallback: ``ruvector-cache-unsafe``: the cache is a link or no folder, so nothing in it is ours.
        OSError: something could not be removed.
    """
    ours = [STAMP, SEALS, EMBEDDINGS, TERMS, snapshot.HEAD, snapshot.BODY, DOIT_DATABASE, *engines.cache_files()]
    return Cache(existing_folder(root)).clean(ours, dry_run=dry_run)
