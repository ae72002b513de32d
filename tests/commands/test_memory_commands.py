"""``list``, ``show`` and ``drop``: what people read of a memory, and how they name an episode or a candidate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from episodes import make_episode, make_episode_2
from evidence_helpers import patch, pytest_project, stage_and_validate, tree, write
from helpers import Project
from testlore import canonical, cli, evidence
from testlore.memory import writer

Json = dict[str, Any]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project whose memory holds three episodes: an old one, an accepted and a rejected one that name their test."""
    root = pytest_project(tmp_path / "shop")
    files = [{"path": "calc.py", "digest": canonical.digest((root / "calc.py").read_bytes())}]
    tests = [{"path": "tests/test_discount.py", "name": "test_discount_negative_percent", "outcome": "failed"}]
    made = [
        make_episode(1, framework="pytest"),
        make_episode_2(2, "assert clamp(0) == 0", framework="pytest", title="zero stays zero", files=files),
        make_episode_2(3, framework="pytest", outcome="rejected", title="a negative percent", tests=tests),
    ]
    writer.update(str(root), lambda found: [*found, *made])
    return root


def lore(capfdbinary: pytest.CaptureFixture[bytes], root: Path, *argv: str, status: int = 0) -> str:
    """What a command prints to standard output, or to standard error when it is refused."""
    assert cli.main([argv[0], f"--root={root}", *argv[1:]]) == status
    out, error = capfdbinary.readouterr()
    return (out or error).decode()


def test_list_tells_of_each_episode_its_outcome_title_first_test_and_whether_it_fits(
    shop: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    lines = lore(capfdbinary, shop, "list").splitlines()
    assert lines[0].split() == ["episode", "age", "outcome", "fits", "title", "first", "test"]
    rows = [line for line in lines[2:] if line[:1].strip()]
    assert [row.split()[2:4] for row in rows[:3]] == [["rejected", "no"], ["accepted", "yes"], ["accepted", "no"]]
    assert "a negative percent" in rows[0]
    assert "zero stays zero" in rows[1]
    assert lines[-1] == "3 episodes."


@pytest.mark.parametrize(
    ("argv", "titles"),
    [
        (["--rejected"], ["a negative percent"]),
        (["--file", "calc.py"], ["zero stays zero"]),
        (["--file", "./tests/"], ["a negative percent", "zero stays zero"]),
        (["--file", "tests/test_disc"], []),
        (["--file", "tests", "--rejected"], ["a negative percent"]),
    ],
)
def test_list_leaves_out_what_is_about_something_else(
    shop: Path, capfdbinary: pytest.CaptureFixture[bytes], argv: list[str], titles: list[str]
) -> None:
    found = json.loads(lore(capfdbinary, shop, "list", "--json", *argv))["episodes"]
    assert [one["title"] for one in found] == titles


def test_a_change_of_another_file_leaves_an_episode_fitting(
    shop: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    def fitting() -> list[str]:
        found = json.loads(lore(capfdbinary, shop, "list", "--json"))["episodes"]
        return [one["title"] for one in found if one["sourceCompatible"]]

    write(shop, {"CHANGES.md": "A line more."})
    assert fitting() == ["zero stays zero"]
    write(shop, {"calc.py": (shop / "calc.py").read_text() + "\n"})
    assert fitting() == []


def test_show_tells_everything_of_an_episode(shop: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    record = Project(shop).records()[0]
    text = lore(capfdbinary, shop, "show", record["id"][:4])
    for part in (record["id"], "a negative percent", "test_discount_negative_percent", "case-loss: one", "src/zero.js"):
        assert part in text
    shown = json.loads(lore(capfdbinary, shop, "show", record["candidateId"], "--json"))
    assert {key: shown["episode"][key] for key in record} == record
    assert (shown["episode"]["sourceCompatible"], shown["candidate"]) == (False, None)
    accepted = Project(shop).records()[1]
    assert "    assert clamp(0) == 0" in lore(capfdbinary, shop, "show", accepted["id"]).splitlines()


def test_show_tells_of_a_candidate_before_and_after_it_was_validated(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    root = pytest_project(tmp_path / "shop")
    name = evidence.stage(root, patch())
    text = lore(capfdbinary, root, "show", name[:6])
    assert [line.split() for line in text.splitlines()[:2]] == [["candidate", name], ["state", "staged"]]
    validation = stage_and_validate(root, patch())
    shown = json.loads(lore(capfdbinary, root, "show", validation.record[:8], "--json"))
    assert shown["episode"]["candidateId"] == shown["candidate"]["id"] == name
    assert shown["candidate"]["state"] == validation.outcome
    assert shown["candidate"]["files"] == ["tests/test_divide.py"]


@pytest.mark.parametrize(("given", "said"), [("zzzz", "fits none of 3 episodes"), ("ab", "is too short")])
def test_an_id_that_names_nothing_is_refused(
    shop: Path, capfdbinary: pytest.CaptureFixture[bytes], given: str, said: str
) -> None:
    assert said in lore(capfdbinary, shop, "show", given, status=2)


def test_a_beginning_of_an_id_will_do_for_validate_and_apply(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    root = pytest_project(tmp_path / "shop")
    name = evidence.stage(root, patch())
    validated = json.loads(lore(capfdbinary, root, "validate", name[:5], "--json"))
    assert (validated["id"], validated["outcome"]) == (name, "accepted")
    lore(capfdbinary, root, "apply", name[:5])
    assert (root / "tests/test_divide.py").exists()
    assert "candidate-unknown" in lore(capfdbinary, root, "validate", "zzzzz", status=2)


def test_drop_removes_the_candidate_and_leaves_the_memory(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    root = pytest_project(tmp_path / "shop")
    before = tree(root)
    name, other = (
        evidence.stage(root, patch()),
        evidence.stage(root, patch({"tests/test_b.py": "def test_b(): pass\n"})),
    )
    assert lore(capfdbinary, root, "drop", name[:8]) == f"dropped {name}\n"
    assert [one.id for one in evidence.candidates(root)] == [other]
    assert "fits none of 1 candidates" in lore(capfdbinary, root, "drop", name, status=2)
    lore(capfdbinary, root, "drop", other)
    assert {path: data for path, data in tree(root).items() if not path.startswith(".tddswarm/")} == before


def test_drop_follows_no_link(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    root = pytest_project(tmp_path / "shop")
    name = evidence.stage(root, patch())
    kept = tmp_path / "kept"
    (root / ".tddswarm/candidates").rename(kept)
    (root / ".tddswarm/candidates").symlink_to(kept)
    lore(capfdbinary, root, "drop", name, status=1)
    assert (kept / name / "manifest.json").exists()
