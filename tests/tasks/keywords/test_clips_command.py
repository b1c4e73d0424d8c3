"""`rankwell keywords` and `rankwell keywords check`: what they print, write and refuse."""

import csv
import io
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from rankwell import reporting
from rankwell.cli import main
from rankwell.tasks.keywords.phrases import KeyBertEncoder


def run(
    *words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["rankwell", *words])
    code = main()
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    random = Random(3)
    names = [f"c{number}" for number in range(24)]
    table = {
        name: {
            "g": random.sample(["car", "bus", "day"], random.randint(0, 2)),
            "h": random.sample(["x", "y"], random.randint(0, 1)),
        }
        for name in names
    }
    vectors = {name: [random.gauss(0, 1) for _ in range(4)] for name in names}
    lines = [
        "slice_id,g,h",
        *(
            f'{clip},"{", ".join(each["g"])}","{", ".join(each["h"])}"'
            for clip, each in table.items()
        ),
    ]
    (tmp_path / "clips.csv").write_text("\n".join(lines))
    np.save(tmp_path / "v.npy", np.array(list(vectors.values()), dtype=np.float32))
    (tmp_path / "v.ids.txt").write_text("\n".join(vectors) + "\n")
    return {
        "annotations": str(tmp_path / "clips.csv"),
        "embeddings": str(tmp_path / "v.npy"),
        "out": str(tmp_path / "out"),
    }


def test_the_command_prints_ceiling_chance_and_the_tables(
    files: dict[str, str], capsys: Any, monkeypatch: Any
):
    words = [
        "keywords",
        "--annotations",
        files["annotations"],
        "--item-vectors",
        files["embeddings"],
        "--keyword-groups",
        "g,h",
    ]
    code, out, err = run(
        *words, "-c", "alfa", "--per-query", "--verbose", capsys=capsys, monkeypatch=monkeypatch
    )
    assert code == 0
    for word in (
        "Recall@5",
        "P@5",
        "ceiling",
        "chance",
        "coverage",
        "interval",
        "missing",
        "by chance",
        "match (",
    ):
        assert word in out, word
    assert "no relevant clip" in err


def test_the_command_writes_everything_and_json_holds_each_result(
    files: dict[str, str], capsys: Any, monkeypatch: Any
):
    import duckdb

    words = [
        "keywords",
        "--annotations",
        files["annotations"],
        "--item-vectors",
        files["embeddings"],
        "--keyword-groups",
        "g,h",
    ]
    code, out, _ = run(
        *words,
        "--per-query",
        "-f",
        "json",
        "-o",
        files["out"],
        capsys=capsys,
        monkeypatch=monkeypatch,
    )
    assert code == 0
    found = json.loads(out)
    assert {"rows", "per_query", "by_group", "by_keyword", "rules", "findings"} <= set(found)
    row = next(row for row in found["per_query"] if row["status"] == "counted")
    assert len(row["retrieved"]) == len(row["similarities"]) == 5
    assert set(row["results"][0]) >= {"item", "rank", "similarity", "match", "groups", "reasons"}
    folder = Path(files["out"])
    assert not (folder / "sheets").exists()
    names = {path.name for path in folder.iterdir()}
    assert {
        "by_group.csv",
        "by_keyword.csv",
        "details.parquet",
        "queries.parquet",
        "manifest.json",
        "per_query.parquet",
    } <= names
    details = duckdb.sql(
        f"SELECT rank, state, detail FROM '{folder / 'details.parquet'}' ORDER BY query, rank"
    ).fetchall()
    assert {state for _, state, _ in details} == {"relevant", "nonrelevant"}
    assert all("match" in json.loads(detail) for _, _, detail in details)
    queries = duckdb.sql(
        f"SELECT query, keywords, relevant FROM '{folder / 'queries.parquet'}'"
    ).fetchall()
    assert len(queries) == 24


