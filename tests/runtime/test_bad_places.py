"""Places that no command can read or write: addresses without a name, outputs in buckets,
credentials that are refused.
"""

import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from buckets import DENIED, SECRET, Bucket, bucket
from rankwell.cli import main
from rankwell.store import remote

REFUSED = (
    r"(access is refused|the request is refused \(status 400\)); check .*the credentials in "
    r"the environment .* have expired"
)
READS: dict[str, tuple[str, tuple[str, ...]]] = {
    "knn": (
        "knn {}/base.npy {}/queries.npy --neighbours 4 -o two/found.run",
        ("base.npy", "queries.npy"),
    ),
    "crossmodal": (
        "crossmodal --query-vectors {}/queries.npy --item-vectors {}/base.npy --qrels "
        "positives.json --direction t2v -o two/found",
        ("queries.npy", "base.npy"),
    ),
    "embeddings": (
        "embeddings --reference {}/base.npy {}/small.npy -k 2 --samples 9 -o two/found",
        ("base.npy", "small.npy"),
    ),
    "evaluate": ("evaluate {}/qrels.txt {}/one.run -m RR -o two/found", ("qrels.txt", "one.run")),
    "evaluate, a folder": ("evaluate qrels.txt {}/runs/ -m RR -o two/found", ("runs/one.run",)),
    "encode": (
        "encode {}/texts.jsonl --fit {}/texts.jsonl --encoder tfidf-svd:2 --batch-size 1 -o "
        "two/found.npy",
        ("texts.jsonl",),
    ),
}
"""Commands whose inputs are in one place, and the inputs' names."""


@pytest.fixture(autouse=True)
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, rows, dimensions in (("base", 30, 5), ("small", 30, 4), ("queries", 6, 5)):
        np.save(
            f"{name}.npy",
            np.random.default_rng(rows).integers(1, 9, size=(rows, dimensions)).astype(np.float32),
        )
    Path("positives.json").write_text(json.dumps([[query] for query in range(6)]))
    Path("qrels.txt").write_text("q1 0 d1 1\n")
    Path("runs").mkdir()
    for name in ("one.run", "runs/one.run"):
        Path(name).write_text("q1 Q0 d1 1 1.5 t\n")
    texts = (
        f'{{"_id": "{row}", "text": "a word{row % 7} word{row % 5} again"}}\n' for row in range(70)
    )
    Path("texts.jsonl").write_text("".join(texts))


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    with bucket(monkeypatch) as found:
        yield found


def typed(*words: str) -> tuple[int, str]:
    """The exit code and standard error of a command."""
    error = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(io.StringIO()),
        redirect_stderr(error),
    ):
        patch.setattr("sys.argv", ["rankwell", *words])
        return main(), error.getvalue()


def there() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


# ---- credentials
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", DENIED)
@pytest.mark.parametrize("job", READS)
def test_credentials_that_are_refused_are_one_sentence_without_them(
    s3: Bucket, job: str, mode: str
):
    words, names = READS[job]
    for name in names:
        s3.put(name, Path(name).read_bytes())
    s3.mode = mode
    before = there()

    code, error = typed(*words.format(*("s3://bucket",) * 2).split())

    expect_one_sentence(code, error, rf"s3://bucket/\S+: {REFUSED}\.$")
    assert there() == before


@pytest.mark.parametrize("mode", DENIED)
@pytest.mark.parametrize("job", [job for job in READS if "evaluate" not in job])
def test_credentials_that_expire_after_the_plan_are_one_sentence_without_them(
    s3: Bucket, job: str, mode: str
):
    words, names = READS[job]
    for name in names:
        s3.put(name, Path(name).read_bytes())
    every = [*words.format(*("s3://bucket",) * 2).split(), "--work", "work", "--shards", "2"]
    assert typed(*every, "--executor", "array")[0] == 0
    remote.forget()
    s3.mode = mode
    before = there()

    code, error = typed(*every)

    expect_one_sentence(code, error, rf"s3://bucket/\S+: {REFUSED}\.$")
    assert there() == before
    assert SECRET.encode() not in b"".join(before.values())


@pytest.mark.parametrize("mode", DENIED)
@pytest.mark.parametrize("job", ["knn", "encode", "crossmodal", "evaluate"])
def test_a_work_folder_that_is_refused_is_one_sentence_without_credentials(
    s3: Bucket, job: str, mode: str
):
    every = [*READS[job][0].format(".", ".").split(), "--work", "s3://bucket/work", "--shards", "2"]
    assert typed(*every, "--executor", "array")[0] == 0
    remote.forget()
    s3.mode = mode
    before = there()

    code, error = typed(*every)

    expect_one_sentence(code, error, rf"s3://bucket/work\S*: {REFUSED}\.$")
    assert there() == before


def expect_one_sentence(code: int, error: str, sentence: str) -> None:
    assert code == 2, error
    assert error.startswith("rankwell: ")
    assert len(error.splitlines()) == 1, error
    assert re.search(sentence, error), error
    assert SECRET not in error


# ---- addresses
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("s3://", "'s3://' lacks a bucket and a name; expected s3://BUCKET/NAME."),
        ("gs://", "'gs://' lacks a bucket and a name; expected gs://BUCKET/NAME."),
        ("az:///", "'az://' lacks a bucket and a name; expected az://BUCKET/NAME."),
        ("s3:///base.npy", "'s3:///base.npy' lacks a bucket; expected s3://BUCKET/NAME."),
        ("hf://", "'hf://' lacks a repository and a name; expected hf://datasets/OWNER/NAME/FILE."),
    ],
)
@pytest.mark.parametrize(
    "words",
    [
        "knn {} queries.npy --neighbours 3 -o two.run",
        "knn base.npy {} --neighbours 3 -o two.run --executor here",
        "knn base.npy queries.npy --neighbours 3 -o two.run --work {}",
        "crossmodal --query-vectors queries.npy --item-vectors {} --qrels positives.json "
        "--executor here",
        "embeddings --reference base.npy {}",
        "evaluate {} one.run",
        "evaluate qrels.txt {} --executor here",
        "encode {} --encoder tfidf-svd:2 -o two.npy",
        "worker {}",
    ],
)
def test_an_address_without_a_name_is_one_sentence(words: str, address: str, says: str):
    before = there()

    code, error = typed(*words.format(address).split())

    assert (code, error) == (2, f"rankwell: {says}\n")
    assert there() == before


def test_an_address_that_has_become_a_path_is_the_same_sentence():
    assert typed("bench", "s3://", "-o", "two") == (
        2,
        "rankwell: 's3://' lacks a bucket and a name; expected s3://BUCKET/NAME.\n",
    )


@pytest.mark.parametrize("address", ["s3://bucket/found", "gs://bucket/found"])
@pytest.mark.parametrize(
    "words",
    [
        "knn base.npy queries.npy --neighbours 3 -o {}.run",
        "evaluate qrels.txt one.run -o {}",
        "crossmodal base.npy -o {}",
        "convert one.run {}.run",
    ],
)
def test_results_are_not_written_to_an_address(words: str, address: str):
    before = there()
    *line, place = words.format(address).split()

    code, error = typed(*line, place)

    says = f"{place}: results are written to this machine; name a place here, and copy it there."
    assert (code, error.splitlines()[-1]) == (2, f"rankwell: {says}")
    assert there() == before
