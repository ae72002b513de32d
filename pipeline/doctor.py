"""``testlore doctor``: what is installed, which engine answers, and if it falls back: why, and what to do."""

from __future__ import annotations

import sys
from typing import NamedTuple

from pipeline import __version__, canonical, settings, store
from pipeline.cache import FOLDER
from pipeline.errors import HELP, Fallback, Unusable
from pipeline.stages import Session, existing_folder

_PROBE_WORDS = 8


class Finding(NamedTuple):
    """One line of the report.

    Attributes:
        part: what was looked at.
        state: ``ok``, ``note`` or ``wrong``.
        text: what was found.
        advice: what to do, or empty.
    """

    part: str
    state: str
    text: str
    advice: str = ""


def run(root: str, *, as_json: bool = False) -> int:
    """Look at everything that a recall needs, and print what was found.

    Returns:
        0 when a recall would be answered, a fallback included; 1 or 2 as the recall itself would end.
    """
    findings, status = examine(root)
    if as_json:
        print(canonical.dumps({"findings": [finding._asdict() for finding in findings]}))
        return status
    from tabulate import tabulate

    rows = [(f.part, f.state, "\n".join([f.text, *([f"-> {f.advice}"] if f.advice else [])])) for f in findings]
    print(tabulate(rows, tablefmt="plain", maxcolwidths=[None, None, 60], disable_numparse=True))
    return status


def examine(root: str) -> tuple[list[Finding], int]:
    """What a recall in ``root`` meets, part by part, and its exit status."""
    findings = [Finding("testlore", "ok", f"{__version__} on Python {sys.version.split()[0]}")]
    try:
        session = Session(existing_folder(root))
        try:
            _look(session, findings)
        finally:
            session.close()
    except Unusable as unusable:
        status = unusable.exit_status
        advice = "It begins with the first validated candidate." if unusable.reason == "no-memory" else ""
        findings.append(Finding("recall", "wrong" if status else "note", str(unusable), advice))
        return findings, status
    return findings, 0


def _look(session: Session, findings: list[Finding]) -> None:
    configured = session.settings()
    named = settings.CONFIG_FILE if configured.config_digest else f"no {settings.CONFIG_FILE}: defaults"
    findings.append(Finding("configuration", "ok", named))
    findings.append(_engine(session))
    scope = session.scope()
    text = f"{len(scope.store.records)} episodes, {len(scope.eligible)} of them for {scope.framework}"
    findings.append(Finding("memory", "ok", f"{store.INDEX_FILE}: {text}"))
    if not scope.eligible:
        findings.append(Finding("recall", "note", f"nothing to recall for {scope.framework}"))
        return
    findings.append(_answer(session))


def _engine(session: Session) -> Finding:
    try:
        sdk = session.sdk()
    except Fallback as fallback:
        state = "note" if fallback.word == "ruvector-disabled" else "wrong"
        return Finding("engine", state, str(fallback), HELP[fallback.word])
    configured = session.settings()
    return Finding(
        "engine", "ok", f"{sdk.name} {sdk.version}, {configured.dimensions} dimensions, {configured.embedding}"
    )


def _answer(session: Session) -> Finding:
    """Ask a real question, made of the newest episode's own words, and see who answers it."""
    newest = session.scope().eligible[0]
    words = [*newest["tags"], *newest["warnings"]][:_PROBE_WORDS] or ["boundary"]
    probe = Session(session.root, " ".join(words))
    try:
        found = probe.index()
        count = len(probe.hits())
    except Fallback as fallback:
        state = "note" if fallback.word == "ruvector-disabled" else "wrong"
        return Finding("recall", state, f"deterministic-lexical, since {fallback}", HELP[fallback.word])
    finally:
        probe.close()
    return Finding(
        "recall", "ok", f"{probe.sdk().name} answers with {count} episodes from {FOLDER} (index {found.cache})"
    )
