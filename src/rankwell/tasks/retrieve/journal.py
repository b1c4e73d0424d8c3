"""The requests that were sent already, one line for each batch, so that a call that failed goes on
where it ended.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

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
        answered = {request.query for request in self.requests if request.status == "ok"}
        return {request.query for request in self.requests} - answered


class Journal:
    """The batches of a call in a file; without a place they are in memory alone. key: what decides
    the requests.
    """

    def __init__(self, file: Path | None = None, key: str = "") -> None:
        self._file, self._key = file, key
        self.batches = {} if file is None else _read(file, key)
        self._resumed = bool(self.batches)

    def add(self, batch: SentBatch) -> None:
        """Keeps a batch with what is known of it: answers replace failures."""
        earlier = self.batches.get((batch.setting, batch.round))
        if earlier is not None:
            again = {request.query for request in batch.requests}
            requests = [request for request in earlier.requests if request.query not in again]
            batch = batch._replace(
                requests=[*requests, *batch.requests], reports=[*earlier.reports, *batch.reports]
            )
        self.batches[batch.setting, batch.round] = batch
        if self._file is not None:
            new = not self._file.exists() or (not self._resumed and len(self.batches) == 1)
            with self._file.open("w" if new else "a", encoding="utf-8") as stream:
                if new:
                    stream.write(json.dumps({"key": self._key}) + "\n")
                stream.write(json.dumps(batch) + "\n")

    def remove(self) -> None:
        """Removes the file: its figures are in the results."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)


class JoinedJournal(Journal):
    """The journals of several calls as one. places: by setting of all of them its journal, and its
    number in that.
    """

    def __init__(self, places: Sequence[tuple[Journal, int]]) -> None:
        super().__init__()
        self._places = places
        for number, (journal, own_number) in enumerate(places):
            for (setting, round_), batch in journal.batches.items():
                if setting == own_number:
                    self.batches[number, round_] = batch._replace(setting=number)

    def add(self, batch: SentBatch) -> None:
        """Keeps a batch in the journal of its setting, too."""
        journal, own_number = self._places[batch.setting]
        journal.add(batch._replace(setting=own_number))
        super().add(batch)


def _read(file: Path, key: str) -> dict[tuple[int, int], SentBatch]:
    """The batches of a file with the key; none of any other file. A last line that was not written
    to its end is left out.
    """
    batches: dict[tuple[int, int], SentBatch] = {}
    with suppress(OSError, BadInput, ValueError, TypeError):
        head, *lines = file.read_text(encoding="utf-8").splitlines()
        if parse_json(head, file.name) != {"key": key}:
            return {}
        for line in lines:
            setting, number, requests, reports = parse_json(line, file.name)
            batches[setting, number] = SentBatch(
                setting,
                number,
                [SentRequest(*request) for request in requests],
                [BatchReport(*report) for report in reports],
            )
    return batches
