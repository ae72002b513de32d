"""``testlore-embed``: a small semantic model as an embedding command, without any network.

WordLlama (Miller, 2024, *WordLlama: Recycled Token Embeddings from Large Language Models*) averages the token
embeddings of a text. Its package brings its tokenizer and weights of 256 dimensions, trained so that the first 64 or
128 of them can be used alone (Kusupati et al., *Matryoshka Representation Learning*, 2022).

The model knows words, but not ``testZeroBoundary``. So identifiers are split into words first, and words that occur in
nearly every test's code are left out.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from testlore import canonical
from testlore.project.settings import OWN_EMBEDDING_COMMAND
from testlore.ranking import tokens

COMMAND = OWN_EMBEDDING_COMMAND
PACKAGE = "wordllama"
INSTALL = "pip install 'testlore-recall[semantic]'"
CONFIGURE = (
    'For meanings, offline: "dimensions": 256, '
    f'"embedding": {{"mode": "command", "argv": ["{COMMAND}"], "identity": "{PACKAGE}-0.4"}}'
)

DIMENSIONS = (64, 128, 256)
_WHOLE = DIMENSIONS[-1]
_NO_WORD = "empty"  # replaces a text without a word, since a zero vector has no direction
_BATCH = 8  # texts; few, since the model pads all of a batch to the longest, which may have thousands of tokens


class InvalidRequest(Exception):
    """A request that cannot be answered. The text says what was wrong and what is allowed."""


def main() -> int:
    """Answer the one request on standard input.

    Returns:
        0; 1 when the model is not installed; 2 when the request is wrong. Standard error then says what is wrong.
    """
    try:
        dimensions, texts = _parse(sys.stdin.buffer.read())
        rows = embed(texts, dimensions)
    except InvalidRequest as invalid:
        print(f"{COMMAND}: {invalid}", file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"{COMMAND}: {error}; {INSTALL}", file=sys.stderr)
        return 1
    json.dump({"schemaVersion": 1, "vectors": rows}, sys.stdout)
    print()
    return 0


def _parse(data: bytes) -> tuple[int, list[str]]:
    try:
        request = canonical.loads(data)
    except ValueError as error:
        raise InvalidRequest(f"the request is not JSON: {error}") from None
    if not isinstance(request, dict) or request.get("schemaVersion") != 1:
        raise InvalidRequest("the request is not an object with schemaVersion 1")
    dimensions, texts = request.get("dimensions"), request.get("texts")
    if dimensions not in DIMENSIONS:
        allowed = ", ".join(map(str, DIMENSIONS))
        raise InvalidRequest(f"plugins.ruvector.dimensions is {dimensions!r:.40}; allowed with this model: {allowed}")
    if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
        raise InvalidRequest("texts is not a list of texts")
    return int(dimensions), texts


def embed(texts: Sequence[str], dimensions: int) -> list[list[float]]:
    """One vector for each text, not normalized.

    Args:
        dimensions: one of :data:`DIMENSIONS`.

    Raises:
        ImportError: the model's package is not installed.
    """
    if not texts:
        return []
    import wordllama

    # Without cache_dir the loader looks for the tokenizer in a folder that the wheel does not have.
    here = os.path.dirname(os.path.abspath(wordllama.__file__))
    truncated = None if dimensions == _WHOLE else dimensions
    model: Any = wordllama.WordLlama.load(cache_dir=here, dim=_WHOLE, trunc_dim=truncated, disable_download=True)
    split = [" ".join(tokens.telling_words(one) or tokens.words(one)) or _NO_WORD for one in texts]
    rows: list[list[float]] = model.embed(split, batch_size=_BATCH).tolist()
    return rows
