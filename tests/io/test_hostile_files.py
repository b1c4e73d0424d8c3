"""Files that break parsers end in one sentence and exit code 2, never in a traceback, a hang or a
wrong number.
"""

import base64
import gzip
import io
import json
import math
import os
import re
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

import rankwell as rw
from rankwell.cli import main
from rankwell.documents import parse_json
from rankwell.errors import BadInput
from rankwell.io.formats import (
    Request,
    read_as,
    read_column,
    read_judgments,
    read_ranking,
    read_texts,
)
from rankwell.io.matrices import read_embeddings
from rankwell.io.records import read_list, read_number_list, read_numbers
from rankwell.store import Source
from rankwell.tasks.qa.formats import read_questions
from rankwell.vectors.media.images import read_picture

QRELS = "q 0 a 1\nq 0 b 0\n"
RUN = "q Q0 a 1 2 t\nq Q0 b 2 1 t\n"


def rankwell(*words: object, folder: Path, **options: object) -> "subprocess.CompletedProcess[str]":
    """The command in a process of its own, as a user starts it."""
    command = [sys.executable, "-m", "rankwell", *map(str, words)]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False, **options
    )  # pyright: ignore


def refused(*words: object, folder: Path, **options: object) -> str:
    """The one line of an error of exit code 2."""
    found = rankwell(*words, folder=folder, **options)
    assert found.returncode == 2, (found.returncode, found.stderr[-800:])
    assert found.stderr.count("\n") == 1, found.stderr
    assert len(found.stderr) < 600
    return found.stderr


def embeddings(path: Path) -> object:
    """The figures of embeddings against themselves, which takes reading them."""
    return rw.evaluate_crossmodal(query_vectors=str(path), item_vectors=str(path))


def survives(path: Path) -> None:
    """Whatever is in the file: figures, or one short sentence."""
    try:
        embeddings(path)
    except BadInput as error:
        message = str(error)
    else:
        return
    assert len(message) < 500


def npy(header: bytes, numbers: bytes = bytes(48), version: tuple[int, int] = (1, 0)) -> bytes:
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H", len(header)) + header + numbers


FLOATS = b"{'descr': '<f4', 'fortran_order': False, 'shape': %s, }\n"
HEADERS = {
    "version 9.9": b"\x93NUMPY\x09\x09" + struct.pack("<I", 60) + FLOATS % b"(3, 4)" + bytes(48),
    "an unclosed brace": npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)\n"),
    "an indent": npy(b"\n\n  {'descr': '<f4',\n 'fortran_order': False\n"),
    "negative lengths": npy(FLOATS % b"(-3, -4)"),
    "a truth value": npy(FLOATS % b"(True, 12)"),
    "9,000 signs": npy(FLOATS % (b"(" + b"-" * 9000 + b"3, 4)")),
    "9,000 brackets": npy(FLOATS % (b"(" * 9000)),
    "a length of 5,000 digits": npy(FLOATS % (b"(" + b"9" * 5000 + b", 4)")),
    "more than any memory": npy(FLOATS % b"(999999999999999999, 99999999999)"),
    "99 dimensions": npy(FLOATS % (b"(" + b"1, " * 99 + b")")),
    "cells of no bytes": npy(
        b"{'descr': '<U0', 'fortran_order': False, 'shape': (99999999999, 9), }\n"
    ),
    "an unknown kind": npy(b"{'descr': 'f4,,f4', 'fortran_order': False, 'shape': (3, 4), }\n"),
    "records": npy(b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (12,), }\n"),
    "a header of 4 GiB": b"\x93NUMPY\2\0" + b"\xff" * 60,
    "a space that is not ASCII": npy(FLOATS % b"(3,\xa04)"),
    "a control character": npy(FLOATS.rstrip() % b"(3, 4)" + b"  \x1f \n"),
    "a missing comma": npy(b"{'descr': '<f4' 'fortran_order': False, 'shape': (3, 4), }\n"),
    "a size with a leading zero": npy(
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (03, 4), }\n"
    ),
    "a size that is no tuple": npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (12), }\n"),
    "blanks behind the last newline": npy(FLOATS % b"(3, 4)" + b" "),
    "a key twice": npy(b"{'descr': '<f4', 'descr': '<f4', 'shape': (3, 4), }\n"),
}


