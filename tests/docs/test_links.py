"""Links lead somewhere, and the README is read in ten minutes."""

from __future__ import annotations

import pytest
from docs_helpers import FIRST, LINKING, PAGES, anchors, links, text_of
from helpers import REPOSITORY

_MOST_WORDS = 1_300


@pytest.mark.parametrize("page", LINKING)
def test_relative_links_and_their_anchors_lead_somewhere(page: str) -> None:
    for link in links(page):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = ((REPOSITORY / page).parent / path).resolve() if path else (REPOSITORY / page).resolve()
        assert target.exists(), f"{page}: {link}"
        if anchor:
            assert anchor in anchors(str(target.relative_to(REPOSITORY.resolve()))), f"{page}: {link}"


def test_the_readme_leads_to_every_page() -> None:
    linked = {link.partition("#")[0] for link in links(FIRST)}
    assert {page for page in LINKING if page != FIRST} <= linked


def test_the_readme_is_short() -> None:
    assert len(text_of(FIRST).split()) <= _MOST_WORDS


@pytest.mark.parametrize("page", PAGES)
def test_no_page_speaks_of_this_machine(page: str) -> None:
    text = text_of(page)
    assert str(REPOSITORY) not in text
    assert "/home/" not in text
