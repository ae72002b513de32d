"""A candidate on disk is input: whoever wrote it may have sealed it anew, and it still writes nowhere but in copies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evidence_helpers import Json, defect, patch, pytest_project, tree
from testlore import canonical, evidence
from testlore.errors import Refusal
from testlore.memory import store


def craft(root: Path, change: Callable[[Json], object]) -> str:
    """A staged candidate whose manifest was changed, and sealed anew under the id that fits it."""
    name = evidence.stage(root, patch(heldOutDefects=[defect()]))
    folder = root / ".tddswarm/candidates" / name
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    change(manifest)
    sealed = canonical.seal(manifest)
    (folder / "manifest.json").write_text(canonical.pretty(sealed), "utf-8")
    crafted = canonical.digest(sealed)[:24]
    folder.rename(folder.parent / crafted)
    return crafted


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file outside of the project, which nobody may touch."""
    path = tmp_path / "victim.py"
    path.write_text("precious\n")
    return path


PATHS = ["{victim}", "../victim.py", "tests/../../victim.py", "./calc.py", "", "a//b", "a\\b", "nul\0"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("key", ["delete", "heldOutDefects", "files"])
def test_a_path_that_leads_out_of_the_project_is_refused(tmp_path: Path, victim: Path, key: str, path: str) -> None:
    root = pytest_project(tmp_path / "shop")
    target = path.format(victim=victim)

    def change(manifest: Json) -> None:
        if key == "delete":
            manifest["delete"] = [target]
        else:
            manifest[key][0]["path"] = target

    name = craft(root, change)
    before = tree(root)
    with pytest.raises(Refusal) as caught:
        evidence.validate(root, name)
    assert caught.value.reason in ("candidate-unsafe", "candidate-changed")
    assert victim.read_text() == "precious\n"
    assert tree(root) == before
    assert not (root / store.INDEX_FILE).exists()


def test_a_link_in_the_sources_leads_no_write_out_of_the_copy(tmp_path: Path, victim: Path) -> None:
    root = pytest_project(tmp_path / "shop")
    (root / "linked").symlink_to("tests")
    name = craft(root, lambda manifest: manifest["heldOutDefects"][0].update(path="linked/test_calc.py"))
    with pytest.raises(Refusal, match="candidate-unsafe: linked is a symbolic link"):
        evidence.validate(root, name)


def test_deleting_what_is_not_there_is_refused(tmp_path: Path) -> None:
    root = pytest_project(tmp_path / "shop")
    name = craft(root, lambda manifest: manifest.update(delete=["tests/test_gone.py"]))
    with pytest.raises(Refusal, match=r"candidate-changed: it deletes tests/test_gone\.py"):
        evidence.validate(root, name)


@pytest.mark.parametrize("wrong", [None, True, 7, "text", [], {}, [[]], [None], {"a": 1}], ids=repr)
def test_no_value_in_a_manifest_ends_in_another_exception(tmp_path: Path, wrong: Any) -> None:
    root = pytest_project(tmp_path / "shop")
    manifest = json.loads(
        (
            root / ".tddswarm/candidates" / evidence.stage(root, patch(heldOutDefects=[defect()])) / "manifest.json"
        ).read_text()
    )
    for key in manifest:
        if key == "integrity" or manifest[key] == wrong:
            continue
        name = craft(root, lambda value, key=key: value.update({key: wrong}))  # type: ignore[misc]
        with pytest.raises(Refusal):
            evidence.validate(root, name)
