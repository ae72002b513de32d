"""Stages a proposed patch: checks it, digests it, and keeps it as a candidate. No source file changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testlore import canonical
from testlore.errors import Refusal
from testlore.evidence import candidate, patch, state
from testlore.evidence.state import ProjectState
from testlore.progress import Progress, silent
from testlore.project.provenance import compatibility_reasons


def run(root: str, proposed: Any, progress: Progress = silent) -> str:
    """Stage a patch.

    Args:
        proposed: parsed JSON, as ``schemas/patch.schema.json`` describes it.
        progress: told how many sources were read.

    Returns:
        The candidate's id. The same patch on the same sources has the same id.

    Raises:
        Refusal: the patch breaks a rule, or was made against another state of the project. Nothing was staged.
        Unusable: ``configuration-invalid``.
    """
    now = state.read(root, progress)
    files = now.sources.files()
    checked = patch.check(root, proposed, files)
    if "provenance" in checked:
        reasons = compatibility_reasons(checked["provenance"], now.provenance)
        if reasons:
            raise Refusal("provenance-changed", f"the patch was made against another state: {', '.join(reasons)}")
    review = _review(checked)
    manifest = canonical.seal(
        {
            "schemaVersion": 2,
            "framework": now.framework.NAME,
            "purpose": checked.get("purpose") or ("modularization" if checked["delete"] else "candidate-tests"),
            "provenance": now.provenance.to_dict(),
            "files": [{"path": one["path"], "hash": canonical.digest(one["content"])} for one in checked["files"]],
            "delete": checked["delete"],
            "allowProtectedPaths": checked["allowProtectedPaths"],
            "review": {
                "accepted": checked["review"]["accepted"],
                "independentOracle": _names_independent_oracle(checked["review"]),
                "hash": canonical.digest(review),
            },
            "heldOutDefects": [
                {"name": one["name"], "path": one["path"], "hash": canonical.digest(one["content"])}
                for one in checked["heldOutDefects"]
            ],
            "base": [{"path": path, "hash": files.get(path)} for path in _touched(checked)],
        }
    )
    contents = [one["content"] for one in checked["files"]]
    defects = [one["content"] for one in checked["heldOutDefects"]]
    return candidate.write(root, manifest, review, contents, defects)


def _touched(changes: Mapping[str, Any]) -> list[str]:
    """The files that a patch or a manifest replaces, deletes or breaks, sorted."""
    changed = [one["path"] for key in ("files", "heldOutDefects") for one in changes[key]]
    return sorted({*changed, *changes["delete"]})


def check_base(manifest: Mapping[str, Any], now: ProjectState) -> None:
    """Refuse a candidate whose files are no longer those that it was staged against. What else changed is no matter.

    A manifest of version 1 does not say what they were, so nothing at all may have changed.

    Raises:
        Refusal: ``provenance-changed``.
    """
    if "base" not in manifest:
        changed = compatibility_reasons(manifest["provenance"], now.provenance)
    else:
        today, then = now.sources.files(), {one["path"]: one["hash"] for one in manifest["base"]}
        changed = [path for path in _touched(manifest) if then.get(path) != today.get(path)]
        if manifest["framework"] != now.framework.NAME:
            changed.append(f"the framework is {now.framework.NAME}, not {manifest['framework']}")
    if changed:
        raise Refusal("provenance-changed", f"since it was staged: {', '.join(changed)}")


def _review(checked: dict[str, Any]) -> dict[str, Any]:
    body = {"schemaVersion": 1, "requirements": checked["requirements"], "review": checked["review"]}
    return canonical.seal(body)


def _names_independent_oracle(review: dict[str, Any]) -> bool:
    """Whether the reviewer says that the expectations do not come from the code, and where they do come from."""
    oracle = review.get("oracle", {})
    basis = oracle.get("basis", [])
    texts = [basis] if isinstance(basis, str) else basis
    return bool(oracle.get("independent") and texts and all(text.strip() for text in texts))
