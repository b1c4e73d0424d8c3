"""What files once broke, or passed for right: command lines or public names, files, and the right
result, which test_cases.py holds them to.
"""

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

Write = Callable[[Path], object]


class Case(NamedTuple):
    """A case, its name in words.

    run: command lines, one a line, or Python behind `python:`. codes: right exit codes of the last
    line. shows: what it prints, a regular expression; hides: what it must not print. holds: files
    that must be there afterwards. seconds, mib: what it may take.
    """

    name: str
    run: str
    write: Write = lambda _: None
    codes: tuple[int, ...] = (2,)
    shows: str = ""
    hides: str = "Traceback"
    holds: tuple[str, ...] = ()
    seconds: float = 30
    mib: int = 2000


def text_files(files: dict[str, str]) -> Write:
    """Files of text by name."""

    def _write(folder: Path) -> None:
        for key, each in files.items():
            (folder / key).parent.mkdir(parents=True, exist_ok=True)
            (folder / key).write_text(each, encoding="utf-8", newline="")

    return _write


def _text(name: str, text: str, more: dict[str, str] | None = None) -> Write:
    return text_files({name: text, **(more or {})})


def _runs(name: str = "run", text: str = "", **more: str) -> Write:
    """Small judgments and a run, or another."""
    run = text or "q1 Q0 d1 1 2.0 r\nq2 Q0 d3 1 1.0 r\n"
    return _text(name, run, {"qrels": "q1 0 d1 1\nq2 0 d2 1\n", **more})


def _npy(header: str, version: bytes = b"\x01\x00") -> Write:
    data = header.encode("latin-1").ljust(118) + b"\n"

    def _write(folder: Path) -> None:
        length = struct.pack("<H" if version == b"\x01\x00" else "<I", len(data))
        (folder / "left.npy").write_bytes(
            b"\x93NUMPY" + version + length + data + np.eye(3).tobytes()
        )
        np.save(folder / "right.npy", np.eye(3))

    return _write


def _matrix(folder: Path) -> None:
    np.save(folder / "scores.npy", np.eye(3))


def _with_matrix(*writes: Write) -> Write:
    def _write(folder: Path) -> None:
        _matrix(folder)
        for each in writes:
            each(folder)

    return _write


DEEP = "[" * 100_000 + "]" * 100_000
DEEP_OBJECT = '{"a":' * 100_000 + "1" + "}" * 100_000
SQUAD = {
    "title": "t",
    "paragraphs": [{"context": "a b c", "qas": [{"id": "q1", "question": "?", "answers": []}]}],
}
BENCH = (
    '[[dataset]]\nname = "d"\ncommand = "evaluate"\nqrels = "qrels"\nruns = '
    '"{system}"\n[[system]]\nname = "run"\n'
)


def _gold(answers: str) -> str:
    return json.dumps({"data": [SQUAD]}).replace('"answers": []', f'"answers": {answers}')


