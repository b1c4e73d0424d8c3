"""Pages for judges elsewhere: a batch in one file that needs no server, and the merging of what
comes back.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.documents import parse_json, unique_keys
from rankwell.errors import BadInput, BadLine, shown
from rankwell.reporting.page.document import embedded_json
from rankwell.store import Source, write_text
from rankwell.tasks.study.asking import GoldItems, SittingItems, next_asks
from rankwell.tasks.study.folder import Study
from rankwell.tasks.study.item_content import ItemContents
from rankwell.tasks.study.journal import (
    JournalLine,
    append_lines,
    held_journal,
    is_judge_name,
    journal_line,
    journal_of,
    read_journal,
)
from rankwell.tasks.study.judging_page import judging_page
from rankwell.tasks.study.judging_session import batch_counts, page_head
from rankwell.tasks.study.options import JudgeOptions
from rankwell.tasks.study.pool_rows import batches_of


class OfflinePage(NamedTuple):
    """The outcome of writing a page: the number of items, of the batch (from 1, None for none), and
    notes.
    """

    items: int
    batch: int | None
    notes: Sequence[str]


class CollectedLines(NamedTuple):
    """The outcome of merging a file: the judge, the lines that were new, those known before, those
    left out, and notes.

    older: new ones that answer an item that the judge has answered later elsewhere.
    """

    judge: str
    new: int
    known: int
    older: int
    notes: Sequence[str]


def write_offline_page(
    study: Study, judge: str, options: JudgeOptions, path: Path
) -> OfflinePage | None:
    """Leases the judge's batch and writes its unanswered items as a page; None where nothing is
    left.
    """
    gold = GoldItems.of(study, options)
    items = next_asks(study, judge, options, gold.pairs)
    if items is None:
        return None
    answered = {(*line.pair, line.purpose) for line in items.lines if line.is_final}
    items = items._replace(asks=tuple(ask for ask in items.asks if ask not in answered))
    batch = _embedded(study, judge, items)
    write_text(path, judging_page(f"Judging: {judge}", batch).text)
    return OfflinePage(
        len(items.asks), None if items.batch is None else items.batch.number + 1, gold.notes
    )


def _embedded(study: Study, judge: str, items: SittingItems) -> str:
    """The JSON of a page: what it displays, and the ids for the lines that it writes."""
    contents = ItemContents(study, items.asks)
    queries = list(dict.fromkeys(ask.query for ask in items.asks))
    query_numbers, texts = {query: number for number, query in enumerate(queries)}, dict[str, Any]()
    asks = list[dict[str, Any]]()
    for ask in items.asks:
        content = contents.content(ask)
        texts[ask.query] = content["query"]
        asks.append(
            {"query": query_numbers[ask.query], "content": content["item"], "ids": list(ask)}
        )
    number = "rest" if items.batch is None else f"{items.batch.round}-{items.batch.number + 1}"
    identified = embedded_json(
        {"ids": [list(ask) for ask in items.asks], "study": [study.identity, judge, number]}
    )
    identity = hashlib.sha256(
        f"{study.guideline_digest} {identified}".encode("utf-8", "surrogateescape")
    ).hexdigest()[:32]
    head = page_head(study, judge) | batch_counts(study, items.batch)
    return embedded_json(
        {
            "identity": identity,
            "study": {"name": head["study"], "identity": study.identity},
            "file": f"{judge}-batch-{number}",
            "digest": study.guideline_digest,
            "head": head,
            "queries": [texts[query] for query in queries],
            "asks": asks,
        }
    )


def collect_judgments(study: Study, file: str) -> CollectedLines:
    """Appends the lines of a downloaded file that its judge's journal lacks, in order of time; the
    same file again adds none.

    Answers to items that the journal answers later are left out.

    Raises BadInput, naming file and line, for a line that is not one of this study, even where both
    studies pool its item; then nothing is read.
    """
    source = Source(file)
    lines, torn = _lines(source, study)
    judge = lines[0].judge
    journal = journal_of(study, judge)
    with held_journal(study, judge):
        before = read_journal(journal, study.grades)[0] if journal.exists() else []
        known_lines = {_identity(line) for line in before}
        latest = {(line.pair, line.purpose): line.time for line in before if line.is_final}
        unknown = sorted(
            (line for line in dict.fromkeys(lines) if _identity(line) not in known_lines),
            key=lambda line: line.time,
        )
        new = [
            line
            for line in unknown
            if not line.is_final or line.time >= latest.get((line.pair, line.purpose), "")
        ]
        append_lines(study, new)
    notes = [torn] if torn else []
    return CollectedLines(
        judge, len(new), len(lines) - len(unknown), len(unknown) - len(new), notes
    )


def _refuse_other_study(other_study: Any, study: Study, where: str) -> None:
    """Raises BadInput where a line was written for another study, or names none."""
    if not isinstance(other_study, dict) or not all(
        isinstance(other_study.get(key), str) for key in ("name", "identity")
    ):
        raise BadInput(
            f"{where}: study is {shown(other_study)}; expected its name and identity, as pages of "
            "`--page` write them."
        )
    if other_study["identity"] != study.identity:
        other_identity = shown(other_study["identity"][:8])
        raise BadInput(
            f"{where}: judged for the study {shown(other_study['name'])} (identity "
            f"{other_identity}), not for {study.place} ({study.identity[:8]!r}); collect it there."
        )


def _identity(line: JournalLine) -> tuple[Any, ...]:
    """The parts of a line by which it is recognised."""
    return line.time, line.query, line.item, line.grade, line.action, line.purpose


def _lines(source: Source, study: Study) -> tuple[list[JournalLine], str]:
    """The lines of a downloaded file, and a note on a torn one. Raises BadInput for a file without
    a whole line.
    """
    texts = list(enumerate(source.read().split(b"\n"), 1))
    lines, judge, grades, torn = dict[int, JournalLine](), "", set(study.grades), ""
    for number, text in texts:
        if not text.strip():
            continue
        where = f"{source.name}:{number}"
        try:
            content = parse_json(
                text, source.name, "a judgment per line", line=number, pairs=unique_keys
            )
        except BadLine:
            if number < len(texts) or not lines:
                raise
            torn = f"{where}: the last line was not written to its end, and is dropped"
            break
        if not judge and isinstance(content, dict) and isinstance(content.get("judge"), str):  # pyright: ignore[reportUnknownMemberType]
            judge = content["judge"]
            if not is_judge_name(judge):
                raise BadInput(
                    f"{where}: {shown(judge)} is not the name of a judge; collect files of "
                    "pages of this study."
                )
        lines[number] = journal_line(content, where, judge, grades)
        _refuse_other_study(content.get("study"), study, where)
    if not lines:
        raise BadInput(f"{source.name} has no judgments; download them again from the page.")
    pool = batches_of(study, {line.pair for line in lines.values()})
    for number, line in lines.items():
        if line.pair not in pool and line.purpose != "gold":
            problem = (
                f"item {shown(line.item)} of query {shown(line.query)} is not in the pool of "
                f"{study.place}"
            )
            raise BadInput(
                f"{source.name}:{number}: {problem}; collect files of pages of this study."
            )
    return list(lines.values()), torn