def test_the_manifest_names_a_folder_of_vectors(
    files: dict[str, str], capsys: Any, monkeypatch: Any
):
    folder = Path(files["embeddings"]).parent / "model"
    folder.mkdir()
    for suffix in (".npy", ".ids.txt"):
        Path(files["embeddings"]).with_suffix(suffix).rename(folder / f"vectors{suffix}")

    words = [
        "keywords",
        "--annotations",
        files["annotations"],
        "--keyword-groups",
        "g,h",
        "--item-vectors",
        str(folder),
    ]
    ids = str(folder / "vectors.ids.txt")
    code, _, err = run(
        *words,
        "--item-ids",
        ids,
        "--per-query",
        "-o",
        files["out"],
        capsys=capsys,
        monkeypatch=monkeypatch,
    )

    assert code == 0, err
    inputs = json.loads(Path(files["out"], "manifest.json").read_text())["inputs"]
    assert inputs["item_vectors"]["file"] == str(folder / "vectors.npy")


@pytest.mark.parametrize(
    ("extra", "code", "message"),
    [
        (["--keyword-groups", "g,colour"], 2, "unknown group 'colour'"),
        (["--thumbnails", "pictures"], 2, "name one with -o"),
        (
            ["--queries", "keywords", "--engine", "no_such_module_here:x"],
            2,
            "--item-vectors: nothing reads it",
        ),
        (["--engine", "no_such_module_here:x"], 2, "no_such_module_here"),
        (["--keyword-threshold", "0.5"], 2, "give --queries"),
        (["--strategy", "cover"], 2, "--strategy: clips search, and nothing reads texts"),
        (["--query-vectors", "t.npy"], 2, "t.npy: no such file"),
        (["--run", "r.run", "--metric", "dot"], 2, "--item-vectors, --metric: nothing reads them"),
        (["--query-vectors", "t.npy", "--strategy", "cover"], 2, "--strategy: without texts"),
        (["--query-vectors", "t.npy", "--encoder", "m"], 2, "--encoder: without texts"),
        (["--queries", "q.txt", "--keyword-threshold", "0.5"], 2, "requires --encoder"),
        (["--exclude-group", "id:ZZZ"], 2, "no clip id contains 'ZZZ'"),
        (["--keyword-groups", ","], 2, "--keyword-groups ',' has an empty name"),
    ],
)
def test_the_command_refuses_with_a_line(
    files: dict[str, str], extra: list[str], code: int, message: str, capsys: Any, monkeypatch: Any
):
    words = [
        "keywords",
        "--annotations",
        files["annotations"],
        "--item-vectors",
        files["embeddings"],
        "--keyword-groups",
        "g,h",
    ]
    words = words[:-2] if "--keyword-groups" in extra else words
    found, _, err = run(*words, *extra, capsys=capsys, monkeypatch=monkeypatch)
    assert (found, message in err) == (code, True), err


def test_an_empty_table_is_bad_input(tmp_path: Path, capsys: Any, monkeypatch: Any):
    (tmp_path / "t.csv").write_text("slice_id,object_type\n")
    code, _, err = run(
        "keywords", "--annotations", str(tmp_path / "t.csv"), capsys=capsys, monkeypatch=monkeypatch
    )
    assert (code, "annotates no clip" in err) == (2, True)


def test_lint_prints_what_is_odd_and_strict_makes_it_an_error(
    tmp_path: Path, capsys: Any, monkeypatch: Any
):
    (tmp_path / "t.csv").write_text("slice_id,scene_type\na,cloud\nb,cloudy\nc,\n")
    words = ["keywords", "check", str(tmp_path / "t.csv")]
    code, out, err = run(*words, "-f", "json", capsys=capsys, monkeypatch=monkeypatch)
    assert {(row["kind"], row["label"]) for row in json.loads(out)["rows"]} == {
        ("empty row", "c"),
        ("near-duplicate", "cloud"),
    }
    assert (code, "3 clips" in err) == (0, True)
    assert run(*words, "--strict", capsys=capsys, monkeypatch=monkeypatch)[0] == 1
    (tmp_path / "t.csv").write_text("slice_id,scene_type\na,cloudy\n")
    assert run(*words, "--strict", capsys=capsys, monkeypatch=monkeypatch)[0] == 0


