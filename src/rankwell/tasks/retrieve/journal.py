"""The requests that were sent already, one line for each batch, so that a call that failed goes on
where it ended.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.documents import parse_json
from rankwell.errors import BadInput
from rankwell.tasks.retrieve.loops import BatchReport, SentRequest

NAME = "asked.jsonl"


class SentBatch(NamedTuple):
    """The requests of one setting in one round, and what they cost."""

    setting: int
    round: int
    requests: list[SentRequest]
    reports: list[BatchReport]

    @property
    def open(self) -> set[int]:
        """The queries without an answer."""
        answered = {each.query for each in self.requests if each.status == "ok"}
        return {each.query for each in self.requests} - answered


class Journal:
    """The batches of a call in a file; without a place they are in memory alone. key: what decides
    the requests.
    """

    def __init__(self, place: Path | None, key: str) -> None:
        self._place, self._key = place, key
        self.batches = {} if place is None else _read(place, key)
        self.resumed = bool(self.batches)

    def add(self, batch: SentBatch) -> None:
        """Keeps a batch with what is known of it: answers replace failures."""
        known = self.batches.get((batch.setting, batch.round))
        if known is not None:
            again = {each.query for each in batch.requests}
            kept = [each for each in known.requests if each.query not in again]
            batch = batch._replace(
                requests=[*kept, *batch.requests], reports=[*known.reports, *batch.reports]
            )
        self.batches[batch.setting, batch.round] = batch
        if self._place is not None:
            new = not self._place.exists() or (not self.resumed and len(self.batches) == 1)
            with self._place.open("w" if new else "a", encoding="utf-8") as stream:
                if new:
                    stream.write(json.dumps({"key": self._key}) + "\n")
                stream.write(json.dumps(batch) + "\n")

    def remove(self) -> None:
        """Removes the file: its figures are in the results."""
        if self._place is not None:
            self._place.unlink(missing_ok=True)


class JoinedJournal(Journal):
    """The journals of several calls as one. places: by setting of all of them its journal, and its
    place in that.
    """

    def __init__(self, places: Sequence[tuple[Journal, int]]) -> None:
        self._places = places
        self.resumed = any(journal.resumed for journal, _ in places)
        self.batches = {
            (place, number): batch._replace(setting=place)
            for place, (journal, own) in enumerate(places)
            for (setting, number), batch in journal.batches.items()
            if setting == own
        }

    def add(self, batch: SentBatch) -> None:
        """Keeps a batch in the journal of its setting."""
        journal, own = self._places[batch.setting]
        journal.add(batch._replace(setting=own))
        self.batches[batch.setting, batch.round] = journal.batches[own, batch.round]._replace(
            setting=batch.setting
        )

    def remove(self) -> None:
        """Removes the files of all."""
        for journal, _ in self._places:
            journal.remove()


def _read(place: Path, key: str) -> dict[tuple[int, int], SentBatch]:
    """The batches of a file with the key; none of any other file. A last line that was not written
    to its end is left out.
    """
    try:
        head, *lines = place.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return {}
    found: dict[tuple[int, int], SentBatch] = {}
    try:
        start: Any = parse_json(head, place.name)
        if not isinstance(start, Mapping) or start.get("key") != key:
            return {}
        for line in lines:
            setting, number, requests, reports = parse_json(line, place.name)
            batch = SentBatch(
                setting,
                number,
                [SentRequest(*each) for each in requests],
                [BatchReport(*each) for each in reports],
            )
            found[setting, number] = batch
    except (BadInput, ValueError, TypeError):
        return found
    return found
