"""Reading and writing: one truth and one run in every format say the same, and what is wrong is
refused with its place.
"""

import gzip
import json
import math
import random
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from rankwell.data.rankings import Hits, Ranking
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadLine, BadScore, BadUsage, DuplicateItem, UnknownName
from rankwell.files.conversion import convert
from rankwell.io import formats as files
from rankwell.io.formats import FORMATS

QUERIES = ["7", "007", "NULL", "q,1", "é", "last"]
ITEMS = [
    "d1",
    "01",
    "1",
    "1e5",
    "nan",
    'say"so',
    "a,b",
    "Ω",
    "z_9",
    "NA",
    "true",
    "d10",
    "d2",
    "0x1F",
    "-",
    "#h",
]


def awkward_run() -> dict[str, dict[str, float]]:
    """Six queries with many ties, scores of 17 digits, negative ones and zeros of both signs; one
    query is not judged.
    """
    chance = random.Random(20)
    scores = [
        0.1,
        0.1,
        1 / 3,
        -2.5,
        0.0,
        -0.0,
        1e-300,
        12345678.901234567,
        5.0,
        5.0,
        0.30000000000000004,
    ]
    run = {}
    for query in [*QUERIES[:-1], "unjudged"]:
        items = chance.sample(ITEMS, chance.randint(8, len(ITEMS)))
        run[query] = {item: chance.choice(scores) for item in items}
    return run


def awkward_truth() -> dict[str, dict[str, float]]:
    chance = random.Random(21)
    return {
        query: {
            item: chance.choice([-1, 0, 1, 2, 3]) for item in chance.sample([*ITEMS, "absent"], 9)
        }
        for query in QUERIES
    }


def plain_hits(run, truth, ties):
    """Oracle: (query, item) -> (score, above, tied, before), counted by hand."""
    found = {}
    for query, scored in run.items():
        places = list(scored)
        for item in scored:
            if item not in truth.get(query, {}):
                continue
            own = scored[item]
            same = [other for other in places if scored[other] == own]
            if ties != "input":
                same = sorted(same, key=lambda name: name.encode(), reverse=ties == "id-desc")
            above = sum(score > own for score in scored.values())
            found[query, item] = (own, above, len(same), same.index(item))
    return found


def seen_hits(hits: Hits, judgments: Judgments):
    columns = (hits.query, hits.row, hits.score, hits.above, hits.tied, hits.before)
    return {
        (judgments.queries[query], judgments.items[row]): (score, above, tied, before)
        for query, row, score, above, tied, before in zip(
            *(column.tolist() for column in columns), strict=True
        )
    }


def rows_of(run):
    return [(query, item, score) for query, scored in run.items() for item, score in scored.items()]


def columns_of(run, names=("query_id", "doc_id", "score")):
    return dict(zip(names, map(list, zip(*rows_of(run), strict=True)), strict=True))


