"""Whatever the engine, the cache or the machine does, recall answers, says why, and mends itself."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import DOORS, Project, Sdk, ids, states, word

LOADING = {
    "does not import": ("raise ImportError('undefined symbol')", "ruvector-native-load-failed"),
    "raises at import": ("1 / 0", "ruvector-native-load-failed"),
    "has no store": ("del RvfStore", "ruvector-sdk-api-mismatch"),
    "has no query": ("del RvfStore.query", "ruvector-sdk-api-mismatch"),
    "exits": ("os._exit(3)", "ruvector-worker-failed"),
    "leaves by SystemExit": ("raise SystemExit(4)", "ruvector-worker-failed"),
    "leaves without an answer": ("os._exit(0)", "ruvector-invalid-worker-output"),
    "crashes by a signal": ("import signal; os.kill(os.getpid(), signal.SIGSEGV)", "ruvector-worker-failed"),
    "aborts": ("os.abort()", "ruvector-worker-failed"),
    "prints a banner": ("print('RuVector!', flush=True)", "ruvector-invalid-worker-output"),
    "prints bytes that are no text": ("os.write(1, bytes([255])); os._exit(0)", "ruvector-invalid-worker-output"),
    "prints a list": ("os.write(1, b'[]'); os._exit(0)", "ruvector-invalid-worker-output"),
    "prints too much": ("os.write(1, bytes(2 << 20)); os._exit(0)", "ruvector-invalid-worker-output"),
    "nests too deeply": (
        "os.write(1, b'[' * 50_000 + b']' * 50_000); os._exit(0)",
        "ruvector-invalid-worker-output",
    ),
    "nests deeply": (
        "os.write(1, b'{\"error\": ' + b'[' * 900 + b']' * 900 + b'}'); os._exit(0)",
        "ruvector-worker-failed",
    ),
    "names an unknown error": ('os.write(1, b\'{"error": "on-fire"}\'); os._exit(0)', "ruvector-worker-failed"),
    "is terminated": ("import signal; os.kill(os.getpid(), signal.SIGTERM)", "ruvector-worker-failed"),
}

SEARCHING = {
    "fabricates a row": ("found[0] = (999, 0.1)", "ruvector-invalid-worker-output"),
    "fabricates a negative row": ("found[0] = (-1, 0.1)", "ruvector-invalid-worker-output"),
    "doubles a row": ("found[1] = found[0]", "ruvector-invalid-worker-output"),
    "appends a double": ("found.append(found[0])", "ruvector-invalid-worker-output"),
    "answers NaN": ("found[0] = (found[0][0], float('nan'))", "ruvector-invalid-worker-output"),
    "answers infinity": ("found[0] = (found[0][0], float('inf'))", "ruvector-invalid-worker-output"),
    "answers a distance too far": ("found[0] = (found[0][0], 4.1)", "ruvector-invalid-worker-output"),
    "answers a negative distance": ("found[0] = (found[0][0], -0.1)", "ruvector-invalid-worker-output"),
    "names a row by a truth value": ("found[0] = (True, 0.1)", "ruvector-invalid-worker-output"),
    "names a row by a fraction": ("found[0] = (1.0, 0.1)", "ruvector-invalid-worker-output"),
    "leaves out a row": ("del found[0]", "ruvector-invalid-worker-output"),
    "finds nothing": ("found.clear()", "ruvector-no-valid-hits"),
    "fails": ("raise RuntimeError('broken')", "ruvector-worker-failed"),
    "crashes": ("os.kill(os.getpid(), 11)", "ruvector-worker-failed"),
    "answers a number beyond all floats": (
        "os.write(1, b'{\"count\": 7, \"hits\": [[0, 1' + b'0' * 400 + b']]}'); os._exit(0)",
        "ruvector-invalid-worker-output",
    ),
    "answers no list": (
        'os.write(1, b\'{"count": 7, "hits": {}}\'); os._exit(0)',
        "ruvector-invalid-worker-output",
    ),
}

BUILDING = {
    "writes no file": ("os.write(1, b'{\"count\": 7}'); os._exit(0)", "ruvector-invalid-worker-output"),
    "counts wrong": ("RvfStore.status = lambda self: {'total_vectors': 6}", "ruvector-invalid-worker-output"),
    "fails to create": ("RvfStore.create = lambda path, size: 1 / 0", "ruvector-worker-failed"),
    "crashes while it ingests": ("RvfStore.ingest = lambda self, *rows: os.abort()", "ruvector-worker-failed"),
}


def _searching(code: str) -> str:
    """A fault of the search alone, in which ``found`` is what the engine found."""
    return (
        "def query(self, vector, k):\n"
        "    found = list(self._store.query(vector, k))\n"
        f"    {code}\n"
        "    return found\n"
        "RvfStore.query = query\n"
    )


def _cases(faults: dict[str, tuple[str, str]]) -> list[Any]:
    return [pytest.param(*fault, id=name.replace(" ", "-")) for name, fault in faults.items()]


def _falls_back(project: Project, expected: str, lexical_ids: list[str]) -> None:
    """Asked again and again, through both doors, it answers what a disabled plugin would, and says why."""
    for door in ("testlore", *DOORS):
        answer = project.ask(door)
        assert answer["retrieval"] == "deterministic-lexical"
        assert ids(answer) == lexical_ids
        assert word(answer) == expected


@pytest.mark.parametrize(("code", "expected"), _cases(LOADING))
def test_a_broken_sdk_is_survived_and_leaves_nothing_behind(
    project_of_sdk: Project, sdk: Sdk, lexical_ids: list[str], code: str, expected: str
) -> None:
    project = project_of_sdk
    sdk.break_with(code)
    _falls_back(project, expected, lexical_ids)
    assert set(states(project.cache)) == {"embeddings.f32", "validated.json"}
    sdk.mend()
    assert project.ask_natively() == "built"


@pytest.mark.parametrize(("code", "expected"), _cases(LOADING))
def test_an_sdk_that_breaks_later_leaves_the_index_as_it_is(
    built_with_sdk: Project, sdk: Sdk, lexical_ids: list[str], code: str, expected: str
) -> None:
    before = states(built_with_sdk.cache)
    sdk.break_with(code)
    _falls_back(built_with_sdk, expected, lexical_ids)
    assert states(built_with_sdk.cache) == before
    sdk.mend()
    assert built_with_sdk.ask_natively() == "reused"


@pytest.mark.parametrize(("code", "expected"), _cases(SEARCHING))
def test_an_answer_of_the_engine_that_cannot_be_true_is_not_used(
    built_with_sdk: Project, sdk: Sdk, lexical_ids: list[str], code: str, expected: str
) -> None:
    before = states(built_with_sdk.cache)
    sdk.break_with(_searching(code))
    _falls_back(built_with_sdk, expected, lexical_ids)
    assert states(built_with_sdk.cache) == before
    sdk.mend()
    assert built_with_sdk.ask_natively() == "reused"


@pytest.mark.parametrize(("code", "expected"), _cases(BUILDING))
def test_an_index_that_was_not_built_whole_is_not_kept(
    project_of_sdk: Project, sdk: Sdk, lexical_ids: list[str], code: str, expected: str
) -> None:
    sdk.break_with(code)
    _falls_back(project_of_sdk, expected, lexical_ids)
    assert set(states(project_of_sdk.cache)) == {"embeddings.f32", "validated.json"}
    sdk.mend()
    assert project_of_sdk.ask_natively("doit") == "built"
