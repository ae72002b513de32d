"""Feature vectors: the same bytes everywhere, with NumPy and without it."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from testlore.embedding import features
from testlore.errors import Fallback
from testlore.project.settings import Settings

TEXTS = ["zero boundary", "test_zero_boundary testZeroBoundary", "größe café ☕ 数え棒 Ünïcode_wörds", "", "a b c"]
PINNED = "ed0ef2e0321fda6f3ed6a79a47ceeaadfa891d10500451f69c46c33e61904f27"


def settings_of(dimensions: int) -> Settings:
    return Settings(enabled=True, dimensions=dimensions)


def cosine(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(array("f", one), array("f", other), strict=True))


def test_the_bytes_of_known_texts_are_pinned() -> None:
    made = b"".join(b"".join(features.vectors(".", settings_of(size), TEXTS, None)) for size in (16, 128, 2048))
    assert hashlib.sha256(made).hexdigest() == PINNED


def test_another_process_with_another_hash_seed_makes_the_same_bytes() -> None:
    script = (
        "import sys; from testlore.embedding import features; from testlore.project.settings import Settings;"
        "sys.stdout.write(features.query_vector('.', Settings(), 'zero boundary größe').hex())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "77")
    }
    assert runs == {features.query_vector(".", Settings(), "zero boundary größe").hex().encode()}


@given(st.text(max_size=80), st.integers(16, 2048))
@settings(deadline=None)
def test_a_query_has_the_vector_that_the_same_text_has_in_a_batch(text: str, dimensions: int) -> None:
    configured = settings_of(dimensions)
    [in_batch] = features.vectors(".", configured, [text], None)
    if not any(in_batch):
        with pytest.raises(Fallback, match="ruvector-empty-feature-query"):
            features.query_vector(".", configured, text)
    else:
        alone = features.query_vector(".", configured, text)
        assert alone == in_batch
        assert cosine(alone, alone) == pytest.approx(1, abs=1e-6)


@given(st.lists(st.text(max_size=30), min_size=9, max_size=12), st.integers(16, 300))
@settings(deadline=None)
def test_many_texts_have_the_vectors_that_each_has_alone(texts: list[str], dimensions: int) -> None:
    configured = settings_of(dimensions)
    alone = [features.vectors(".", configured, [text], None)[0] for text in texts]
    assert features.vectors(".", configured, texts, None) == alone


@pytest.mark.parametrize("name", ["test_zero_boundary", "testZeroBoundary", "ZERO-BOUNDARY", "class TestZeroBoundary:"])
def test_an_identifier_is_near_the_words_that_it_is_made_of(name: str) -> None:
    configured = settings_of(512)
    query = features.query_vector(".", configured, "zero boundary")
    other = features.query_vector(".", configured, "retry timeout")
    [named] = features.vectors(".", configured, [name], None)
    assert cosine(query, named) > 0.6 > abs(cosine(other, named))


@pytest.mark.parametrize("query", ["", "test", "the of and", "a b c", "!?", "\n"])
def test_a_query_without_a_word_that_counts_is_refused_in_words(query: str) -> None:
    with pytest.raises(Fallback, match="ruvector-empty-feature-query"):
        features.query_vector(".", Settings(), query)