def write_text(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def trec_lines(run) -> str:
    return "".join(f"{query} Q0 {item} 0 {score!r} tag\n" for query, item, score in rows_of(run))


def sentence_transformers_lines(run) -> str:
    entries = [
        {
            "query_id": query,
            "query": "text",
            "results": [{"corpus_id": item, "score": score} for item, score in scored.items()],
        }
        for query, scored in run.items()
    ]
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def places(run, folder: Path):
    """The same run in every form that is read."""
    ranking = Ranking.from_dict(run)
    yield "mapping", run
    yield "ranking", ranking
    columns = columns_of(run)
    yield "pandas", pd.DataFrame(columns)
    yield (
        "pandas categories",
        pd.DataFrame(columns).astype({"query_id": "category", "doc_id": "category"}),
    )
    yield "polars", pl.DataFrame(columns)
    yield "polars lazy", pl.LazyFrame(columns)
    yield (
        "polars categories",
        pl.DataFrame(columns).with_columns(pl.col("doc_id").cast(pl.Categorical)),
    )
    yield "pyarrow", pa.table(columns)
    plain = pa.table(columns)
    encoded = pa.table(
        {
            "qid": plain[0].dictionary_encode(),
            "docno": plain[1].cast(pa.large_string()),
            "sim": plain[2],
        }
    )
    yield "pyarrow dictionary", encoded
    pq.write_table(encoded, folder / "arrow.parquet")
    yield "parquet by arrow", folder / "arrow.parquet"
    yield "trec", write_text(folder / "a.run", trec_lines(run))
    yield (
        "trec, tabs and CRLF",
        write_text(folder / "b.run", trec_lines(run).replace(" ", "\t ").replace("\n", "\r\n")),
    )
    yield (
        "trec behind a byte order mark",
        write_text(folder / "bom.run", "\ufeff" + trec_lines(run)),
    )
    yield "sentence-transformers", write_text(folder / "st.jsonl", sentence_transformers_lines(run))
    mteb = {"mteb_model_meta": {"model_name": "m", "revision": "r"}, "en": {"test": run}}
    yield "mteb", write_text(folder / "m_predictions.json", json.dumps(mteb))
    yield "json, indented", write_text(folder / "ranx.json", json.dumps(run, indent=2))
    pd.DataFrame(columns).to_csv(folder / "pandas.csv", index=False)
    yield "csv by pandas", folder / "pandas.csv"
    yield (
        "list of objects",
        write_text(
            folder / "list.json",
            pd.DataFrame(columns).to_json(orient="records", double_precision=15),
        ),
    )
    for suffix in ("run", "csv", "tsv", "parquet", "jsonl", "json"):
        files.write_run(ranking, folder / f"x.{suffix}")
        yield suffix, folder / f"x.{suffix}"
        data = (folder / f"x.{suffix}").read_bytes()
        (folder / f"{suffix}.gz").write_bytes(gzip.compress(data))
        yield f"{suffix}.gz", folder / f"{suffix}.gz"
        (folder / f"{suffix}.zst").write_bytes(zstandard.compress(data))
        yield f"{suffix}.zst", folder / f"{suffix}.zst"


TIES = ["id-desc", *(pytest.param(ties, marks=pytest.mark.slow) for ties in ("id-asc", "input"))]


@pytest.mark.parametrize("ties", TIES)
def test_one_run_gives_the_same_hits_in_every_format(ties, tmp_path):
    run, truth = awkward_run(), awkward_truth()
    judgments = Judgments.from_dict(truth)
    expected = plain_hits(run, truth, ties)

    for name, place in places(run, tmp_path):
        hits = files.find_hits(place, judgments, ties=ties).hits
        if name == "list of objects":  # pandas writes 15 digits
            continue
        seen = seen_hits(hits, judgments)
        if ties == "input" and name in ("run", "run.gz", "run.zst"):
            seen = {key: value[:3] for key, value in seen.items()}
            assert seen == {key: value[:3] for key, value in expected.items()}, name
        else:
            assert seen == expected, name
        assert hits.n_retrieved.tolist() == [
            len(run.get(query, ())) for query in judgments.queries
        ], name
        assert hits.has_ranking.tolist() == [query in run for query in judgments.queries], name
        assert dict(hits.unknown) == {"unjudged": len(run["unjudged"])}, name


@pytest.mark.parametrize("ties", TIES)
def test_the_first_items_are_the_same_in_every_format(ties, tmp_path):
    run, judgments = awkward_run(), Judgments.from_dict(awkward_truth())

    def first(scored):
        names = list(scored)
        if ties != "input":
            names.sort(key=lambda name: name.encode(), reverse=ties == "id-desc")
        return sorted(names, key=lambda name: -scored[name])[:3]

    expected = {
        query: first(run[query])
        for query in sorted(set(run) & set(judgments.queries), key=str.encode)
    }

    for name, place in places(run, tmp_path):
        if name == "list of objects" or (ties == "input" and name.startswith("run")):
            continue
        top = files.find_hits(place, judgments, ties=ties, keep=3).hits.top
        bounds = top.offsets.tolist()
        seen = {
            query: list(top.items[start:stop])
            for query, start, stop in zip(top.queries, bounds, bounds[1:], strict=False)
        }
        assert {query: items for query, items in seen.items() if items} == expected, name


def test_single_precision_makes_the_same_ties_in_every_format(tmp_path):
    run = {"q": {"a": 1.00000001, "b": 1.0, "c": 1e39, "d": 1e300}}
    truth = {"q": {"a": 1, "b": 1, "c": 1}}
    judgments = Judgments.from_dict(truth)

    for name, place in places(run, tmp_path):
        seen = seen_hits(files.find_hits(place, judgments, single_precision=True).hits, judgments)
        assert seen == {
            ("q", "a"): (1.0, 2, 2, 1),
            ("q", "b"): (1.0, 2, 2, 0),
            ("q", "c"): (math.inf, 0, 2, 1),
        }, name


def test_a_query_whose_rows_are_scattered_keeps_the_order_of_the_file(tmp_path):
    chance = random.Random(3)
    rows = [(f"q{chance.randrange(40)}", f"d{number}", 1.0) for number in range(30_000)]
    run: dict[str, dict[str, float]] = {}
    for query, item, score in rows:
        run.setdefault(query, {})[item] = score
    truth = {
        query: dict.fromkeys(chance.sample(list(scored), 5), 1) for query, scored in run.items()
    }
    judgments = Judgments.from_dict(truth)
    frame = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    frame.to_csv(tmp_path / "run.csv", index=False)
    frame.to_parquet(tmp_path / "run.parquet", row_group_size=1000)

    for name in ("run.csv", "run.parquet"):
        for duplicates in ("error", "first", "best"):
            seen = seen_hits(
                files.find_hits(
                    tmp_path / name, judgments, ties="input", duplicates=duplicates
                ).hits,
                judgments,
            )
            assert seen == plain_hits(run, truth, "input"), name


def same_judgments(left: Judgments, right: Judgments) -> bool:
    return (left.queries, list(left.items), left.grades.tolist()) == (
        right.queries,
        list(right.items),
        right.grades.tolist(),
    )


def same_ranking(left: Ranking, right: Ranking) -> bool:
    return (left.queries, list(left.items), left.scores.tolist()) == (
        right.queries,
        list(right.items),
        right.scores.tolist(),
    )


FORMATS_OUT = sorted(
    {each.name for name in FORMATS if (each := FORMATS[name]).write and each.suffixes}
)
# Every day from and to TREC's format, and from each into itself.
CONVERSIONS = [
    pytest.param(
        source,
        target,
        marks=[] if "trec" in (source, target) or source == target else pytest.mark.slow,
    )
    for source in FORMATS_OUT
    for target in FORMATS_OUT
]


@pytest.mark.parametrize(("source", "target"), CONVERSIONS)
def test_converting_a_run_changes_nothing(source, target, tmp_path):
    ranking = Ranking.from_dict(
        {"q1": {"a": 2.5, "b": 1 / 3, "c": -1.0}, "007": {"7": 17.0, "x,y": 1e-9, 'q"': 1e-10}}
    )
    files.write_run(ranking, tmp_path / f"a.{source}")

    done = convert(str(tmp_path / f"a.{source}"), tmp_path / f"b.{target}.gz", holds="run")

    wrote = f"wrote {tmp_path}/b.{target}.gz (6 rows, {target})"
    assert done.messages == (f"{tmp_path}/a.{source}: run read as {source}", wrote)
    assert same_ranking(files.read_ranking(tmp_path / f"b.{target}.gz"), ranking)


@pytest.mark.parametrize(("source", "target"), CONVERSIONS)
def test_converting_judgments_changes_nothing(source, target, tmp_path):
    judgments = Judgments.from_dict({"q1": {"a": 2, "b": 0, "c": -1}, "007": {"7": 1, "x,y": 3}})
    files.write_judgments(judgments, tmp_path / f"a.{source}")

    done = convert(str(tmp_path / f"a.{source}"), tmp_path / f"b.{target}", holds="judgments")

    wrote = f"wrote {tmp_path}/b.{target} (5 rows, {target})"
    assert done.messages == (f"{tmp_path}/a.{source}: judgments read as {source}", wrote)
    assert same_judgments(files.read_judgments(tmp_path / f"b.{target}"), judgments)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl", "json"])
def test_fractional_grades_survive(suffix, tmp_path):
    judgments = Judgments.from_dict({"q": {"a": 0.5, "b": 1 / 3}})
    files.write_judgments(judgments, tmp_path / f"a.{suffix}")

    assert same_judgments(files.read_judgments(tmp_path / f"a.{suffix}"), judgments)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
def test_aspects_survive_where_they_are_requested(suffix, tmp_path):
    judgments = Judgments.from_rows(
        ["q", "q", "q"], ["a", "a", "b"], [1, 2, 0], aspects=["1", "2", "1"]
    )
    files.write_judgments(judgments, tmp_path / f"a.{suffix}")

    again = files.read_judgments(tmp_path / f"a.{suffix}", aspects="intents")

    assert (list(again.aspects or ()), list(again.items), again.grades.tolist()) == (
        ["1", "1", "2"],
        ["a", "b", "a"],
        [1, 0, 2],
    )


def test_scores_come_back_to_the_last_bit(tmp_path):
    chance = np.random.default_rng(5)
    numbers = chance.integers(0, 2**64, 4000, dtype=np.uint64).view(np.float64)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    ranking = Ranking.from_dict(
        {"q": {f"d{place}": score for place, score in enumerate(numbers.tolist())}}
    )

    for suffix in ("run", "csv", "tsv", "parquet", "jsonl", "json"):
        files.write_run(ranking, tmp_path / f"a.{suffix}")
        again = files.read_ranking(tmp_path / f"a.{suffix}")
        scores = dict(zip(again.items, again.scores.tolist(), strict=True))
        assert scores == dict(zip(ranking.items, ranking.scores.tolist(), strict=True)), suffix


def test_written_files_are_the_same_bytes_every_time(tmp_path):
    ranking = Ranking.from_dict(awkward_run())
    for suffix in ("run", "csv", "tsv", "parquet", "jsonl", "json", "csv.gz", "json.zst"):
        files.write_run(ranking, tmp_path / f"a.{suffix}")
        files.write_run(ranking, tmp_path / f"b.{suffix}")
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes(), (
            suffix
        )


def test_a_query_without_rows_survives_in_json_and_is_counted_elsewhere(tmp_path):
    write_text(tmp_path / "a.json", '{"q1": {"d": 1.5}, "empty": {}}')

    assert files.read_ranking(tmp_path / "a.json").queries == ("empty", "q1")
    assert (
        convert(str(tmp_path / "a.json"), tmp_path / "a.csv", holds="run")
        .messages[-1]
        .startswith("1 query without rows")
    )
    judgments = Judgments.from_dict({"q1": {"d": 1}, "empty": {"x": 1}})
    assert files.find_hits(tmp_path / "a.json", judgments).hits.has_ranking.tolist() == [True, True]


def test_ids_that_are_not_utf_8_pass_between_trec_and_json_and_are_refused_elsewhere(tmp_path):
    (tmp_path / "a.run").write_bytes(b"q Q0 d\xff 1 2.0 t\nq Q0 \xe9 2 1.0 t\n")

    convert(str(tmp_path / "a.run"), tmp_path / "b.json")
    convert(str(tmp_path / "b.json"), tmp_path / "c.run", holds="run")

    assert b"q Q0 d\xff 1 2.0 " in (tmp_path / "c.run").read_bytes()
    for name in ("d.csv", "d.parquet"):
        with pytest.raises(BadInput, match="not UTF-8"):
            convert(str(tmp_path / "a.run"), tmp_path / name)
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_integer_ids_become_text(frame):
    judgments = Judgments.from_dict({"7": {"12": 1}})

    hits = files.find_hits(
        frame({"qid": [7, 7], "docno": [12, 13], "score": [1, 2]}), judgments
    ).hits

    assert hits.above.tolist() == [1]
    assert files.read_judgments({7: {12: 1}}).items == ["12"]
    assert files.find_hits({7: {12: 1.0, 13: 2.0}}, judgments).hits.above.tolist() == [1]


def test_integer_ids_in_parquet_become_text(tmp_path):
    pd.DataFrame({"qid": [7], "docno": [12], "score": [1]}).to_parquet(tmp_path / "a.parquet")

    assert files.read_ranking(tmp_path / "a.parquet").items == ["12"]


def test_a_run_with_ranks_only_is_ordered_by_them(tmp_path):
    judgments = Judgments.from_dict({"q": {"second": 1}})
    table = write_text(tmp_path / "a.csv", "qid,docno,rank\nq,third,3\nq,second,2\nq,first,1\n")
    msmarco = write_text(tmp_path / "a.tsv", "q\tfirst\t1\nq\tsecond\t2\nq\tthird\t3\n")

    for place, name in ((table, "csv"), (msmarco, "msmarco")):
        found = files.find_hits(place, judgments)
        assert (found.format, found.hits.above.tolist(), found.hits.score.tolist()) == (
            name,
            [1],
            [-2.0],
        )


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "run", "frame"])
def test_duplicates_are_refused_or_dropped_as_asked(suffix, tmp_path):
    rows = {"qid": ["q", "q", "q"], "docno": ["a", "b", "a"], "score": [1.0, 2.0, 3.0]}
    frame = pd.DataFrame(rows)
    place = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        frame.to_csv(place, index=False)
    elif suffix == "parquet":
        frame.to_parquet(place)
    elif suffix == "jsonl":
        frame.to_json(place, orient="records", lines=True)
    elif suffix == "run":
        write_text(place, "q Q0 a 1 1.0 t\nq Q0 b 2 2.0 t\nq Q0 a 3 3.0 t\n")
    else:
        place = frame
    judgments = Judgments.from_dict({"q": {"a": 1}})

    with pytest.raises(DuplicateItem, match=r"query 'q'.*item 'a'.* 1 and 3"):
        files.find_hits(place, judgments)
    assert files.find_hits(place, judgments, duplicates="first").hits.above.tolist() == [1]
    assert files.find_hits(place, judgments, duplicates="best").hits.above.tolist() == [0]
    checked = files.check_ranking(place)
    assert (list(checked.duplicated), list(checked.table.items)) == (["q"], ["a", "b"])