@pytest.mark.parametrize("what", HEADERS)
def test_a_damaged_array_header_is_refused_wherever_an_array_is_read(what: str, tmp_path: Path):
    (tmp_path / "a.npy").write_bytes(HEADERS[what])
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("train.npy", HEADERS[what])
    np.save(tmp_path / "s.npy", np.eye(3))

    for read in (
        lambda: embeddings(tmp_path / "a.npy"),
        lambda: embeddings(tmp_path / "a.npz"),
        lambda: rw.evaluate_crossmodal(str(tmp_path / "a.npy")),
        lambda: rw.evaluate_crossmodal(np.eye(3), "diagonal", mask=str(tmp_path / "a.npy")),
        lambda: rw.evaluate_crossmodal(np.eye(3), f"counts:{tmp_path / 'a.npy'}"),
    ):
        with pytest.raises(BadInput) as caught:
            read()
        assert len(str(caught.value)) < 500


def test_arrays_as_other_programs_write_them_are_read(tmp_path: Path):
    numbers = np.arange(12, dtype="<f4").reshape(3, 4)
    for header in (
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}",
        b'{"shape":(3L,4L),"fortran_order":False,"descr":"<f4"}      \n',
    ):
        (tmp_path / "a.npy").write_bytes(npy(header, numbers.tobytes()))

        found, expected = (
            rw.evaluate_crossmodal(query_vectors=each, item_vectors=numbers)
            for each in (str(tmp_path / "a.npy"), numbers)
        )
        assert [row["mean"] for row in found.summary] == [row["mean"] for row in expected.summary]


def test_archives_of_other_kinds_and_damaged_ones_are_refused(tmp_path: Path):
    content = io.BytesIO()
    np.savez_compressed(content, train=np.arange(60.0).reshape(20, 3))
    whole = content.getvalue()
    for place in range(0, len(whole), 3):
        (tmp_path / "a.npz").write_bytes(
            whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
        )
        survives(tmp_path / "a.npz")

    raw = bytearray(whole)
    entry = raw.find(b"PK\x01\x02")
    raw[entry + 10] = 97  # another compression
    (tmp_path / "a.npz").write_bytes(raw)
    with pytest.raises(BadInput, match="cannot be unpacked"):
        embeddings(tmp_path / "a.npz")


def test_a_small_archive_does_not_fill_the_memory(tmp_path: Path):
    np.savez_compressed(tmp_path / "a.npz", train=np.zeros((1 << 14, 1 << 12), dtype=np.float64))

    with pytest.raises(BadInput, match=r"array 'train': .* unpack to more than 200 times"):
        embeddings(tmp_path / "a.npz")


def test_a_damaged_hdf5_file_is_refused(tmp_path: Path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "whole.h5", "w") as file:
        file.create_dataset(
            "train", data=np.arange(600.0).reshape(20, 30), chunks=(5, 5), compression="gzip"
        )
    whole = (tmp_path / "whole.h5").read_bytes()
    for place in range(8, min(len(whole), 2400), 37):
        (tmp_path / "a.h5").write_bytes(
            whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
        )
        survives(tmp_path / "a.h5")
    with h5py.File(tmp_path / "empty.h5", "w") as file:
        file.create_dataset("train", shape=(1 << 40, 1 << 10), dtype="f4", chunks=(64, 64))

    with pytest.raises(BadInput, match="unpack to more than"):
        embeddings(tmp_path / "empty.h5")


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [-3, -4], "data_offsets": [0, 48]},
        {"dtype": "F32", "shape": [3.7, 4], "data_offsets": [0, 48]},
        {"dtype": "F32", "shape": [True, 12], "data_offsets": [0, 48]},
        {"dtype": "F32", "shape": [2**63, 4], "data_offsets": [0, 0]},
        {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 0]},
        {"dtype": ["F32"], "shape": [3, 4], "data_offsets": [0, 48]},
        {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48, 96]},
        {"dtype": "F32", "shape": [2, 4], "data_offsets": [0, 32]},
        {"dtype": "F32", "shape": [2, 4], "data_offsets": [16, 48]},
        ["F32"],
    ],
)
def test_a_wrong_safetensors_header_is_refused(entry: object, tmp_path: Path):
    header = json.dumps({"train": entry}).encode()
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(48))

    with pytest.raises(BadInput):
        embeddings(tmp_path / "a.safetensors")


def test_a_key_that_is_twice_in_a_safetensors_header_is_refused(tmp_path: Path):
    header = (
        b'{"train": {"dtype": "F32", "shape": [4, 3], "shape": [3, 4], "data_offsets": [0, 48]}}'
    )
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(48))

    with pytest.raises(BadInput, match="the key 'shape' appears twice"):
        embeddings(tmp_path / "a.safetensors")
    header = b'{"tr\xffin": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}}'
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(48))
    with pytest.raises(BadInput, match="is not UTF-8"):
        embeddings(tmp_path / "a.safetensors")


