"""Finds what a person means by the beginning of an id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from testlore.errors import Refusal

FEWEST_CHARACTERS = 4
_MOST_NAMED = 10

Item = TypeVar("Item")


def one(
    given: str, items: Sequence[Item], what: str, ids: Callable[[Item], Sequence[str]], shown: Callable[[Item], str]
) -> Item:
    """The one item that an id names: a whole id, or a beginning of at least four characters that fits one item only.

    Args:
        what: what the items are, in the plural, for the message.
        ids: returns the ids of an item.
        shown: returns an item as the message names it.

    Raises:
        Refusal: ``call-invalid``: no item fits, or several do; the message names them.
    """
    fitting = [item for item in items if given in ids(item)]
    if not fitting and len(given) >= FEWEST_CHARACTERS:
        fitting = [item for item in items if any(name.startswith(given) for name in ids(item))]
    if len(fitting) == 1:
        return fitting[0]
    allowed = f"allowed: an id, or its beginning of at least {FEWEST_CHARACTERS} characters"
    if not fitting:
        short = "is too short, or " if len(given) < FEWEST_CHARACTERS else ""
        raise Refusal("call-invalid", f"id {given!r:.80} {short}fits none of {len(items)} {what}; {allowed}")
    named = ", ".join(map(shown, fitting[:_MOST_NAMED]))
    more = f" and {len(fitting) - _MOST_NAMED} more" if len(fitting) > _MOST_NAMED else ""
    raise Refusal("call-invalid", f"id {given!r:.80} fits {len(fitting)} {what}: {named}{more}; {allowed}")
