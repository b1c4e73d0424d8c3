"""Every command that reads a table reads the same from every dialect of it."""

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rankwell.errors import BadInput
from rankwell.io.formats import find_judgments, read_ranking
from rankwell.io.positives import Sides, read_positives
from rankwell.io.records import load, read_numbers
from rankwell.tasks.answers.formats import read_predictions, read_questions
from rankwell.tasks.clips.formats import read_annotations, read_text_queries
from rankwell.tasks.instances.images import read_images
from rankwell.tasks.logs.inputs import read_log
from rankwell.tasks.logs.options import LogOptions
from rankwell.tasks.logs.preference import InterleavedList, read_impressions
from rankwell.tasks.rag.inputs import read_supports
from rankwell.tasks.study.judging_elsewhere import read_sheet

Rows = Sequence[dict[str, Any]]
Write = Callable[[Rows], bytes]


def _delimited(
    delimiter: str, end: str = "\n", *, quoted: bool = False, spaced: bool = False
) -> Write:
    def _write(rows: Rows) -> bytes:
        mark = '"' if quoted else ""
        table = [list(rows[0]), *(list(row.values()) for row in rows)]
        glue = delimiter + " " * spaced
        lines = [glue.join(f"{mark}{cell}{mark}" for cell in row) for row in table]
        return "".join(f"{line}{end}" for line in lines).encode()

    return _write


def _blank_lines(rows: Rows) -> bytes:
    header, *lines = _delimited(",")(rows).splitlines()
    return b"\n" + header + b"\n\n" + b"\n\n".join(lines) + b"\n\n"


def _parquet(rows: Rows) -> bytes:
    stream = io.BytesIO()
    pd.DataFrame(list(rows)).to_parquet(stream)
    return stream.getvalue()


DIALECTS: dict[str, tuple[str, Write]] = {
    "comma": (".csv", _delimited(",")),
    "semicolon": (".csv", _delimited(";")),
    "tab": (".tsv", _delimited("\t")),
    "tab in .csv": (".csv", _delimited("\t")),
    "bar": (".csv", _delimited("|")),
    "quotes": (".csv", _delimited(",", quoted=True)),
    "a blank before quotes": (".csv", _delimited(",", quoted=True, spaced=True)),
    "mark": (".csv", lambda rows: b"\xef\xbb\xbf" + _delimited(",")(rows)),
    "CRLF": (".csv", _delimited(",", "\r\n")),
    "CR": (".csv", _delimited(",", "\r")),
    "blank lines": (".csv", _blank_lines),
    "JSON": (".json", lambda rows: json.dumps(list(rows)).encode()),
    "JSON lines": (".jsonl", lambda rows: "".join(f"{json.dumps(r)}\n" for r in rows).encode()),
    "Parquet": (".parquet", _parquet),
}

ANSWERS = [
    {"id": "q1", "question": "Who?", "answer": "Ann"},
    {"id": "q2", "question": "What?", "answer": "a 5 inch disk"},
]
LISTED = InterleavedList("l1", "q1", "team-draft", ("x", "y"), ("a", "b"), (0, 1))
LOG = [
    {"query": "q1", "item": "a", "click": 1, "propensity": 0.5, "mine": 0.25},
    {"query": "q2", "item": "b", "click": 0, "propensity": 0.25, "mine": 0.5},
]
IMAGES = [
    {"image": "a1", "instance": "x", "split": "reference", "camera": "c1"},
    {"image": "a2", "instance": "x", "split": "query", "camera": "c2"},
]
CLIPS = [
    {"slice_id": "a", "object_type": "car", "site": "s"},
    {"slice_id": "b", "object_type": "bus", "site": "t"},
]
SHEET = [
    {"query": "q1", "item": "d1", "grade": "2", "note": "yes"},
    {"query": "q1", "item": "d2", "grade": "", "note": ""},
]
TEXTS = [
    {"id": "t1", "text": "a red car", "keywords": "car"},
    {"id": "t2", "text": "a bus", "keywords": "bus"},
]
RUN = [{"query": "q1", "item": "a", "score": 2.5}, {"query": "q1", "item": "b", "score": 1.5}]
POSITIVES = [{"query": "1", "item": "2"}, {"query": "0", "item": "1"}, {"query": "2", "item": "0"}]


def _questions(place: Any) -> Any:
    table = read_questions(place).table
    return table.ids, table.texts, table.answers


def _predictions(place: Any) -> Any:
    table = read_predictions(place).table
    return table.ids, table.texts


def _images(place: Any) -> Any:
    images = read_images(place)
    return images.ids, images.instances