def test_every_tensor_of_a_safetensors_file_has_the_size_that_it_states(tmp_path: Path):
    entries = {"ids": ([], [0, 24]), "train": ([3, 4], [24, 72])}
    kinds = {"ids": "I64", "train": "F32"}
    header = json.dumps(
        {n: {"dtype": kinds[n], "shape": s, "data_offsets": o} for n, (s, o) in entries.items()}
    ).encode()
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(72))

    with pytest.raises(BadInput, match="gives 24 bytes"):
        embeddings(tmp_path / "a.safetensors")


@pytest.mark.parametrize("text", ["-\u0661", "1_000"])
def test_a_number_is_written_in_ascii(text: str, tmp_path: Path):
    (tmp_path / "a.txt").write_text(f"1\n{text}\n", encoding="utf-8")
    (tmp_path / "a.csv").write_text(f"query,item,score\nq,a,{text}\n", encoding="utf-8")

    with pytest.raises(BadInput, match="expected a finite number"):
        read_numbers(tmp_path / "a.txt")
    with pytest.raises(BadInput, match="expected a finite number"):
        read_ranking(tmp_path / "a.csv")


def test_a_key_that_is_twice_in_a_line_of_predictions_is_refused(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text(
        '{"query_id": "q", "results": [{"corpus_id": "a", "score": 1, "score": 2}]}\n'
    )

    assert "a.jsonl:1: the key 'score' appears twice" in refused(
        "convert", "a.jsonl", "out.csv", folder=tmp_path
    )


@pytest.mark.parametrize("odd", [None, True, 1.5, "\ud800"])
def test_an_id_that_is_none_is_refused_behind_others(odd: object):
    mapping: object = {"q": {"\u00e9": 1.0, odd: 2.0}}

    for read in (read_judgments, read_ranking):
        with pytest.raises(BadInput, match="the id"):
            read(mapping)


def test_integers_above_2_to_53_are_scores_in_every_data_frame():
    pandas, polars, pyarrow = (
        pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow")
    )
    columns = {"qid": ["q"], "docno": ["a"], "score": [2**62]}

    for frame in (pandas.DataFrame(columns), polars.DataFrame(columns), pyarrow.table(columns)):
        assert read_ranking(frame).scores.tolist() == [2.0**62]


def test_an_array_without_a_length_is_not_a_vector():
    with pytest.raises(BadInput, match="vectors have one length"):
        read_embeddings({"a": [1.0, 2.0], "b": np.array(2.0)})


def test_two_columns_of_one_name_are_refused(tmp_path: Path):
    (tmp_path / "a.csv").write_text("id,question,answers,answers\n1,who?,a,b\n")

    with pytest.raises(BadInput, match="two columns are named 'answers'"):
        read_questions(tmp_path / "a.csv")


def test_a_run_that_begins_with_a_number_sign_is_read_by_its_named_format(tmp_path: Path):
    (tmp_path / "a.tsv").write_text("#q\ta\t1\n")

    assert read_ranking(tmp_path / "a.tsv", format="msmarco").queries == ("#q",)


def test_questions_without_two_columns_are_refused(tmp_path: Path):
    (tmp_path / "a.tsv").write_text("one column\n['a']\n")

    with pytest.raises(BadInput, match="expected two columns"):
        read_questions(tmp_path / "a.tsv", format="dpr-questions")


def test_ids_in_json_lines_without_keys_are_refused(tmp_path: Path):
    (tmp_path / "ids.jsonl").write_text("{}\n{}\n")

    with pytest.raises(BadInput, match="no record has a key"):
        read_column(tmp_path / "ids.jsonl", format="jsonl")


def test_every_array_of_an_archive_has_the_size_that_it_states(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("train.npy", npy(FLOATS % b"(3, 4)"))
        archive.writestr("ids.npy", npy(FLOATS % b"(99,)"))

    with pytest.raises(BadInput, match=r"array 'ids': .* do not fill"):
        embeddings(tmp_path / "a.npz")


def test_counts_of_positives_cannot_wrap(tmp_path: Path):
    code = (
        "import numpy as np, rankwell as rw\n"
        "rw.evaluate_crossmodal(np.eye(3), [2**63 - 1, 2**63 - 1, 5])"
    )

    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert found.returncode == 1
    assert "BadInput: 3 counts with the sum 18446744073709551619" in found.stderr
    for counts in ([2**63, 0, 0], [10**5000, 0, 0], [2**64 - 1, 4, 0], [-1, 4, 0]):
        with pytest.raises(BadInput, match="3 counts with the sum"):
            rw.evaluate_crossmodal(np.eye(3), counts)


@pytest.mark.parametrize(
    "content",
    [
        '{"0": [' + "9" * 5000 + "]}",
        '{"0": ["' + "9" * 5000 + '"]}',
        '{"' + "9" * 5000 + '": [0]}',
        "query,item\n0," + "9" * 5000 + "\n",
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 500 + "1" + "}" * 500,
        "[9223372036854775807, 9223372036854775807, 5]",
        "[[1e400], [1], [2]]",
        '{"\\ud800": [0]}',
    ],
)
def test_hostile_positives_are_refused(content: str, tmp_path: Path):
    np.save(tmp_path / "scores.npy", np.eye(3))
    (tmp_path / "right").write_text(content)

    assert "right" in refused("crossmodal", "scores.npy", "--qrels", "right", folder=tmp_path)
    with pytest.raises(BadInput):
        rw.evaluate_crossmodal(np.eye(3), str(tmp_path / "right"))


def test_counts_that_no_integer_holds_are_refused(tmp_path: Path):
    for number in ("1e300", "9" * 400, "1e19"):
        (tmp_path / "counts.txt").write_text(f"{number}\n1\n1\n")
        with pytest.raises(BadInput):
            rw.evaluate_crossmodal(np.eye(3), f"counts:{tmp_path / 'counts.txt'}")
    with pytest.raises(BadInput):
        rw.evaluate_crossmodal(np.eye(3), "counts:" + "9" * 5000)


DEEP = "[" * 100_000 + "]" * 100_000
JSONS = {
    "nested lists": DEEP,
    "nested objects": '{"a":' * 20_000 + "1" + "}" * 20_000,
    "nested scores": '{"q": {"a": ' + DEEP + "}}",
    "a score of 5,000 digits": '{"q": {"a": ' + "9" * 5000 + "}}",
    "a score of 400 digits": '{"q": {"a": 1' + "0" * 400 + "}}",
    "half a character in a query": '{"q\\ud800": {"a": 1}}',
    "half a character in an item": '{"q": {"a\\udc41": 1}}',
}


@pytest.mark.parametrize("what", JSONS)
def test_json_that_no_reader_can_take_is_refused(what: str, tmp_path: Path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "bad.json").write_text(JSONS[what])
    (tmp_path / "mteb.json").write_text(
        '{"mteb_model_meta": {}, "default": {"test": ' + JSONS[what] + "}}"
    )
    (tmp_path / "st.jsonl").write_text('{"query_id": "q", "results": ' + JSONS[what] + "}\n")

    for words in (
        ("evaluate", "qrels", "bad.json"),
        ("evaluate", "bad.json", "qrels"),
        ("evaluate", "qrels", "mteb.json"),
        ("evaluate", "qrels", "st.jsonl"),
    ):
        assert any(
            name in refused(*words, folder=tmp_path)
            for name in ("bad.json", "mteb.json", "st.jsonl")
        )


@pytest.mark.parametrize("behind", ["", ".", "e", ".e5", "E+", "-"])
def test_a_long_integer_is_refused_whatever_stands_behind_it(behind: str):
    with pytest.raises(BadInput, match="an integer of 5000 digits"):
        parse_json('{"a": -' + "9" * 5000 + behind + "}", "runs.json")


def test_a_long_number_with_a_fraction_or_an_exponent_is_not_an_integer():
    assert parse_json(f"[{'1' * 400}.5, {'1' * 301}e-300]", "runs.json") == [
        math.inf,
        pytest.approx(10 / 9),
    ]


def test_ids_that_are_not_utf_8_are_still_read_from_json(tmp_path: Path):
    (tmp_path / "qrels").write_bytes(b"q\xff 0 a 1\n")
    (tmp_path / "run.json").write_text('{"q\\udcff": {"a": 1, "\\ud83d\\ude00 \\\\ud800": 0.5}}')

    found = rankwell("evaluate", "qrels", "run.json", "-m", "RR", folder=tmp_path)

    assert found.returncode == 0, found.stderr
    assert "RR  1.000" in found.stdout


@pytest.mark.parametrize(
    "content",
    [
        "a = " + "[" * 20_000 + "]" * 20_000,
        "a = " + "9" * 5000,
        "a = " + "9" * 30,
        "a" + ".a" * 500 + " = 1",
        "[" + "a." * 500 + "a]",
    ],
)
def test_deep_or_endless_toml_is_refused(content: str, tmp_path: Path):
    (tmp_path / "bench.toml").write_text(content + "\n")

    assert "bench.toml" in refused("bench", "bench.toml", folder=tmp_path)


def test_numbers_that_no_float_holds_are_refused(tmp_path: Path):
    np.save(tmp_path / "scores.npy", np.eye(3))
    for digits, message in (
        (400, "an integer of 401 digits"),
        (200, "expected an integer, the number of captions of a video"),
    ):
        (tmp_path / "b.json").write_text("[1, 1, 1" + "0" * digits + "]")

        assert message in refused(
            "crossmodal", "scores.npy", "--qrels", "counts:b.json", folder=tmp_path
        )


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_is_refused_by_its_ratio_and_takes_little_memory(pack, tmp_path: Path):
    (tmp_path / "qrels").write_text(QRELS)
    # Many small members unpack to the same as a large one, and are packed sooner.
    (tmp_path / "bomb").write_bytes(pack(RUN.encode()) + pack((b" " * 1023 + b"\n") * 1024) * 256)
    (tmp_path / "bomb.json").write_bytes(
        pack(b'{"q": ') + pack(b" " * (1 << 20)) * 256 + pack(b"{}}")
    )

    for name in ("bomb", "bomb.json"):
        assert "unpack to more than 200 times as many" in refused(
            "evaluate", "qrels", name, folder=tmp_path
        )


def test_a_device_or_a_named_pipe_is_refused(tmp_path: Path):
    (tmp_path / "qrels").write_text(QRELS)
    os.mkfifo(tmp_path / "pipe")
    np.save(tmp_path / "scores.npy", np.eye(2))

    assert "/dev/zero is a device" in refused("evaluate", "qrels", "/dev/zero", folder=tmp_path)
    assert "pipe is a named pipe" in refused("evaluate", "qrels", "pipe", folder=tmp_path)
    assert "/dev/zero is a device" in refused(
        "crossmodal", "scores.npy", "--qrels", "/dev/zero", folder=tmp_path
    )
    with Path("/dev/zero").open("rb") as stream:
        assert "standard input is a device" in refused(
            "evaluate", "qrels", "-", folder=tmp_path, stdin=stream
        )


def test_a_named_pipe_among_pictures_is_reported_and_stops_nothing(tmp_path: Path):
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "pictures").mkdir()
    image.new("RGB", (8, 8), "red").save(tmp_path / "pictures/a.png")
    os.mkfifo(tmp_path / "pictures/b.png")

    with pytest.raises(BadInput, match="named pipe"):
        read_picture(tmp_path / "pictures/b.png")


def test_what_a_shell_pipes_is_still_read(tmp_path: Path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)

    def figures(words: str) -> "subprocess.CompletedProcess[str]":
        command = f"{sys.executable} -m rankwell evaluate qrels {words} -f csv"
        return subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    plain = figures("run").stdout.splitlines()[1].split(",")[1:]
    for words in ("<(cat run)", "- < run", "<(gzip -c run)"):
        assert figures(words).stdout.splitlines()[1].split(",")[1:] == plain
    assert figures("- <&-").returncode == 2


def doubled(frame: object) -> object:
    pandas = pytest.importorskip("pandas")
    return pandas.concat([frame, frame[["score"]]], axis=1)  # pyright: ignore[reportIndexIssue]


def test_frames_that_are_not_a_table_of_named_columns_are_refused():
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"query": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0]})
    table = arrow.table(frame)
    for odd in (
        doubled(frame),
        frame.set_axis([0, 1, 2], axis=1),
        frame.set_axis(pandas.MultiIndex.from_tuples([("x", name) for name in frame]), axis=1),
        arrow.table(
            [table["query"], table["item"], table["score"], table["score"]],
            names=["query", "item", "score", "score"],
        ),
        table["score"],
        frame["score"],
        table.schema,
        pandas.DataFrame(
            {"query": ["q"], "item": ["a"], "score": pandas.Series([10**400], dtype=object)}
        ),
    ):
        with pytest.raises(BadInput) as caught:
            rw.evaluate({"q": {"a": 1}}, odd)
        assert len(str(caught.value)) < 400


