"""Encoders and `rankwell encode`: vectors as their definitions have them, files that survive a
kill, a real model.
"""

import json
import math
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from threadpoolctl import threadpool_limits

from rankwell import cli
from rankwell.errors import BadInput, BadScore, BadUsage
from rankwell.io.matrices import read_embeddings
from rankwell.vectors.encoders import ENCODERS, Settings, hub, load_encoder
from rankwell.vectors.encoders.runs import write_vectors
from rankwell.vectors.encoders.tfidf_svd import TfidfSvd

TOPICS = (
    "ship sea wave sail wind",
    "bread oven flour yeast salt",
    "king queen crown court law",
    "cell gene virus blood bone",
)


def corpus(texts: int, seed: int = 5) -> list[str]:
    """Texts about four topics with words in common, and words that stand in one text only."""
    chance = random.Random(seed)
    common = [f"word{number}" for number in range(40)]
    found = []
    for number in range(texts):
        topic = TOPICS[number % len(TOPICS)].split()
        found.append(
            " ".join(
                [*chance.choices(topic, k=6), *chance.choices(common, k=5), f"only{number}", "The"]
            )
        )
    return found


def plain_tfidf(texts: list[str], fitted: list[str], min_texts: int = 2) -> np.ndarray:
    """Oracle: dense, a loop per text and word."""
    split = [re.findall(r"\w\w+", text.lower()) for text in fitted]
    words = sorted(
        {
            word
            for words in split
            for word in words
            if sum(word in each for each in split) >= min_texts
        }
    )
    found = []
    for text in texts:
        told = re.findall(r"\w\w+", text.lower())
        row = [
            told.count(word)
            * (math.log((1 + len(fitted)) / (1 + sum(word in each for each in split))) + 1)
            for word in words
        ]
        length = math.hypot(*row) or 1.0
        found.append([number / length for number in row])
    return np.array(found)


def assert_same_but_for_the_direction_of_axes(found: np.ndarray, expected: np.ndarray) -> None:
    assert np.allclose(found @ found.T, expected @ expected.T, atol=1e-6)
    assert np.allclose(np.abs(found), np.abs(expected), atol=1e-6)


def test_vectors_are_the_weighted_words_on_the_axes_of_the_corpus():
    fitted, asked = corpus(60), corpus(10, seed=6)
    axes = np.linalg.svd(plain_tfidf(fitted, fitted), full_matrices=False)[2][:5]

    vectors = TfidfSvd(dimensions=5, normalize=False).fit(fitted).encode(asked)
    expected = plain_tfidf(asked, fitted) @ axes.T

    assert vectors.shape == (10, 5)
    assert vectors.dtype == np.float32
    assert_same_but_for_the_direction_of_axes(vectors, expected)


@pytest.mark.parametrize("texts", [30, 300])
def test_vectors_are_those_of_scikit_learn(texts: int):
    feature = pytest.importorskip("sklearn.feature_extraction.text")
    decomposition = pytest.importorskip("sklearn.decomposition")
    fitted, asked = corpus(texts), corpus(20, seed=7)
    weights = feature.TfidfVectorizer(min_df=2).fit(fitted)
    expected = (
        decomposition.TruncatedSVD(6, algorithm="arpack")
        .fit(weights.transform(fitted))
        .transform(weights.transform(asked))
    )

    vectors = TfidfSvd(dimensions=6, normalize=False).fit(fitted).encode(asked)

    assert_same_but_for_the_direction_of_axes(vectors, expected)


def test_the_randomised_decomposition_finds_the_strong_axes(monkeypatch: pytest.MonkeyPatch):
    texts = corpus(400)
    exact = TfidfSvd(dimensions=4, normalize=False).fit(texts)
    monkeypatch.setattr("rankwell.vectors.encoders.tfidf_svd._EXACT_BELOW", 0)
    found = TfidfSvd(dimensions=4, normalize=False, seed=1).fit(texts)
    again, other = (
        TfidfSvd(dimensions=4, normalize=False, seed=1).fit(texts),
        TfidfSvd(dimensions=4, seed=2).fit(texts),
    )

    assert np.allclose(exact.encode(texts), found.encode(texts), atol=1e-4)
    assert np.array_equal(found.axes, again.axes)
    assert not np.array_equal(found.axes, other.axes)