def test_nothing_of_an_earlier_result_stays_and_the_manifest_lists_all(
    files: dict[str, str], capsys: Any, monkeypatch: Any
):
    words = [
        "keywords",
        "--annotations",
        files["annotations"],
        "--item-vectors",
        files["embeddings"],
        "-o",
        files["out"],
    ]
    folder = Path(files["out"])

    def listed() -> tuple[set[str], set[str]]:
        there = {
            path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
        }
        return there - {"manifest.json"}, set(
            json.loads((folder / "manifest.json").read_text())["files"]
        )

    assert run(*words, "--keyword-groups", "g,h", capsys=capsys, monkeypatch=monkeypatch)[0] == 0
    there, told = listed()
    assert there == told
    assert {"by_group.csv", "by_keyword.csv"} < told
    (folder / "by_group.csv").write_text("my own table")
    (folder / "mine.txt").write_text("mine")
    again = (*words, "--keyword-groups", "h")
    code, _, err = run(*again, capsys=capsys, monkeypatch=monkeypatch)
    assert code == 2
    assert "by_group.csv" in err
    assert (folder / "by_group.csv").read_text() == "my own table"
    assert run(*again, "--overwrite", capsys=capsys, monkeypatch=monkeypatch)[0] == 0
    now, told = listed()
    # What somebody wrote or changed since is theirs.
    assert now - told == {"by_group.csv", "mine.txt"}


def test_the_csv_of_single_queries_has_their_results_once_and_as_json(
    files: dict[str, str], capsys: Any, monkeypatch: Any
):
    words = [
        "keywords",
        "--annotations",
        files["annotations"],
        "--item-vectors",
        files["embeddings"],
        "--keyword-groups",
        "g,h",
    ]
    _, out, _ = run(*words, "--per-query", "-f", "csv", capsys=capsys, monkeypatch=monkeypatch)
    rows = list(csv.DictReader(io.StringIO(out)))
    _, out, _ = run(*words, "--per-query", "-f", "json", capsys=capsys, monkeypatch=monkeypatch)
    told = json.loads(out)["per_query"]

    queries = {row["query"] for row in rows}
    assert sum(bool(row["results"]) for row in rows) == len(queries) < len(rows)
    for row, other in zip(rows, told, strict=True):
        assert json.loads(row["retrieved"]) == other["retrieved"]
        assert json.loads(row["keywords"]) == other["keywords"]
        assert not row["results"] or json.loads(row["results"]) == other["results"]


def test_rows_by_group_and_by_keyword_begin_with_the_columns_of_a_summary(
    files: dict[str, str], capsys: Any, monkeypatch: Any
):
    words = [
        "keywords",
        "--annotations",
        files["annotations"],
        "--item-vectors",
        files["embeddings"],
        "--keyword-groups",
        "g,h",
    ]
    _, out, _ = run(*words, "-f", "json", capsys=capsys, monkeypatch=monkeypatch)
    found = json.loads(out)

    fixed = list(reporting.SUMMARY_COLUMNS)
    assert list(found["by_group"][0]) == [*fixed, "group", "ceiling", "chance", "coverage"]
    assert list(found["by_keyword"][0])[: len(fixed) + 2] == [*fixed, "group", "keyword"]


def test_what_explains_that_nothing_counts_is_said(tmp_path: Path, capsys: Any, monkeypatch: Any):
    (tmp_path / "t.csv").write_text("slice_id,object_type,colour\na,car,red\nb,bus,red\n")
    (tmp_path / "q.txt").write_text("tomato soup\n")
    (tmp_path / "kept.run").write_text("0 Q0 a 1 1 r\n")
    words = [
        "keywords",
        "--annotations",
        str(tmp_path / "t.csv"),
        "--run",
        str(tmp_path / "kept.run"),
    ]
    code, out, err = run(
        *words, "--queries", str(tmp_path / "q.txt"), capsys=capsys, monkeypatch=monkeypatch
    )

    assert (code, out, len(err.splitlines())) == (4, "", 1)
    for words_ in (
        "not read as keywords: 'colour'",
        "unmapped: 'tomato', 'soup'",
        "without an encoder no similar words are found",
    ):
        assert words_ in err


def test_lint_puts_unused_labels_last_in_a_line_per_group(
    tmp_path: Path, capsys: Any, monkeypatch: Any
):
    (tmp_path / "t.csv").write_text("slice_id,scene_type\na,day\nb,nihgt\n")
    (tmp_path / "s.json").write_text(
        json.dumps({"scene_type": ["day", "night", "dusk", "dawn", "rain", "fog"]})
    )
    words = ["keywords", "check", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "s.json")]
    _, out, _ = run(*words, capsys=capsys, monkeypatch=monkeypatch)
    lines = [line for line in out.splitlines() if line.startswith("never used")]

    assert out.splitlines()[-1:] == lines
    assert "5 declared and on no clip: night, dusk, dawn and 2 more" in lines[0]
    _, out, _ = run(*words, "-f", "json", capsys=capsys, monkeypatch=monkeypatch)
    unused = [row["label"] for row in json.loads(out)["rows"] if row["kind"] == "never used"]
    assert unused == ["night", "dusk", "dawn", "rain", "fog"]


