"""Stages a proposed patch: checks it, digests it, and keeps it as a candidate. No source file changes."""

from __future__ import annotations

from typing import Any

from testlore import canonical
from testlore.errors import Refusal
from testlore.evidence import candidate, patch, state
from testlore.project.provenance import compatibility_reasons


def run(root: str, proposed: Any) -> str:
    """Stage a patch.

    Args:
        proposed: parsed JSON, as ``schemas/patch.schema.json`` describes it.

    Returns:
        The candidate's id. The same patch on the same sources has the same id.

    Raises:
        Refusal: the patch breaks a rule, or was made against another state of the project. Nothing was staged.
        Unusable: ``configuration-invalid``.
    """
    now = state.read(root)
    checked = patch.check(root, proposed, now.sources.files())
    if "provenance" in checked:
        reasons = compatibility_reasons(checked["provenance"], now.provenance)
        if reasons:
            raise Refusal("provenance-changed", f"the patch was made against another state: {', '.join(reasons)}")
    review = _review(checked)
    manifest = canonical.seal(
        {
            "schemaVersion": 1,
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
        }
    )
    contents = [one["content"] for one in checked["files"]]
    defects = [one["content"] for one in checked["heldOutDefects"]]
    return candidate.write(root, manifest, review, contents, defects)


def _review(checked: dict[str, Any]) -> dict[str, Any]:
    body = {"schemaVersion": 1, "requirements": checked["requirements"], "review": checked["review"]}
    return canonical.seal(body)


def _names_independent_oracle(review: dict[str, Any]) -> bool:
    """Whether the reviewer says that the expectations do not come from the code, and where they do come from."""
    oracle = review.get("oracle", {})
    basis = oracle.get("basis", [])
    texts = [basis] if isinstance(basis, str) else basis
    return bool(oracle.get("independent") and texts and all(text.strip() for text in texts))