def test_positives_may_be_a_chunked_array():
    arrow = pytest.importorskip("pyarrow")

    found = rw.evaluate_crossmodal(np.eye(3), arrow.chunked_array([[[0], [1]], [[2]]]))

    assert found.summary[0]["mean"] == 100.0


def test_half_a_character_in_an_id_is_refused():
    for half in ("q\ud800", "q\udc41"):
        with pytest.raises(BadInput, match="half a character"):
            rw.evaluate({half: {"a": 1}}, {half: {"a": 1.0}})


def test_half_a_character_in_a_key_of_json_lines_is_refused(tmp_path: Path):
    (tmp_path / "qrels").write_text(QRELS)
    for key in ("x\\udc41", "x\\udcff", "query\\ud800"):
        (tmp_path / "run.jsonl").write_text(
            f'{{"query": "q", "item": "a", "score": 1, "{key}": 2}}\n'
        )

        assert "run.jsonl" in refused("evaluate", "qrels", "run.jsonl", folder=tmp_path)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"text": ["a"], "answer_start": 0}, "answer_start is 0; expected a list of 1"),
        ({"text": ["a"], "answer_start": [2**63]}, "is 9223372036854775808; expected an integer"),
        ([{"text": "a", "answer_start": 2**63}], "is 9223372036854775808; expected an integer"),
        ([{"text": "a", "answer_start": 1e300}], "expected an integer"),
        ([10**400], "an integer of 401 digits"),
    ],
)
def test_places_of_answers_that_no_text_has_are_refused(
    answers: object, message: str, tmp_path: Path
):
    gold = [{"id": "1", "question": "x", "answers": answers, "context": "a b"}]
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    (tmp_path / "answers.json").write_text('{"1": "a"}')

    assert message in refused("qa", "gold.json", "answers.json", folder=tmp_path)


