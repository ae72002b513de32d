"""What ``testlore doctor`` finds out: what is installed, which engine answers, and why recall falls back."""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import NamedTuple

from testlore import __version__, engines, libraries
from testlore.cache import FOLDER
from testlore.embedding import semantic
from testlore.errors import Fallback, Refusal, Unusable
from testlore.memory import store
from testlore.project import settings
from testlore.project.safe_files import existing_folder
from testlore.stages.session import Session

_PROBE_WORDS = 8


class Finding(NamedTuple):
    """What was found out about one part of the project or the installation.

    Attributes:
        part: the part, such as ``engine``.
        state: ``ok``, ``note`` or ``wrong``.
        text: what was found out.
        advice: what to do, or empty.
    """

    part: str
    state: str
    text: str
    advice: str = ""


def examine(root: str) -> tuple[list[Finding], int]:
    """Examine what a recall in ``root`` needs, and ask a question.

    Returns:
        The findings, part by part, and the exit status of a recall.
    """
    findings = [Finding("testlore", "ok", f"{__version__} on Python {sys.version.split()[0]}")]
    try:
        session = Session(existing_folder(root))
        try:
            _examine(session, findings)
        finally:
            session.close()
    except Unusable as unusable:
        status = unusable.exit_status
        advice = unusable.advice if unusable.reason in ("no-memory", "store-conflicted") else ""
        findings.append(Finding("recall", "wrong" if status else "note", str(unusable), advice))
        return findings, status
    return findings, 0


def _examine(session: Session, findings: list[Finding]) -> None:
    configured = session.settings()
    named = settings.CONFIG_FILE if configured.config_digest else f"no {settings.CONFIG_FILE}: defaults"
    findings.append(Finding("configuration", "ok", named))
    engine = _engine(session)
    findings += [*engine, _embedding(session, offer=engine[0].state == "ok")]
    scope = session.scope()
    text = f"{len(scope.store.records)} episodes, {len(scope.eligible)} of them for {scope.framework}"
    findings.append(Finding("memory", "ok", f"{store.INDEX_FILE}: {text}"))
    if not scope.eligible:
        findings.append(Finding("recall", "note", f"nothing to recall for {scope.framework}"))
        return
    findings.append(_sources(session))
    findings.append(_answer(session))


def _engine(session: Session) -> list[Finding]:
    configured = session.settings()
    try:
        sdk = session.sdk()
    except Fallback as fallback:
        state = "note" if fallback.word == "ruvector-disabled" else "wrong"
        finding = Finding("engine", state, str(fallback), fallback.advice)
        return [finding, *_other_engines(session)] if fallback.word == "ruvector-sdk-missing" else [finding]
    return [Finding("engine", "ok", f"{sdk.name} {sdk.version}, {configured.dimensions} dimensions")]


def _other_engines(session: Session) -> list[Finding]:
    """The installed engines, of which none is the configured one."""
    found = []
    for runtime in engines.NAMES:
        try:
            sdk = engines.engine(runtime).locate(session.root)
        except Fallback:
            continue
        found.append(Finding("engine", "note", f'{sdk.name} {sdk.version} is there, for "runtime": "{runtime}"'))
    return found


def _embedding(session: Session, *, offer: bool) -> Finding:
    """The embedding provider.

    Args:
        offer: whether to say how to set up a semantic model, if none is configured.
    """
    configured = session.settings()
    with libraries.installed():
        installed = importlib.util.find_spec(semantic.PACKAGE) is not None
    if configured.embedding == "command":
        text = f"command {configured.argv[0]}, known as {configured.identity}"
        if configured.argv[0] == semantic.COMMAND and not installed:
            return Finding("embedding", "wrong", text, semantic.INSTALL)
        return Finding("embedding", "ok", text)
    advice = semantic.CONFIGURE if installed else f"For meanings, offline: {semantic.INSTALL}"
    return Finding("embedding", "ok", f"{configured.embedding}: shared words, not meanings", advice if offer else "")


def _sources(session: Session) -> Finding:
    """How long it takes to find out whether the sources have changed, which every recall does."""
    begin = time.perf_counter()
    try:
        sources = session.new_scan().snapshot()
    except Refusal as refused:
        return Finding("sources", "wrong", str(refused), refused.advice)
    milliseconds = (time.perf_counter() - begin) * 1000
    return Finding("sources", "ok", f"{sources.read} of {len(sources.files())} files read in {milliseconds:.0f} ms")


def _answer(session: Session) -> Finding:
    """Ask a question made of the newest episode's words, and say which retrieval answers it."""
    newest = session.scope().eligible[0]
    words = [*newest["tags"], *newest["warnings"]][:_PROBE_WORDS] or ["boundary"]
    probe = Session(session.root, " ".join(words))
    try:
        found = probe.index()
        count = len(probe.hits())
    except Fallback as fallback:
        state = "note" if fallback.word == "ruvector-disabled" else "wrong"
        return Finding("recall", state, f"deterministic-lexical, since {fallback}", fallback.advice)
    finally:
        probe.close()
    return Finding(
        "recall", "ok", f"{probe.sdk().name} answers with {count} episodes from {FOLDER} (index {found.cache})"
    )
