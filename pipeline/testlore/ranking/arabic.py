"""Arabic words as they stand in a dictionary, by Snowball's stemmer.

Article, conjunction and preposition are written as one word with the noun: *the book*, *and the book* and *a book* are
three words. The library is imported for a text with Arabic letters alone.
"""

from __future__ import annotations

import os
import re
from functools import cache
from hashlib import sha256
from typing import Any

from testlore import libraries

_FILES = ("among.py", "arabic_stemmer.py", "basestemmer.py")
# Snowball takes off the article or the conjunction before a noun, but not both.
_CONJUNCTION = re.compile("[\u0648\u0641](?=(?:[\u0628\u0643]?\u0627\u0644|\u0644\u0644)\\w{2})")


def stem(word: str) -> str:
    """A word without article, conjunction, preposition and endings."""
    found: str = _stemmer().stemWord(word[1:] if _CONJUNCTION.match(word) else word)
    return found


@cache
def _stemmer() -> Any:
    with libraries.installed():
        from snowballstemmer.arabic_stemmer import ArabicStemmer
    return ArabicStemmer()


@cache
def identity() -> str:
    """The digest of the files that decide a stem, which is another one for another version of the library.

    The library is not imported for it.
    """
    from importlib.util import find_spec

    with libraries.installed():
        found = find_spec("snowballstemmer")
    digest = sha256()
    for folder in (found and found.submodule_search_locations) or ():
        for name in _FILES:
            with open(os.path.join(folder, name), "rb") as file:
                digest.update(file.read())
    return digest.hexdigest()
