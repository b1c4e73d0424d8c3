"""Every command that reads a table reads the same from every dialect of it."""

import io
import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import rankwell as rw
from rankwell.cli import main
from rankwell.errors import BadInput
from rankwell.io.records import load
from rankwell.reporting import charts
from rankwell.tasks.rag.passages import read_supports

Rows = Sequence[dict[str, Any]]
Write = Callable[[Rows], bytes]


def _delimited(
    delimiter: str, end: str = "\n", *, quoted: bool = False, spaced: bool = False
) -> Write:
    def _cell(value: Any) -> str:
        return '"{}"'.format(str(value).replace('"', '""')) if quoted else str(value)

    def _write(rows: Rows) -> bytes:
        table = [list(rows[0]), *(list(row.values()) for row in rows)]
        glue = delimiter + " " * spaced
        return "".join(f"{glue.join(map(_cell, row))}{end}" for row in table).encode()

    return _write


def _blank_lines(rows: Rows) -> bytes:
    return b"\n" + _delimited(",")(rows).replace(b"\n", b"\n\n")


def _parquet(rows: Rows) -> bytes:
    stream = io.BytesIO()
    pd.DataFrame(list(rows)).to_parquet(stream)
    return stream.getvalue()


DIALECTS: dict[str, tuple[str, Write]] = {
    "comma": (".csv", _delimited(",")),
    "comma in .tsv": (".tsv", _delimited(",")),
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
OF_TEXT = tuple(name for name, (suffix, _) in DIALECTS.items() if suffix in (".csv", ".tsv"))
ALONE = ("comma", "tab in .csv", "CR")
"""The dialects for commands that start a process, which takes half a second."""


def _rows(names: str, *rows: tuple[Any, ...]) -> Rows:
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


# Ids that look like numbers, and like nothing.
RUN = _rows(
    "query item score",
    *(("01", "a", 2.5), ("01", "null", 1.5), ("NA", "null", 1.0), ("NA", "7.0", 0.25)),
    *(("1e3", "7.0", 0.75), ("1e3", "a", 0.5)),
)
OTHER_RUN = _rows(
    "query item score",
    *(("01", "7.0", 2.5), ("01", "a", 1.5), ("NA", "7.0", 1.0), ("NA", "a", 0.25)),
    ("1e3", "null", 0.75),
)
QRELS = _rows(
    "query item grade", *(("01", "a", 1), ("01", "null", 0), ("NA", "7.0", 2), ("1e3", "7.0", 1))
)
PAIRS = [{key: row[key] for key in ("query", "item")} for row in QRELS if row["grade"]]
SEEN = _rows("user item", *((row["query"], row["item"]) for row in RUN))
TEXTS = _rows(
    "id text kind",
    *(("01", 'a red "5" car', "x"), ("NA", "the blue bus", "y"), ("1e3", "no red bus", "x")),
)
DOCUMENTS = _rows(
    "id text part",
    *(("a", "a red car", "u"), ("null", 'the blue "5" bus', "u"), ("7.0", "no red bus", "v")),
)
ITEM_GRADES = _rows("query item grade", ("a", "7.0", 1), ("null", "a", 2))
SCORES = _rows(
    "query a null 7.0", ("01", 0.5, 0.25, 0.1), ("NA", 0.1, 0.2, 0.3), ("1e3", 0.7, 0.2, 0.4)
)
CLIPS = _rows(
    "slice_id object_type site", ("a", "car", "s"), ("null", "bus", "t"), ("7.0", "car", "t")
)
CLIP_RUN = _rows(
    "query item score", ("a", "7.0", 2.5), ("a", "null", 1.5), ("7.0", "null", 1.5), ("7.0", "a", 1)
)
CLIP_TEXTS = _rows(
    "id text keywords", ("01", "a red car", "car"), ("NA", "a bus", "bus"), ("1e3", "bus", "bus")
)
IMAGES = _rows(
    "image instance split camera",
    *(("a", "01", "reference", "c1"), ("b", "01", "query", "c2")),
    *(("7.0", "NA", "reference", "c1"), ("d", "NA", "query", "c1")),
)
IMAGE_SCORES = _rows("query a 7.0", ("b", 0.5, 0.25), ("d", 0.1, 0.2))
LOG = _rows(
    "query item position click propensity mine",
    *(("01", "a", 1, 1, 0.5, 0.25), ("01", "7.0", 2, 0, 0.25, 0.5), ("NA", "7.0", 1, 1, 0.25, 0.5)),
)
NUMBERS = _rows(
    "pair score part",
    *(("p", 1, "u"), ("q", 2.5, "v"), ("r", 3, "u"), ("s", 5, "v"), ("t", 4, "u")),
)
GOLD = _rows("id question answer", ("01", "Who?", "Ann"), ("NA", 'A "what"?', "a disk"))
PREDICTIONS = _rows("id prediction_text", ("01", "Ann"), ("NA", "a disc"))
RETRIEVED = _rows("query item score", ("01", "a", 2.5), ("NA", "a", 1.5), ("NA", "7.0", 0.5))
SHEET = _rows("query item grade note", ("01", "a", "1", "yes"), ("NA", "7.0", "0", "no"))
PASSAGES = [
    {"id": "01", "question": "When?", "passages": [{"document": "g", "start": 0, "end": 9}]},
    {"id": "NA", "question": "Who?", "passages": [{"document": "g", "start": 9, "end": 20}]},
]
CHUNKS = [
    {"id": "01", "chunks": [{"document": "g", "start": 0, "end": 12}]},
    {"id": "NA", "chunks": [{"document": "g", "start": 9, "end": 15}]},
]
SUPPORTS = [
    {"id": "01", "statement": "It is so.", "citations": ["1"], "entailed": True},
    {"id": "NA", "statement": "It was so.", "citations": ["7.0"], "entailed": False},
]
VECTORS = [
    {"id": row["id"], "vector": [1.0, number, 0.5]} for number, row in enumerate(DOCUMENTS, 1)
]
SQUAD = [
    {
        "document_id": document,
        "context": context,
        "qas": [{"id": name, "question": "?", "answers": [{"text": text, "answer_start": 0}]}],
    }
    for document, context, name, text in (
        ("a", "Ann is here", "01", "Ann"),
        ("7.0", "no red bus", "NA", "no"),
    )
]
TABLES = {
    **{"texts": TEXTS, "documents": DOCUMENTS},
    **{"clips": CLIPS, "images": IMAGES, "log": LOG, "numbers": NUMBERS, "gold": GOLD},
    **{"predictions": PREDICTIONS, "retrieved": RETRIEVED, "scores": SCORES, "sheet": SHEET},
    **{"grades": ITEM_GRADES, "matrix": IMAGE_SCORES},
}
"""The other inputs of the commands, as CSV."""


class Refusal(NamedTuple):
    """The dialects that an input does not take."""

    dialects: Sequence[str]
    reason: str
    message: str
    """A regular expression for the error."""


class Case(NamedTuple):
    """A table that a command reads."""

    command: str
    """Commands with a semicolon between them; {table} is the file of the table."""
    rows: Rows
    refused: Refusal = Refusal((), "", "")
    file: str = ""
    """A file that the command writes, and that is compared, too."""
    call: Callable[[Any], Any] | None = None
    """The Python function, which takes a data frame as well."""


NO_LISTS = Refusal(
    OF_TEXT,
    "A cell of text holds no list.",
    r"; (expected a list|put cells with commas in quotes)\.",
)
NO_MATRIX = Refusal(
    ("JSON", "JSON lines"),
    "A matrix of scores does not repeat the names of its columns in each row.",
    "no known form of a matrix of scores",
)
NO_GAPS = Refusal(
    ("blank lines",),
    "Where a line is a number, a blank one may be a number that is missing.",
    "row 1, .*: not a finite number",
)
NO_VECTORS = Refusal(
    (*OF_TEXT, "JSON", "JSON lines"),
    "Vectors are arrays, or a column of lists in Parquet.",
    "no known form of embeddings",
)
AGREE = "embeddings vectors.npy --reference other.npy -k 1 -f json"
CAPTIONS = "crossmodal scores.npy --qrels right.json -f json"
CLIPS_BY_TEXT = "keywords --query-vectors other.npy"
INSTANCES = "images images.csv -f json"
STUDY = "judge pool a.run b.run -o study --queries texts.csv --documents documents.csv"
EXPORT = "judge label study --judge ann --export out.csv"
RETRIEVE = "engine run sqlite-fts5 -m RR --rounds 1 -f csv"
ENCODE = "encode --encoder tfidf-svd:1 -o out.npy"
CASES: dict[str, Case] = {
    "evaluate: judgments": Case(
        "evaluate {table} a.run -f json", QRELS, call=lambda it: rw.evaluate(it, {"a": "a.run"})
    ),
    "evaluate: run": Case(
        "evaluate qrels.txt {table} -f json", RUN, call=lambda it: rw.evaluate("qrels.txt", [it])
    ),
    "evaluate: other judgments": Case(
        "evaluate qrels.txt a.run --other-qrels {table} -m uBpref -f json", QRELS
    ),
    "evaluate: texts": Case(
        "evaluate qrels.txt a.run --queries {table} -o out --overwrite -f json",
        TEXTS,
        file="out/queries.parquet",
    ),
    "evaluate: sessions": Case(
        "evaluate qrels.txt a.run --sessions {table}:session -m sDCG -f json",
        _rows("query session", ("01", "s"), ("NA", "s"), ("1e3", "r")),
    ),
    "evaluate: places in sessions": Case(
        "evaluate qrels.txt a.run --sessions {table}:session,place -m sDCG -f json",
        _rows("query session place", ("01", "s", 2), ("NA", "s", 1), ("1e3", "r", 1)),
    ),
    "compare: judgments": Case("compare {table} a.run b.run --resamples 200 -f json", QRELS),
    "compare: run": Case("compare qrels.txt {table} b.run --resamples 200 -f json", RUN),
    "compare: groups": Case(
        "compare qrels.txt a.run b.run --queries {table} --group kind --resamples 200 -f json",
        TEXTS,
    ),
    "report: documents": Case(
        "report results --documents {table} --overwrite", DOCUMENTS, file="results/report.html"
    ),
    "report: texts": Case(
        "report results --queries {table} --overwrite", TEXTS, file="results/report.html"
    ),
    "check: judgments": Case("check {table} a.run -f json", QRELS),
    "check: run": Case("check qrels.txt {table} -f json", RUN),
    "check: documents": Case("check qrels.txt a.run --documents {table} -f json", DOCUMENTS[:2]),
    "convert: run": Case("convert {table} out.run --holds run", RUN, file="out.run"),
    "convert: judgments": Case(
        "convert {table} out.qrels --holds judgments", QRELS, file="out.qrels"
    ),
    "fuse: run": Case("fuse {table} b.run -o out.run", RUN, file="out.run"),
    "fuse: judgments": Case(
        "fuse a.run b.run -o out.run --tune {table} --folds 2 -f json", QRELS, file="out.run"
    ),
    "clicks interleave: run": Case(
        "clicks interleave {table} b.run -o out.jsonl", RUN, file="out.jsonl"
    ),
    "clicks clicks credit: clicks": Case(
        "clicks interleave a.run b.run -o out.jsonl; clicks credit out.jsonl {table} -f json",
        _rows("list item click", ("01", "a", 1), ("01", "7.0", 0), ("NA", "7.0", 1)),
    ),
    "clicks: log": Case(
        "clicks {table} --policy mine -f json",
        LOG,
        call=lambda it: rw.evaluate_clicks(it, {"mine": "mine"}),
    ),
    "clicks: policy": Case(
        "clicks log.csv --policy {table} -f json",
        _rows("item probability", ("a", 0.5), ("7.0", 0.5)),
        call=lambda it: rw.evaluate_clicks("log.csv", {"table": it}),
    ),
    "clicks: model": Case(
        "clicks log.csv --policy mine --expected mine=mine --reward-model {table} -f json",
        _rows("item estimate", ("a", 0.5), ("7.0", 0.25)),
    ),
    "pairs: targets": Case("pairs {table}:score numbers.txt -f json", NUMBERS),
    "pairs: similarities": Case("pairs numbers.txt {table}:score -f json", NUMBERS),
    "pairs: a single column": Case(
        "pairs numbers.txt {table} -f json", [{"score": row["score"]} for row in NUMBERS], NO_GAPS
    ),
    "pairs: strata": Case(
        "pairs numbers.txt numbers.csv:score --group {table}:part -f json", NUMBERS
    ),
    "crossmodal: scores": Case(
        "crossmodal {table} -f json",
        _rows("caption a b", ("01", 0.5, 0.25), ("NA", 0.1, 0.2)),
        NO_MATRIX,
    ),
    "crossmodal: pairs": Case(
        "crossmodal scores.csv --qrels {table} -f json",
        PAIRS,
        call=lambda it: rw.evaluate_crossmodal("scores.csv", it),
    ),
    "crossmodal: judgments": Case(
        "crossmodal scores.csv --qrels {table} -f json",
        QRELS,
        call=lambda it: rw.evaluate_crossmodal("scores.csv", it),
    ),
    "crossmodal: counts": Case(
        "crossmodal counted.npy --qrels counts:{table}:n -f json",
        _rows("video n", ("a", 2), ("b", 1), ("c", 1)),
    ),
    "crossmodal: groups": Case("crossmodal scores.csv --qrels groups:{table}:item -f json", PAIRS),
    "crossmodal: query ids": Case(
        f"{CAPTIONS} --query-ids {{table}}:id --item-ids documents.csv:id", TEXTS
    ),
    "crossmodal: item ids": Case(
        f"{CAPTIONS} --query-ids texts.csv:id --item-ids {{table}}", DOCUMENTS
    ),
    "crossmodal: texts": Case(
        "crossmodal scores.csv --queries {table} -f json",
        [row | {"text": "a bus"} for row in TEXTS],
    ),
    "embeddings: run": Case("embeddings {table} --reference b.run -k 1 -f json", RUN),
    "embeddings: vectors": Case(
        "embeddings {table} --reference other.npy -k 1 -f json", VECTORS, NO_VECTORS
    ),
    "embeddings: ids": Case(f"{AGREE} --item-ids {{table}} --qrels grades.csv", DOCUMENTS),
    "embeddings: excluded labels": Case(f"{AGREE} --exclude-group {{table}}:part", DOCUMENTS),
    "embeddings: judgments": Case(
        f"{AGREE} --item-ids documents.csv:id --qrels {{table}}", ITEM_GRADES
    ),
    "qa: questions": Case(
        "qa {table} predictions.csv -c squad2 -f json",
        GOLD,
        call=lambda it: rw.evaluate_qa(it, "predictions.csv", convention="squad2"),
    ),
    "qa: predictions": Case(
        "qa gold.csv {table} -c squad2 -f json",
        PREDICTIONS,
        call=lambda it: rw.evaluate_qa("gold.csv", it, convention="squad2"),
    ),
    "qa: retrieved": Case(
        "qa squad.json --retrieved {table} -c squad2 -f json",
        RETRIEVED,
        call=lambda it: rw.evaluate_qa("squad.json", retrieved=it, convention="squad2"),
    ),
    "qa: corpus": Case(
        "qa squad.json --retrieved retrieved.csv --documents {table} -c squad2 -f json", DOCUMENTS
    ),
    "beyond: run": Case("beyond {table} --documents documents.csv:id -f json", RUN),
    "beyond: catalogue": Case("beyond a.run --documents {table} -f json", DOCUMENTS),
    "beyond: interactions": Case(
        "beyond a.run --interactions {table} -f json",
        [row | {"rating": number} for number, row in enumerate(SEEN, 1)],
        call=lambda it: rw.evaluate_beyond({"a": "a.run"}, interactions=it),
    ),
    "beyond: interactions without grades": Case(
        "beyond a.run --interactions {table} -f json",
        SEEN,
        call=lambda it: rw.evaluate_beyond({"a": "a.run"}, interactions=it),
    ),
    "beyond: categories": Case(
        "beyond a.run --interactions seen.csv --item-categories {table}:part -f json", DOCUMENTS
    ),
    "beyond: groups": Case(
        "beyond a.run --documents documents.csv:id --item-groups {table}:part -f json", DOCUMENTS
    ),
    "beyond: judgments": Case(
        "beyond a.run --interactions seen.csv --qrels {table} -f json", QRELS
    ),
    "keywords: annotations": Case(
        "keywords --annotations {table} --item-vectors vectors.npy --item-ids documents.csv:id "
        "-f json",
        CLIPS,
        call=lambda it: rw.evaluate_keywords(it, "vectors.npy", item_ids="documents.csv:id"),
    ),
    "keywords: queries": Case(
        f"{CLIPS_BY_TEXT} --queries {{table}} --annotations clips.csv --item-vectors vectors.npy "
        "--item-ids documents.csv:id -f json",
        CLIP_TEXTS,
    ),
    "keywords: ids": Case(
        "keywords --annotations clips.csv --item-vectors vectors.npy --item-ids {table} -f json",
        DOCUMENTS,
    ),
    "keywords: run": Case("keywords --annotations clips.csv --run {table} -f json", CLIP_RUN),
    "keywords lint: annotations": Case("keywords check {table} -f json", CLIPS),
    "keywords lint: queries": Case(
        "keywords check clips.csv --queries {table} -f json", CLIP_TEXTS
    ),
    "keywords map: annotations": Case(
        "keywords map 'a red car' --annotations {table} -f json", CLIPS
    ),
    "keywords calibrate: queries": Case(
        "keywords calibrate {table} --annotations clips.csv --encoder tfidf-svd:1 -f json",
        CLIP_TEXTS,
    ),
    "keywords template: clips": Case("keywords template {table}:id", DOCUMENTS),
    "images stats: images": Case("images stats {table} -f json", IMAGES),
    "images: images": Case("images {table} --scores matrix.csv -f json", IMAGES),
    "images: scores": Case(f"{INSTANCES} --scores {{table}}", IMAGE_SCORES, NO_MATRIX),
    "images: judgments": Case(
        "images --scores matrix.csv --qrels {table} -f json",
        _rows("query item grade", ("b", "a", 1), ("d", "a", 1)),
    ),
    "images: ids": Case(
        f"{INSTANCES} --scores two.npy --query-ids {{table}}:query --item-ids ids.json",
        IMAGE_SCORES,
    ),
    "images: clusters": Case(
        f"{INSTANCES} --scores matrix.csv --clusters {{table}}",
        _rows("image cluster", ("a", "u"), ("b", "u"), ("7.0", "v"), ("d", "u")),
    ),
    "rag: passages": Case(
        "rag {table} chunks.jsonl -f json",
        PASSAGES,
        NO_LISTS,
        call=lambda it: rw.evaluate_rag(it, {"chunks": "chunks.jsonl"}),
    ),
    "rag: chunks": Case(
        "rag passages.jsonl {table} -f json",
        CHUNKS,
        NO_LISTS,
        call=lambda it: rw.evaluate_rag("passages.jsonl", {"table": it}),
    ),
    "rag: all chunks": Case(
        "rag passages.jsonl chunks.jsonl --chunks {table} -m SpanPOmega -f json",
        _rows("document start end", ("g", 0, 12), ("g", 9, 20)),
    ),
    "rag: documents": Case(
        "rag passages.jsonl chunks.jsonl --documents {table} -f json",
        _rows("id text", ("g", "The museum opens at ten every day.")),
    ),
    "rag citations: supports": Case(
        "rag citations {table} -f json",
        SUPPORTS,
        NO_LISTS,
        call=lambda it: rw.evaluate_citations({"table": it}),
    ),
    "engine run: items": Case(
        f"{RETRIEVE} --documents {{table}} --queries texts.csv --qrels qrels.txt", DOCUMENTS
    ),
    "engine run: queries": Case(
        f"{RETRIEVE} --documents documents.csv --queries {{table}} --qrels qrels.txt", TEXTS
    ),
    "engine run: judgments": Case(
        f"{RETRIEVE} --documents documents.csv --queries texts.csv --qrels {{table}}", QRELS
    ),
    "judge pool: run": Case(STUDY.replace("a.run", "{table}"), RUN, file="study/rounds/1.parquet"),
    "judge pool: queries": Case(
        STUDY.replace("texts.csv", "{table}") + f"; {EXPORT}", TEXTS, file="out.csv"
    ),
    "judge pool: documents": Case(
        STUDY.replace("documents.csv", "{table}") + f"; {EXPORT}", DOCUMENTS, file="out.csv"
    ),
    "judge judge: sheet": Case(
        "judge label study --judge ann --import {table}; convert study out.qrels",
        SHEET,
        file="out.qrels",
    ),
    "judge agreement: judgments": Case(
        "judge label study --judge ann --import sheet.csv; judge agreement study --qrels {table} "
        "-f json",
        QRELS,
    ),
    "encode: texts": Case(f"{ENCODE} {{table}} --fit texts.csv", DOCUMENTS, file="out.npy"),
    "encode: columns": Case(
        f"{ENCODE} {{table}} --fit texts.csv --columns text=text,id=id",
        DOCUMENTS,
        file="out.ids.txt",
    ),
    "encode: fit": Case(f"{ENCODE} texts.csv --fit {{table}}", DOCUMENTS, file="out.npy"),
    "search: ids": Case(
        "knn vectors.npy other.npy --neighbours 1 --item-ids {table} -o out.run",
        DOCUMENTS,
        file="out.run",
    ),
    "search: groups": Case(
        "knn vectors.npy other.npy --neighbours 1 --exclude-group {table}:part --query-groups "
        "{table}:part -o out.run",
        DOCUMENTS,
        file="out.run",
    ),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder with all other inputs, in which the commands run, without charts."""
    folder = tmp_path_factory.mktemp("world")
    for name, rows in (TABLES | {"seen": SEEN}).items():
        (folder / f"{name}.csv").write_bytes(_delimited(",")(rows))
    for name, rows in {"passages": PASSAGES, "chunks": CHUNKS}.items():
        (folder / f"{name}.jsonl").write_bytes(DIALECTS["JSON lines"][1](rows))
    for name, rows in {"a": RUN, "b": OTHER_RUN}.items():
        lines = ["{query} Q0 {item} 0 {score} r\n".format(**row) for row in rows]
        (folder / f"{name}.run").write_text("".join(lines))
    lines = ["{query} 0 {item} {grade}\n".format(**row) for row in QRELS]
    (folder / "qrels.txt").write_text("".join(lines))
    (folder / "numbers.txt").write_text("1\n3\n2\n5\n4\n")
    right = {"01": ["a"], "NA": ["7.0"], "1e3": ["7.0"]}
    squad = {"data": [{"title": "t", "paragraphs": SQUAD}]}
    for name, thing in {"right": right, "squad": squad, "ids": ["a", "7.0"]}.items():
        (folder / f"{name}.json").write_text(json.dumps(thing))
    random = np.random.default_rng(1)
    square = dict.fromkeys(("vectors", "other", "scores"), (3, 3))
    for name, shape in {**square, "counted": (4, 3), "two": (2, 2)}.items():
        np.save(folder / f"{name}.npy", random.standard_normal(shape))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(charts, "draw_all", lambda specs: [charts.Picture(b"", "") for _ in specs])
        for command in ("evaluate qrels.txt a.run -o results", *f"{STUDY}; {EXPORT}".split("; ")):
            patch.setattr("sys.argv", ["rankwell", *shlex.split(command)])
            assert main() == 0
        (folder / "study").rename(folder / "exported")
        yield folder


def _compared(output: str) -> Any:
    """What a command printed, without findings on byte order marks and without times."""
    if not output.startswith("{"):
        return [line for line in output.splitlines() if "sqlite" not in line or ",RR," in line]
    found = json.loads(output)
    findings = [
        finding
        for finding in found.get("findings", ())
        if "byte order mark" not in finding["message"]
    ]
    return {**found, "findings": findings, "rules": None}


def _written(file: Path, table: str) -> Any:
    if file.suffix == ".parquet":
        return pd.read_parquet(file).to_dict("list")
    return file.read_bytes().decode("latin-1").replace(table, "table")


@pytest.mark.parametrize("name", CASES)
def test_every_command_reads_the_same_from_every_dialect_of_a_table(
    name: str, world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    case, first = CASES[name], None

    def _run(file: Path) -> tuple[int, Any, str]:
        for left in world.glob("out*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        shutil.rmtree(world / "study", ignore_errors=True)
        if not case.command.startswith("judge pool"):
            shutil.copytree(world / "exported", world / "study")
        code, out, err = 0, "", ""
        for command in case.command.replace("{table}", file.name).split("; "):
            monkeypatch.setattr("sys.argv", ["rankwell", *shlex.split(command)])
            code = code or main()
            out, errors = capsys.readouterr()
            err += errors
        printed = _compared(out.replace(file.name, "table"))
        written = _written(world / case.file, file.name) if case.file and not code else None
        return code, (printed, written), err

    for dialect in ALONE if name.startswith("engine run") else DIALECTS:
        suffix, write = DIALECTS[dialect]
        file = world / f"table{suffix}"
        file.write_bytes(write(case.rows))
        code, seen, err = _run(file)
        if dialect in case.refused.dialects:
            assert code == 2, f"{dialect}: {case.refused.reason}"
            assert re.search(case.refused.message, err), dialect
            continue
        assert code == 0, f"{dialect}: {err}"
        first = first or seen
        assert repr(seen) == repr(first), dialect
    if case.call is not None:
        assert file.suffix == ".parquet"
        frame, of_file = case.call(pd.DataFrame(list(case.rows))), case.call(str(file))
        assert [repr(value.values) for value in frame.values] == [
            repr(value.values) for value in of_file.values
        ]


LACKING = {
    "embeddings": f"{AGREE} --exclude-group {{table}}:part",
    "qa": "qa gold.csv {table} --predictions-format hf",
    "beyond": "beyond a.run --documents {table}",
    "crossmodal": "crossmodal scores.csv --qrels {table}",
    "keywords": "keywords check {table}",
    "clips: queries": "keywords check clips.csv --queries {table}",
    "images": "images stats {table}",
    "clicks": "clicks {table}",
    "clicks: queries": "clicks {table} --columns reward=a --value-of query",
    "pairs": "pairs {table}:score numbers.txt",
    "rag": "rag {table} chunks.jsonl",
    "rag: all chunks": "rag passages.jsonl chunks.jsonl --chunks {table} -m SpanPOmega",
    "engine run": f"{RETRIEVE} --documents documents.csv --queries texts.csv --collapse part2",
    "runs": "evaluate qrels.txt a.run --sessions {table}:session -m sDCG",
    "runs: columns": "evaluate qrels.txt {table} --columns query=a,item=b",
    "judge": "judge label exported --judge ann --import {table}",
}
"""Commands on a table without a column that they need."""
SENTENCE = re.compile(
    r"rankwell: (lacking.\w+|--collapse): no column "
    r"(for the [\w' ]+ \(.+\)( and the [\w' ]+ \(.+\))*; found are 'a', 'b'; rename one"
    r"(, or name it by .+)?|'\w+'; found are 'a', 'b'|'part2'; found are 'part')\."
)


@pytest.mark.parametrize("name", LACKING)
def test_a_missing_column_gives_the_same_sentence_in_every_task(
    name: str, world: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for dialect in ("tab", "Parquet") if name != "clips: queries" else ("Parquet",):
        suffix, write = DIALECTS[dialect]
        (world / f"lacking{suffix}").write_bytes(write(_rows("a b", (1, "x"), (2, "y"))))
        command = LACKING[name].format(table=f"lacking{suffix}")
        monkeypatch.setattr("sys.argv", ["rankwell", *shlex.split(command)])

        assert main() == 2
        assert SENTENCE.fullmatch(capsys.readouterr().err.splitlines()[-1]), dialect


def test_between_tabs_a_quotation_mark_is_a_character(tmp_path: Path):
    place = tmp_path / "t.tsv"
    place.write_text('id\ttext\nq1\t"a\nq2\t5" disk\n')

    assert [record.value["text"] for record in load(place).checked_records()] == ['"a', '5" disk']


def test_a_frame_and_a_list_are_read_as_a_file_is(tmp_path: Path):
    place = tmp_path / "t.jsonl"
    for rows in (LOG, TEXTS, PASSAGES):
        place.write_bytes(DIALECTS["JSON lines"][1](rows))
        for thing in (pd.DataFrame(list(rows)), list(rows)):
            assert load(thing).records == load(place).records


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
