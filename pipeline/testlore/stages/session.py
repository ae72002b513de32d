"""The session: one recall, or one update of the index. It runs each stage at most once."""

from __future__ import annotations

import os

from testlore import canonical, embedding, engines, frameworks, programs
from testlore.cache import FOLDER, Cache
from testlore.embedding import Provider
from testlore.engines import Engine, Sdk, pool
from testlore.engines.pool import Job, Worker
from testlore.errors import Fallback, Refusal, Unusable
from testlore.frameworks import Framework
from testlore.memory import store
from testlore.progress import Progress, silent
from testlore.project import git, provenance
from testlore.project.provenance import Provenance
from testlore.project.settings import Settings
from testlore.project.snapshot import Scan
from testlore.ranking import documents, fusion
from testlore.ranking.fusion import Words
from testlore.stages import answer, configuration, embed, index, key, query, terms, validate
from testlore.stages.configuration import Opening
from testlore.stages.index import Index
from testlore.stages.key import Key
from testlore.stages.once import Once, once
from testlore.stages.query import Hit
from testlore.stages.terms import Terms
from testlore.stages.validate import Scope


class Session:
    """What the stages make, in the order of the graph. Each method does its work when it is first called.

    Args:
        root: the project's root, an existing folder.
        query: the question; ``None`` when only the index is wanted.
        long_lived: whether this process may ask again, so that a native worker must wait for it.
        trusted: whether the caller has just written this configuration at a person's request, so that the programs
            which it names may be started.
        opening: the project's configuration and stamp, if they were read already.
        progress: told how many sources were read.
    """

    def __init__(
        self,
        root: str,
        query: str | None = None,
        *,
        long_lived: bool = False,
        trusted: bool = False,
        opening: Opening | None = None,
        progress: Progress = silent,
    ) -> None:
        self.root = os.path.abspath(root)
        self.query = query
        self.cache = Cache(self.root)
        self._long_lived = long_lived
        self._trusted = trusted
        self._opening = opening
        self._progress = progress
        self._scan: Scan | None = None
        self._sources_problem = ""
        self._worker: Worker | None = None

    def close(self) -> None:
        """End the child processes that were started and not used."""
        if self._scan is not None:
            self._scan.close()
        if self._worker is not None:
            self._worker.child.kill()
        self._scan = self._worker = None

    # What is configured

    @once
    def opening(self) -> Opening:
        """The configuration, and the stamp of what was verified before."""
        return self._opening or configuration.open_project(self.root)

    @once
    def settings(self) -> Settings:
        """The configuration."""
        return self.opening().settings

    @once
    def framework(self) -> Framework:
        """The project's test framework."""
        return frameworks.of_project(self.root, self.settings())

    @once
    def engine(self) -> Engine:
        """The native engine that is configured."""
        configured = self.settings()
        if configured.plugin_problem:
            raise Fallback("ruvector-invalid-settings", configured.plugin_problem)
        if not configured.enabled:
            raise Fallback("ruvector-disabled")
        if not (self._trusted or programs.are_trusted(self.root, configured, *programs.RECALL)):
            named = programs.named(self.root, configured, *programs.RECALL)
            told = ", ".join(f"{purpose} {program}" for purpose, program in named.items())
            raise Fallback("ruvector-untrusted-command", told)
        return engines.engine(configured.runtime)

    @once
    def sdk(self) -> Sdk:
        """The installed native engine."""
        engine = self.engine()
        return self.opening().sdk or engine.locate(self.root)

    @once
    def provider(self) -> Provider:
        """The embedding provider that is configured."""
        return embedding.provider(self.settings())

    def cache_warning(self) -> tuple[str, ...]:
        """What to tell when a derived cache was ignored because it came with the repository."""
        if self.cache.has_foreign and git.ask(self.root, "ls-files", "-z", "--", FOLDER):
            return (answer.CACHE_WARNING,)
        return ()

    # validate

    @once
    def store_data(self) -> bytes:
        """The canonical store's bytes. Child processes that need some time are started before they are read."""
        if not self.settings().learning:
            raise Unusable("learning-disabled")
        if self.query is not None:
            self._start_early()
        return store.read_bytes(self.root)

    @once
    def scope(self) -> Scope:
        """The verified memory, and which of its episodes are in scope."""
        stamp, data = self.opening().stamp, self.store_data()
        return validate.run(self.cache, self.settings(), self.framework().NAME, stamp, data)

    @once
    def validated(self) -> Scope:
        """The verified memory. A stamp in the cache says that it was verified."""
        scope = self.scope()
        validate.keep_stamp(self.cache, scope, self.opening().stamp)
        return scope

    def is_validated(self) -> bool:
        """Whether a sealed stamp says that today's configuration and store were verified."""
        stamp = self.opening().stamp
        if stamp.config != self.settings().config_digest:
            return False
        return stamp.store == canonical.digest(self.store_data())

    # key

    @once
    def texts(self) -> list[str]:
        """The digest of what decides each episode's terms and vector."""
        return [canonical.digest(documents.decisive_text(record)) for record in self.scope().eligible]

    @once
    def terms(self) -> Terms:
        """The term statistics of the episodes."""
        return terms.run(self.cache, self.scope(), self.texts())

    @once
    def words(self) -> Words:
        """How the episodes match the query's words."""
        return fusion.matched(self.terms().statistics, self.query or "")

    @once
    def key(self) -> Key:
        """The key for today's episodes, settings and SDK."""
        return key.run(self.root, self.scope(), self.texts(), self.provider(), self.engine(), self.sdk())

    # embed

    @once
    def vectors(self) -> embed.Vectors:
        """The vectors of the episodes. A model embeds the query in the same call."""
        query = self.query if self.provider().IS_MODEL and self._asks() else None
        return embed.run(self.root, self.cache, self.scope(), self.key(), self.provider(), query)

    def is_embedded(self) -> bool:
        """Whether no episode needs to be embedded: the index can be reused, or every vector is kept."""
        if self.is_indexed():
            return True
        return embed.covers(embed.read_kept(self.cache, self.key(), self.settings().dimensions), self.key())

    @once
    def query_vector(self) -> bytes:
        """The query's vector."""
        if self.vectors.done and self.vectors().query is not None:
            return self.vectors().query or b""
        return self.provider().query_vector(self.root, self.settings(), self.query or "", self.terms().statistics)

    # index

    @once
    def reusable(self) -> Index | None:
        """The native database in the cache, if it was built for today's key; else ``None``."""
        return index.reuse(self.cache, self.engine(), self.key(), self.settings().dimensions)

    def is_indexed(self) -> bool:
        """Whether the native database in the cache was built for today's key."""
        return self.reusable() is not None

    @once
    def index(self) -> Index:
        """The native database for today's key, reused or built."""
        found = self.reusable()
        if found is None:
            rows = Once(lambda: self.vectors().rows)
            found = index.run(self.cache, self._job(), self.scope(), self.key(), rows)
        terms.keep(self.cache, self.texts(), self.terms())
        return found

    # query

    @once
    def hits(self) -> list[Hit]:
        """All episodes by their native similarity to the query."""
        found, job = self.index(), self._job()
        if not self._asks():
            raise Fallback("ruvector-empty-scope-or-query")
        vector = self.query_vector()
        worker, self._worker = self._worker, None
        if worker is None or not worker.child.is_waiting():
            worker = pool.start(job)
        stay = self._long_lived and job.engine.STAYS
        hits = query.run(self.cache, worker, found, self.settings().dimensions, vector, stay=stay)
        if stay:
            pool.keep(worker)
        return hits

    def provenance(self) -> Provenance | None:
        """Today's provenance of the project; ``None`` where git gives no answer about its sources."""
        scan, self._scan = self._scan or self.new_scan(), None
        try:
            return provenance.take(self.root, self.settings(), self.framework(), scan)
        except Refusal as refused:
            self._sources_problem = str(refused)
            return None

    def sources_warning(self) -> tuple[str, ...]:
        """What to tell when :meth:`provenance` found no answer: the words with which evidence is refused then."""
        return (self._sources_problem,) if self._sources_problem else ()

    def _asks(self) -> bool:
        return bool(self.query and self.query.strip())

    def _job(self) -> Job:
        return Job(self.engine(), self.sdk(), self.root, self.settings().timeout_ms)

    def new_scan(self) -> Scan:
        """Begin a scan of the project's sources."""
        keeper = self.cache if self.settings().is_native else None
        return Scan(self.root, self.framework().TOOL_FILES, keeper, self._progress)

    def _start_early(self) -> None:
        """Start the child processes that are needed later: the native worker, and git."""
        try:
            if self._asks():
                self._worker = pool.start(self._job())
        except Fallback:
            pass  # the stage that needs the worker will fail with the same reason
        self._scan = self.new_scan()
