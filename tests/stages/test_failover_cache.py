"""What is damaged in the derived cache is left as it is when it says what the index is, and made anew when not."""

from __future__ import annotations

import json
import os

import pytest
from helpers import Project, falls_back, states
from testlore import canonical

METADATA = {
    "not JSON": b"{",
    "a list": b"[]",
    "with NaN": b'{"integrity": NaN}',
    **{
        f"nested {depth} deep": b'{"integrity": "", "a": ' + b"[" * depth + b"]" * depth + b"}"
        for depth in (970, 5_000)
    },
    "nested too deeply": b'{"integrity": "", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "too large": b" " * ((1 << 20) + 1),
}


def _is_left_as_it_is(project: Project, lexical_ids: list[str], doors: list[str]) -> None:
    before = states(project.cache)
    falls_back(project, "ruvector-cache-corrupt", lexical_ids, doors)
    assert states(project.cache) == before


@pytest.mark.parametrize("data", [pytest.param(data, id=name.replace(" ", "-")) for name, data in METADATA.items()])
def test_metadata_that_cannot_be_read_is_left_as_it_is(
    built: Project, lexical_ids: list[str], data: bytes, one_door: list[str]
) -> None:
    built.metadata.write_bytes(data)
    _is_left_as_it_is(built, lexical_ids, one_door)


@pytest.mark.parametrize("name", ["not JSON", "nested too deeply", "too large"])
def test_metadata_that_cannot_be_read_is_cleaned_away(built: Project, name: str) -> None:
    built.metadata.write_bytes(METADATA[name])
    cleaned = built.doit("clean")
    assert cleaned.returncode == 0, cleaned.stderr
    assert not built.cache.exists()
    assert built.ask_natively() == "built"


def test_metadata_with_a_byte_order_mark_is_left_as_it_is(
    built: Project, lexical_ids: list[str], one_door: list[str]
) -> None:
    built.metadata.write_bytes(b"\xef\xbb\xbf" + built.metadata.read_bytes())
    _is_left_as_it_is(built, lexical_ids, one_door)


def test_a_pipe_in_place_of_metadata_does_not_make_anybody_wait(built: Project, lexical_ids: list[str]) -> None:
    built.metadata.unlink()
    os.mkfifo(built.metadata)
    falls_back(built, "ruvector-cache-unsafe", lexical_ids)
    assert built.doit("clean").returncode == 0
    assert built.ask_natively() == "built"


KEPT = {
    "no JSON": b"}{",
    "nothing": b"",
    "a link seal": b'{"integrity":"0"}\n',
    "no texts": canonical.dumps(canonical.seal({"provider": "P", "digest": canonical.digest(b"")})).encode(),
    "texts that are a number": canonical.dumps(
        canonical.seal({"provider": "P", "digest": canonical.digest(b""), "texts": 0})
    ).encode(),
    "texts that are lists": canonical.dumps(
        canonical.seal({"provider": "P", "digest": canonical.digest(bytes(512)), "texts": [[]]})
    ).encode()
    + b"\n"
    + bytes(512),
    "deep nesting": b'{"integrity": "", "a": ' + b"[" * 900 + b"]" * 900 + b"}",
}


@pytest.mark.parametrize("name", ["embeddings.f32", "validated.json"])
@pytest.mark.parametrize("data", [pytest.param(data, id=name.replace(" ", "-")) for name, data in KEPT.items()])
def test_what_is_only_kept_to_save_work_is_made_anew_when_it_is_damaged(built: Project, name: str, data: bytes) -> None:
    head = json.loads((built.cache / "embeddings.f32").read_bytes().partition(b"\n")[0])
    if b'"provider":"P"' in data:
        line, newline, body = data.partition(b"\n")
        data = canonical.dumps(canonical.seal({**json.loads(line), "provider": head["provider"]})).encode()
        data += newline + body
    (built.cache / name).write_bytes(data)
    assert built.ask_natively() == "reused"
    built.metadata.unlink()
    (built.cache / name).write_bytes(data)
    assert built.ask_natively("doit") == "built"