def test_a_key_twice_in_json_is_a_duplicate(tmp_path):
    place = write_text(tmp_path / "a.json", '{"q": {"a": 1.5, "b": 2, "a": 3}}')

    with pytest.raises(
        DuplicateItem, match=r"a\.json: \$\['q'\] has the key 'a' twice, as entries 1 and 3"
    ):
        files.read_ranking(place)
    assert files.read_ranking(place, duplicates="first").scores.tolist() == [1.5, 2]
    assert files.read_ranking(place, duplicates="best").scores.tolist() == [2, 3]
    with pytest.raises(DuplicateItem, match=r"\$ has the key 'q' twice"):
        files.read_ranking(
            write_text(tmp_path / "b.json", '{"q": {"a": 1}, "q": {"b": 1}}'), duplicates="first"
        )


def test_ranks_against_the_scores_are_found(tmp_path):
    place = write_text(
        tmp_path / "a.csv", "qid,docno,rank,score\nq,a,1,1.5\nq,b,2,2.5\np,a,1,2.5\np,b,2,2.5\n"
    )

    assert files.check_ranking(place).contradicting == ["q"]


WRONG_RUNS = {
    "five columns": (
        "q Q0 d 1 2.5\n",
        BadInput,
        r"x:1: .*item 'd', score 2.5 \(columns='query=1,item=3,score=5'\)",
    ),
    "text for a score in TREC": ("q Q0 d 1 2.5 t\nq Q0 e 2 high t\n", BadScore, r"x:2: .*'high'"),
    "qrels": (
        "q1 0 d1 1\nq1 0 d2 0\n",
        BadInput,
        r"x:1: 'q1 0 d1 1': .*judgments \(trec\); expected a run; name another file",
    ),
    "qrels in CSV": (
        "qid,docno,label\nq,d,1\n",
        BadInput,
        r"no column for the score .*'label'.*columns='score=NAME'",
    ),
    "qrels of BEIR": (
        "query-id\tcorpus-id\tscore\nq\td\t1\n",
        BadInput,
        r"'score' holds integers below the names of BEIR's judgments; .*columns='score=score'",
    ),
    "empty": ("", BadInput, r"x is empty"),
    "blank": ("\n \n", BadInput, r"x is empty"),
    "a web page": ("<!DOCTYPE html>\n<html>", BadInput, r"x:1: '<!DOCTYPE html>.*web page"),
    "prose": ("hello\n", BadInput, r"x: 'hello': no known form of a run; known are .*csv.*trec"),
    "three columns with rising numbers": (
        "q d 0.5\nq e 0.75\n",
        BadInput,
        r"x:1: .*score 0.5 .* rank 0.5 .*rise in every query",
    ),
    "NaN in JSON": ('{"q": {"d": NaN}}', BadScore, r"query 'q', item 'd': the score is nan"),
    "text in JSON": ('{"q": {"d": "1.5"}}', BadScore, r"x: \$\['q'\]\['d'\] is '1.5' \(a string\)"),
    "true in JSON": ('{"q": {"d": 1, "e": true}}', BadScore, r"\$\['q'\]\['e'\] is True"),
    "a string in place of a list in JSON": (
        '{"q": "d"}',
        BadInput,
        r"\$\['q'\] is 'd' \(a string\); expected",
    ),
    "half a JSON file": ('{"q": {"d": 1,\n "e": 2', BadInput, r"x:2: .*whole"),
    "an empty JSON object": ("{}", BadInput, r"x: the JSON object is empty"),
    "a missing column": (
        "qid,document_name,score\nq,d,1\n",
        BadInput,
        r"x: no column for the item .*'document_name'",
    ),
    "a missing score column": (
        "qid,docno\nq,d\n",
        BadInput,
        r"no column for the score \(score, .*found are 'qid', 'docno'",
    ),
    "text for a score": (
        "qid,docno,score\nq,d,1\nq,e,high\n",
        BadScore,
        r"x: row 2, column 'score': 'high'",
    ),
    "NaN for a score": ("qid,docno,score\nq,d,nan\n", BadScore, r"row 1, column 'score': 'nan'"),
    "an infinite score": (
        "qid,docno,score\nq,d,1e999\n",
        BadScore,
        r"row 1, column 'score': '1e999'",
    ),
    "a thousands separator": (
        "qid,docno,score\nq,d,1_000\n",
        BadScore,
        r"row 1, column 'score': '1_000'",
    ),
    "two signs": ("qid,docno,score\nq,d,+-1\n", BadScore, r"row 1, column 'score': '\+-1'"),
    "no score": ("qid,docno,score\nq,d,1\nq,e,\n", BadScore, r"row 2, column 'score': nothing"),
    "no id": ("qid,docno,score\nq,d,1\n,e,1\n", BadInput, r"row 2, column 'qid': nothing"),
    "a short line": ("qid,docno,score\nq,d,1\nq,e\n", BadLine, r"x:3: 'q,e'"),
    "an open quote": ('qid,docno,score\nq,"d,1\nq,e,2\n', BadLine, r"x:2: "),
    "a column twice": (
        "qid,docno,score,score\nq,d,1,2\n",
        BadInput,
        r"columns 'score' and 'score' mean the same",
    ),
    "two columns for one thing": (
        "qid,q_id,docno,score\nq,q,d,1\n",
        BadInput,
        r"'qid' and 'q_id' mean the same",
    ),
    "null in JSON lines": (
        '{"qid": "q", "docno": "d", "score": null}\n',
        BadScore,
        r"row 1, column 'score': nothing",
    ),
    "text in JSON lines": (
        '{"qid": "q", "docno": "d", "score": "1.5"}\n',
        BadScore,
        r"row 1, column 'score'",
    ),
    "a fraction for an id": (
        '{"qid": 1.5, "docno": "d", "score": 1}\n',
        BadInput,
        r"row 1, column 'qid': '1.5'",
    ),
    "a broken JSON line": (
        '{"qid": "q", "docno": "d", "score": 1}\n{"qid": oops}\n',
        BadLine,
        r"x:2: ",
    ),
    "a key twice in a JSON line": (
        '{"qid": "q", "qid": "p", "docno": "d", "score": 1}\n',
        BadLine,
        r"x:1: .*twice",
    ),
    "ST without results": (
        '{"query_id": "q", "query": "?", "results": null}\n',
        BadInput,
        r"x: the document is .*'results': None.*; expected",
    ),
    "ST with a query twice": (
        '{"query_id": "q", "results": []}\n' * 2,
        DuplicateItem,
        r"x:2: query 'q' appears twice",
    ),
}


