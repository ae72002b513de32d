"""The stages of a recall, one module a task, and the session that runs each of them at most once.

::

    validate -> key -> embed -> index -> query -> recall

The doit tasks and the ``testlore`` command are two doors to the same session. A stage returns what it made, or raises
:class:`~testlore.errors.Fallback`; whoever asks again gets the same value or the same exception.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from testlore import canonical, embedding, engines, frameworks
from testlore.cache import Cache
from testlore.child import Child
from testlore.engines import Engine
from testlore.errors import Fallback, Unusable
from testlore.memory import store
from testlore.project import provenance, settings, snapshot
from testlore.project.provenance import Provenance
from testlore.project.safe_files import existing_folder
from testlore.project.settings import Settings
from testlore.ranking import fusion, tokens
from testlore.ranking.fusion import RankedEpisode
from testlore.stages import call, embed, index, key, query, recall, terms, validate
from testlore.stages.recall import GENERAL_WARNING, RecallResult

_T = TypeVar("_T")
_MORE_ATTEMPTS = 2  # how often a recall starts anew when the store changes under it


class Once(Generic[_T]):
    """A piece of work that is done when it is first asked for, and remembered with its value or its failure."""

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work: Callable[[], _T] | None = work
        self._failure: Fallback | Unusable | None = None

    @property
    def done(self) -> bool:
        """Whether it was asked for before."""
        return self._work is None

    def __call__(self) -> _T:
        """The value; or the failure, raised."""
        if self._work is not None:
            work, self._work = self._work, None
            try:
                self._value = work()
            except (Fallback, Unusable) as failure:
                self._failure = failure
        if self._failure is not None:
            raise self._failure
        return self._value


class Session:
    """One recall, or one bringing up to date of the index.

    Args:
        root: the project's root, an existing folder.
        query: what is asked; ``None`` when only the index is wanted.
        long_lived: whether this process will ask again, so that a native worker shall wait for it.
        restrict: makes other settings of the configured ones, for who may do less than they say.

    Attributes:
        receipt, settings, framework, store_data, scope, texts, terms, words, engine, sdk, key, reusable, vectors,
            index, hits: what the stages make; call them.
    """

    def __init__(
        self,
        root: str,
        query: str | None = None,
        *,
        long_lived: bool = False,
        restrict: Callable[[Settings], Settings] | None = None,
    ) -> None:
        self._restrict = restrict
        self.root = os.path.abspath(root)
        self.query = query
        self._long_lived = long_lived
        self.cache = Cache(self.root)
        self._taking: snapshot.Scan | None = None
        self._worker: Child | None = None
        self.receipt = Once(lambda: validate.read_receipt(self.cache))
        self.settings = Once(self._settings)
        self.framework = Once(lambda: frameworks.of_project(self.root, self.settings()))
        self.store_data = Once(self._read_store)
        self.scope = Once(self._validate)
        self.texts = Once(lambda: [canonical.digest(tokens.episode_text(record)) for record in self.scope().eligible])
        self.terms = Once(lambda: terms.run(self.cache, self.scope(), self.texts()))
        self.words = Once(lambda: fusion.matched(self.terms().statistics, self.query or ""))
        self.engine = Once(self._choose_engine)
        self.sdk = Once(lambda: self.engine().locate(self.root))
        self.key = Once(self._key)
        self.reusable = Once(self._reusable)
        self.query_vector = Once(self._query_vector)
        self.vectors = Once(self._embed)
        self.index = Once(self._index)
        self.hits = Once(self._query)

    def close(self) -> None:
        """End every process that nobody needs any more."""
        if self._taking is not None:
            self._taking.close()
        if self._worker is not None:
            self._worker.kill()
        self._taking = self._worker = None

    def provenance(self) -> Provenance:
        """Today's provenance of the project."""
        taking, self._taking = self._taking, None
        return provenance.take(self.root, self.settings(), self.framework(), taking)

    def _settings(self) -> Settings:
        data = settings.read(self.root)
        configured = settings.parse(data, known_valid=canonical.digest(data) == self.receipt().config)
        return self._restrict(configured) if self._restrict is not None else configured

    def _read_store(self) -> bytes:
        configured = self.settings()
        if not configured.learning:
            raise Unusable("learning-disabled")
        if self.query is not None:
            self._start_early(configured)
        return store.read_bytes(self.root)

    def _validate(self) -> validate.Scope:
        return validate.run(self.cache, self.settings(), self.framework().NAME, self.receipt(), self.store_data())

    def validate(self) -> validate.Scope:
        """The verified scope, with a receipt of it kept in the cache."""
        scope = self.scope()
        validate.keep_receipt(self.cache, scope, self.receipt())
        return scope

    def is_validated(self) -> bool:
        """Whether a sealed receipt vouches for the configuration and the store as they are now."""
        receipt, configured = self.receipt(), self.settings()
        return receipt.config == configured.config_digest and receipt.store == canonical.digest(self.store_data())

    def is_indexed(self) -> bool:
        """Whether the native index in the cache is the one of today's key."""
        return self.reusable() is not None

    def is_embedded(self) -> bool:
        """Whether no episode needs to be embedded: the index stands, or every vector is kept."""
        if self.is_indexed():
            return True
        return embed.covers(embed.read_kept(self.cache, self.key(), self.settings().dimensions), self.key())

    def _start_early(self, configured: Settings) -> None:
        """Start what will be needed and takes its time in a process of its own: git's listing and the native worker."""
        try:
            if self._asks():
                self._worker = engines.start_worker(self.engine(), self.sdk(), self.root, configured.timeout_ms)
        except Fallback:
            pass  # the stage that needs it meets the same reason, and passes it on
        kept = self.cache if configured.enabled and not configured.plugin_problem else None
        self._taking = snapshot.Scan(self.root, self.framework().TOOL_FILES, kept)

    def _choose_engine(self) -> Engine:
        configured = self.settings()
        if configured.plugin_problem:
            raise Fallback("ruvector-invalid-settings", configured.plugin_problem)
        if not configured.enabled:
            raise Fallback("ruvector-disabled")
        return engines.engine(configured.runtime)

    def _key(self) -> key.Key:
        scope = self.scope()
        return key.run(self.root, scope, self.texts(), self.engine(), self.sdk())

    def _reusable(self) -> index.Index | None:
        return index.reuse(self.cache, self.engine(), self.key(), self.settings().dimensions)

    def _query_vector(self) -> bytes:
        assert self.query is not None
        if self.vectors.done and self.vectors().query is not None:
            return self.vectors().query or b""
        configured = self.settings()
        return embedding.provider(configured).query_vector(self.root, configured, self.query, self.terms().statistics)

    def _embed(self) -> embed.Vectors:
        external = embedding.provider(self.settings()).MODE == "external-embedding"
        query = self.query if external and self._asks() else None
        return embed.run(self.root, self.cache, self.scope(), self.key(), query)

    def _index(self) -> index.Index:
        found = self.reusable()
        if found is None:
            rows = Once(lambda: self.vectors().rows)
            found = index.run(self.root, self.cache, self.engine(), self.scope(), self.key(), rows)
        terms.keep(self.cache, self.texts(), self.terms())
        return found

    def _asks(self) -> bool:
        return bool(self.query and self.query.strip())

    def _query(self) -> list[query.Hit]:
        found, engine, configured = self.index(), self.engine(), self.settings()
        if not self._asks():
            raise Fallback("ruvector-empty-scope-or-query")
        vector = self.query_vector()
        self.words()  # while the worker still loads the engine
        worker, self._worker = self._worker, None
        if worker is None:
            worker = engines.start_worker(engine, self.sdk(), self.root, configured.timeout_ms)
        stay = self._long_lived and engine.STAYS
        hits = query.run(self.cache, engine, worker, found, configured.dimensions, vector, stay=stay)
        if stay:
            engines.let_wait(worker, self.sdk(), self.root, configured.timeout_ms)
        return hits

    def ranked_natively(self, limit: int) -> list[RankedEpisode]:
        """The best records by the native engine and by the words that they share with the query.

        Raises:
            Fallback: the engine cannot deliver, or ``ruvector-no-applicable-hits``.
            Unusable: nothing can be recalled at all.
        """
        mode = embedding.provider(self.settings()).MODE
        return recall.rank_native(self.scope(), self.words(), self.hits(), limit, mode)

    def ranked_lexically(self, limit: int) -> list[RankedEpisode]:
        """The best records by the words that they share with the query.

        Raises:
            Unusable: nothing can be recalled at all.
        """
        return recall.rank_lexical(self.scope(), self.words, self.query or "", limit)

    def answer(self, limit: int, *, explain: bool = False) -> RecallResult:
        """The answer to the query, natively or, with a warning, lexically; not yet cut to a budget.

        Args:
            explain: whether each record says why it stands where it stands.

        Raises:
            Unusable: nothing can be recalled at all.
        """
        assert self.query is not None
        scope = self.validate()
        retrieval, details, mode = "deterministic-lexical", None, ""
        warnings: tuple[str, ...] = (GENERAL_WARNING,)
        try:
            mode = embedding.provider(scope.settings).MODE
            ranked = self.ranked_natively(limit)
            sdk = self.sdk()
            retrieval = "ruvector"
            details = {"engine": sdk.name, "mode": mode, "version": sdk.version, "cache": self.index().cache}
        except Fallback as fallback:
            ranked, mode = self.ranked_lexically(limit), ""
            warnings += recall.fallback_warning(fallback)
        records = recall.answer_records(ranked, self.provenance, mode, explain=explain)
        return RecallResult(records, retrieval, details, warnings)

    def overtaken(self) -> bool:
        """Whether native recall failed because the store changed while it was at work."""
        try:
            self.hits()
        except Fallback as fallback:
            return fallback.word == "ruvector-cache-busy" and not store.is_current(self.root, self.scope().store)
        return False