def _parquet(columns: dict[str, object]) -> Write:
    def _write(folder: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        _runs()(folder)
        pq.write_table(pa.table(columns), folder / "run.parquet")

    return _write


def _manifest(folder: Path) -> None:
    """A folder whose manifest, by whomever, lists a file of the user."""
    import hashlib

    _runs()(folder)
    place = folder / "mine"
    place.mkdir()
    (place / "notes.txt").write_text("years of work\n")
    digest = "sha256:" + hashlib.sha256(b"years of work\n").hexdigest()
    (place / "manifest.json").write_text(json.dumps({"files": {"notes.txt": digest}}))


def _npz(folder: Path) -> None:
    import io
    import zipfile

    stream = io.BytesIO()
    np.save(stream, np.eye(3))
    with zipfile.ZipFile(folder / "scores.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("scores.npy", stream.getvalue())
    raw = bytearray((folder / "scores.npz").read_bytes())
    for place in (raw.index(b"PK\x03\x04") + 8, raw.index(b"PK\x01\x02") + 10):
        raw[place] = 97  # a compression that Python does not know
    (folder / "scores.npz").write_bytes(bytes(raw))


def _hdf5(folder: Path) -> None:
    import h5py

    with h5py.File(folder / "scores.hdf5", "w") as file:
        file.create_dataset("scores", data=np.eye(64), chunks=(8, 8), compression="gzip")
    raw = bytearray((folder / "scores.hdf5").read_bytes())
    raw[600:1400:7] = b"\xff" * len(raw[600:1400:7])
    (folder / "scores.hdf5").write_bytes(bytes(raw))


def _bomb(folder: Path) -> None:
    import zstandard

    _runs()(folder)
    compressor = zstandard.ZstdCompressor(level=19).compressobj()
    block = b"q1 Q0 d1 1 2.0 r\n" * 65_536
    raw = b"".join(compressor.compress(block) for _ in range(300))
    (folder / "run.zst").write_bytes(raw + compressor.flush())


def _fifo(folder: Path) -> None:
    for side in ("references", "queries"):
        (folder / "set" / side / "x").mkdir(parents=True)
        (folder / "set" / side / "x" / "a.png").write_bytes(b"")
    os.mkfifo(folder / "set" / "references" / "x" / "b.png")


def _long_image(folder: Path) -> None:
    _text("images.csv", f"image,instance,split\n{'x' * 300},a,reference\ny,a,query\n")(folder)


_EVALUATE = "evaluate qrels run"
_TAMPER = (
    "evaluate qrels run -o out\npython: from pathlib import Path; "
    "Path('out/{}').write_text({})\nreport out"
)

RIGHT = [
    Case(
        "counts of positives wrap in int64",
        "python: rw.evaluate_crossmodal(np.eye(3), [2**63 - 1, 2**63 - 1, 5])",
    ),
    Case(
        "counts of positives wrap, in a file",
        "crossmodal scores.npy --qrels counts.json",
        _with_matrix(_text("counts.json", "[9223372036854775807, 9223372036854775807, 5]")),
    ),
    Case(
        "a demo replaces a file of its user",
        "demo crossmodal -o mine",
        _text("mine/captions.txt", "my own"),
        shows="captions.txt exists with different content",
    ),
    Case(
        "an edited summary passes the gate",
        "evaluate qrels run -m AP -o out\npython: import re; from pathlib import Path; p = "
        "Path('out/summary.json'); "
        "p.write_text(p.read_text().replace('0.5', '0.9'))\ngate out -r 'AP >= 0.8'",
        _runs(),
    ),
    Case(
        "a foreign manifest deletes a file",
        f"{_EVALUATE} -o mine",
        _manifest,
        codes=(0, 2),
        holds=("mine/notes.txt",),
    ),
    Case(
        "Score and score in Parquet",
        "evaluate qrels run.parquet",
        _parquet(
            {"query": ["q1", "q1"], "item": ["d1", "d9"], "Score": [1.0, 2.0], "score": [2.0, 1.0]}
        ),
    ),
    Case(
        "encode --columns takes a number, a list, true",
        "encode texts.jsonl --columns text=body --encoder tfidf-svd:2 --fit fit.jsonl -o out.npy",
        _text(
            "texts.jsonl",
            '{"body": "cat dog"}\n{"body": 3.5}\n{"body": ["a"]}\n{"body": true}\n',
            {"fit.jsonl": '{"body": "cat dog"}\n{"body": "cat cow"}\n{"body": "dog cow"}\n'},
        ),
    ),
    Case(
        "a boolean is a score in MTEB's predictions",
        "evaluate qrels run.json",
        _runs(
            "run.json",
            '{"mteb_model_meta": {}, "en": {"test": {"q1": {"d1": true, "d2": false}, "q2": '
            '{"d2": 1.0}}}}',
        ),
    ),
    Case("gains of infinity give 0", f"{_EVALUATE} -m 'nDCG(gains={{1:1e400}})'", _runs()),
    Case("a form feed splits a number", "pairs a.txt a.txt", _text("a.txt", "1\n2\f3\n4\n5\n")),
    Case(
        ".npy of version 9.9",
        "embeddings left.npy --reference right.npy -k 1",
        _npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }", b"\x09\x09"),
    ),
]
BAD = [
    *(
        Case(f"-m {word[:30]}", f"{_EVALUATE} -m {word!r}", _runs())
        for word in (
            "P@1e999",
            "AP(rel={[]:1})",
            "AP(rel={1:2,'a':3})",
            "nDCG(gains={1:'a'})@5",
            "nDCG(gains=[1,2])@5",
        )
    ),
    Case(
        "--samples of 5,000 digits",
        f"embeddings --reference left.npy left.npy --samples {'9' * 5000}",
        shows="400 digits",
    ),
    Case(
        "a word of 1 MB in TOML",
        "bench bench.toml",
        _text("bench.toml", f"a = '{'b' * 1_000_000}'"),
        seconds=5,
    ),
    Case(
        "a dotted key of 40 KB in TOML",
        "bench bench.toml",
        _text("bench.toml", "a." * 20_000 + "a = 1"),
        shows="100 dots",
        seconds=5,
    ),
    Case("-m 5,000 minus signs", f"{_EVALUATE} -m=AP(rel={'-' * 5000}1)", _runs()),
    *(
        Case(
            f".npy header {header[:60].strip()}",
            "embeddings left.npy --reference right.npy -k 1",
            _npy(header),
        )
        for header in (
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3),",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-3, -3), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (True, 9), }",
            "-" * 9_000,
        )
    ),
    Case("npz of an unknown compression", "captions scores.npz", _npz),
    Case("damaged HDF5", "captions scores.hdf5", _hdf5),
    Case("deep JSON as run", "evaluate qrels run.json", _runs("run.json", DEEP_OBJECT)),
    Case("deep JSON as judgments", "evaluate deep.json run", _runs(**{"deep.json": DEEP_OBJECT})),
    Case(
        "deep JSON as MTEB's predictions",
        "evaluate qrels run.json",
        _runs("run.json", f'{{"mteb_model_meta": {{}}, "en": {DEEP}}}'),
    ),
    Case(
        "deep JSON as sentence-transformers' predictions",
        "evaluate qrels run.jsonl",
        _runs("run.jsonl", f'{{"query_id": "q1", "results": {DEEP}}}\n'),
    ),
    Case(
        "deep JSON lines",
        "evaluate qrels run.jsonl",
        _runs("run.jsonl", f'{{"query": "q1", "item": {DEEP}, "score": 1}}\n'),
    ),
    Case(
        "deep JSON as questions",
        "qa gold.json p.json -c squad2",
        _text("gold.json", DEEP, {"p.json": '{"q1": "a"}'}),
    ),
    Case(
        "deep JSON as predictions",
        "qa gold.json p.json -c squad2",
        _text("gold.json", _gold("[]"), {"p.json": DEEP_OBJECT}),
    ),
    Case(
        "deep JSON as positives",
        "crossmodal scores.npy --qrels p.json",
        _with_matrix(_text("p.json", DEEP)),
    ),
    Case("deep JSON as numbers", "pairs a.json a.json", _text("a.json", DEEP)),
    Case("deep JSON as images", "images stats images.json", _text("images.json", DEEP)),
    Case(
        "deep JSON as ground truth",
        "images stats gnd.json",
        _text("gnd.json", f'{{"imlist": {DEEP}, "qimlist": [], "gnd": []}}'),
    ),
    Case(
        "deep TOML", "bench bench.toml", _text("bench.toml", "a = " + "[" * 20_000 + "]" * 20_000)
    ),
    Case(
        "a 5,000-digit integer in TOML",
        "bench bench.toml",
        _runs(**{"bench.toml": f"seed = {'9' * 5000}\n{BENCH}"}),
    ),
    Case(
        "half a character in an id",
        "evaluate qrels run.json",
        _runs("run.json", '{"q1": {"\\ud800": 1.0}, "q2": {"d": 1}}'),
    ),
    Case(
        "half a character in a key of JSON lines",
        "evaluate qrels run.jsonl",
        _runs("run.jsonl", '{"query": "q1", "item": "d1", "score": 1, "\\ud800": 1}\n'),
    ),
    *(
        Case(
            f"answers {answers[:40]}",
            "qa gold.json p.json -c squad2",
            _text("gold.json", _gold(answers), {"p.json": '{"q1": "a"}'}),
        )
        for answers in (
            '[{"text": "a", "answer_start": 9223372036854775808}]',
            '{"text": ["a"], "answer_start": 0}',
            '[{"text": "a", "answer_start": ' + "9" * 5000 + "}]",
        )
    ),
    Case(
        "start of 2**63 in a prediction",
        "qa gold.json p.jsonl -c squad2",
        _text(
            "gold.json",
            _gold("[]"),
            {"p.jsonl": '{"id": "q1", "rank": 1, "text": "a", "start": 9223372036854775808}\n'},
        ),
    ),
    Case(
        "a count of 2**63",
        "crossmodal scores.npy --qrels p.json",
        _with_matrix(_text("p.json", "[9223372036854775808, 0, 0]")),
    ),
    Case(
        "an id of 5,000 digits",
        "crossmodal scores.npy --qrels p.csv",
        _with_matrix(_text("p.csv", f"query,item\n0,{'9' * 5000}\n")),
    ),
    Case(
        "a cell of 200,000 characters",
        "images stats images.csv",
        _text("images.csv", f"image,instance,split\n{'x' * 200_000},a,reference\ny,a,query\n"),
        codes=(0, 2),
    ),
    Case("an integer above 1e308", "pairs a.json a.json", _text("a.json", f"[1, 2, {'9' * 400}]")),
    Case(
        "MTEB's predictions with a list",
        "evaluate qrels run.json",
        _runs("run.json", '[{"mteb_model_meta": {}}]'),
    ),
    Case(
        "MTEB's predictions with a list as score",
        "evaluate qrels run.json",
        _runs("run.json", '{"mteb_model_meta": {}, "en": {"test": {"q1": {"d1": [1]}}}}'),
    ),
    Case(
        '"easy": true in a ground truth',
        "images stats gnd.json",
        _text(
            "gnd.json",
            '{"imlist": ["a"], "qimlist": ["b"], "gnd": [{"easy": true, "hard": [], "junk": []}]}',
        ),
    ),
    Case(
        "an image name of 300 characters",
        "python: print(len(rw.read_images('images.csv').ids))",
        _long_image,
        codes=(0, 2),
    ),
    *(
        Case(f"{name} is {text[:24]}", _TAMPER.format(name, text), _runs())
        for name, text in (
            ("manifest.json", "'[]'"),
            ("manifest.json", """'{"files": []}'"""),
            ("manifest.json", "'[' * 100_000 + ']' * 100_000"),
            ("summary.json", "'[]'"),
            ("summary.json", """'{"rows": 1}'"""),
            ("summary.json", "'null'"),
            ("per_query.parquet", "'PAR1'"),
        )
    ),
    Case(
        "a frame with a column twice",
        "python: import pandas as pd; f = pd.DataFrame([['q', 'a', 1.0, 2.0]], "
        "columns=['qid', 'docno', 'score', 'score']); "
        "print(rw.read_ranking(f).scores)",
    ),
    Case(
        "a line above 4 MiB",
        _EVALUATE,
        _runs("run", f"q1 Q0 d1 1 2.0 {'r' * (5 << 20)}\nq2 Q0 d3 1 1.0 r\n"),
        codes=(0, 2),
    ),
]
VALID = [
    Case(
        "U+2028 in JSON lines",
        "evaluate qrels run.jsonl",
        _runs(
            "run.jsonl",
            '{"query": "q1", "item": "d1\u2028", "score": 1}\n{"query": "q2", "item": "d2", '
            '"score": 1}\n',
        ),
        codes=(2,),
    ),
    Case(
        "a first line of scores above 64 KiB",
        "crossmodal scores.csv --qrels p.json",
        _text(
            "scores.csv",
            "query,"
            + ",".join(f"{'v' * 40}{n}" for n in range(2000))
            + "\n"
            + "q,"
            + ",".join(["1.5"] * 2000)
            + "\n",
            {"p.json": '{"q": [0]}'},
        ),
        codes=(0,),
    ),
    Case(
        "a blank line before a header",
        "evaluate qrels run.csv",
        _runs("run.csv", "\nquery,item,score\nq1,d1,1\nq2,d2,1\n"),
        codes=(0,),
    ),
    Case(
        "a bare carriage return in an id",
        "evaluate qrels run.csv",
        _runs("run.csv", 'query,item,score\nq1,"d\r1",1\nq2,d2,1\n'),
        codes=(0,),
    ),
]
BOUNDED = [
    Case("300 MiB in a small zstd file", "evaluate qrels run.zst", _bomb, seconds=20, mib=700),
    Case(
        "a FIFO among pictures",
        "encode set -o out.npy --encoder small-grey:4x4",
        _fifo,
        seconds=20,
        hides="no such|unknown",
    ),
]
ESCAPED = [
    Case(
        "a control character in the name of a run",
        "evaluate qrels 'run\x1b[31m'",
        _runs("run\x1b[31m"),
        codes=(0, 2),
        hides="\x1b",
    ),
    Case(
        "a control character in a group",
        f"{_EVALUATE} --queries queries.jsonl --group kind",
        _runs(
            **{
                "queries.jsonl": '{"_id": "q1", "text": "a", "kind": '
                '"\\u001b[31mred"}\n{"_id": "q2", "text": '
                '"b", "kind": "x"}\n'
            }
        ),
        codes=(0, 2),
        hides="\x1b",
    ),
    Case(
        "a bar in the name of a run, in Markdown",
        "evaluate qrels 'a|b' run -f md",
        _runs(**{"a|b": "q1 Q0 d1 1 2.0 r\n"}),
        codes=(0, 2),
        hides=r"(?m)^\| .*(?<!\\)a\|b",
    ),
    Case(
        "a percent sign in the name of a run, in LaTeX",
        "evaluate qrels 'a%b' run -f latex",
        _runs(**{"a%b": "q1 Q0 d1 1 2.0 r\n"}),
        codes=(0, 2),
        hides=r"(?m)^a%b[^:\n]*&",
    ),
    Case(
        "markup in the name of a run, below a comparison in Markdown",
        "compare qrels 'a<b>' run -f md",
        _runs(**{"a<b>": "q1 Q0 d1 1 2.0 r\n"}),
        codes=(0,),
        hides=r"(?m)^(<!-- )?rules: .*(?<!\\)<b",
    ),
    Case(
        "markup in the name of a run, in HTML",
        "compare qrels 'a<b>' run -f html",
        _runs(**{"a<b>": "q1 Q0 d1 1 2.0 r\n"}),
        codes=(0,),
        hides=r">a<b>",
    ),
    Case(
        "an escape sequence in the name of a run, in CSV",
        "evaluate qrels 'a\x1b[31m' run -f csv",
        _runs(**{"a\x1b[31m": "q1 Q0 d1 1 2.0 r\n"}),
        codes=(0,),
        hides="\x1b",
    ),
    Case(
        "a carriage return in the name of a run, in CSV",
        "evaluate qrels 'a\rb' run -f csv",
        _runs(**{"a\rb": "q1 Q0 d1 1 2.0 r\n"}),
        codes=(0,),
        hides="(?m)^a\rb,",
    ),
    Case(
        "the page lacks the licences of what it bundles",
        f"{_EVALUATE} -o out\nreport out\npython: import re; text = open('out/report.html', "
        "encoding='utf-8').read(); "
        "print('licence' if re.search('(?i)permission is hereby granted|redistribution and "
        "use', text) else 'nothing')",
        _runs(),
        codes=(0,),
        shows="licence",
    ),
]
HOSTILE = {
    "1 right": RIGHT,
    "2 bad input": BAD,
    "2 valid input": VALID,
    "3 bounded": BOUNDED,
    "4 escaped": ESCAPED,
}
"""The cases by section."""