@pytest.mark.parametrize("exact_below", [1500, 0])
def test_the_axes_do_not_depend_on_the_number_of_threads(
    exact_below: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("rankwell.vectors.encoders.tfidf_svd._EXACT_BELOW", exact_below)
    draw, words = random.Random(3), [f"word{number}" for number in range(400)]
    corpus = [" ".join(draw.choices(words, k=30)) for _ in range(900)]
    found: list[bytes] = []

    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            axes = TfidfSvd(dimensions=40).fit(corpus).axes
        found.append(b"" if axes is None else axes.tobytes())

    assert found[0] == found[1]


def test_fewer_dimensions_are_the_first_of_more():
    texts = corpus(50)
    more, fewer = TfidfSvd(8, normalize=False).fit(texts), TfidfSvd(3, normalize=False).fit(texts)

    assert np.allclose(more.encode(texts)[:, :3], fewer.encode(texts), atol=1e-6)


def test_vectors_have_length_one_unless_asked_and_texts_of_unknown_words_are_zero():
    fitted = TfidfSvd(dimensions=4).fit(corpus(40))

    vectors = fitted.encode(["ship at sea", "", "zzz yyy", "bread"])

    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 0, 1], abs=1e-6)


def test_a_text_has_the_same_vector_in_any_company():
    fitted, texts = TfidfSvd(dimensions=4).fit(corpus(40)), corpus(33, seed=8)

    together = fitted.encode(texts)

    assert np.array_equal(together, np.concatenate([fitted.encode([text]) for text in texts]))


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(
        BadInput, match=r"3 texts with 1 word in 2 .*: at most 1 axis, fewer than the 5 requested"
    ):
        TfidfSvd(dimensions=5).fit(["same", "same", "other"])
    with pytest.raises(
        BadInput, match="1 different directions, fewer than the 2 dimensions requested"
    ):
        TfidfSvd(dimensions=2).fit(["one two", "one two", "one two"])
    with pytest.raises(BadUsage, match=r"fit it to a corpus first \(fit\)"):
        TfidfSvd().encode(["text"])
    with pytest.raises(BadUsage, match="tfidf-svd:many"):
        load_encoder("tfidf-svd:many")
    with pytest.raises(BadUsage, match="batch size 0"):
        Settings(batch_size=0)


def test_every_family_is_found_by_its_name():
    assert list(ENCODERS) == ["sentence-transformers", "tfidf-svd"]
    assert load_encoder("tfidf-svd:12").dimensions == 12


class Counting:
    """An encoder whose vectors tell the text's length and the place in its chunk, and that may stop
    in the middle.
    """

    dimensions = 3

    def __init__(self, stop_after: int = 1000) -> None:
        self.calls, self.stop_after = 0, stop_after

    def fit(self, texts):
        return self

    def encode(self, texts):
        self.calls += 1
        if self.calls > self.stop_after:
            raise KeyboardInterrupt
        return np.array(
            [[len(text), place, 0.25] for place, text in enumerate(texts)], dtype=np.float32
        )

    def describe(self):
        return {"family": "counting"}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("ragged", [b"", b"\1\2\3", b"\1" * 20])
def test_a_killed_run_goes_on_and_leaves_the_same_bytes(dtype: str, ragged: bytes, tmp_path: Path):
    texts = ["x" * number for number in range(50)]
    whole, path, seen = tmp_path / "whole.npy", tmp_path / "e.npy", []
    write_vectors(Counting(), texts, whole, identity={"a": 1}, dtype=dtype, chunk=8)

    with pytest.raises(KeyboardInterrupt):
        write_vectors(Counting(3), texts, path, identity={"a": 1}, dtype=dtype, chunk=8)
    assert not path.exists()
    with (tmp_path / "e.npy.part").open("ab") as stream:
        stream.write(ragged)
    encoder = Counting()
    resumed = write_vectors(
        encoder,
        texts,
        path,
        identity={"a": 1},
        dtype=dtype,
        chunk=8,
        progress=lambda part, all_: seen.append((part, all_)),
    )

    assert (resumed, encoder.calls) == (24, 4)
    assert seen == [(32, 50), (40, 50), (48, 50), (50, 50)]
    assert path.read_bytes() == whole.read_bytes()
    assert np.array_equal(np.load(path)[:, 0], np.arange(50, dtype=dtype))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["e.npy", "whole.npy"]