@pytest.mark.parametrize(
    "rest",
    ['{"qid": "q2", "docno": "d2", "score": 1}', '[{"qid": "q2", "docno": "d2", "score": 1}]', "]"],
)
def test_what_follows_a_json_list_of_rows_is_not_left_out(rest: str, tmp_path: Path):
    (tmp_path / "run.json").write_text('[{"qid": "q1", "docno": "d1", "score": 1}]\n' + rest)
    with pytest.raises(BadInput, match="Extra data"):
        rw.read_ranking(tmp_path / "run.json", format="jsonl")


def test_ids_may_hold_the_bracket_that_ends_a_list(tmp_path: Path):
    (tmp_path / "run.json").write_text('[{"qid": "q1", "docno": "d]1", "score": 1}]\n')

    assert list(rw.read_ranking(tmp_path / "run.json").items) == ["d]1"]


@pytest.mark.parametrize(("start", "more"), [(0, b"1234"), (4, b"")])
def test_tensors_that_do_not_cover_their_file_are_refused(start: int, more: bytes, tmp_path: Path):
    header = json.dumps(
        {"a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [start, start + 16]}}
    ).encode()
    (tmp_path / "a.safetensors").write_bytes(
        struct.pack("<Q", len(header)) + header + bytes(start + 16) + more
    )
    with pytest.raises(BadInput, match="do not cover"):
        embeddings(tmp_path / "a.safetensors")


@pytest.mark.parametrize(
    "text", ["[1, 2]\n", "{}\n", '{"id": "a", "text": "x"}\n{"id": "b", "text": [}\n']
)
def test_json_lines_without_columns_or_with_a_broken_cell_are_refused(text: str, tmp_path: Path):
    (tmp_path / "a.jsonl").write_text(text)
    for read in (read_column, read_texts):
        with pytest.raises(BadInput, match=r"a\.jsonl"):
            read(tmp_path / "a.jsonl", format="jsonl")


def test_texts_with_half_a_character_in_an_id_are_refused():
    with pytest.raises(BadInput, match="half a character"):
        read_texts({"\ud800": "a text"})


@pytest.mark.parametrize("content", ["1", "null", "{}", '"a"', "true"])
@pytest.mark.parametrize("reader", [read_list, read_number_list])
def test_a_json_value_that_is_not_a_list_is_named(
    content: str, reader: Callable[[Source, Request], object], tmp_path: Path
):
    (tmp_path / "a.json").write_text(content)

    with pytest.raises(
        BadInput,
        match=r"a\.json: (a|an|nothing)\b.*; expected a list of (numbers|strings or integers)",
    ):
        reader(Source(tmp_path / "a.json"), Request())


def test_a_text_without_an_id_and_a_vector_whose_id_is_half_a_character_are_refused(tmp_path: Path):
    pq.write_table(pa.table({"id": ["a", ""], "text": ["one", "two"]}), tmp_path / "t.parquet")

    with pytest.raises(BadInput, match=r"t\.parquet: row 2 has no id"):
        read_texts(tmp_path / "t.parquet")
    with pytest.raises(BadInput, match="half a character"):
        read_embeddings(np.eye(2), ids=["a", "\ud800"])


@pytest.mark.parametrize("odd", ["3", "[]", '"x"', "true"])
def test_a_json_record_that_is_not_an_object_is_an_error_where_one_column_is_read(
    tmp_path: Path, odd: str
) -> None:
    (tmp_path / "list.jsonl").write_text(f'[{{"id": "a"}}, {odd}]')
    (tmp_path / "lines.jsonl").write_text(f'{{"id": "a"}}\n{odd}\n')

    with pytest.raises(
        BadInput, match=rf"list.jsonl: record 2: {re.escape(odd)}; expected a JSON object"
    ):
        read_column(f"{tmp_path}/list.jsonl:id")
    with pytest.raises(BadInput, match=r"lines.jsonl:2: .*; expected a JSON object per line"):
        read_column(f"{tmp_path}/lines.jsonl:id")


def test_a_message_of_the_library_that_cuts_a_character_in_two_is_an_error_of_ours(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.jsonl").write_text('\u00a0[{"score": 0.5}]', encoding="utf-8")

    with pytest.raises(BadInput, match=r"a.jsonl: .*JSON array"):
        read_numbers(tmp_path / "a.jsonl")


def test_an_mteb_split_without_queries_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"mteb_model_meta": {"model_name": "m"}, "en": {"test": {}}}')

    with pytest.raises(BadInput, match=r"en/test is empty; expected \{query: \{item: score\}\}"):
        read_ranking(tmp_path / "a.json")


def test_the_results_of_a_query_in_an_mteb_file_are_an_object(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        '{"mteb_model_meta": {"model_name": "m"}, "en": {"test": {"1": {"d": 0.5}, "2": []}}}'
    )

    with pytest.raises(
        BadInput, match=r"\$\['en/test'\]\['2'\] is \[\] \(a list\); expected \{item: score\}"
    ):
        read_ranking(tmp_path / "a.json")


def test_a_name_of_a_file_with_half_a_character_is_one_sentence() -> None:
    with pytest.raises(BadInput, match="has half a character, as no name of a file has"):
        rw.evaluate_crossmodal("a.npy\ud800", "diagonal")


def test_an_argument_with_half_a_character_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sys.argv", ["rankwell", "images", "table.csv\ud800", "--scores", "scores.npy"]
    )

    assert main() == 2
    assert "has half a character; correct it." in capsys.readouterr().err


