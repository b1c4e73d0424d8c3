"""Encoding in parts: the bytes of one run, because parts are whole chunks."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

import rankwell
from commanding import with_fields
from rankwell.cli.commands.encode import encode
from rankwell.errors import BadScore, BadUsage
from rankwell.runtime.parts.encode import EncodedParts
from rankwell.runtime.parts.execution import compute_part

run = with_fields(encode)
MODEL = {"encoder": "tfidf-svd:6", "batch_size": 1}
WORDS = [f"word{number}" for number in range(60)]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """250 texts: 8 chunks of 32, the last one shorter."""
    chance = random.Random(3)
    rows = ({"_id": f"t{row}", "text": " ".join(chance.choices(WORDS, k=9))} for row in range(250))
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "texts.jsonl"


def outputs(folder: Path) -> dict[str, bytes]:
    return {path.suffix or path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shards", [1, 2, 7, 31])
def test_parts_give_the_files_of_one_run(texts: Path, shards: int, dtype: str):
    folder = texts.parent
    run(str(texts), output=folder / "one/v.npy", fit=str(texts), dtype=dtype, **MODEL)

    run(
        str(texts),
        output=folder / "parts/v.npy",
        fit=str(texts),
        dtype=dtype,
        shards=shards,
        work=str(folder / "w"),
        **MODEL,
    )

    assert outputs(folder / "parts") == outputs(folder / "one")
    assert len(list((folder / "w").glob("*.arrays"))) == min(shards, 8)


def test_the_function_writes_the_files_of_the_command_and_returns_the_embeddings(texts: Path):
    folder, fit = texts.parent, str(texts)
    run(str(texts), output=folder / "one/v.npy", fit=fit, **MODEL)

    found = rankwell.encode(
        texts, folder / "parts/v.npy", fit=fit, shards=7, work=str(folder / "w"), **MODEL
    )
    again = rankwell.encode(texts, folder / "parts/v.npy", fit=fit, **MODEL)

    assert outputs(folder / "parts") == outputs(folder / "one")
    assert found.ids == again.ids == [f"t{row}" for row in range(250)]
    assert np.array_equal(found.vectors, np.load(folder / "one/v.npy"))
    with pytest.raises(
        BadUsage,
        match=r"was made from other texts or in another way; name another file, or pass "
        r"overwrite=True",
    ):
        rankwell.encode(texts, folder / "parts/v.npy", encoder="tfidf-svd:5", fit=fit)
    assert rankwell.encode(
        texts, folder / "parts/v.npy", encoder="tfidf-svd:5", fit=fit, overwrite=True
    ).vectors.shape == (250, 5)
    with pytest.raises(rankwell.Unfinished, match=r"rankwell worker "):
        rankwell.encode(
            texts,
            folder / "array/v.npy",
            fit=fit,
            executor="array",
            work=str(folder / "array"),
            **MODEL,
        )


def test_the_function_goes_on_with_the_work_folder_of_the_command_whatever_the_executor(
    texts: Path,
):
    folder, work = texts.parent, texts.parent / "w"
    run(
        str(texts),
        output=folder / "v.npy",
        fit=str(texts),
        work=str(work),
        shards=2,
        executor="array",
        **MODEL,
    )
    with pytest.raises(rankwell.Unfinished):
        rankwell.encode(
            texts, folder / "v.npy", fit=str(texts), work=str(work), executor="array", **MODEL
        )

    assert (
        rankwell.encode(texts, folder / "v.npy", fit=str(texts), work=str(work), **MODEL).n == 250
    )


@pytest.mark.parametrize("overwrite", [False, True])
def test_the_function_never_replaces_its_texts(texts: Path, overwrite: bool):
    held = texts.with_name("texts.npy")
    held.write_bytes(texts.read_bytes())

    with pytest.raises(BadUsage, match=r"texts\.npy is an input of this command"):
        rankwell.encode(held, held, encoder="tfidf-svd:5", fit=str(texts), overwrite=overwrite)

    assert held.read_bytes() == texts.read_bytes()


def test_texts_that_changed_since_the_last_call_of_a_process_are_read_anew(texts: Path):
    folder = texts.parent
    run(str(texts), output=folder / "before/v.npy", fit=str(texts), shards=7, **MODEL)
    texts.write_text(texts.read_text().replace("word1", "word2"))
    run(str(texts), output=folder / "one/v.npy", fit=str(texts), **MODEL)

    run(str(texts), output=folder / "parts/v.npy", fit=str(texts), shards=7, **MODEL)

    assert outputs(folder / "parts") == outputs(folder / "one") != outputs(folder / "before")


def test_processes_give_the_files_of_one_run(texts: Path):
    folder = texts.parent
    run(str(texts), output=folder / "one/v.npy", fit=str(texts), **MODEL)

    run(str(texts), output=folder / "parts/v.npy", fit=str(texts), executor="processes:2", **MODEL)

    assert outputs(folder / "parts") == outputs(folder / "one")


def test_an_array_encodes_and_the_same_command_writes_the_file(texts: Path):
    folder = texts.parent
    options = {
        "fit": str(texts),
        "executor": "array",
        "work": str(folder / "w"),
        "shards": 3,
        **MODEL,
    }
    assert "sbatch --array=0-2 " in run(str(texts), output=folder / "parts/v.npy", **options).text
    compute_part(folder / "w", 1)
    assert run(str(texts), output=folder / "parts/v.npy", **options).exit_code == 5

    for index in (0, 2):
        compute_part(folder / "w", index)
    done = run(str(texts), output=folder / "parts/v.npy", **options)

    run(str(texts), output=folder / "one/v.npy", fit=str(texts), **MODEL)
    assert done.exit_code == 0
    assert outputs(folder / "parts") == outputs(folder / "one")
    assert "nothing to do" in run(str(texts), output=folder / "parts/v.npy", **options).messages[-1]


def stopping_after(calls: int):
    encode_chunk, left = EncodedParts.encode, iter(range(calls))

    def _encode(self: EncodedParts, some: list[str]):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return encode_chunk(self, some)

    return _encode


def test_what_a_killed_run_has_left_does_not_move_the_vectors_of_parts(
    texts: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = texts.parent
    run(str(texts), output=folder / "one/v.npy", fit=str(texts), **MODEL)
    options = {"fit": str(texts), "shards": 3, "work": str(folder / "w"), **MODEL}
    with monkeypatch.context() as patch:
        patch.setattr(EncodedParts, "encode", stopping_after(3))
        with pytest.raises(KeyboardInterrupt):
            run(str(texts), output=folder / "parts/v.npy", **options)
    assert (folder / "parts/v.npy.part").exists()

    run(str(texts), output=folder / "parts/v.npy", **options)

    assert outputs(folder / "parts") == outputs(folder / "one")


def test_a_vector_that_is_not_finite_names_the_text_in_the_whole_file(
    texts: Path, monkeypatch: pytest.MonkeyPatch
):
    from rankwell.vectors.encoders import tfidf_svd

    whole = tfidf_svd.TfidfSvd.encode
    monkeypatch.setattr(
        tfidf_svd.TfidfSvd, "encode", lambda self, some: whole(self, some) * np.float32(1e30)
    )

    with pytest.raises(
        BadScore, match=r"texts\.jsonl: text 0 \(from 0\): .* not finite in float16"
    ):
        run(
            str(texts),
            output=texts.parent / "v.npy",
            fit=str(texts),
            shards=3,
            dtype="float16",
            **MODEL,
        )


def test_texts_that_have_changed_are_other_work(texts: Path):
    options = {"fit": str(texts), "shards": 3, "work": str(texts.parent / "w"), **MODEL}
    run(str(texts), output=texts.parent / "v.npy", **options)
    with texts.open("a") as stream:
        stream.write('{"_id": "more", "text": "word1"}\n')

    with pytest.raises(BadUsage, match=r"texts\.jsonl has changed"):
        run(str(texts), output=texts.parent / "w.npy", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"batch_size": 0}, "batch size 0"), ({"batch_size": 1, "shards": 0}, "--shards 0")],
)
def test_numbers_below_one_are_refused_before_any_work(
    texts: Path, options: dict[str, int], message: str
):
    work = texts.parent / "w"

    with pytest.raises(BadUsage, match=message):
        run(
            str(texts),
            output=texts.parent / "v.npy",
            encoder="tfidf-svd:2",
            fit=str(texts),
            work=str(work),
            **options,
        )

    assert not work.exists()


def test_an_output_that_cannot_be_written_is_refused_before_any_work(texts: Path):
    work = texts.parent / "w"

    with pytest.raises(BadUsage, match=r"s3://b/v\.npy: results are written to this machine"):
        run(
            str(texts),
            output=Path("s3://b/v.npy"),
            encoder="tfidf-svd:2",
            fit=str(texts),
            work=str(work),
            executor="here",
        )

    assert not work.exists()


def test_a_dry_run_loads_no_model(texts: Path):
    chosen = {"encoder": "not/a/model", "dry_run": True, "executor": "processes:2", "batch_size": 4}

    output = run(str(texts), output=texts.parent / "v.npy", **chosen)

    lines = dict(line.rsplit(None, 1) for line in output.text.splitlines())
    assert lines == {"parts": "2", "texts": "250", "chunks": "2", "texts per part": "128"}


@pytest.mark.parametrize(
    "chosen",
    [{"executor": "array"}, {"executor": "here", "dry_run": True}],
    ids=["plan", "dry run"],
)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder": "tfidf-svd:6"}, r"tfidf-svd has no words yet.*\(--fit\)"),
        (
            {"encoder": "tfidf-svd:six", "fit": "texts.jsonl"},
            r"tfidf-svd:six; expected the number of dimensions",
        ),
        (
            {"encoder": "tfidf-svd:6", "fit": "texts.jsonl", "device": "cuda"},
            r"NumPy on the CPU; leave the device out",
        ),
        ({"encoder": "not/a/model", "dimensions": 0}, r"dimensions 0; expected a positive integer"),
    ],
)
def test_what_every_part_would_refuse_is_refused_by_the_command_that_plans(
    texts: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, str | int],
    message: str,
    chosen: dict[str, str | bool],
):
    monkeypatch.chdir(texts.parent)

    with pytest.raises(BadUsage, match=message):
        run("texts.jsonl", output=Path("v.npy"), work="w", **options, **chosen)

    assert [path.name for path in Path().iterdir()] == ["texts.jsonl"]