@pytest.mark.parametrize("change", [{"identity": {"a": 2}}, {"dtype": "float16"}, {"chunk": 5}])
def test_a_part_of_something_else_is_made_again(change: dict, tmp_path: Path):
    texts = ["x" * number for number in range(50)]
    options = {"identity": {"a": 1}, "dtype": "float32", "chunk": 8}
    with pytest.raises(KeyboardInterrupt):
        write_vectors(Counting(3), texts, tmp_path / "e.npy", **options)

    resumed = write_vectors(Counting(), texts, tmp_path / "e.npy", **(options | change))

    assert resumed == 0
    assert np.load(tmp_path / "e.npy").shape == (50, 3)


def test_a_run_killed_before_the_last_rename_only_renames(tmp_path: Path):
    texts = ["a", "bb", "ccc"]

    def fail(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_vectors(Counting(), texts, tmp_path / "e.npy", identity={}, chunk=2, before=fail)
    encoder = Counting()

    assert write_vectors(encoder, texts, tmp_path / "e.npy", identity={}, chunk=2) == 3
    assert encoder.calls == 0


@pytest.mark.parametrize("damaged", [0, 1, 2])
def test_a_part_that_was_damaged_is_made_again_from_there(damaged: int, tmp_path: Path):
    texts = ["x" * number for number in range(50)]
    write_vectors(Counting(), texts, tmp_path / "whole.npy", identity={}, chunk=8)
    with pytest.raises(KeyboardInterrupt):
        write_vectors(Counting(3), texts, tmp_path / "e.npy", identity={}, chunk=8)
    raw = bytearray((tmp_path / "e.npy.part").read_bytes())
    raw[128 + damaged * 8 * 12] ^= 1
    (tmp_path / "e.npy.part").write_bytes(raw)

    resumed = write_vectors(Counting(), texts, tmp_path / "e.npy", identity={}, chunk=8)

    assert resumed == 8 * damaged
    assert (tmp_path / "e.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_a_vector_that_its_type_cannot_hold_is_refused(tmp_path: Path):
    class Large(Counting):
        def encode(self, texts):
            return super().encode(texts) + np.float32(70_000) * np.array(
                [[len(text) == 2] for text in texts]
            )

    with pytest.raises(BadScore, match=r"text 1 \(from 0\): 'bb' .* not finite in float16"):
        write_vectors(Large(), ["a", "bb"], tmp_path / "e.npy", identity={}, dtype="float16")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr("sys.argv", ["rankwell", "encode", *map(str, arguments)])
    return cli.main()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one corpus in every form."""
    texts = corpus(40)
    ids = [f"id {number}" for number in range(40)]
    (tmp_path / "c.txt").write_text("".join(f"{text}\n" for text in texts))
    records = [
        {"_id": name, "title": "Ship", "text": text} for name, text in zip(ids, texts, strict=True)
    ]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / "c.csv").write_text(
        "id,text\n" + "".join(f"{name},{text}\n" for name, text in zip(ids, texts, strict=True))
    )
    pq.write_table(pa.table({"_id": ids, "text": texts}), tmp_path / "c.parquet")
    pq.write_table(pa.table({"key": ids, "abstract": texts}), tmp_path / "odd.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


FORMS = {
    "c.txt": (),
    "c.jsonl": (),
    "c.csv": (),
    "c.parquet": (),
    "odd.parquet": ("--columns", "text=abstract,id=key"),
}


@pytest.mark.parametrize("form", list(FORMS))
def test_texts_of_every_form_give_the_same_vectors_with_their_ids(
    form: str, folder: Path, monkeypatch, capsys
):
    assert (
        run(
            monkeypatch,
            form,
            "-o",
            "out/e.npy",
            "--encoder",
            "tfidf-svd:5",
            "--fit",
            form,
            *FORMS[form],
        )
        == 0
    )
    out, err = capsys.readouterr()
    table = read_embeddings("out/e.npy")

    assert out == ""
    assert "wrote out/e.npy (40 × 5 float32)" in err
    assert table.ids == (None if form == "c.txt" else [f"id {number}" for number in range(40)])
    assert np.array_equal(table.vectors, TfidfSvd(dimensions=5).fit(corpus(40)).encode(corpus(40)))
    manifest = json.loads((folder / "out" / "e.manifest.json").read_text())
    assert manifest["texts"]["count"] == 40
    assert manifest["encoder"]["model"] == "tfidf-svd:5"
    assert not [path for path in (folder / "out").iterdir() if ".part" in path.name]


def test_a_file_that_is_there_is_kept_made_again_or_an_error(folder: Path, monkeypatch, capsys):
    first = ("c.txt", "-o", "e.npy", "--encoder", "tfidf-svd:5", "--fit", "c.txt")
    assert run(monkeypatch, *first) == 0
    before = (folder / "e.npy").stat().st_mtime_ns

    assert run(monkeypatch, *first) == 0
    assert "nothing to do" in capsys.readouterr().err
    assert (folder / "e.npy").stat().st_mtime_ns == before
    assert run(monkeypatch, *first, "--dimensions", "4") == 2
    assert "made from other texts or in another way" in capsys.readouterr().err
    assert run(monkeypatch, *first, "--dtype", "float16", "--overwrite") == 0
    assert read_embeddings("e.npy").vectors.dtype == np.float16


def test_ids_of_an_earlier_file_do_not_stay_beside_a_new_one(folder: Path, monkeypatch):
    assert (
        run(monkeypatch, "c.csv", "-o", "e.npy", "--encoder", "tfidf-svd:5", "--fit", "c.txt") == 0
    )
    assert (folder / "e.ids.txt").exists()

    assert (
        run(
            monkeypatch,
            "c.txt",
            "-o",
            "e.npy",
            "--encoder",
            "tfidf-svd:5",
            "--fit",
            "c.txt",
            "--overwrite",
        )
        == 0
    )

    assert not (folder / "e.ids.txt").exists()


def test_ids_with_line_breaks_are_kept(folder: Path, monkeypatch):
    (folder / "n.jsonl").write_text(
        "".join(json.dumps({"_id": f"a\n{n}", "text": "ship sea"}) + "\n" for n in range(3))
    )

    assert (
        run(monkeypatch, "n.jsonl", "-o", "e.npy", "--encoder", "tfidf-svd:2", "--fit", "c.txt")
        == 0
    )

    assert read_embeddings("e.npy").ids == ["a\n0", "a\n1", "a\n2"]


def test_the_title_goes_before_the_text_when_asked(folder: Path, monkeypatch):
    assert (
        run(
            monkeypatch,
            "c.jsonl",
            "-o",
            "e.npy",
            "--encoder",
            "tfidf-svd:5",
            "--fit",
            "c.jsonl",
            "--columns",
            "title=title",
        )
        == 0
    )

    texts = [f"Ship {text}" for text in corpus(40)]
    assert np.array_equal(
        read_embeddings("e.npy").vectors, TfidfSvd(dimensions=5).fit(texts).encode(texts)
    )


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("c.txt", "-o", "e.bin", "--encoder", "tfidf-svd:5", "--fit", "c.txt"), ".npy"),
        (("c.txt", "-o", "e.npy", "--encoder", "tfidf-svd:5"), "--fit"),
        (
            ("c.txt", "-o", "e.npy", "--encoder", "tfidf-svd:500", "--fit", "c.txt"),
            "fewer than the 500 requested",
        ),
        (("no.txt", "-o", "e.npy", "--encoder", "tfidf-svd:5", "--fit", "c.txt"), "no such file"),
        (
            ("odd.parquet", "-o", "e.npy", "--encoder", "tfidf-svd:5", "--fit", "c.txt"),
            "odd.parquet: no column for the id",
        ),
        (
            ("odd.parquet", "-o", "e.npy", "--encoder", "tfidf-svd:5", "--columns", "text=text"),
            "no column 'text'",
        ),
        (("c.csv", "-o", "e.npy", "--encoder", "tfidf-svd:5", "--columns", "id=id"), "needs text="),
        (
            (
                "c.csv",
                "-o",
                "e.npy",
                "--encoder",
                "tfidf-svd:5",
                "--columns",
                "text=text,title=title",
            ),
            "no column 'title'",
        ),
        (
            (
                "c.txt",
                "-o",
                "e.npy",
                "--encoder",
                "tfidf-svd:5",
                "--fit",
                "c.txt",
                "--device",
                "cuda",
            ),
            "device",
        ),
        (("c.txt", "-o", "e.npy"), "--encoder"),
    ],
)
def test_bad_usage_is_one_line_and_leaves_nothing(
    arguments: tuple[str, ...], wanted: str, folder: Path, monkeypatch, capsys
):
    assert run(monkeypatch, *arguments) == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert wanted in err
    assert len(err.strip().splitlines()) <= 2
    assert not list(folder.glob("e.*"))


STOPPED = """
import sys, time
from rankwell import cli
from rankwell.vectors.encoders.tfidf_svd import TfidfSvd

encode, calls = TfidfSvd.encode, []


def stopped_at_the_second_call(self, texts):
    calls.append(texts)
    if len(calls) == 2:
        print("here", flush=True)
        time.sleep(600)
    return encode(self, texts)


TfidfSvd.encode = stopped_at_the_second_call
sys.exit(cli.main())
"""


def test_of_two_runs_with_one_output_the_second_names_the_first_and_writes_nothing(
    folder: Path, monkeypatch, capsys
):
    options = (
        "c.txt",
        "-o",
        "e.npy",
        "--encoder",
        "tfidf-svd:5",
        "--fit",
        "c.txt",
        "--batch-size",
        "1",
    )
    assert run(monkeypatch, *options[:2], "whole.npy", *options[3:]) == 0
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED, "encode", *options], stdout=subprocess.PIPE
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"here\n"
        before = (folder / "e.npy.part").read_bytes()
        capsys.readouterr()

        assert run(monkeypatch, *options) == 2
        message = capsys.readouterr().err
        assert re.search(
            rf"e\.npy is being written by process {first.pid} on .* encode c\.txt .*, since 20",
            message,
        ), message
        assert (folder / "e.npy.part").read_bytes() == before
        first.kill()

    assert run(monkeypatch, *options) == 0
    assert "32 vectors were there" in capsys.readouterr().err
    assert (folder / "e.npy").read_bytes() == (folder / "whole.npy").read_bytes()
    assert not [path for path in folder.iterdir() if "lock" in path.name or ".part" in path.name]


KILLED_AT_THE_END = """
import os, signal, sys
from rankwell import cli
from rankwell.vectors.encoders import runs

step = int(sys.argv.pop())
module, name = ((runs.Path, "replace"), (runs.VectorFile, "write_beside"))[step]


def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)


setattr(module, name, killed)
cli.main()
"""


@pytest.mark.parametrize("step", [0, 1])
def test_a_killed_overwrite_leaves_no_earlier_vectors_that_pass_for_new_ones(
    step: int, folder: Path, monkeypatch, capsys
):
    options = ("c.txt", "-o", "e.npy", "--encoder", "tfidf-svd:5", "--fit", "c.txt")
    assert run(monkeypatch, *options, "--dimensions", "4") == 0
    assert run(monkeypatch, *options[:2], "whole.npy", *options[3:]) == 0
    line = [sys.executable, "-c", KILLED_AT_THE_END, "encode", *options, "--overwrite", str(step)]
    assert subprocess.run(line, check=False).returncode == -signal.SIGKILL

    code = run(monkeypatch, *options)

    assert code == 2 or (folder / "e.npy").read_bytes() == (folder / "whole.npy").read_bytes()
    assert run(monkeypatch, *options, "--overwrite") == 0
    assert (folder / "e.npy").read_bytes() == (folder / "whole.npy").read_bytes()
    assert not [
        path for path in folder.iterdir() if path.name.startswith(".") or ".part" in path.name
    ]


def test_vectors_that_were_changed_do_not_pass_for_finished(folder: Path, monkeypatch, capsys):
    options = ("c.txt", "-o", "e.npy", "--encoder", "tfidf-svd:5", "--fit", "c.txt")
    assert run(monkeypatch, *options) == 0
    np.save("e.npy", np.load("e.npy") + 1)

    assert run(monkeypatch, *options) == 2
    assert "e.npy is not the file that e.manifest.json describes" in capsys.readouterr().err


ODD_CELLS = {
    "a number": "3.5",
    "a list": '["a"]',
    "true": "true",
    "an object": '{"a": 1}',
    "null": "null",
}


@pytest.mark.parametrize("cell", list(ODD_CELLS))
def test_a_cell_without_text_is_named_by_its_row(cell: str, folder: Path, monkeypatch, capsys):
    (folder / "odd.jsonl").write_text(
        f'{{"key": "a", "said": "ship sea"}}\n{{"key": "b", "said": {ODD_CELLS[cell]}}}\n'
    )

    code = run(
        monkeypatch,
        "odd.jsonl",
        "--columns",
        "text=said",
        "-o",
        "e.npy",
        "--encoder",
        "tfidf-svd:2",
        "--fit",
        "c.txt",
    )

    assert code == 2
    assert "odd.jsonl: row 2 has no text in the column 'said'" in capsys.readouterr().err
    assert not (folder / "e.npy").exists()


SENTENCES = (
    "A man is eating food.",
    "A man eats something.",
    "The stock market fell sharply.",
    "",
    "naïve café – Ω",
)


def test_a_real_model_gives_what_sentence_transformers_gives(
    minilm: str, folder: Path, monkeypatch, capsys
):
    from sentence_transformers import SentenceTransformer

    (folder / "s.txt").write_text("".join(f"{text}\n" for text in SENTENCES))
    assert (
        run(
            monkeypatch,
            "s.txt",
            "-o",
            "e.npy",
            "--encoder",
            minilm,
            "--batch-size",
            "2",
            "--device",
            "cpu",
        )
        == 0
    )
    vectors = read_embeddings("e.npy").vectors
    expected = SentenceTransformer(minilm, device="cpu").encode(
        list(SENTENCES), batch_size=2, show_progress_bar=False
    )

    assert vectors.shape == (5, 384)
    assert np.allclose(vectors, expected, atol=1e-6)
    assert vectors[0] @ vectors[1] > 0.6 > 0.3 > vectors[0] @ vectors[2]
    manifest = json.loads((folder / "e.manifest.json").read_text())
    assert manifest["encoder"]["model_hash"].startswith("sha256:")
    assert manifest["encoder"]["versions"].keys() == {
        "sentence-transformers",
        "transformers",
        "torch",
    }
    assert minilm not in (folder / "e.manifest.json").read_text()


def test_normalisation_and_dimensions_are_as_asked(minilm: str):
    whole = load_encoder(minilm, Settings(device="cpu")).encode(SENTENCES)
    raw = load_encoder(minilm, Settings(device="cpu", normalize=False)).encode(SENTENCES)
    cut = load_encoder(minilm, Settings(64, normalize=True, device="cpu"))

    assert np.linalg.norm(whole, axis=1) == pytest.approx([1] * 5, abs=1e-5)
    assert np.linalg.norm(raw, axis=1).max() > 1.5
    assert np.allclose(raw / np.linalg.norm(raw, axis=1, keepdims=True), whole, atol=1e-5)
    first = whole[:, :64] / np.linalg.norm(whole[:, :64], axis=1, keepdims=True)
    assert cut.dimensions == 64
    assert np.allclose(cut.encode(SENTENCES), first, atol=1e-5)
    with pytest.raises(BadInput, match="gives 384 dimensions, fewer than the 1000 requested"):
        load_encoder(minilm, Settings(1000, device="cpu")).encode(SENTENCES)


KILLED = """
import os, signal
from rankwell import cli
from rankwell.vectors.encoders.sentence_transformers import SentenceTransformers

encode, calls = SentenceTransformers.encode, []


def killed_at_the_third_call(self, texts):
    calls.append(texts)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return encode(self, texts)


SentenceTransformers.encode = killed_at_the_third_call
cli.main()
"""


def test_a_run_with_a_real_model_survives_a_kill(minilm: str, folder: Path, monkeypatch, capsys):
    (folder / "many.txt").write_text("".join(f"{text}\n" for text in corpus(70)))
    options = ("many.txt", "--encoder", minilm, "--batch-size", "1", "--device", "cpu")

    killed = subprocess.run(
        [sys.executable, "-c", KILLED, "encode", *options, "-o", "e.npy"],
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (folder / "e.npy").exists()
    assert run(monkeypatch, *options, "-o", "e.npy") == 0
    err = capsys.readouterr().err
    assert run(monkeypatch, *options, "-o", "whole.npy") == 0

    # Two chunks of 32 batches each were written before.
    assert int(re.search(r"(\d+) vectors were there", err)[1]) == 2 * 32
    assert (folder / "e.npy").read_bytes() == (folder / "whole.npy").read_bytes()


def test_a_model_that_is_not_there_is_one_line(minilm: str, folder: Path, monkeypatch, capsys):
    (folder / "empty").mkdir()

    assert run(monkeypatch, "c.txt", "-o", "e.npy", "--encoder", "empty") == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert len(err.strip().splitlines()) == 1, err
    assert "empty: no model of sentence-transformers can be loaded" in err
    assert run(monkeypatch, "c.txt", "-o", "e.npy", "--encoder", minilm, "--fit", "c.txt") == 2
    assert "--fit" in capsys.readouterr().err


def test_without_the_extra_the_message_says_how_to_get_it(folder: Path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    assert run(monkeypatch, "c.txt", "-o", "e.npy", "--encoder", "some-model") == 2
    assert "pip install 'rankwell[text]'" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["c.csv", "c.txt"])
@pytest.mark.parametrize(
    "name", ["e.ids.txt", "e.ids.json", "e.manifest.json", "e.npy.part", "e.npy.part.json"]
)
def test_a_users_file_beside_the_output_is_refused_before_any_work(
    name: str, form: str, folder: Path, monkeypatch, capsys
):
    (folder / name).write_text('{"a": 1}')
    before = sorted(folder.iterdir())
    command = (form, "-o", "e.npy", "--encoder", "tfidf-svd:5", "--fit", "c.txt")

    assert run(monkeypatch, *command) == 2

    assert name in capsys.readouterr().err
    assert (folder / name).read_text() == '{"a": 1}'
    assert sorted(folder.iterdir()) == before
    assert run(monkeypatch, *command, "--overwrite") == (2 if ".part" in name else 0)


def test_files_of_an_earlier_run_are_claimed_by_its_manifest_until_they_are_changed(
    folder: Path, monkeypatch, capsys
):
    command = ("c.csv", "-o", "e.npy", "--encoder", "tfidf-svd:5", "--fit", "c.txt")
    assert run(monkeypatch, *command) == 0
    (folder / "e.npy").unlink()
    assert run(monkeypatch, *command) == 0
    (folder / "e.ids.txt").write_text("mine\n")

    assert run(monkeypatch, *command) == 2
    assert "e.ids.txt is not the file that e.manifest.json describes" in capsys.readouterr().err
    (folder / "e.npy").unlink()
    assert run(monkeypatch, *command) == 2

    assert "e.ids.txt exists; name another file, or --overwrite" in capsys.readouterr().err
    assert (folder / "e.ids.txt").read_text() == "mine\n"


def test_an_input_beside_the_output_is_never_replaced(folder: Path, monkeypatch, capsys):
    (folder / "e.ids.txt").write_text("ship sea\nking queen\n")

    for texts, fit in (("e.ids.txt", "c.txt"), ("c.txt", "e.ids.txt")):
        assert (
            run(
                monkeypatch,
                texts,
                "-o",
                "e.npy",
                "--encoder",
                "tfidf-svd:2",
                "--fit",
                fit,
                "--overwrite",
            )
            == 2
        )
        assert "e.ids.txt is an input of this command" in capsys.readouterr().err

    assert (folder / "e.ids.txt").read_text() == "ship sea\nking queen\n"


def test_a_named_model_is_not_waited_for_where_the_hub_cannot_be_reached(
    folder: Path, monkeypatch, capsys
):
    pytest.importorskip("huggingface_hub")
    asked: list[bool] = []

    def _load(model: str, *, device: str | None, local_files_only: bool) -> None:
        asked.append(local_files_only)
        raise OSError(model)

    bars = SimpleNamespace(
        is_progress_bar_enabled=bool, disable_progress_bar=bool, enable_progress_bar=bool
    )
    monkeypatch.setitem(
        sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=_load)
    )
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "transformers.utils", SimpleNamespace(logging=bars))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "_problem", hub._problem.__wrapped__)

    assert run(monkeypatch, "c.txt", "-o", "e.npy", "--encoder", "nobody/no-such-model") == 2

    error = capsys.readouterr().err
    assert asked == [True]
    assert "http://127.0.0.1:9 cannot be reached" in error
    assert "it is neither a folder nor in the cache of models" in error
