"""``testlore-embed``: meanings instead of words, without a network."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from episodes import make_episode
from helpers import Project, ids, word
from testlore.embedding import semantic

CLONE_NEWNET = 0x40000000
EMBEDDING = {"mode": "command", "argv": [semantic.COMMAND], "identity": "wordllama-0.4"}

NO_SOCKETS = """
import os, sys

def refuse(event, arguments):
    if event.startswith("socket."):
        if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.sendmsg"):
            with open(os.environ["SOCKETS"], "a") as file:
                file.write(f"{event} {arguments}\\n")
        raise OSError("no sockets here")

sys.addaudithook(refuse)
open(os.environ["SOCKETS"], "a").close()
"""


def without_network() -> None:
    """Leave for an empty network of one's own, where the machine allows it; the audit hook holds anyway."""
    ctypes.CDLL(None).unshare(CLONE_NEWNET)


@pytest.fixture
def semantic_project(project: Project, tmp_path: Path) -> Project:
    """A project of the semantic model whose processes have no sockets, in Python or outside of it."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook/sitecustomize.py").write_text(NO_SOCKETS)
    project.configure({"dimensions": 256, "embedding": EMBEDDING})
    env = {"PYTHONPATH": str(tmp_path / "hook"), "SOCKETS": str(tmp_path / "sockets"), "HOME": str(tmp_path / "home")}
    return Project(project.root, env, without_network)


def run(project: Project, request: Any) -> Any:
    program = Path(sys.executable).with_name(semantic.COMMAND)
    return project.run(str(program), input=request if isinstance(request, str) else json.dumps(request))


def cosine(one: list[float], other: list[float]) -> float:
    return float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))


def test_it_answers_natively_without_touching_the_network(semantic_project: Project, tmp_path: Path) -> None:
    answer = semantic_project.ask(query="an amount of nothing")
    assert answer["retrieval"] == "ruvector", answer["warnings"]
    assert answer["retrievalDetails"]["mode"] == "external-embedding"
    assert semantic_project.ask_natively() == "reused"
    assert (tmp_path / "sockets").read_text() == ""
    assert not (tmp_path / "home").exists()


def test_it_finds_meanings_that_share_no_word(semantic_project: Project) -> None:
    texts = [
        "it('refuses an expired password', () => {})",
        "it('sorts numbers in ascending order', () => {})",
        "it('retries after a network timeout', () => {})",
    ]
    semantic_project.write_store([make_episode(number, text, tags=[]) for number, text in enumerate(texts)])
    found = {
        query: semantic_project.ask(query=query)["records"][0]["patterns"][0]["content"]
        for query in ("login credentials", "internet connection lost", "arrange integers by size")
    }
    assert list(found.values()) == [texts[0], texts[2], texts[1]]


def test_identifiers_are_split_into_words() -> None:
    rows = semantic.embed(["testZeroBoundary", "test_zero_boundary", "Test zero boundary", "parseHTTPResponse"], 256)
    assert rows[0] == rows[1] == rows[2]
    assert rows[3] == semantic.embed(["parse http response"], 256)[0]


def test_related_words_are_nearer_than_unrelated_ones() -> None:
    rows = semantic.embed(["emptyList", "a collection without items", "password expired"], 256)
    assert cosine(rows[0], rows[1]) > cosine(rows[0], rows[2]) + 0.1


@pytest.mark.parametrize("dimensions", [64, 128])
def test_shorter_vectors_are_the_beginning_of_the_whole(dimensions: int) -> None:
    whole, short = (semantic.embed(["zero boundary"], size)[0] for size in (256, dimensions))
    assert short == whole[:dimensions]


def test_a_text_without_words_has_a_vector_too() -> None:
    rows = semantic.embed(["", "!?", "zero"], 64)
    assert rows[0] == rows[1] != rows[2]
    assert any(rows[0])


def test_a_text_has_the_same_vector_whatever_it_is_asked_with() -> None:
    texts = [f"zero boundary {'of a longer text ' * number}" for number in range(20)]
    assert semantic.embed(texts, 256) == [semantic.embed([text], 256)[0] for text in texts]


def test_the_length_of_the_vectors_must_be_one_of_the_models(semantic_project: Project, lexical_ids: list[str]) -> None:
    semantic_project.configure({"dimensions": 100, "embedding": EMBEDDING})
    answer = semantic_project.ask()
    assert word(answer) == "ruvector-embedding-command-failed"
    assert ids(answer) == lexical_ids
    assert "dimensions is 100; allowed with this model: 64, 128, 256" in answer["warnings"][-1]


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        ("", "not JSON"),
        ([], "schemaVersion 1"),
        ({"schemaVersion": 2, "dimensions": 64, "texts": []}, "schemaVersion 1"),
        ({"schemaVersion": 1, "dimensions": "64", "texts": []}, "dimensions is '64'"),
        ({"schemaVersion": 1, "dimensions": [64], "texts": []}, "dimensions is [64]"),
        ({"schemaVersion": 1, "dimensions": 64, "texts": "zero"}, "texts"),
        ({"schemaVersion": 1, "dimensions": 64, "texts": [1]}, "texts"),
    ],
)
def test_a_wrong_request_is_refused_by_name(semantic_project: Project, request_: Any, named: str) -> None:
    done = run(semantic_project, request_)
    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr
    assert "Traceback" not in done.stderr


def test_it_speaks_the_command_protocol(semantic_project: Project) -> None:
    done = run(semantic_project, {"schemaVersion": 1, "dimensions": 64, "texts": ["zero \ud800 boundary", ""]})
    answer = json.loads(done.stdout)
    assert set(answer) == {"schemaVersion", "vectors"}
    assert [len(row) for row in answer["vectors"]] == [64, 64]


def test_without_the_model_it_says_what_to_install(project: Project) -> None:
    code = (
        "import sys; sys.modules['wordllama'] = None\n"
        "from testlore.embedding import semantic; sys.exit(semantic.main())"
    )
    done = project.python("-c", code, input=json.dumps({"schemaVersion": 1, "dimensions": 64, "texts": ["zero"]}))
    assert done.returncode == 1
    assert "pip install 'testlore-recall[semantic]'" in done.stderr


def test_the_doctor_offers_it_and_then_names_it(project: Project) -> None:
    assert semantic.COMMAND in project.testlore("doctor").stdout
    project.configure({"dimensions": 256, "embedding": EMBEDDING})
    report = project.testlore("doctor", "--json")
    findings = {finding["part"]: finding for finding in json.loads(report.stdout)["findings"]}
    assert findings["embedding"]["state"] == "ok"
    assert "wordllama-0.4" in findings["embedding"]["text"]
    assert os.path.basename(findings["recall"]["state"]) == "ok"