def answer(
    root: object,
    query: object,
    limit: object = call.DEFAULT_LIMIT,
    max_chars: object = call.DEFAULT_MAX_CHARS,
    session: Callable[[], Session] | None = None,
    *,
    explain: object = False,
    long_lived: bool = False,
    restrict: Callable[[Settings], Settings] | None = None,
) -> RecallResult:
    """Check the call, answer it, and cut the answer to its budget. It never raises: see ``reason`` and ``exit_status``.

    Args:
        session: gives a session of this root and query that may have done a part of the work already.
        explain: whether each record says why it stands where it stands.
        long_lived: whether this process will ask again.
        restrict: as for a :class:`Session`.
    """
    budget = call.DEFAULT_MAX_CHARS
    try:
        recall.check_call(query, limit, max_chars, explain)
        assert isinstance(query, str)
        assert isinstance(limit, int)
        assert isinstance(max_chars, int)
        budget = max_chars
        folder = existing_folder(root)
        anew = partial(Session, folder, query, long_lived=long_lived, restrict=restrict)
        result = _answer(session or anew, anew, limit, explain=bool(explain))
    except Unusable as unusable:
        result = RecallResult([], reason=str(unusable))
    return recall.cut(result, budget)


def _answer(first: Callable[[], Session], again: Callable[[], Session], limit: int, *, explain: bool) -> RecallResult:
    for begin in (first, *[again] * _MORE_ATTEMPTS):
        session = begin()
        try:
            result = session.answer(limit, explain=explain)
            if not session.overtaken():
                break
        finally:
            session.close()
    return result