def test_ids_of_an_hdf5_file_that_are_not_a_data_set_are_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        file["vectors"] = np.ones((3, 2), dtype=np.float32)
        file["ids"] = np.dtype("<i8")

    with pytest.raises(
        BadInput, match=r"a.hdf5: 'ids' is not a data set; write the ids as one, or rename it"
    ):
        read_embeddings(tmp_path / "a.hdf5")


FATAL = (
    "eNoLcAwyFGUQTRBN0BHlAzLYRNlkzBg0mArNJJgKDQQFGRgYmICYjxFEFhqASUMwaQQmjcGkCZg0BZNmQFNqRGsQxklwMIDBC3sJji/fBbUrVMUPiDFoYB"
    "FFsg4iecEepgimZIFmVPW/x8/tYfICi6LM81ZyHvhyuuarXpDAAVyW/4FbI4xkObIohuVf7GGKYEouiKy1/f/xtz1MHmI544EX03++il3CgdNyNgcJjhfv"
    "lcM+ePEhWY4simE5kwNMEUxJRte1ef9/sDrA5BVctubdCfq8H2I5wwFRFskYUwYJtuLkjNTcRFEOBlEeVSYJ1sLS1KJKVQYfGaAmUS6gCFOZAYxhCGMYMY"
    "jxScpI+qgxyIjySKqyMUhCNYoCJcTmMYotV1HjsEFJF5IyQE8yiDIx2IjJSLJJqjHwAS0A6eeC6AdaA9b8ixGI1JYx2pCUDBCma2I12xDJ7AXMNiTFMiGz"
    "jZDMnsVqQ1IkYjFbrIddjE+NA0gBZSV4HIOC/MOtIJEk8YBJHwTKHZ0cHR0DHSHA29ERKJDu6ObomO7onA4WcwIq8AUxnB0dPcECCBqqFaIyAkS4gAVdQU"
    "R6ANh8oBJfsPlucPVQANLlEVkJ1F8KcgrYCu8sIMsCZIQL2BCnQLh5EACy2skIZKJhGdT8dJdAqH4nxwqwomSE+xyhTnd0TMmCcID+AxoSCaJh7ggE2QNU"
    "5A7S6gLVDLc0MBTsCA8094Od5uFmGBXhZYrQgpBnkFAoSCwCpuUS3eSCAt3EoqL8coWy1KLizPw8BSMzPQM9Q0lQ3oAjBg9mBoYAYKkIAJTAH2E="
)
"""A Parquet file with a number that DuckDB 2.0.0 does not survive: its database takes no further
statement.
"""


