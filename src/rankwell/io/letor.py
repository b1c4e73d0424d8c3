"""LETOR files of learning to rank, as of SVMrank, RankLib and LightGBM: `grade qid:query 1:value
2:value … # docid = item`.
"""

import re
from typing import NamedTuple

import numpy as np

from rankwell.data.rankings import Ranking
from rankwell.data.tables import Judgments, columns_of
from rankwell.errors import BadInput, BadLine, BadScore
from rankwell.io.formats import Request, file_format
from rankwell.io.reader.columns import number_of
from rankwell.io.reader.lines import RunRows, shorten
from rankwell.store import Head, Source, decode_id

# Possessive: no feature is tried again, which makes it as fast as a pattern of any letters.
_FEATURES = re.compile(
    rb"(?:[ "
    rb"\t]++[0-9]++:[-+]?+(?:(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][-+]?+[0-9]++)?+|(?i:nan|inf(?:inity)?+)))*+[ "  # noqa: E501
    rb"\t\r]*+"
)
_ITEM = re.compile(rb"(?:^|[\s#])docid[ \t]*=[ \t]*(\S+)")
_FORM = "grade qid:query 1:value 2:value … # docid = item"


class LetorRow(NamedTuple):
    """A line of a LETOR file.

    line: number of the line, from 1.
    query: the id after `qid:`.
    item: the docid in the comment, else the position in the query, from 0.
    grade: the first number of the line.
    features: the text of all features as it is in the line.
    """

    line: int
    query: str
    item: str
    grade: float
    features: bytes


def _sniff(head: Head) -> float:
    """The second field of each line begins with `qid:`, which no other format has."""
    rows = head.fields
    return (
        0.95 if rows and all(len(row) > 1 and row[1].startswith(b"qid:") for row in rows) else 0.0
    )


def _rows(source: Source) -> list[LetorRow]:
    """The rows; an item without a docid is called by its place in the query, from 0. Raises
    BadLine, BadInput without a row.
    """
    rows, query_sizes, has_docids = list[LetorRow](), dict[str, int](), None
    for number, line in source.lines():
        body, _, comment = line.partition(b"#")
        head = body.split(None, 2)
        if not head and line.lstrip().startswith(b"#"):
            continue
        where = f"{source.name}:{number}: {shorten(line)}"
        if len(head) < 2 or not head[1].startswith(b"qid:") or head[1] == b"qid:":
            raise BadLine(
                f"{where}; a LETOR line is `{_FORM}`; correct the line, or name another format."
            )
        features = b" " + head[2] if len(head) > 2 else b""
        if not _FEATURES.fullmatch(features.rstrip()):
            raise BadLine(
                f"{where}: a feature is not a number, a colon and a number; correct it, as in "
                "3:0.5."
            )
        grade = number_of(head[0])
        if grade is None:
            raise BadLine(
                f"{where}: the grade {shorten(head[0])} is not a finite number; correct it."
            )
        docid, query = _ITEM.search(comment), decode_id(head[1][4:])
        if not docid and b"docid" in comment:
            raise BadLine(
                f"{where}: the comment names no item; write `docid = item` after a space."
            )
        if has_docids is not None and has_docids != bool(docid):
            has = (
                "has a docid, and earlier lines have none"
                if docid
                else "has no docid, and earlier lines have one"
            )
            raise BadLine(f"{where} {has}; give all lines one, or none.")
        has_docids, position = bool(docid), query_sizes.get(query, 0)
        query_sizes[query] = position + 1
        item = decode_id(docid[1]) if docid else str(position)
        rows.append(LetorRow(number, query, item, grade, features))
    if not rows:
        raise BadInput(f"{source.name} holds no LETOR line; expected lines `{_FORM}`.")
    return rows


def _run_rows(rows: list[LetorRow], numbers: list[float]) -> RunRows:
    lines, queries, items, *_ = columns_of(rows, 5)
    no_ranks = np.full(len(rows), np.nan)
    return RunRows(queries, items, np.array(numbers), no_ranks, np.array(lines))


@file_format("letor", "judgments", sniff=_sniff, is_lines=True)
def read_judgments(source: Source, request: Request) -> Judgments:
    """The grades of a LETOR file; an item is the docid of its comment, else its place among the
    lines of its query, from 0.

    Raises BadLine for another line, DuplicateItem naming both lines. Source: Qin and Liu 2013,
    Introducing LETOR 4.0 datasets.
    """
    rows = _rows(source)
    return request.judgments_of(_run_rows(rows, [row.grade for row in rows]), source)


@file_format("letor", "run", sniff=_sniff, has_parts=True, is_lines=True)
def read_run(source: Source, request: Request) -> Ranking:
    """The ranking by one feature, `letor:25`, as a baseline; a line without the feature has 0.
    Items are those of the judgments.

    Without a number the file has to have a single feature. Raises BadLine, BadScore for a value
    that is not finite, BadInput where no line has the feature, DuplicateItem naming both lines.
    """
    rows = _rows(source)
    wanted = request.part.encode() or _only_feature(source, rows)
    scores, has_feature = list[float](), False
    for row in rows:
        values = [
            value
            for name, _, value in (
                feature_text.partition(b":") for feature_text in row.features.split()
            )
            if name == wanted
        ]
        if len(values) > 1:
            raise BadLine(
                f"{source.name}:{row.line}: the feature {wanted.decode()} appears twice; keep "
                "one of them."
            )
        text = values[0] if values else b"0"
        score = number_of(text)
        has_feature = has_feature or bool(values)
        if score is None:
            raise BadScore(
                f"{source.name}:{row.line}: the feature {wanted.decode()} is {shorten(text)}, "
                "not a finite number."
            )
        scores.append(score)
    if not has_feature:
        raise BadInput(
            f"{source.name}: no line has the feature {request.part}; name one that is there."
        )
    return request.ranking_of(_run_rows(rows, scores), source)


def _only_feature(source: Source, rows: list[LetorRow]) -> bytes:
    """The feature of a file that has one. Raises BadInput."""
    names = dict.fromkeys(
        feature_text.partition(b":")[0] for row in rows for feature_text in row.features.split()
    )
    if len(names) != 1:
        example = (
            f"; name one in the format, as in letor:{next(iter(names)).decode()}" if names else ""
        )
        raise BadInput(f"{source.name}: {len(names)} features, and a run has one score{example}.")
    return next(iter(names))