def test_lint_refuses_an_unknown_group_beside_a_schema(
    tmp_path: Path, capsys: Any, monkeypatch: Any
):
    (tmp_path / "t.csv").write_text("slice_id,scene_type\na,day\n")
    (tmp_path / "s.json").write_text(json.dumps({"scene_type": ["day"]}))
    words = ["keywords", "check", str(tmp_path / "t.csv"), "--keyword-groups", "colour"]
    for more in ([], ["--schema", str(tmp_path / "s.json")]):
        code, _, err = run(*words, *more, capsys=capsys, monkeypatch=monkeypatch)

        assert (code, "unknown group 'colour'" in err) == (2, True)


def test_a_file_of_vectors_in_place_of_text_queries_is_refused_at_once(
    files: dict[str, str], capsys: Any, monkeypatch: Any
):
    words = (
        "keywords",
        "--annotations",
        files["annotations"],
        "--item-vectors",
        files["embeddings"],
    )

    code, _, error = run(
        *words,
        "--keyword-groups",
        "g,h",
        "--queries",
        files["embeddings"],
        "--query-vectors",
        files["embeddings"],
        capsys=capsys,
        monkeypatch=monkeypatch,
    )

    assert code == 2
    assert "v.npy:1: a zero byte, so this is not a text file" in error


def test_an_unknown_query_clip_is_named_with_the_nearest(
    files: dict[str, str], capsys: Any, monkeypatch: Any
):
    words = (
        "keywords",
        "--annotations",
        files["annotations"],
        "--item-vectors",
        files["embeddings"],
        "--keyword-groups",
        "g,h",
    )

    code, _, error = run(*words, "--query-ids", "zz9", capsys=capsys, monkeypatch=monkeypatch)

    assert code == 2
    assert "'zz9' is neither a clip nor a keyword" in error


def test_lint_heads_the_column_of_keywords_by_that_word(
    tmp_path: Path, capsys: Any, monkeypatch: Any
):
    (tmp_path / "clips.csv").write_text("slice_id,object_type\na,car; bus\nb,cloud\nc,cloudy\n")

    _, out, _ = run(
        "keywords", "check", str(tmp_path / "clips.csv"), capsys=capsys, monkeypatch=monkeypatch
    )

    assert "keyword" in out.splitlines()[0]
    assert "measure" not in out.splitlines()[0]
    assert "';' or '|' inside" in out


def test_lint_lists_texts_that_mean_nothing_and_ambiguous_ones(
    tmp_path: Path, capsys: Any, monkeypatch: Any
):
    (tmp_path / "t.csv").write_text(
        'slice_id,object_type,scene_type\na,"other, car",other\nb,car,road\n'
    )
    table, texts = str(tmp_path / "t.csv"), tmp_path / "q.txt"
    texts.write_text("a car\na lorry\na lorry\nno car\n???\ncar, other\n")
    words = ["keywords", "check", table, "--queries", str(texts), "-f", "json"]

    code, out, err = run(*words, "--strict", capsys=capsys, monkeypatch=monkeypatch)

    found = [
        (row["kind"], row["label"])
        for row in json.loads(out)["rows"]
        if row["kind"] != "two groups"
    ]
    assert found == [
        *(
            ("no word", f"{texts}:5 ('???')"),
            ("nothing mapped", "a lorry"),
            ("nothing required", "no car"),
        ),
        ("ambiguous", "car, other"),
    ]
    assert code == 1
    assert (
        "5 texts: 1 × no word, 1 × nothing mapped, 1 × nothing required, 1 × ambiguous, 2 × "
        "two groups" in err
    )
    assert "without an encoder no similar words are found" in err
    texts.write_text("text\na car on the road\n")
    code, out, err = run(*words, "--strict", capsys=capsys, monkeypatch=monkeypatch)
    assert (code, "1 text: 2 × two groups" in err, "encoder" in err) == (0, True, False)