@pytest.mark.parametrize("case", WRONG_RUNS)
def test_a_wrong_run_is_refused_with_its_place(case, tmp_path, monkeypatch):
    content, kind, pattern = WRONG_RUNS[case]
    monkeypatch.chdir(tmp_path)
    Path("x").write_bytes(content.encode())

    with pytest.raises(kind, match=pattern) as caught:
        files.find_hits("x", Judgments.from_dict({"q": {"d": 1}}))

    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


WRONG_JUDGMENTS = {
    "a run": (
        "q Q0 d 1 2.5 t\n",
        BadInput,
        r"x:1: 'q Q0 d 1 2.5 t': .*a run \(trec\); expected judgments; name another file",
    ),
    "a run in CSV": (
        "qid,docno,score\nq,d,0.35\n",
        BadInput,
        r"'score' holds other values than integers.*qrels_columns='grade=score'",
    ),
    "text for a grade": ("qid,docno,rel\nq,d,good\n", BadScore, r"row 1, column 'rel': 'good'"),
    "an item twice": (
        "qid,docno,rel\nq,d,1\nq,d,1\n",
        DuplicateItem,
        r"query 'q' judges item 'd' twice, in rows 1 and 2",
    ),
}


@pytest.mark.parametrize("case", WRONG_JUDGMENTS)
def test_wrong_judgments_are_refused_with_their_place(case, tmp_path, monkeypatch):
    content, kind, pattern = WRONG_JUDGMENTS[case]
    monkeypatch.chdir(tmp_path)
    Path("x").write_bytes(content.encode())

    with pytest.raises(kind, match=pattern):
        files.read_judgments("x")


