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
        answered = {request.query for request in self.requests if request.status == "ok"}
        return {request.query for request in self.requests} - answered


class Journal:
    """The batches of a call in a file; without a place they are in memory alone. key: what decides
    the requests.
    """

    def __init__(self, file: Path | None, key: str) -> None:
        self._file, self._key = file, key
        self.batches = {} if file is None else _read(file, key)
        self.resumed = bool(self.batches)

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
            new = not self._file.exists() or (not self.resumed and len(self.batches) == 1)
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
    place in that.
    """

    def __init__(self, journal_settings: Sequence[tuple[Journal, int]]) -> None:
        self._journal_settings = journal_settings
        self.resumed = any(journal.resumed for journal, _ in journal_settings)
        self.batches = {
            (joined_setting, number): batch._replace(setting=joined_setting)
            for joined_setting, (journal, own_setting) in enumerate(journal_settings)
            for (setting, number), batch in journal.batches.items()
            if setting == own_setting
        }

    def add(self, batch: SentBatch) -> None:
        """Keeps a batch in the journal of its setting."""
        journal, own_setting = self._journal_settings[batch.setting]
        journal.add(batch._replace(setting=own_setting))
        self.batches[batch.setting, batch.round] = journal.batches[
            own_setting, batch.round
        ]._replace(setting=batch.setting)

    def remove(self) -> None:
        """Removes the files of all."""
        for journal, _ in self._journal_settings:
            journal.remove()


def _read(file: Path, key: str) -> dict[tuple[int, int], SentBatch]:
    """The batches of a file with the key; none of any other file. A last line that was not written
    to its end is left out.
    """
    try:
        head, *lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return {}
    batches: dict[tuple[int, int], SentBatch] = {}
    try:
        start: Any = parse_json(head, file.name)
        if not isinstance(start, Mapping) or start.get("key") != key:
            return {}
        for line in lines:
            setting, number, requests, reports = parse_json(line, file.name)
            batch = SentBatch(
                setting,
                number,
                [SentRequest(*request) for request in requests],
                [BatchReport(*report) for report in reports],
            )
            batches[setting, number] = batch
    except (BadInput, ValueError, TypeError):
        return batches
    return batches