def test_lint_lists_texts_that_no_clip_can_answer_and_each_text_once(
    tmp_path: Path, capsys: Any, monkeypatch: Any
):
    (tmp_path / "t.csv").write_text(
        "slice_id,object_type,scene_type\na,car,road\nb,bus,town\nc,other,other\n"
    )
    (tmp_path / "q.csv").write_text(
        "id,text\n1,car on the road\n2,bus on the road\n3,car but no road\n4,\n5,other\n"
    )
    words = [
        "keywords",
        "check",
        str(tmp_path / "t.csv"),
        "--queries",
        str(tmp_path / "q.csv"),
        "-f",
        "json",
    ]

    _, out, _ = run(*words, capsys=capsys, monkeypatch=monkeypatch)

    found = [
        (row["kind"], row["label"], row["message"])
        for row in json.loads(out)["rows"]
        if row["kind"] != "two groups"
    ]
    assert found == [
        (
            "no word",
            f"{tmp_path / 'q.csv'}:5",
            "the text has no word; write one, or leave the query out",
        ),
        ("no relevant clip", "bus on the road", "no clip has bus and road"),
        ("no relevant clip", "car but no road", "no clip has car without road"),
        (
            "ambiguous",
            "other",
            "'other' is a label of several groups; write object_type: other or scene_type: other",
        ),
    ]


@pytest.mark.parametrize(
    ("content", "texts", "code", "shown"),
    [
        ("a car\nzebra\n", ["a bus", "-"], 0, "'zebra': unmapped: 'zebra'"),
        (
            "a car\n???\n!\n",
            ["-"],
            2,
            "standard input:2 ('???'), standard input:3 ('!'): the text has no word",
        ),
        (
            "",
            ["??", "a car", ""],
            2,
            "the queries: row 1 ('??'), the queries: row 3: the text has no word",
        ),
        ("a car\n", ["-", "-"], 2, "standard input is named for two inputs"),
    ],
)
def test_map_reads_texts_from_standard_input_and_names_every_wordless_one(
    content: str,
    texts: list[str],
    code: int,
    shown: str,
    tmp_path: Path,
    capsys: Any,
    monkeypatch: Any,
):
    (tmp_path / "t.csv").write_text("slice_id,object_type\na,car\nb,bus\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    words = ["keywords", "map", *texts, "--annotations", str(tmp_path / "t.csv"), "-f", "csv"]

    found, out, err = run(*words, capsys=capsys, monkeypatch=monkeypatch)

    assert (found, shown in err, "stdin" in out + err) == (code, True, False)
    assert [row["text"] for row in csv.DictReader(io.StringIO(out))] == (
        ["a bus", "a car"] if code == 0 else []
    )


def test_lint_maps_texts_by_the_encoder_and_its_options(
    tmp_path: Path, capsys: Any, monkeypatch: Any
):
    (tmp_path / "t.csv").write_text("slice_id,scene_type\na,nighttime\nb,motorway\n")
    (tmp_path / "q.txt").write_text("motorways by night\nlorries\n")

    def load(model: str, *, device: str | None) -> Any:
        assert model == "letters"
        letters = "abcdefghijklmnopqrstuvwxyz"
        return KeyBertEncoder(
            lambda texts: np.array(
                [[text.count(letter) + 0.01 for letter in letters] for text in texts]
            ),
            {},
        )

    monkeypatch.setattr("rankwell.tasks.keywords.mapping.load_keybert", load)
    words = [
        "keywords",
        "check",
        str(tmp_path / "t.csv"),
        "--queries",
        str(tmp_path / "q.txt"),
        "-f",
        "json",
    ]
    encoder = ["--encoder", "letters"]

    def unmapped(*options: str) -> list[str]:
        _, out, _ = run(*words, *options, capsys=capsys, monkeypatch=monkeypatch)
        return [row["label"] for row in json.loads(out)["rows"] if row["kind"] == "nothing mapped"]

    assert unmapped() == ["lorries"]
    assert unmapped(*encoder, "--strategy", "algorithm1", "--keyword-threshold", "0.1") == []
    assert unmapped(*encoder, "--strategy", "algorithm1", "--keyword-threshold", "1") == [
        "motorways by night",
        "lorries",
    ]
    code, _, err = run(*words[:3], *encoder, capsys=capsys, monkeypatch=monkeypatch)
    assert (code, "--encoder: without --queries no text is mapped" in err) == (2, True)