@pytest.mark.skipif(
    duckdb.__version__.startswith("1."),
    reason="only DuckDB 2 reads the size that ends its database",
)
def test_a_file_that_ends_the_database_of_duckdb_is_refused_and_the_next_one_is_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "bad.parquet").write_bytes(zlib.decompress(base64.b64decode(FATAL)))
    (tmp_path / "good.csv").write_text("query,item,grade\nq,d,1\n")

    for _ in range(2):
        with pytest.raises(BadInput, match=r"bad\.parquet: "):
            read_as(tmp_path / "bad.parquet", "scores", "parquet", Request())
        assert read_judgments(tmp_path / "good.csv").to_dict() == {"q": {"d": 1.0}}


def test_an_empty_id_is_missing_whatever_bounds_a_parquet_file_states(tmp_path: Path) -> None:
    path = tmp_path / "ids.parquet"
    ids = pa.table({"id": ["\x05\0\0\0", "abcdef"], "text": ["x", "y"]})
    pq.write_table(ids, path, compression="none", use_dictionary=False)
    raw = path.read_bytes()
    assert raw.count(b"\x04\0\0\0\x05\0\0\0") == 1
    path.write_bytes(raw.replace(b"\x04\0\0\0\x05\0\0\0", bytes(4) + b"\x05\0\0\0"))
    assert read_as(path, "column", "parquet", Request(part="id"))[0] == [None, "\x06\0\0\0a"]