def _clips(place: Any) -> Any:
    table = read_annotations(place)
    return table.clips, table.keywords, [note.partition(": ")[2] for note in table.notes]


def _log(place: Any) -> Any:
    log = read_log(place, LogOptions(), {"p": "mine"}, {})
    return (
        log.queries,
        log.items,
        log.rewards.tolist(),
        log.propensities.tolist(),
        log.others["mine"].tolist(),
    )  # pyright: ignore[reportOptionalMemberAccess]


def _numbers(place: Any) -> list[float]:
    return read_numbers(place, column="score").tolist()


READERS: dict[str, tuple[Rows, Callable[[Path], Any]]] = {
    "answers questions": (ANSWERS, _questions),
    "answers predictions": (
        [{"id": "q1", "prediction_text": "Ann"}, {"id": "q2", "prediction_text": "Bob B."}],
        _predictions,
    ),
    "clips annotations": (CLIPS, _clips),
    "clips queries": (TEXTS, read_text_queries),
    "instances": (IMAGES, _images),
    "logs": (LOG, _log),
    "study sheet": (SHEET, lambda place: [row for _, row in read_sheet(place)]),
    "runs": (RUN, lambda place: read_ranking(place)),
    "interactions of beyond": (
        [{"user": "u1", "item": "a", "rating": 2}, {"user": "u2", "item": "b", "rating": 1}],
        lambda place: find_judgments(place).judgments.flat,
    ),
    "pairs": ([{"id": "a", "score": 2}, {"id": "b", "score": 3}], _numbers),
    "clicks of interleaved lists": (
        [{"list": "l1", "item": "a", "click": 1}, {"list": "l1", "item": "b", "click": 0}],
        lambda place: read_impressions(place, {"l1": LISTED}),
    ),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "comma"])
def test_every_reader_of_a_table_reads_every_dialect(tmp_path: Path, reader: str, dialect: str):
    rows, read = READERS[reader]
    seen = []
    for name in ("comma", dialect):
        suffix, write = DIALECTS[name]
        folder = tmp_path / name
        folder.mkdir()
        place = folder / f"table{suffix}"
        place.write_bytes(write(rows))
        seen.append(read(place))

    assert repr(seen[1]) == repr(seen[0])
    assert seen[1] is not None


@pytest.mark.parametrize(
    "dialect",
    [n for n in DIALECTS if n not in ("JSON", "JSON lines", "Parquet", "comma", "blank lines")],
)
def test_positives_are_read_from_every_delimited_dialect(tmp_path: Path, dialect: str):
    names = ["a", "b", "c"]
    pairs = [{"query": "a", "item": "c"}, {"query": "b", "item": "a"}, {"query": "c", "item": "b"}]
    seen = []
    for name in ("comma", dialect):
        suffix, write = DIALECTS[name]
        place = tmp_path / f"table-{len(seen)}{suffix}"
        place.write_bytes(write(pairs))
        found = read_positives(place, Sides(names, names))
        seen.append([np.asarray(found.items).tolist()])

    assert seen[0] == seen[1]


def test_between_tabs_a_quotation_mark_is_a_character(tmp_path: Path):
    place = tmp_path / "t.tsv"
    place.write_text('id\ttext\nq1\t"a\nq2\t5" disk\n')

    assert [record.value["text"] for record in load(place).checked_records()] == ['"a', '5" disk']


def test_a_frame_and_a_list_are_read_as_a_file_is(tmp_path: Path):
    for rows, read in (READERS["logs"], READERS["clips annotations"], READERS["clips queries"]):
        place = tmp_path / "t.jsonl"
        place.write_bytes(DIALECTS["JSON lines"][1](rows))
        for thing in (pd.DataFrame(list(rows)), list(rows)):
            assert repr(read(thing)) == repr(read(place))


def test_a_row_knows_its_line(tmp_path: Path):
    place = tmp_path / "t.csv"
    place.write_text('# a comment\n\nid,text\n"a\nb",x\n\nc,y\n')

    assert [record.place for record in load(place).checked_records()] == [
        f"{place}:5",
        f"{place}:7",
    ]


def test_a_row_with_too_many_cells_is_refused_with_its_line(tmp_path: Path):
    place = tmp_path / "t.csv"
    place.write_text("id,text\na,b\nc,d,e\n")

    with pytest.raises(BadInput, match=r"t\.csv:3: 'c,d,e' has 3 fields, the header 2"):
        list(load(place).checked_records())


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_supports_are_lists_and_truth_values(tmp_path: Path, suffix: str):
    place = tmp_path / f"t{suffix}"
    place.write_text('{"id": 1, "statement": "s", "citations": ["1"], "entailed": true}\n')

    assert read_supports(place).queries == ("1",)
