"""The formats in which ``recall`` prints its answer. To add one, add an entry to :data:`FORMATS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from testlore import canonical
from testlore.errors import Unusable

if TYPE_CHECKING:
    from testlore.stages.answer import RecallResult


class Format(NamedTuple):
    """An output format.

    Attributes:
        render: turns an answer and its budget, in UTF-16 code units, into the text to print, with a final newline. The
            text is empty when nothing could be recalled and the format cannot say why.
        has_warnings: whether the text contains the answer's warnings. If not, they go to standard error.
    """

    render: Callable[[RecallResult, int], str]
    has_warnings: bool


def to_json(value: Any) -> str:
    """A value as one line of compact JSON with its newline, as every command prints it."""
    return canonical.dumps(value) + "\n"


def _json(result: RecallResult, max_chars: int) -> str:
    return to_json(result.to_dict())  # it was cut to the budget before


def _table(result: RecallResult, max_chars: int) -> str:
    from testlore.commands.renderers import table

    return table.render(result)


def _prompt(result: RecallResult, max_chars: int) -> str:
    from testlore.commands.renderers import prompt

    return prompt.render(result, max_chars)


#: Every format by its name. The first one is the default.
FORMATS = {
    "table": Format(_table, has_warnings=False),
    "json": Format(_json, has_warnings=True),
    "prompt": Format(_prompt, has_warnings=True),
}
DEFAULT = next(iter(FORMATS))


def get(name: str) -> Format:
    """The format of this name.

    Raises:
        Unusable: ``call-invalid``: there is no such format.
    """
    found = FORMATS.get(name)
    if found is None:
        raise Unusable("call-invalid", f"format is {name!r:.80}; allowed: {', '.join(FORMATS)}")
    return found


def render(result: RecallResult, name: str, max_chars: int) -> str:
    """An answer as text, with its final newline.

    Args:
        result: an answer whose JSON is already within the budget.
        name: a key of :data:`FORMATS`.
        max_chars: the budget, in UTF-16 code units.

    Raises:
        Unusable: ``call-invalid``: there is no such format.
    """
    return get(name).render(result, max_chars)
