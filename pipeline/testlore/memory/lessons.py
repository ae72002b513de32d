"""``learn``: what the episodes of a memory have in common."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from testlore.memory import store
from testlore.project.safe_files import Root, existing_folder

_FEWEST = 2  # one episode is no lesson


class Lesson(NamedTuple):
    """Something that several episodes have in common. It is tentative, never a rule.

    Attributes:
        kind: ``warning`` or ``success``.
        subject: the warning, or the tag of accepted candidates.
        text: a sentence for people.
        episodes: the ids of these episodes, newest first.
    """

    kind: str
    subject: str
    text: str
    episodes: list[str]


_KINDS = {
    "warning": ("rejected", "warnings", "{count} of {of} rejected candidates met {subject}."),
    "success": ("accepted", "tags", "{count} of {of} accepted candidates were of the kind {subject}."),
}


def learn(root: Root) -> list[Lesson]:
    """The lessons of a memory: warnings before successes, and of each kind the most frequent first.

    Raises:
        Unusable: ``call-invalid``, ``no-memory``, ``store-corrupt``, ``store-unsafe``.
    """
    records = store.parse(store.read_bytes(existing_folder(root))).records
    lessons = []
    for kind, (outcome, key, sentence) in _KINDS.items():
        chosen = [record for record in records if record["outcome"] == outcome]
        counts = Counter(subject for record in chosen for subject in record[key])
        for subject, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            if count >= _FEWEST:
                text = sentence.format(count=count, of=len(chosen), subject=subject)
                episodes = [record["id"] for record in chosen if subject in record[key]]
                lessons.append(Lesson(kind, subject, text, episodes))
    return lessons
