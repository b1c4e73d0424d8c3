"""BEIR: qrels with the header `query-id corpus-id score`, and texts as JSON lines with `_id`,
`title` and `text`.
"""

import re

from rankwell.data.tables import Judgments
from rankwell.io.formats import FORMATS, Request, Texts, file_format
from rankwell.io.reader import read_judged_rows
from rankwell.store import Head, Source

_HEADER = b"query-id\tcorpus-id\tscore\n"


def _sniff_judgments(head: Head) -> float:
    if not head.fields or head.lines[0] + b"\n" != _HEADER:
        return 0.0
    return 0.99 * all(
        re.fullmatch(rb"-?\d+", line.rpartition(b"\t")[2].strip()) for line in head.lines[1:20]
    )


def _sniff_texts(head: Head) -> float:
    keys = all(re.search(rf'"{key}"\s*:', head.text) for key in ("_id", "text"))
    return 0.99 if head.text.startswith("{") and keys else 0.0


@file_format("beir", "judgments", sniff=_sniff_judgments, kind_of="tsv")
def read_judgments(source: Source, request: Request) -> Judgments:
    """The judgments in `qrels/test.tsv`. Source: Thakur et al. 2021, BEIR."""
    if (
        request.duplicates == "error"
        and request.aspects == "none"
        and (rows := read_judged_rows(source, header=_HEADER))
    ):
        return rows.table()
    return FORMATS["tsv judgments"].read(source, request)


@file_format("beir", "texts", sniff=_sniff_texts)
def read_texts(source: Source, request: Request) -> Texts:
    """The texts in `queries.jsonl` or `corpus.jsonl`; `title` and all else in a line are
    attributes.
    """
    return FORMATS["jsonl texts"].read(source, request)