@pytest.mark.parametrize("cut", [12, -1, -9])
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("name", ["a.run", "a.csv", "a.json", "a.parquet"])
def test_compressed_data_that_ends_early_is_refused(cut, pack, name, tmp_path):
    files.write_run(Ranking.from_dict(awkward_run()), tmp_path / name)
    packed = tmp_path / "packed"
    packed.write_bytes(pack((tmp_path / name).read_bytes())[:cut])

    with pytest.raises(BadInput, match=r"packed: the (gzip|zstd) data .*ends early"):
        files.find_hits(packed, Judgments.from_dict({"q": {"d": 1}}))


def test_a_parquet_file_that_ends_early_is_refused(tmp_path):
    files.write_run(Ranking.from_dict(awkward_run()), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(whole[:-20])

    with pytest.raises(BadInput, match=r"b\.parquet: .*Parquet data is damaged"):
        files.read_ranking(tmp_path / "b.parquet")


@pytest.mark.parametrize(
    ("columns", "kind", "pattern"),
    [
        (
            {"qid": ["q", None], "docno": ["a", "b"], "score": [1.0, 2.0]},
            BadInput,
            "row 2, column 'qid': nothing",
        ),
        (
            {"qid": ["q", "q"], "docno": ["a", "b"], "score": [1.0, None]},
            BadScore,
            "row 2, column 'score': (nothing|nan)",
        ),
        (
            {"qid": ["q", "q"], "docno": ["a", "b"], "score": [1.0, math.inf]},
            BadScore,
            "row 2, column 'score': inf",
        ),
        (
            {"qid": ["q", "q"], "docno": ["a", "b"], "score": ["1", "2"]},
            BadInput,
            "column 'score' holds|row 1, column 'score'",
        ),
        (
            {"qid": ["q", "q"], "docno": [1.0, 2.0], "score": [1.0, 2.0]},
            BadInput,
            "column 'docno' holds",
        ),
        (
            {"qid": ["q"], "docno": ["a"]},
            BadInput,
            "no column for the score .*found are 'qid', 'docno'",
        ),
    ],
)
@pytest.mark.parametrize("make", ["pandas", "polars", "pyarrow", "parquet"])
def test_a_wrong_frame_is_refused_with_row_and_column(columns, kind, pattern, make, tmp_path):
    place = {
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "pyarrow": pa.table,
        "parquet": pa.table,
    }[make](columns)
    if make == "parquet":
        pq.write_table(place, tmp_path / "a.parquet")
        place = tmp_path / "a.parquet"

    with pytest.raises(kind, match=pattern):
        files.find_hits(
            place,
            Judgments.from_dict({"q": {"a": 1}}),
            format="parquet" if make == "parquet" else None,
        )


@pytest.mark.parametrize(
    ("run", "kind", "pattern"),
    [
        ({"q": {"a": math.nan}}, BadScore, "query 'q', item 'a': the score is nan"),
        ({"q": {"a": "1.5"}}, BadScore, "query 'q', item 'a': the score is '1.5'"),
        ({"q": {"a": 1.0, "b": 10**400}}, BadScore, "query 'q', item 'b': the score is 1000"),
        (
            {"q": 5},
            BadInput,
            "query 'q' has 5, an integer; expected a mapping query -> item -> number, or "
            "query -> list of ids",
        ),
        ({"q": "a"}, BadInput, "query 'q' has 'a', a string"),
        ({1.5: {"a": 1.0}}, BadInput, "the id 1.5 is a number"),
        ({7: {"a": 1.0}, "7": {"b": 1.0}}, BadInput, "7 and '7'"),
        (3, BadInput, "a run cannot be read from an integer"),
    ],
)
def test_a_wrong_mapping_is_refused(run, kind, pattern):
    with pytest.raises(kind, match=pattern):
        files.find_hits(run, Judgments.from_dict({"q": {"a": 1}}))


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(BadInput, match="is a folder"):
        files.read_ranking(tmp_path)
    with pytest.raises(BadInput, match="no such file"):
        files.read_ranking(tmp_path / "none")


def test_file_names_with_patterns_and_quotes_are_taken_literally(tmp_path):
    ranking = Ranking.from_dict({"q": {"a": 1.0}})
    folder = tmp_path / "qid=3"
    for name in ("run[1].csv", "it's.parquet", "a*b?.parquet", "x.csv"):
        files.write_run(ranking, folder / name)
        assert files.read_ranking(folder / name).queries == ("q",), name


def test_a_failed_write_leaves_nothing(tmp_path):
    ranking = Ranking.from_dict({"a query": {"a": 1.0}})

    with pytest.raises(BadInput, match="white space"):
        files.write_run(ranking, tmp_path / "x.run")
    with pytest.raises(UnknownName, match=r"x\.doc' names no format .*csv \(\.csv\)"):
        files.write_run(ranking, tmp_path / "x.doc")
    assert list(tmp_path.iterdir()) == []


def test_mixed_line_ends_in_csv_are_read(tmp_path):
    place = write_text(tmp_path / "a.csv", "qid,docno,score\r\nq,a,2\nq,b,1\r\n")

    assert list(files.read_ranking(place).items) == ["a", "b"]


def test_line_ends_within_quotes_stay_where_those_of_lines_differ(tmp_path: Path):
    lines = ['q1,"say\r\n ""so"""\r\n', 'q2,"a\nb"\n', 'q3,5" disk\r\n', "q4,end\n"]
    (tmp_path / "a.csv").write_bytes(f"id,text\n{''.join(lines)}".encode())

    assert files.read_texts(tmp_path / "a.csv").texts == {
        "q1": 'say\r\n "so"',
        "q2": "a\nb",
        "q3": '5" disk',
        "q4": "end",
    }


@pytest.mark.parametrize(
    ("end", "last"), [("\n", ""), ("\r\n", ""), ("\r", ""), ("\n", "\r\n"), ("\n", '\nq5\t"a\rb"')]
)
def test_between_tabs_a_quotation_mark_is_a_character_whatever_lines_end_in(
    end: str, last: str, tmp_path: Path
):
    rows = {"q1": '"say', "q2": 'so"', "q3": '"a ""b"" c"', '"q4"': '"'}
    (tmp_path / "a.tsv").write_bytes(
        (end.join(["id\ttext", *("\t".join(row) for row in rows.items())]) + last).encode()
    )

    expected = rows | ({"q5": '"a\rb"'} if "q5" in last else {})

    assert files.read_texts(tmp_path / "a.tsv").texts == expected


def test_a_quotation_mark_in_a_csv_that_takes_in_lines_is_refused(tmp_path: Path):
    place = write_text(
        tmp_path / "a.csv", 'query,item,score\nq0,d,1\n"Heroes,d1,1\nq2,d2,1\nCoda",d5,1\n'
    )

    with pytest.raises(
        BadLine,
        match=r"a.csv:3: a quotation mark opens a field that this line does not close.*2 rows.*4 "
        r"lines",
    ):
        files.read_ranking(place)
    with pytest.raises(BadLine, match=r"a.csv:3: "):
        files.read_column(f"{place}:query")


def test_a_header_in_quotation_marks_between_tabs_is_refused(tmp_path: Path):
    place = write_text(tmp_path / "a.tsv", '"query"\t"item"\t"score"\n"q"\t"d"\t1\n')

    with pytest.raises(
        BadLine,
        match=r"a.tsv:1: .*names of columns in quotation marks, which are part of a name between "
        r"tabs",
    ):
        files.read_ranking(place)


@pytest.mark.parametrize(
    ("suffix", "item"), [("tsv", "a\tb"), ("tsv", "a\nb"), ("tsv", "a\rb"), ("csv", "a\nb")]
)
def test_an_id_that_a_table_could_not_give_back_is_not_written(
    suffix: str, item: str, tmp_path: Path
):
    with pytest.raises(BadInput, match=r"has .*the end of a line; .sv cannot hold it, JSON can"):
        files.write_run(files.read_ranking({"q": {item: 1.0}}), tmp_path / f"a.{suffix}")


def test_json_without_a_hint_may_be_either(tmp_path):
    write_text(tmp_path / "a.json", '{"q": {"a": 1}}')

    with pytest.raises(BadUsage, match="may be a run or judgments"):
        convert(str(tmp_path / "a.json"), tmp_path / "b.csv")


def test_a_part_of_an_mteb_file_is_named(tmp_path):
    content = {
        "mteb_model_meta": {},
        "en": {"test": {"q": {"a": 1.0}}},
        "de": {"test": {"q": {"b": 1.0}}},
    }
    place = write_text(tmp_path / "a.json", json.dumps(content))

    with pytest.raises(
        BadInput, match="several rankings: en/test, de/test; name one, as in format 'mteb:en/test'"
    ):
        files.read_ranking(place)
    assert files.read_ranking(place, format="mteb:de/test").items == ["b"]
    assert (
        ": run read as mteb"
        in convert(str(place), tmp_path / "b.csv", source_format="mteb:de/test").messages[0]
    )
    with pytest.raises(UnknownName, match="no part 'fr/test'"):
        files.read_ranking(place, format="mteb:fr/test")


@pytest.mark.parametrize(
    ("content", "form"),
    [
        ([], "{subset: {split: {query: …}}}"),
        ({"en": []}, "{split: {query: …}}"),
        ({"en": {"test": []}}, "{query: {item: score}}"),
    ],
)
def test_what_is_no_mteb_file_is_told_the_form_of_one(content, form, tmp_path):
    place = write_text(tmp_path / "a.json", json.dumps(content))

    with pytest.raises(BadInput, match=rf"expected {re.escape(form)}\.$"):
        files.read_ranking(place, format="mteb")


TEXTS = {
    "beir": '{"_id": "007", "title": "T", "text": "one", "metadata": {}}\n{"_id": "8", "text": '
    '"two, '
    '\\"three\\""}\n',
    "jsonl": '{"id": "007", "contents": "one", "title": "T"}\n{"id": 8, "contents": "two, '
    '\\"three\\""}\n',
    "csv": 'qid,query,title\n007,one,T\n8,"two, ""three""",\n',
    "msmarco": '007\tone\n8\ttwo, "three"\n',
}


@pytest.mark.parametrize("form", TEXTS)
def test_texts_are_read_by_id_with_their_attributes(form, tmp_path):
    place = write_text(tmp_path / "texts", TEXTS[form])

    texts = files.read_texts(place)

    assert texts.format == form
    assert texts.texts == {"007": "one", "8": 'two, "three"'}
    if form != "msmarco":
        assert texts.attributes["007"]["title"] == "T"
        assert "title" not in texts.attributes["8"]
    assert files.read_ids(place) == {"007", "8"}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_texts_are_read_from_frames_and_mappings(make):
    texts = files.read_texts(
        make({"qid": [7, 8], "query": ["one", "two"], "kind": ["short", None]})
    )

    assert texts[:2] == ({"7": "one", "8": "two"}, {"7": {"kind": "short"}, "8": {}})
    assert files.read_texts({7: "one", "8": "two"}).texts == texts.texts


def test_an_id_with_two_texts_is_refused(tmp_path):
    with pytest.raises(BadInput, match="row 2 has the id 'a'"):
        files.read_texts(write_text(tmp_path / "a.csv", "id,text\na,x\na,y\n"))
    with pytest.raises(BadInput, match=":2: the id 'a'"):
        files.read_texts(write_text(tmp_path / "a.tsv", "a\tx\na\ty\n"))


def test_standard_input_is_read(monkeypatch):
    import io
    import sys

    class Piped:
        buffer = io.BytesIO(gzip.compress(b"qid,docno,score\nq,a,1.5\n"))

    monkeypatch.setattr(sys, "stdin", Piped)

    assert files.read_ranking("-").items == ["a"]


@pytest.mark.parametrize("ties", TIES)
def test_a_real_run_with_many_ties_is_the_same_in_every_format(ties, shared, tmp_path):
    judgments = files.read_judgments(shared / "trec" / "robust03" / "qrels.txt.gz")
    place = shared / "trec" / "robust03" / "pircRBa1.run.gz"
    ranking = files.read_ranking(place)

    def seen(run):
        hits = files.find_hits(run, judgments, ties=ties, keep=20).hits
        order = np.lexsort((hits.row, hits.query))
        columns = [
            getattr(hits, name)[order]
            for name in ("query", "row", "score", "above", "tied", "before")
        ]
        top = (
            hits.top.queries,
            hits.top.offsets.tolist(),
            list(hits.top.items),
            hits.top.scores.tolist(),
        )
        return [
            (column.dtype, column.tolist())
            for column in [*columns, hits.n_retrieved, hits.has_ranking]
        ], top

    expected = seen(place)

    assert seen(ranking) == expected
    for suffix in ("csv", "parquet", "jsonl", "json", "tsv.zst"):
        files.write_run(ranking, tmp_path / f"a.{suffix}")
        assert seen(tmp_path / f"a.{suffix}") == expected, suffix


def test_of_two_texts_that_are_not_utf_8_the_first_is_reported_whichever_thread_is_first(tmp_path):
    size = 130_000
    items = [f"d{number:06d}".encode() for number in range(size)]
    # Rows are read in groups: the last one of the first group, and the first one of the next, which
    # another thread reads.
    items[size // 2 - 1], items[size // 2] = b"one\xff..", b"two\xff.."
    ids = pa.StringArray.from_buffers(
        size,
        pa.py_buffer(np.arange(0, 7 * size + 1, 7, dtype=np.int32)),
        pa.py_buffer(b"".join(each[:7].ljust(7) for each in items)),
    )
    table = pa.table(
        [pa.array(["q"] * size), ids, pa.array(np.arange(size, dtype=np.float64))],
        names=["qid", "docno", "score"],
    )
    pq.write_table(table, tmp_path / "run.parquet", row_group_size=size // 2, use_dictionary=False)

    with pytest.raises(BadInput, match="one"):
        files.find_hits(tmp_path / "run.parquet", Judgments.from_dict({"q": {"d000001": 1}}))