def test_numbers_of_an_hdf5_file_have_the_bias_that_it_states(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_ebias(126)
    with h5py.File(tmp_path / "data.hdf5", "w") as file:
        space = h5py.h5s.create_simple((2, 2))
        data = h5py.h5d.create(file.id, b"vectors", kind, space)
        data.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([[1, 2], [3, 4]], dtype=np.float32))
    assert read_embeddings(tmp_path / "data.hdf5").vectors.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("character", ["\v", "\f"])
def test_a_json_list_with_other_blanks_is_refused(character: str, tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("[" + character + '{"_id": "a", "text": "x"}]')
    with pytest.raises(BadInput, match="expected a list of objects"):
        read_texts(path)


@pytest.mark.parametrize(
    "record",
    ['{"query": "q", "item": "a,]", "score": 2,}', '{"query": "q", "item": "b", "score": 1, \t}'],
)
@pytest.mark.parametrize("begin", ["", "[", '{"query": "q", "item": "c, }", "score": 1}\n'])
def test_a_comma_before_the_end_of_an_object_is_refused(tmp_path: Path, record: str, begin: str):
    path, end = tmp_path / "run.jsonl", "]" if begin == "[" else "\n"
    path.write_text(f"{begin}{record}{end}")

    line = 2 if begin.endswith("\n") else 1
    with pytest.raises(BadInput, match=rf"run\.jsonl:{line}: .*at column \d+"):
        rw.read_ranking(path, format="jsonl")

    path.write_text(f"{begin}{re.sub(',[^,]*}$', '}', record)}{end}")
    assert rw.read_ranking(path, format="jsonl")


@pytest.mark.parametrize("packed", ["gzip", "zstd", ""])
def test_an_array_of_numbers_is_read_to_the_end_of_its_file(tmp_path: Path, packed: str):
    pack = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress, "": bytes}[packed]
    content, path = (
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", np.ones(2).tobytes()),
        tmp_path / "a.npy",
    )

    path.write_bytes(pack(content))
    assert list(read_numbers(path)) == [1, 1]
    path.write_bytes(pack(content + b"more"))
    with pytest.raises(BadInput, match=r"a\.npy: data follows the array"):
        read_numbers(path)
    if packed:
        whole = pack(content)
        path.write_bytes(whole[:-6] + b"\x00" * 6 if packed == "gzip" else whole + b"junk")
        with pytest.raises(BadInput, match=r"a\.npy"):
            read_numbers(path)
