"""Data sets by their ids in ir_datasets (`python ir_datasets`), and folders as Hugging Face
datasets and its hub write them.
"""

from pathlib import Path
from typing import Any

import pytest

import rankwell
from rankwell.cli import main
from rankwell.errors import BadInput, MissingExtra, UnknownName
from rankwell.io.formats import find_judgments, read_ids, read_judgments, read_ranking, read_texts

QRELS = {"query-id": ["q1", "q1", "q2"], "corpus-id": ["d1", "d2", "d2"], "score": [2, 0, 1]}
CORPUS = {
    "_id": ["d1", "d2", "d3"],
    "title": ["One", "", "Three"],
    "text": ["first", "second", "third"],
}
QUERIES = {"_id": ["q1", "q2"], "text": ["what is it", "why"]}
JUDGED = {"q1": {"d1": 2.0, "d2": 0.0}, "q2": {"d2": 1.0}}
RUN = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d1": 2.0, "d2": 1.0}}


def command(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr("sys.argv", ["rankwell", *map(str, words)])
    return main()


TABLES = (("qrels", "test", QRELS), ("corpus", "corpus", CORPUS), ("queries", "queries", QUERIES))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A data set in the layout of `save_to_disk`: a folder of splits for each table."""
    pa: Any = pytest.importorskip("pyarrow")
    for name, split, columns in TABLES:
        folder = tmp_path / "saved" / name / split
        folder.mkdir(parents=True)
        (folder / "state.json").write_text("{}")
        table = pa.table(columns)
        with (
            pa.OSFile(str(folder / "data-00000-of-00001.arrow"), "wb") as file,
            pa.ipc.new_stream(file, table.schema) as stream,
        ):
            stream.write_table(table)
    return tmp_path / "saved"


def hub(folder: Path, layout: str) -> Path:
    """A data set as its repository on the hub has it: files of splits, or folders of them."""
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    for name, split, columns in TABLES:
        path = folder / layout.format(name=name, split=split)
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table(columns), path)
    return folder


def test_a_saved_data_set_is_read_split_by_split(saved: Path):
    found = find_judgments(saved)
    assert (found.judgments.to_dict(), found.format) == (JUDGED, "arrow")
    assert (
        read_judgments(f"{saved}:test").to_dict()
        == read_judgments(saved / "qrels").to_dict()
        == JUDGED
    )
    texts = read_texts(saved / "corpus")
    assert texts.texts == {"d1": "first", "d2": "second", "d3": "third"}
    assert texts.attributes["d3"] == {"title": "Three"}
    assert read_ids(f"{saved}/queries:queries") == {"q1", "q2"}


@pytest.mark.parametrize(
    "layout",
    [
        "{name}/{split}-00000-of-00001.parquet",
        "{name}/{split}/0000.parquet",
        "{name}/{split}.parquet",
    ],
)
def test_a_data_set_of_the_hub_is_read_as_it_was_downloaded(layout: str, tmp_path: Path):
    folder = hub(tmp_path / "set", layout)
    assert read_judgments(folder).to_dict() == JUDGED
    assert read_texts(folder / "queries").texts == {"q1": "what is it", "q2": "why"}


def test_judgments_of_mteb_lie_in_qrels_as_json_lines_or_in_the_default_part(tmp_path: Path):
    (tmp_path / "old/qrels").mkdir(parents=True)
    lines = [
        f'{{"query-id": "{query}", "corpus-id": "{item}", "score": {score}}}'
        for query, item, score in zip(*QRELS.values(), strict=True)
    ]
    (tmp_path / "old/qrels/test.jsonl").write_text("\n".join(lines) + "\n")
    assert read_judgments(tmp_path / "old").to_dict() == JUDGED
    folder = hub(tmp_path / "new", "{name}/{split}-00000-of-00001.parquet")
    (folder / "qrels").rename(folder / "data")
    assert read_judgments(folder).to_dict() == JUDGED


def test_the_queries_of_a_saved_data_set_are_shown_and_its_file_is_recorded(saved: Path):
    result = rankwell.evaluate(str(saved), RUN, "AP", details=True, intervals="none")
    assert result.summary[0]["mean"] == 0.5
    assert result.queries is not None
    assert result.queries["text"] == ["what is it", "why"]
    assert result.sources["judgments"].name == str(saved / "qrels/test/data-00000-of-00001.arrow")


def test_an_id_in_two_files_of_texts_is_an_error(saved: Path):
    file = saved / "corpus/corpus/data-00000-of-00001.arrow"
    (file.parent / "data-00001-of-00002.arrow").write_bytes(file.read_bytes())
    with pytest.raises(BadInput, match=r"data-00001-of-00002\.arrow: the id 'd1' already appears"):
        read_texts(saved / "corpus")


@pytest.mark.slow
def test_what_hugging_face_datasets_saves_is_read(tmp_path: Path):
    datasets: Any = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    for name, split, columns in TABLES:
        table = datasets.Dataset.from_dict(columns)
        datasets.DatasetDict({split: table}).save_to_disk(tmp_path / "splits" / name)
        table.save_to_disk(tmp_path / "plain" / name)
    for each in ("splits", "plain"):
        assert read_judgments(tmp_path / each).to_dict() == JUDGED
        assert read_texts(tmp_path / each / "queries").texts == {"q1": "what is it", "q2": "why"}
    datasets.Dataset.from_dict(CORPUS).select([2, 0, 1]).save_to_disk(
        tmp_path / "shards", num_shards=2
    )
    assert list(read_texts(tmp_path / "shards").texts) == ["d3", "d1", "d2"]


def test_an_arrow_stream_is_also_a_run(tmp_path: Path):
    pa: Any = pytest.importorskip("pyarrow")
    table = pa.table({"query": ["q1", "q1"], "item": ["a", "b"], "score": [2.0, 1.0]})
    with (
        pa.OSFile(str(tmp_path / "x.arrow"), "wb") as file,
        pa.ipc.new_stream(file, table.schema) as stream,
    ):
        stream.write_table(table)
    assert read_ranking(tmp_path / "x.arrow").to_dict() == {"q1": {"a": 2.0, "b": 1.0}}
    (tmp_path / "cut.arrow").write_bytes((tmp_path / "x.arrow").read_bytes()[:-120])
    with pytest.raises(BadInput, match=r"cut\.arrow: the Arrow data is damaged or ends early"):
        read_ranking(tmp_path / "cut.arrow")


def test_a_folder_that_does_not_say_what_is_meant_lists_what_is_there(saved: Path, tmp_path: Path):
    with pytest.raises(
        BadInput, match=r"no split 'dev'; its splits are test; name one as .*saved:test"
    ):
        read_judgments(f"{saved}:dev")
    with pytest.raises(
        BadInput, match=r"saved is a folder without texts of its own; name .*/queries or .*/corpus"
    ):
        read_texts(saved)
    with pytest.raises(BadInput, match=r"corpus has no split 'x'; name one of .*corpus:corpus"):
        read_texts(f"{saved}/corpus:x")
    both = hub(tmp_path / "both", "{name}/{split}.parquet")
    (both / "corpus/more.parquet").write_bytes((both / "corpus/corpus.parquet").read_bytes())
    with pytest.raises(
        BadInput, match=r"has several splits; name one of .*corpus:corpus, .*corpus:more"
    ):
        read_texts(both / "corpus")
    (both / "qrels/test-00001-of-00002.parquet").write_bytes(b"")
    with pytest.raises(
        BadInput, match="the judgments of the split 'test' are 2 files; expected one"
    ):
        read_judgments(both)


def test_a_missing_package_is_named(saved: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"needs pyarrow: pip install 'rankwell\[datasets\]'"):
        read_judgments(saved)
    monkeypatch.setitem(__import__("sys").modules, "ir_datasets", None)
    with pytest.raises(
        MissingExtra, match=r"needs ir_datasets: pip install 'rankwell\[ir-datasets\]'"
    ):
        read_judgments("irds:vaswani")


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A data set of ir_datasets that is registered for the test: TREC's qrels, queries in TSV; and
    one without its files.
    """
    package: Any = pytest.importorskip("ir_datasets")
    from ir_datasets.formats import TrecQrels, TsvQueries
    from ir_datasets.util import LocalDownload

    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(package.registry, "_registered", {**package.registry._registered})
    qrels, queries = tmp_path / "own.qrels", tmp_path / "own.tsv"
    qrels.write_text("q1 A d1 2\nq1 B d2 0\nq2 A d2 1\n")
    queries.write_text("q1\twhat is it\nq2\twhy\n")
    own = [TsvQueries(LocalDownload(queries)), TrecQrels(LocalDownload(qrels), {})]
    package.registry.register("own", package.Dataset(own[0]))
    package.registry.register("own/test", package.Dataset(*own))
    package.registry.register(
        "gone", package.Dataset(TrecQrels(LocalDownload(tmp_path / "gone.qrels"), {}))
    )
    return "irds:own/test"


def test_an_id_of_ir_datasets_stands_for_judgments_and_queries(
    registered: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
):
    found = find_judgments(registered)
    assert (found.judgments.to_dict(), found.format) == (JUDGED, "python ir_datasets")
    assert found.findings == (f"judgments: {registered}",)
    assert read_judgments(registered, aspects="groups").aspects == ["A", "B", "A"]
    assert read_texts("irds:own").texts == {"q1": "what is it", "q2": "why"}
    run = tmp_path / "x.run"
    run.write_text("q1 Q0 d2 1 2 x\nq1 Q0 d1 2 1 x\nq2 Q0 d1 1 2 x\nq2 Q0 d2 2 1 x\n")
    assert (
        command(monkeypatch, "evaluate", registered, run, "-m", "AP", "--queries", registered) == 0
    )
    assert f"judgments: {registered}" in capsys.readouterr().err
    assert command(monkeypatch, "convert", registered, tmp_path / "own.csv") == 0
    assert read_judgments(tmp_path / "own.csv").to_dict() == JUDGED
    assert (
        command(monkeypatch, "convert", registered, tmp_path / "own.json", "--to", "opensearch")
        == 0
    )
    assert set(read_judgments(tmp_path / "own.json").to_dict()) == {"what is it", "why"}


def test_ids_that_cannot_be_read_say_why(
    registered: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(
        UnknownName, match="ir_datasets has no data set 'own/tets'; did you mean 'own/test'"
    ):
        read_judgments("irds:own/tets")
    with pytest.raises(BadInput, match="irds:own has no qrels; those of irds:own/test are there"):
        read_judgments("irds:own")
    with pytest.raises(
        BadInput,
        match=r"irds:gone: the data is not in .*home or damaged, and cannot be fetched "
        r"\(FileNotFoundError",
    ):
        read_judgments("irds:gone")
    with pytest.raises(BadInput, match="a run cannot be read from irds:own"):
        read_ranking("irds:own")
    assert command(monkeypatch, "evaluate", "irds:gone", registered) == 2
    assert command(monkeypatch, "evaluate", registered, "x.run", "--executor", "processes") == 2
    assert "Traceback" not in capsys.readouterr().err


def test_data_that_is_not_here_and_cannot_be_fetched_is_an_error_with_the_whole_reason_and_no_log(
    registered: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with pytest.raises(
        BadInput,
        match=r"irds:beir/scifact/test: the data is not in .*cannot be fetched "
        r"\(ProxyError.*\)\)\); go online",
    ):
        read_judgments("irds:beir/scifact/test")
    assert "".join(capfd.readouterr()) == ""
