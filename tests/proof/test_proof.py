"""The proof holds, writes no receipt when something does not, and its receipt tells nothing but what it must."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import QUERY, REPOSITORY, Done, Json, Project, seal_file
from testlore import canonical, schemas
from wheel_stand_in import WheelStandIn

_MARKERS = {"USER": "marker-user", "LOGNAME": "marker-user", "HOSTNAME": "marker-host"}
_VOUCHED = ("pipeline", "schemas", "proof")


def prove(folder: Path, *options: str, **env: str) -> Done:
    """Run the proof, its receipt in ``folder``."""
    argv = ["-m", "proof", "prove", "--output", str(folder / "receipt.json"), *options]
    return Project(folder, env).python(*argv, cwd=REPOSITORY, timeout=300)


def verify(checkout: Path, receipt: Path) -> Done:
    return Project(checkout).python("-m", "proof", "verify", str(receipt))


def text_of(receipt: Path) -> str:
    return receipt.read_text("utf-8")


@pytest.fixture(scope="session")
def receipt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The receipt of a proof that a user with telling names ran."""
    folder = tmp_path_factory.mktemp("proof")
    places = {name: folder / f"marker-{name.lower()}" for name in ("HOME", "TMPDIR")}
    for place in places.values():
        place.mkdir()
    done = prove(folder, **_MARKERS, **{name: str(place) for name, place in places.items()})
    assert done.returncode == 0, done.stderr
    assert list(places["TMPDIR"].iterdir()) == []
    return folder / "receipt.json"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what a receipt vouches for."""
    copy = tmp_path / "checkout"
    for name in _VOUCHED:
        shutil.copytree(REPOSITORY / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "dodo.py", copy)
    return copy


def test_the_receipt_is_sealed_and_valid(receipt: Path) -> None:
    value: Json = json.loads(text_of(receipt))
    assert schemas.first_problem("receipt", value) is None
    assert canonical.is_sealed(value)
    assert (value["runtime"], value["sdk"]["name"], value["sdk"]["version"]) == ("python", "ruvector", "0.1.4")
    assert [one["outcome"] for one in value["executed"]] == ["accepted", "rejected"]
    assert "pipeline/testlore/engines/wheel_worker.py" in value["sources"]
    assert "pipeline/testlore/engines/node_worker.cjs" not in value["sources"]


def test_the_receipt_tells_no_place_user_host_or_query(receipt: Path) -> None:
    text = text_of(receipt)
    for private in ("marker", QUERY, str(REPOSITORY), str(Path.home()), str(receipt.parent)):
        assert private not in text
    assert f'"{socket.gethostname()}"' not in text
    assert '"/' not in text


def test_an_sdk_that_lies_fails_the_proof_and_leaves_no_receipt(tmp_path: Path, sdk: WheelStandIn) -> None:
    sdk.break_with(
        "RvfStore.query = lambda self, vector, k: "
        "[(row, squared + 1e-3) for row, squared in self._store.query(vector, k)]"
    )
    done = prove(tmp_path, **sdk.env)
    assert done.returncode == 1
    assert "distances-agree-with-numpy: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("receipt*"))


def test_a_failed_proof_leaves_an_older_receipt_as_it_is(tmp_path: Path, sdk: WheelStandIn) -> None:
    old = tmp_path / "receipt.json"
    old.write_text("{}")
    shutil.rmtree(sdk.record.parent)
    assert prove(tmp_path, **sdk.env).returncode == 1
    assert text_of(old) == "{}"


def test_the_proof_holds_under_node(tmp_path: Path, node_modules: Path) -> None:
    done = prove(tmp_path, "--runtime", "node", "--sdk-root", str(node_modules.parent))
    assert done.returncode == 0, done.stderr
    value: Json = json.loads(text_of(tmp_path / "receipt.json"))
    assert schemas.first_problem("receipt", value) is None
    assert (value["sdk"]["name"], value["sdk"]["version"]) == ("@ruvector/core", "0.1.32")
    assert "pipeline/testlore/engines/node_worker.cjs" in value["sources"]
    assert "pipeline/testlore/engines/wheel_worker.py" not in value["sources"]
    assert str(node_modules.parent) not in text_of(tmp_path / "receipt.json")


def test_a_fresh_receipt_fits(receipt: Path, checkout: Path) -> None:
    done = verify(checkout, receipt)
    assert (done.returncode, done.stdout) == (0, "receipt.json: fits\n")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda folder: (folder / "pipeline/testlore/memory/store.py").open("a").write("\n"),
            "pipeline/testlore/memory/store.py has changed",
        ),
        (lambda folder: (folder / "schemas/store.schema.json").open("a").write("\n"), "store.schema.json has changed"),
        (lambda folder: (folder / "pipeline/testlore/new.py").write_text(""), "pipeline/testlore/new.py is new"),
        (
            lambda folder: os.unlink(folder / "pipeline/testlore/memory/store.py"),
            "pipeline/testlore/memory/store.py is gone",
        ),
    ],
)
def test_a_changed_source_file_is_noticed(
    receipt: Path, checkout: Path, change: Callable[[Path], object], told: str
) -> None:
    change(checkout)
    done = verify(checkout, receipt)
    assert done.returncode == 1
    assert told in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("forge", "told"),
    [
        (lambda path: path.write_text(text_of(path).replace("Linux", "Linus", 1) + " "), "its seal does not fit it"),
        (lambda path: path.write_text("{"), "it cannot be read"),
        (lambda path: path.unlink(), "it cannot be read: No such file"),
        (lambda path: seal_file(path, user="somebody"), "it is not valid: the document has the unknown key 'user'"),
    ],
)
def test_a_receipt_that_is_not_what_was_written_is_noticed(
    receipt: Path, checkout: Path, tmp_path: Path, forge: Callable[[Path], object], told: str
) -> None:
    forged = tmp_path / "forged.json"
    value = json.loads(text_of(receipt))
    value["platform"]["system"] = "Linux"
    forged.write_text(canonical.pretty(canonical.seal(value)))
    forge(forged)
    done = verify(checkout, forged)
    assert done.returncode == 1
    assert told in done.stdout


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        (["runtime=rust"], "invalid choice: 'rust'"),
        (["sdk_root=."], "--sdk-root is only for --runtime node"),
        (["runtime=node", "sdk_root=missing"], "allowed: an existing folder"),
        (["runtme=node"], "there is no variable 'runtme'"),
    ],
)
def test_doit_hands_the_variables_on_and_refuses_wrong_ones(project: Project, variables: list[str], told: str) -> None:
    done = project.doit("proof", *variables)
    assert done.returncode == 2
    assert told in done.stderr


@pytest.mark.parametrize("name", ["ruvector-verification.json", "ruvector-node-verification.json"])
def test_a_committed_receipt_is_valid(name: str) -> None:
    value = json.loads(text_of(REPOSITORY / "proof" / name))
    assert schemas.first_problem("receipt", value) is None
    assert canonical.is_sealed(value)
